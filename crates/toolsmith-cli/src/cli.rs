//! The command line as a type.
//!
//! What is said about a project's files and about clients stands in files of its own.

mod ask;
mod connect;
mod examples;
mod log;
mod model;
mod project;
#[cfg(test)]
mod reference;
mod remembered;
#[cfg(test)]
mod shown;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use toolsmith_core::{Detail, duration};
use toolsmith_manager::servers::ServerEntry;
use toolsmith_runtime::Mode;
use toolsmith_runtime::permit::{Rule, Verdict};

pub(crate) use ask::{Ask, Conversations, ConversationsCommand};
pub(crate) use connect::{Client, Connect, Scope};
pub(crate) use log::Log;
pub(crate) use model::{Declare, Parse, Prompt, Words};
pub(crate) use project::{Add, AddMcp, AddRest, AddSet, Import, ImportOpenApi};
pub(crate) use remembered::{Approvals, ApprovalsCommand, Chosen, Pins, PinsCommand, Revoke};

/// One door between a model and every tool it may use.
#[derive(Debug, Parser)]
#[command(name = "toolsmith", version, arg_required_else_help = true)]
#[command(next_help_heading = "Global options")]
#[command(after_help = examples::PROGRAM)]
pub(crate) struct Cli {
    /// The folder to work in [default: the current one, with the configuration of the
    /// nearest folder upwards that has one]; again for further ones the tools may use.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,

    /// The configuration file [default: toolsmith.yaml in the root, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Offer the tools of this set alone: configs/tool_sets/NAME.yaml.
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "agent")]
    pub(crate) set: Option<String>,

    /// Offer the tools of this agent alone, under its policy: agents/NAME.yaml.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Allow calls: a tool, a glob, `tool(argument: glob)`, `effect:write`, `source:mcp`.
    #[arg(long, global = true, value_name = "RULE", value_parser = allow, long_help = ALLOW)]
    pub(crate) allow: Vec<Rule>,

    /// Deny calls; denying beats allowing.
    #[arg(long, global = true, value_name = "RULE", value_parser = deny, long_help = DENY)]
    pub(crate) deny: Vec<Rule>,

    /// Use an MCP server's tools too: a command or a URL under a name.
    #[arg(long, global = true, value_name = "NAME=COMMAND|URL")]
    pub(crate) server: Vec<ServerEntry>,

    /// What happens to calls no rule speaks of: plan, ask, auto-edit or auto.
    #[arg(long, global = true, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,

    /// The time limit of each call, such as 500ms, 30s or 5m.
    #[arg(long, global = true, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,

    /// Say yes to whatever would be asked; what is denied stays denied.
    #[arg(long, global = true)]
    pub(crate) yes: bool,

    /// Keep all that tools say and do in this new file; for ask, call, batch and serve.
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,

    /// Take the tools and their answers from a file --record made; nothing is started.
    #[arg(long, global = true, value_name = "FILE", long_help = REPLAY)]
    pub(crate) replay: Option<PathBuf>,

    /// Which recorded call answers one that is made: next, strict or arguments.
    #[arg(long, global = true, value_name = "ORDER", requires = "replay", long_help = REPLAY_ORDER)]
    pub(crate) replay_order: Option<ReplayOrder>,

    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Tell more on stderr: -v calls, -vv details, -vvv everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The folder to work in.
    pub(crate) fn root(&self) -> &Path {
        self.root.first().map_or(Path::new("."), PathBuf::as_path)
    }

    /// All folders the tools may use.
    pub(crate) fn roots(&self) -> Vec<&Path> {
        let further = self.root.iter().skip(1).map(PathBuf::as_path);
        std::iter::once(self.root()).chain(further).collect()
    }
}

/// How rules are written; the operators stand in README.md and with `Rule` too.
macro_rules! rules {
    ($first_line:literal) => {
        concat!(
            $first_line,
            "\n\n\
A rule is a tool, a glob, `effect:write` or `source:mcp`, with conditions in
parentheses if need be. `bash(git *)` is about the first argument; others are named:
  name: GLOB           fits a glob; with a / in it, * stays within one folder
  name = VALUE         is exactly this
  name ^= PREFIX       begins with this
  name ~= REGEX        holds a match of this regular expression
  name in LOW..HIGH    is a number between the two, which are included
  name beneath FOLDER  is a path in this folder or below
Several conditions, with commas between them, must all hold."
        )
    };
}

