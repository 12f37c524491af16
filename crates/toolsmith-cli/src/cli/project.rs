//! What is said about a project's files: to begin one, to add to it, to import.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolsmith_core::ToolName;
use toolsmith_manager::servers::ServerName;
use toolsmith_manager::sets::SetName;
use toolsmith_rest::form::HttpMethod;

use super::connect::variable;

pub(super) const INIT_HELP: &str = "Examples:
  toolsmith init                   asks what it needs to know
  toolsmith init --yes             takes what is usual
  toolsmith init --yes --mode plan

What is there already stays as it is.";

/// What can be added.
#[derive(Debug, Subcommand)]
pub(crate) enum Add {
    /// Add an MCP server: tools/mcp/NAME.yaml
    Mcp(AddMcp),
    /// Add a request to an API as a tool: tools/native/NAME.yaml
    Rest(AddRest),
    /// Add tools to a tool set: configs/tool_sets/NAME.yaml
    Set(AddSet),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith add mcp git uvx mcp-server-git
  toolsmith add mcp files -- npx -y @modelcontextprotocol/server-filesystem .
  toolsmith add mcp search https://search.example/mcp --header 'X-Key: ${env:SEARCH_KEY}'

One word is split as a shell would; options of the command stand behind `--`.")]
pub(crate) struct AddMcp {
    /// What the server is called.
    pub(crate) name: ServerName,

    /// The command, or the URL of a server that runs by itself.
    #[arg(required = true, value_name = "COMMAND|URL")]
    pub(crate) what: Vec<String>,

    /// A variable the command is given, such as 'TOKEN=${env:TOKEN}'; again for more.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,

    /// A header of every request, such as 'X-Key: ${env:KEY}'; again for more.
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,

    /// Replace the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith add rest get_user 'https://api.example/users/{id}?fields={fields}'
  toolsmith add rest add_user https://api.example/users --method POST --bearer API_TOKEN
  toolsmith add rest forecast 'https://api.example/v1?city={city}' \\
    --api-key WEATHER_KEY --api-key-query appid

What stands in braces becomes an argument. Keys are named by the environment variable
they are in, and never written down.")]
pub(crate) struct AddRest {
    /// What the tool is called.
    #[arg(value_parser = tool_name)]
    pub(crate) name: ToolName,

    /// Where the request goes; `{name}` stands for an argument.
    pub(crate) url: String,

    /// The method.
    #[arg(long, value_name = "METHOD", default_value = "GET", value_parser = method)]
    pub(crate) method: HttpMethod,

    /// What the tool is for.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// The variable with a token for the header `Authorization`.
    #[arg(long, value_name = "VARIABLE", value_parser = variable, group = "auth")]
    pub(crate) bearer: Option<String>,

    /// The variable with a key.
    #[arg(long, value_name = "VARIABLE", value_parser = variable, group = "auth")]
    pub(crate) api_key: Option<String>,

    /// The header the key goes into [default: X-API-Key]
    #[arg(long, value_name = "NAME", requires = "api_key")]
    pub(crate) api_key_header: Option<String>,

    /// The parameter of the query the key goes into.
    #[arg(
        long,
        value_name = "NAME",
        requires = "api_key",
        conflicts_with = "api_key_header"
    )]
    pub(crate) api_key_query: Option<String>,

    /// The variables with a user name and a password.
    #[arg(long, value_name = "USER:PASSWORD", value_parser = two_variables, group = "auth")]
    pub(crate) basic: Option<(String, String)>,

    /// Replace the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith add set reading read grep 'mcp__git__*'
  toolsmith add set reading find

To a set that is there, what it lacks is added; comments in its file stay.")]
pub(crate) struct AddSet {
    /// What the set is called.
    pub(crate) name: SetName,

    /// Tools, globs and other sets.
    #[arg(required = true, value_name = "TOOL")]
    pub(crate) tools: Vec<String>,

    /// What the set is for.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
}

/// What can be imported.
#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Make a tool of each operation of an OpenAPI document: tools/native/NAME.yaml
    #[command(name = "openapi")]
    OpenApi(ImportOpenApi),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith import openapi petstore.yaml
  toolsmith import openapi https://api.example/openapi.json --name example --dry-run
  toolsmith import openapi big.json --tag issues --path '/repos/**' --exclude-method DELETE

Every operation becomes a tool, or is listed with the reason why not. Keys are read from
variables named after the server they are sent to, such as TOKEN_FOR_API_EXAMPLE, or after
--name, such as EXAMPLE_TOKEN; which goes where is told.")]
pub(crate) struct ImportOpenApi {
    /// The document: a file, - for standard input, or a URL.
    #[arg(value_name = "FILE|URL")]
    pub(crate) document: String,

    /// What the API and its file are called [default: by the document's title]
    #[arg(long, value_name = "NAME", value_parser = file_name)]
    pub(crate) name: Option<String>,

    /// The file to write [default: tools/native/NAME.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// What the names of the tools begin with, such as `petstore_`.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) prefix: Option<String>,

    /// Only operations with this tag; again for more.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Only operations under this path, by glob; again for more.
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,

    /// Only operations with this method; again for more.
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub(crate) method: Vec<HttpMethod>,

    /// No operations with this tag.
    #[arg(long, value_name = "TAG")]
    pub(crate) exclude_tag: Vec<String>,

    /// No operations under this path, by glob.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude_path: Vec<String>,

    /// No operations with this method.
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub(crate) exclude_method: Vec<HttpMethod>,

    /// Where the API is, whatever the document says.
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,

    /// Tell what would be written, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Replace the file if it is there.
    #[arg(long)]
    pub(crate) force: bool,
}

/// The name of a tool of the project's own, which its file has too.
fn tool_name(text: &str) -> Result<ToolName, String> {
    let name = ToolName::new(text).map_err(|error| error.to_string())?;
    match name.is_own_form() {
        true => Ok(name),
        false => Err(
            "a tool's name has lower-case letters, digits and `_`, and begins with a letter"
                .to_owned(),
        ),
    }
}

/// A name that can be a file's.
fn file_name(text: &str) -> Result<String, String> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = (1..=64).contains(&text.len()) && text.chars().all(is_fit) && !text.starts_with('.');
    match fits {
        true => Ok(text.to_owned()),
        false => Err("use up to 64 letters, digits, `_`, `-` and `.`".to_owned()),
    }
}

fn method(text: &str) -> Result<HttpMethod, String> {
    text.to_ascii_uppercase().parse()
}

fn two_variables(text: &str) -> Result<(String, String), String> {
    let (user, password) = text
        .split_once(':')
        .ok_or("write the two variables as USER:PASSWORD")?;
    Ok((variable(user)?, variable(password)?))
}
