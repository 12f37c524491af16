//! Looks up what a server's description refers to, right before it is started.
//!
//! What comes out is in types that do not show themselves.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use toolsmith_core::reference::{FillError, Lookup as _};

use super::http::{check_header_value, check_url};
use super::{HttpError, Origin, Place, Protocol, ServerEntry, ServerName, Template, Transport};
use crate::references::References;

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
    /// What is referred to is not there.
    #[error(transparent)]
    Reference(#[from] FillError),
    /// Not what a header or URL may be.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// No program to start.
    #[error("what it stands for is empty")]
    Empty,
}

impl ServerEntry {
    /// Looks up every reference.
    pub fn resolve(&self, references: &References) -> Result<ResolvedServer, ResolveError> {
        let root = references.root();
        let referred = RefCell::new(Vec::new());
        let filled = |field: &str, template: &Template| {
            let filled = template
                .fill(references)
                .map_err(|kind| self.error(field, template.place(), kind.into()))?;
            let secrets = filled.secrets.into_iter().map(SecretString::from);
            referred.borrow_mut().extend(secrets);
            Ok::<_, ResolveError>(filled.text)
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
                    if let Some(value) = references
                        .variable(name)
                        .filter(|_| !self.env.contains_key(name))
                    {
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
