//! A server as it is described, whichever file it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use toolsmith_core::reference::Filled;
use toolsmith_rest::form::sounds_secret;

use super::http::{HttpError, check_header_name, check_header_value, check_url};
use super::{Place, ServerName, Template};
use crate::pins::PinMode;

/// A server that is described and not started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its name, the prefix of its tools.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// Environment variables it is given.
    pub env: BTreeMap<String, Template>,
    /// Names of variables it is given as they are in our own environment.
    pub env_passthrough: Vec<String>,
    /// A key that is sent in a header.
    pub api_key: Option<ApiKey>,
    /// The time limit of its calls.
    pub timeout: Option<Duration>,
    /// Globs of the tools that are used; empty for all.
    pub allow: Vec<String>,
    /// Globs of the tools that are not used; they beat `allow`.
    pub deny: Vec<String>,
    /// Whether it is left alone.
    pub disabled: bool,
    /// Which generation of the protocol it is spoken to in.
    pub protocol: Protocol,
    /// What happens to its tools where they are not as they were pinned; as with the
    /// other servers unless set.
    pub pins: Option<PinMode>,
    /// Where it is described.
    pub origin: Origin,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A program of ours, spoken to over its standard input and output.
    Stdio {
        /// The program.
        command: Template,
        /// Its arguments.
        args: Vec<Template>,
        /// Where it runs; relative to the root.
        cwd: Option<PathBuf>,
    },
    /// A server that runs by itself.
    Http {
        /// Where.
        url: Template,
        /// Headers of every request, in order of their names.
        headers: BTreeMap<String, Template>,
    },
}

/// A key and the header it is sent in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKey {
    /// The header's name.
    pub header: String,
    /// Its whole value, `Bearer ` included.
    pub value: Template,
}

/// Which generation of the protocol a server is spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// Found out by asking.
    #[default]
    Auto,
    /// Without a session.
    Stateless,
    /// With the handshake and the session of the older versions.
    Legacy,
}

/// Where a server is described.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The file, as it was named; empty for the command line.
    pub file: String,
    /// The place in it.
    pub place: Place,
}

/// `file:line:column`, as much of it as is known.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, Place { line, column }) = (&self.file, self.place);
        match (file.is_empty(), line) {
            (true, _) => f.write_str("--server"),
            (false, 0) => f.write_str(file),
            (false, _) => write!(f, "{file}:{line}:{column}"),
        }
    }
}

impl ServerEntry {
    /// A server of which only the way to reach it is known.
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            transport,
            env: BTreeMap::new(),
            env_passthrough: Vec::new(),
            api_key: None,
            timeout: None,
            allow: Vec::new(),
            deny: Vec::new(),
            disabled: false,
            protocol: Protocol::Auto,
            pins: None,
            origin: Origin::default(),
        }
    }

    /// Where secrets seem to be written out instead of referred to.
    pub fn written_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(key) = &self.api_key
            && !key.value.has_references()
        {
            found.push("mcp_api_key".to_owned());
        }
        if let Transport::Http { headers, .. } = &self.transport {
            let is_written =
                |name: &str, value: &Template| sounds_secret(name) && !value.has_references();
            let written = headers
                .iter()
                .filter(|(name, value)| is_written(name, value));
            found.extend(written.map(|(name, _)| format!("headers.{name}")));
        }
        let written = self.env.iter().filter(|(name, value)| {
            sounds_secret(name) && !value.has_references() && !value.expose_written().is_empty()
        });
        found.extend(written.map(|(name, _)| format!("env.{name}")));
        found
    }
}

/// Why the fields of a server do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EntryError {
    #[error("give `command` or `url`, not both")]
    Both,
    #[error("give `command` for a program, or `url` for a server that runs by itself")]
    Neither,
    #[error("`command` is empty")]
    NoCommand,
    #[error("`{0}` goes with `url`, and this server has a `command`")]
    OnlyHttp(&'static str),
    #[error("`{0}` goes with `command`, and this server has a `url`")]
    OnlyStdio(&'static str),
    #[error("`url`: {0}")]
    Url(HttpError),
    #[error(transparent)]
    Header(#[from] HttpError),
    #[error("header `{0}` is given twice; capitals make no difference")]
    HeaderTwice(String),
    #[error("{0:?} is no name of an environment variable")]
    Variable(String),
}

/// Checks a command.
pub(super) fn check_command(command: &Template) -> Result<(), EntryError> {
    if command.expose_written().trim().is_empty() {
        return Err(EntryError::NoCommand);
    }
    Ok(())
}

/// Checks a URL as far as it is known before its references are looked up.
pub(super) fn check_template_url(url: &Template) -> Result<(), EntryError> {
    match url.plain() {
        Some(plain) => check_url(&plain).map_err(EntryError::Url),
        None => Ok(()),
    }
}

/// Checks headers, and the key that becomes one.
pub(super) fn check_headers(
    headers: &BTreeMap<String, Template>,
    api_key: Option<&ApiKey>,
) -> Result<(), EntryError> {
    let key = api_key.map(|key| (&key.header, &key.value));
    let mut seen = Vec::new();
    for (name, value) in headers.iter().chain(key) {
        check_header_name(name)?;
        for text in value.texts() {
            check_header_value(text)?;
        }
        let folded = name.to_ascii_lowercase();
        if seen.contains(&folded) {
            return Err(EntryError::HeaderTwice(name.clone()));
        }
        seen.push(folded);
    }
    Ok(())
}

/// Checks names of environment variables.
pub(super) fn check_variables<'a>(
    names: impl IntoIterator<Item = &'a String>,
) -> Result<(), EntryError> {
    names.into_iter().try_for_each(|name| check_variable(name))
}

/// Checks the name of an environment variable. Some systems have names such as
/// `ProgramFiles(x86)`.
pub(super) fn check_variable(name: &str) -> Result<(), EntryError> {
    let is_odd = |c: char| c == '=' || c == '$' || c.is_control();
    if name.is_empty() || name.len() > 256 || name.contains(is_odd) {
        return Err(EntryError::Variable(name.chars().take(60).collect()));
    }
    Ok(())
}

/// The secret in a header's value: the word before a token is none, and the token alone is
/// one.
pub(crate) fn bare(value: &str) -> &str {
    let value = value.trim_end();
    value.rsplit(' ').next().unwrap_or(value)
}

/// What must be shown to nobody of a header: what it refers to, or what is written out where
/// its name sounds like a secret.
pub(crate) fn in_header(name: &str, filled: Filled) -> Vec<String> {
    let mut secrets = filled.secrets;
    if secrets.is_empty() && sounds_secret(name) {
        secrets.push(bare(&filled.text).to_owned());
    }
    secrets
}
