//! Looks up what a server's description refers to, right before it is started.
//!
//! The caller hands the environment over as a function; files are read beneath the
//! root it names. What comes out is in types that do not show themselves.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::http::{check_header_value, check_url};
use super::template::Part;
use super::{HttpError, Origin, Place, Protocol, ServerEntry, ServerName, Template, Transport};

/// How large a file with a secret may be.
const MOST: u64 = 64 << 10;

/// A server with everything known that starting it takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResolvedServer {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: ResolvedTransport,
    /// The time limit of its calls.
    pub timeout: Option<Duration>,
    /// Which generation of the protocol it is spoken to in.
    pub protocol: Protocol,
    /// What its references stand for, each by itself.
    pub secrets: Vec<SecretString>,
}

/// How a server is reached, with all references looked up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ResolvedTransport {
    /// A program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<SecretString>,
        /// Where it runs, as it is written or made absolute beneath the root.
        cwd: PathBuf,
        /// The variables it is given: those passed through, then its own.
        env: Vec<(String, SecretString)>,
    },
    /// A server that runs by itself.
    Http {
        /// Where; a query may hold a secret.
        url: SecretString,
        /// The headers of every request, the key's among them.
        headers: Vec<(String, SecretString)>,
    },
}

/// What a server refers to and is not there.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: server `{server}`: {field}: {kind}")]
#[non_exhaustive]
pub struct ResolveError {
    /// The server.
    pub server: ServerName,
    /// Where the reference stands.
    pub origin: Origin,
    /// The field it stands in, such as `env.TOKEN`.
    pub field: String,
    /// What is wrong.
    #[source]
    pub kind: Box<ResolveErrorKind>,
}

/// What is wrong with a reference.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveErrorKind {
    /// A variable that is not set.
    #[error("the environment variable `{0}` is not set")]
    Variable(String),
    /// A file that cannot be read.
    #[error("the file {path:?} cannot be read: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Not what a header or URL may be.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// A NUL character, which no argument or variable can hold.
    #[error("what it stands for holds a NUL character")]
    Nul,
    /// No program to start.
    #[error("what it stands for is empty")]
    Empty,
}

impl ServerEntry {
    /// Looks up every reference. `lookup` answers for environment variables; relative
    /// files and folders are beneath `root`.
    pub fn resolve(
        &self,
        lookup: &dyn Fn(&str) -> Option<String>,
        root: &Path,
    ) -> Result<ResolvedServer, ResolveError> {
        let referred = RefCell::new(Vec::new());
        let filled = |field: &str, template: &Template| {
            fill(template, lookup, root, &referred)
                .map_err(|kind| self.error(field, template.place(), kind))
        };
        let transport = match &self.transport {
            Transport::Stdio { command, args, cwd } => {
                let program = filled("command", command)?;
                if program.trim().is_empty() {
                    return Err(self.error("command", command.place(), ResolveErrorKind::Empty));
                }
                let mut secrets = Vec::new();
                for argument in args {
                    secrets.push(SecretString::from(filled("args", argument)?));
                }
                let mut env = Vec::new();
                for name in &self.env_passthrough {
                    // What is not set here is not set there.
                    if let Some(value) = lookup(name).filter(|_| !self.env.contains_key(name)) {
                        env.push((name.clone(), SecretString::from(value)));
                    }
                }
                for (name, value) in &self.env {
                    let value = filled(&format!("env.{name}"), value)?;
                    env.push((name.clone(), SecretString::from(value)));
                }
                ResolvedTransport::Stdio {
                    command: program,
                    args: secrets,
                    cwd: cwd
                        .as_ref()
                        .map_or_else(|| root.to_owned(), |cwd| root.join(cwd)),
                    env,
                }
            }
            Transport::Http { url, headers } => {
                let address = filled("url", url)?;
                check_url(&address).map_err(|kind| self.error("url", url.place(), kind.into()))?;
                let key = self.api_key.as_ref();
                let key = key.map(|key| (&key.header, &key.value));
                let mut resolved = Vec::new();
                for (name, value) in headers.iter().chain(key) {
                    let field = format!("headers.{name}");
                    let secret = SecretString::from(filled(&field, value)?);
                    check_header_value(secret.expose_secret())
                        .map_err(|kind| self.error(&field, value.place(), kind.into()))?;
                    resolved.push((name.clone(), secret));
                }
                ResolvedTransport::Http {
                    url: address.into(),
                    headers: resolved,
                }
            }
        };
        Ok(ResolvedServer {
            name: self.name.clone(),
            transport,
            timeout: self.timeout,
            protocol: self.protocol,
            secrets: referred.into_inner(),
        })
    }

    fn error(&self, field: &str, place: Place, kind: ResolveErrorKind) -> ResolveError {
        let mut origin = self.origin.clone();
        if place.line > 0 {
            origin.place = place;
        }
        ResolveError {
            server: self.name.clone(),
            origin,
            field: field.to_owned(),
            kind: Box::new(kind),
        }
    }
}

fn fill(
    template: &Template,
    lookup: &dyn Fn(&str) -> Option<String>,
    root: &Path,
    referred: &RefCell<Vec<SecretString>>,
) -> Result<String, ResolveErrorKind> {
    let refer = |value: &str| referred.borrow_mut().push(SecretString::from(value));
    let mut text = String::new();
    for part in template.parts() {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Variable { name, default } => {
                // As in a shell, `:-` stands in for what is empty too.
                let value = match (lookup(name), default) {
                    (Some(value), Some(default)) if value.is_empty() => default.clone(),
                    (Some(value), _) => value,
                    (None, Some(default)) => default.clone(),
                    (None, None) => return Err(ResolveErrorKind::Variable(name.clone())),
                };
                refer(&value);
                text.push_str(&value);
            }
            Part::File(path) => {
                let path = root.join(path);
                let content = read_secret(&path);
                let content = content.map_err(|error| ResolveErrorKind::File { path, error })?;
                // Editors end files with a line feed nobody means.
                let content = content.trim_end_matches(['\r', '\n']);
                refer(content);
                text.push_str(content);
            }
        }
    }
    if text.contains('\0') {
        return Err(ResolveErrorKind::Nul);
    }
    Ok(text)
}

fn read_secret(path: &Path) -> std::io::Result<String> {
    let refused = |why: &str| Err(std::io::Error::other(why.to_owned()));
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return refused("it is no regular file");
    }
    let mut text = String::new();
    File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return refused("it is larger than 64 kB");
    }
    Ok(text)
}