const ALLOW: &str = rules!(
    "Allow calls. A tool goes by its bare name here, without the prefix it is offered with."
);
const DENY: &str = rules!(
    "Deny calls; denying beats allowing. A tool goes by its bare name or the one it is offered by."
);

const REPLAY: &str = "Take the tools and their answers from a file --record made. No server is reached, no \
program started, no file touched. Policy, approval, validation and limits hold as ever; a \
call that was not recorded fails.";
const REPLAY_ORDER: &str = "Which recorded call answers one that is made [default: next]
  next       the next one of the same tool with equal arguments
  strict     the very next one of the whole file, which must be equal
  arguments  as next, and the last answer stays: calls can be repeated";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a project: its configuration, a sample, and schemas for your editor
    #[command(after_help = project::INIT_HELP)]
    Init,
    /// Add a server, an API or a tool set to the project
    #[command(subcommand, after_help = examples::ADD)]
    Add(Add),
    /// Make tools of a description of an API
    #[command(subcommand, after_help = examples::IMPORT)]
    Import(Import),
    /// List the tools there are
    Tools(Tools),
    /// Show all that is known about a tool
    #[command(after_help = examples::SHOW)]
    Show {
        /// The tool.
        name: String,
    },
    /// Call a tool
    Call(Call),
    /// Make many calls in parallel; the replies come in call order
    Batch(Batch),
    /// Explain the tools: what they are for, how they are called, what they return
    Guide(Guide),
    /// Ask a model, which has the tools to find and do things with
    Ask(Ask),
    /// List and show what was asked and answered in this project
    Conversations(Conversations),
    /// Declare the tools to a model, in the format of its provider
    Declare(Declare),
    /// Read a model's answer: which calls it makes
    Parse(Parse),
    /// Print the prompt that asks a model for calls as text
    Prompt(Prompt),
    /// Check the configuration and the tools
    #[command(after_help = examples::CHECK)]
    Check {
        /// Treat every finding as an error.
        #[arg(long)]
        strict: bool,
        /// Use from now on what was made while programs ran in the sandbox.
        #[arg(long)]
        accept: bool,
    },
    /// Try every server, secret, program and API, and say what to do
    #[command(after_help = examples::DOCTOR)]
    Doctor,
    /// Serve the tools to MCP clients
    Serve(Serve),
    /// Show the record of calls: what was called, by whom, and how it went
    Log(Log),
    /// List the tool sets and agents, and what they come to
    #[command(after_help = examples::SETS)]
    Sets,
    /// List the upstream MCP servers and how they are doing
    Servers(Servers),
    /// List, show and approve what is pinned of other people's tools
    Pins(Pins),
    /// List and revoke what you approved for this project
    Approvals(Approvals),
    /// Show or write the settings that make an MCP client use this program
    Connect(Connect),
    /// Print the JSON Schema of a file you write, for your editor
    #[command(after_help = examples::SCHEMA)]
    Schema {
        /// The file, there or not, or the name of its sort [default: list the sorts]
        file: Option<String>,
    },
    /// Print the manual page of the program, or of a command
    #[command(after_help = examples::MAN)]
    Man {
        /// The command, in as many words as it has [default: the program itself]
        command: Vec<String>,
    },
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith guide
  toolsmith guide read edit --examples cli
  toolsmith guide --category search --tokens 2000
  toolsmith guide --format html > guide.html

What tool_descriptions.yaml and tool_examples.yaml in the root say lies over what the
tools say of themselves.")]
pub(crate) struct Guide {
    /// The tools to explain [default: all of them]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// Only tools of this category.
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,

    /// How it is written; --json is the same as json.
    #[arg(long, value_enum, default_value = "markdown", value_name = "FORMAT")]
    pub(crate) format: GuideForm,

    /// How examples are written.
    #[arg(long, value_enum, default_value = "python", value_name = "FORM")]
    pub(crate) examples: ExampleForm,

    /// How many bytes Markdown may have [default: 50000]
    #[arg(long, value_name = "N", conflicts_with = "tokens")]
    pub(crate) bytes: Option<usize>,

    /// How many tokens Markdown may have, as they are estimated.
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<usize>,

    /// Write Markdown by this minijinja template.
    #[arg(long, value_name = "FILE")]
    pub(crate) template: Option<PathBuf>,

    /// Show how far the documentation of each tool is instead.
    #[arg(long)]
    pub(crate) coverage: bool,
}

