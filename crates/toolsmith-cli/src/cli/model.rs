//! What is said about models: declarations for them, their answers, prompts.

use std::path::PathBuf;

use clap::Args;
use toolsmith_provider::Provider;
use toolsmith_provider::text::TextFormat;

/// Whom the words are for, and how they were chosen.
#[derive(Debug, Args)]
pub(crate) struct Words {
    /// Whose format: openai, openai-responses, openai-functions, openai-compatible,
    /// anthropic, gemini, bedrock, mistral, cohere, ollama, deepseek, qwen, mcp or text.
    #[arg(long = "for", value_name = "PROVIDER")]
    pub(crate) provider: Provider,

    /// The model: one that cannot call functions is asked for calls as text, as far as
    /// output_strategy allows [default: the configuration's, where it is this provider's]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Schemas that the provider enforces where it can.
    #[arg(long)]
    pub(crate) strict: bool,

    /// The format of calls that come as text, such as json, jsonl or xml.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TextFormat>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith declare --for openai
  toolsmith declare --for anthropic --strict --report
  toolsmith declare --for gemini --set reading --request

Printed is the value of the provider's field for tools. What a schema could not say in
the provider's words stands in the descriptions; `toolsmith parse` knows the way back.")]
pub(crate) struct Declare {
    #[command(flatten)]
    pub(crate) words: Words,

    /// Whether and what the model must call: auto, none, required, or a tool; one that is
    /// called like those as tool:NAME.
    #[arg(long, value_name = "CHOICE", default_value = "auto")]
    pub(crate) choice: String,

    /// Whether the model may make several calls at once [default: as the provider has it]
    #[arg(long, value_name = "true|false")]
    pub(crate) parallel: Option<bool>,

    /// Declare deferred tools too, for the provider to load when they are looked for.
    #[arg(long)]
    pub(crate) deferred: bool,

    /// Send examples along, where the provider has a place for them.
    #[arg(long)]
    pub(crate) examples: bool,

    /// Print every field of the request that has to do with tools.
    #[arg(long, conflicts_with = "report")]
    pub(crate) request: bool,

    /// Print what was changed for each tool instead.
    #[arg(long)]
    pub(crate) report: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith parse --for openai < answer.json
  toolsmith parse --for anthropic stream.txt
  echo '<tool_call>{\"name\": \"read\"}' | toolsmith parse --for text

The answer is a whole body, or a stream as it came over the wire. Give --strict and --model
as they were given to `toolsmith declare`.")]
pub(crate) struct Parse {
    #[command(flatten)]
    pub(crate) words: Words,

    /// The file with the answer; - for standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = super::examples::PROMPT)]
pub(crate) struct Prompt {
    /// The format calls are asked for in, such as json, jsonl or xml.
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub(crate) format: TextFormat,
}
