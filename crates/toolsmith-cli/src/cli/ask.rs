//! What is said about questions to a model, and about conversations.

use std::time::Duration;

use clap::{Args, Subcommand};
use toolsmith_manager::AskTerms;
use toolsmith_manager::config::{AskConfig, Positive, Span};

/// What `--continue` goes on with where no conversation is named.
pub(crate) const LAST: &str = "last";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith ask \"Which tests touch the parser?\" --model anthropic/claude-sonnet-5
  toolsmith ask \"Tidy the changelog\" --model ollama/qwen3 --allow edit
  toolsmith ask --continue \"And now the README\"
  git diff | toolsmith ask \"Review this change: $(cat)\" --agent reviewer --json

Models are named PROVIDER/MODEL: openai, openai-responses, anthropic, gemini, ollama, mistral,
deepseek, qwen, and openai-compatible for any other server (--url, or OPENAI_BASE_URL). Keys
come from the variables their own libraries read (OPENAI_API_KEY, ANTHROPIC_API_KEY,
GEMINI_API_KEY …) or from `providers` in toolsmith.yaml; a server on this machine needs none.

The answer goes to stdout, everything else to stderr. What only reads runs; the rest is
asked for, as with every command. Ctrl-C ends it, and --continue goes on.")]
pub(crate) struct Ask {
    /// The question; - or nothing for standard input.
    #[arg(value_name = "QUESTION")]
    pub(crate) question: Option<String>,

    /// The model [default: the agent's, or the configuration's]
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,

    /// Where the model is reached, such as http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Go on with the last conversation, or with that of an ID.
    #[arg(long = "continue", value_name = "ID", num_args = 0..=1, require_equals = true,
        default_missing_value = LAST)]
    pub(crate) resume: Option<String>,

    /// What the model is told before everything else.
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// How many turns the model may have [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,

    /// How long it may take, such as 90s or 10m [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub(crate) max_time: Option<Duration>,

    /// How many tokens it may take, read and written.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,

    /// How much it may cost, by the prices of the configuration.
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
}

impl Ask {
    /// The conversation to go on with, if it is not the last one.
    pub(crate) fn conversation(&self) -> Option<&str> {
        self.resume.as_deref().filter(|id| *id != LAST)
    }

    /// What is said of this run, over what the files say.
    pub(crate) fn terms(&self) -> AskTerms {
        let count = |count: u32| Positive(usize::try_from(count).unwrap_or(usize::MAX));
        let mut ask = AskConfig::default();
        ask.instructions.clone_from(&self.instructions);
        ask.turns = self.max_turns.map(count);
        ask.time = self.max_time.map(Span);
        ask.tokens = self.max_tokens.map(count);
        ask.cost = self.max_cost;
        let mut terms = AskTerms::default();
        terms.model.clone_from(&self.model);
        terms.url.clone_from(&self.url);
        terms.ask = ask;
        terms
    }
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        _ => Err("write an amount above nought, such as 0.50".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith conversations
  toolsmith conversations show                     the last one, as Markdown
  toolsmith conversations show 20261117-093000
  toolsmith conversations forget 20261117-093000

Conversations are kept in the user's state folder, readable by the user only, for 30 days
after they were last gone on with.")]
pub(crate) struct Conversations {
    #[command(subcommand)]
    pub(crate) what: Option<ConversationsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConversationsCommand {
    /// Show a conversation: what was said, which calls were made, what came of them
    #[command(after_help = super::examples::CONVERSATIONS_SHOW)]
    Show {
        /// The conversation [default: the last one]
        id: Option<String>,
    },
    /// Forget conversations
    #[command(after_help = super::examples::CONVERSATIONS_FORGET)]
    Forget {
        /// The conversations.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}
