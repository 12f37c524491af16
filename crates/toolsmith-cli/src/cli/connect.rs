//! What is said to connect a client.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolsmith_manager::servers::{ServerName, check_url};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith connect claude-code                     show the entry and the file it goes into
  toolsmith connect cursor --scope project --write  write it into .cursor/mcp.json
  toolsmith connect codex --http --token-env TOOLSMITH_TOKEN --write
  toolsmith connect vscode --remove

A file is backed up before it is changed, and everything else in it stays as it is.")]
pub(crate) struct Connect {
    /// The client.
    pub(crate) client: Client,

    /// Write the entry into the client's file.
    #[arg(long)]
    pub(crate) write: bool,

    /// Take the entry out of the client's file.
    #[arg(long, conflicts_with_all = ["write", "http"])]
    pub(crate) remove: bool,

    /// Replace another entry of the same name.
    #[arg(long, requires = "write")]
    pub(crate) force: bool,

    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = "toolsmith")]
    pub(crate) name: ServerName,

    /// For you everywhere, or for everybody in this folder [default: user]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<Scope>,

    /// Reach a server that runs by itself, instead of starting one
    /// [default: http://127.0.0.1:8765/mcp]
    #[arg(long, value_name = "URL", num_args = 0..=1, value_parser = url)]
    #[arg(default_missing_value = "http://127.0.0.1:8765/mcp")]
    pub(crate) http: Option<String>,

    /// The environment variable the client takes the token from.
    #[arg(long, value_name = "NAME", requires = "http", value_parser = variable)]
    pub(crate) token_env: Option<String>,

    /// A file with the token, which is copied into the client's file.
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        conflicts_with = "token_env"
    )]
    pub(crate) token_file: Option<PathBuf>,
}

/// The MCP clients whose files are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Gemini,
    Zed,
    #[value(name = "opencode")]
    OpenCode,
}

/// Whom an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// You, in every folder.
    User,
    /// Everybody, in this folder.
    Project,
}

fn url(text: &str) -> Result<String, String> {
    check_url(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

pub(super) fn variable(text: &str) -> Result<String, String> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins_well || !text.chars().all(is_fit) {
        return Err("a variable has letters, digits and `_`, and begins with no digit".to_owned());
    }
    Ok(text.to_owned())
}
