//! A server in one word of the command line: `NAME=COMMAND` or `NAME=URL`.

use std::str::FromStr;

use super::entry::{check_command, check_template_url};
use super::{NameError, ServerEntry, Template, TemplateError, Transport};

/// Why a text describes no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerWordError {
    /// Without a name.
    #[error("a server is given as NAME=COMMAND or NAME=URL, such as `git=uvx mcp-server-git`")]
    NoName,
    /// The name will not do.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Nothing behind the `=`.
    #[error("there is no command behind the `=`; write for example `git=uvx mcp-server-git`")]
    Empty,
    /// A quote without its end.
    #[error("the command has a quote that does not end")]
    Quote,
    /// A reference that is none.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A URL that cannot be used.
    #[error("{0}")]
    Url(String),
}

/// Reads `NAME=COMMAND` or `NAME=URL`. A command is split into words as a POSIX shell
/// would, with quotes and backslashes; no shell ever sees it.
impl FromStr for ServerEntry {
    type Err = ServerWordError;

    fn from_str(text: &str) -> Result<Self, ServerWordError> {
        let (name, what) = text.split_once('=').ok_or(ServerWordError::NoName)?;
        let name = match name.trim() {
            "" => return Err(ServerWordError::NoName),
            name => name.parse()?,
        };
        let what = what.trim();
        if what.starts_with("http://") || what.starts_with("https://") {
            let url: Template = what.parse()?;
            check_template_url(&url).map_err(|error| ServerWordError::Url(error.to_string()))?;
            let headers = Default::default();
            return Ok(Self::new(name, Transport::Http { url, headers }));
        }
        let mut words = split(what)?.into_iter();
        let command = words.next().ok_or(ServerWordError::Empty)?;
        check_command(&command).map_err(|_| ServerWordError::Empty)?;
        let (args, cwd) = (words.collect(), None);
        Ok(Self::new(name, Transport::Stdio { command, args, cwd }))
    }
}

/// Splits a command into its words.
pub(super) fn split(text: &str) -> Result<Vec<Template>, ServerWordError> {
    let words = shell_words::split(text).map_err(|_| ServerWordError::Quote)?;
    let templates = words.iter().map(|word| word.parse());
    Ok(templates.collect::<Result<_, TemplateError>>()?)
}