/// Which recorded call answers one that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayOrder {
    Next,
    Strict,
    Arguments,
}

impl From<ReplayOrder> for toolsmith_runtime::tape::ReplayOrder {
    fn from(order: ReplayOrder) -> Self {
        match order {
            ReplayOrder::Next => Self::Next,
            ReplayOrder::Strict => Self::Strict,
            ReplayOrder::Arguments => Self::Arguments,
        }
    }
}

/// How a guide is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuideForm {
    Markdown,
    Json,
    Html,
}

/// How examples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExampleForm {
    Python,
    Json,
    Cli,
}

impl From<ExampleForm> for toolsmith_runtime::guide::ExampleForm {
    fn from(form: ExampleForm) -> Self {
        match form {
            ExampleForm::Python => Self::Python,
            ExampleForm::Json => Self::Json,
            ExampleForm::Cli => Self::CommandLine,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples::SERVERS)]
pub(crate) struct Servers {
    /// Log in to a server that asks for OAuth, in a browser.
    #[arg(long, value_name = "NAME")]
    pub(crate) login: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = examples::TOOLS)]
pub(crate) struct Tools {
    /// Only tools from this sort of source: builtin, native, rest or mcp.
    #[arg(long, value_name = "SOURCE", value_parser = ["builtin", "native", "rest", "mcp"])]
    pub(crate) source: Option<String>,

    /// Only tools of this category.
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,

    /// List the tools that are not used because others have their names.
    #[arg(long)]
    pub(crate) shadowed: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::CALL)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) name: String,

    /// The arguments.
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) pairs: Vec<OsString>,

    /// All arguments at once: JSON, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub(crate) args: Option<OsString>,

    /// The shape of the reply.
    #[arg(long = "as", value_name = "SHAPE")]
    pub(crate) shape: Option<Shape>,

    /// Tell what would happen and which rule decides; run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::BATCH)]
pub(crate) struct Batch {
    /// The file with the calls; - for standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// The shape of each reply.
    #[arg(long = "as", value_name = "SHAPE")]
    pub(crate) shape: Option<Shape>,

    /// Make one call after the other.
    #[arg(long)]
    pub(crate) sequential: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith serve --stdio                    for a client that starts this program
  toolsmith serve                            over HTTP on 127.0.0.1:8765, with a token
  toolsmith serve --http 127.0.0.1:9000
  toolsmith --server git='uvx mcp-server-git' serve --stdio

Calls that must be asked for are asked for through the client, where it can show
a form, and refused where it cannot; --allow, --mode and --yes settle them here.")]
pub(crate) struct Serve {
    /// Speak MCP on standard input and output.
    #[arg(long, conflicts_with_all = ["http", "no_auth", "allow_host", "allow_origin", "token_file"])]
    pub(crate) stdio: bool,

    /// Speak MCP over HTTP at this address.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = toolsmith_mcp::server::http::ADDRESS)]
    pub(crate) http: SocketAddr,

    /// Let everybody in who can reach the address.
    #[arg(long, conflicts_with = "token_file")]
    pub(crate) no_auth: bool,

    /// The file the token is kept in [default: token in the user's state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Take requests for this host too, such as tools.example or tools.example:8443.
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Take requests from web pages of this origin too, such as https://app.example.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,

    /// How much of the descriptions clients are sent [default: the configuration's]
    #[arg(long, value_name = "brief|full", value_parser = detail)]
    pub(crate) descriptions: Option<Detail>,
}

fn detail(text: &str) -> Result<Detail, String> {
    match text {
        "brief" => Ok(Detail::Brief),
        "full" => Ok(Detail::Full),
        _ => Err("write brief or full".to_owned()),
    }
}

/// The shapes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// Everything.
    Outcome,
    /// success, llm_content, display_content, error, metadata
    Result,
    /// success, value, error, error_type, message, instruction
    Envelope,
    /// tool_name, output, error
    Message,
    /// content, structuredContent, isError
    Mcp,
}

fn allow(text: &str) -> Result<Rule, String> {
    Rule::parse(Verdict::Allow, text).map_err(|error| error.to_string())
}

fn deny(text: &str) -> Result<Rule, String> {
    Rule::parse(Verdict::Deny, text).map_err(|error| error.to_string())
}

fn time(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        // Some programs take it for no limit at all, others for no time at all.
        Ok(Duration::ZERO) => Err("a time limit is longer than nothing".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}
