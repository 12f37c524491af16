//! From descriptions of servers to upstreams that can be reached.
//!
//! References are looked up here, once, in the environment the host hands over.
//! What they stand for becomes part of what is sent, and of what is redacted in
//! whatever tools answer.

use std::ffi::OsString;
use std::time::Duration;

use secrecy::ExposeSecret;
use toolsmith_core::reference::Lookup as _;
use toolsmith_mcp::client::{HttpUpstream, Protocol, Questions, Reach, UpstreamOptions};
use toolsmith_process::{Launch, SAFE_VARIABLES, inherited};

use crate::references::References;
use crate::servers::{self, ResolvedServer, ResolvedTransport, ServerEntry, Template, Transport};

/// How long one call of an upstream may take, unless it is said.
const CALL_TIME: Duration = Duration::from_secs(60);

/// Tells a child which files it was started for, one a line. A file that names this very
/// program as a server would otherwise have it started by itself, without end.
const STARTED_FOR: &str = "TOOLSMITH_STARTED_FOR";

/// The servers of a configuration, ready to be reached.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Prepared {
    /// Those that can be.
    pub upstreams: Vec<UpstreamOptions>,
    /// Those that cannot be, and why.
    pub unready: Vec<Unready>,
    pub(crate) secrets: Secrets,
}

/// A server that cannot even be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unready {
    /// Its name.
    pub name: String,
    /// Why not.
    pub error: String,
}

/// Values that reach nobody but the server they are for.
#[derive(Clone, Default)]
pub(crate) struct Secrets(pub(crate) Vec<String>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

/// Looks up what the descriptions refer to. Of the environment a child gets what
/// programs cannot do without, and what its description names.
pub(crate) fn prepare(
    entries: &[ServerEntry],
    references: &References,
    questions: Questions,
) -> Prepared {
    let mut prepared = Prepared::default();
    for entry in entries.iter().filter(|entry| !entry.disabled) {
        let made = entry
            .resolve(references)
            .map_err(|error| error.to_string())
            .and_then(|resolved| {
                let files = started_for(entry, references)?;
                options(entry, resolved, references.environment(), files, questions)
            });
        match made {
            Ok((upstream, secrets)) => {
                prepared.upstreams.push(upstream);
                prepared.secrets.0.extend(secrets);
            }
            Err(error) => prepared.unready.push(Unready {
                name: entry.name.as_str().to_owned(),
                error,
            }),
        }
    }
    prepared
}

/// The files that a child is started for: those we were started for, and the one that names
/// it. None for what the command line names, which no child is given.
fn started_for(entry: &ServerEntry, references: &References) -> Result<Option<String>, String> {
    let Transport::Stdio { .. } = &entry.transport else {
        return Ok(None);
    };
    let started_for = references.variable(STARTED_FOR);
    if entry.origin.file.is_empty() {
        return Ok(started_for);
    }
    let Ok(file) = std::path::absolute(&entry.origin.file) else {
        return Ok(started_for);
    };
    let file = file.display().to_string();
    let mut files = started_for.unwrap_or_default();
    if files.lines().any(|each| each == file) {
        let (origin, name) = (&entry.origin, &entry.name);
        return Err(format!(
            "{origin}: server `{name}`: not started, for a server of the same file started this \
             program, and that would have no end"
        ));
    }
    files.push_str(&file);
    files.push('\n');
    Ok(Some(files))
}

fn options(
    entry: &ServerEntry,
    resolved: ResolvedServer,
    environment: &[(OsString, OsString)],
    started_for: Option<String>,
    questions: Questions,
) -> Result<(UpstreamOptions, Vec<String>), String> {
    let told = |secret: &secrecy::SecretString| secret.expose_secret().to_owned();
    let mut secrets: Vec<String> = resolved.secrets.iter().map(told).collect();
    let reach = match resolved.transport {
        ResolvedTransport::Stdio {
            command,
            args,
            cwd,
            env,
        } => {
            for (name, value) in &env {
                if entry.env.get(name).is_none_or(Template::has_references) {
                    secrets.push(value.expose_secret().to_owned());
                }
            }
            if let Transport::Stdio { args: written, .. } = &entry.transport {
                let referred = args.iter().zip(written);
                let referred = referred.filter(|(_, template)| template.has_references());
                secrets.extend(referred.map(|(value, _)| value.expose_secret().to_owned()));
            }
            let own = env
                .iter()
                .map(|(name, value)| (name.as_str(), value.expose_secret()));
            let launch = Launch::new(command)
                .arguments(args.iter().map(|argument| argument.expose_secret()))
                .current_dir(cwd)
                .environment(inherited(SAFE_VARIABLES, environment.iter().cloned()))
                .environment(started_for.map(|files| (STARTED_FOR, files)))
                .environment(own);
            Reach::Child(launch)
        }
        ResolvedTransport::Http { url, headers } => {
            let mut http = HttpUpstream::new(url.expose_secret());
            for (name, value) in headers {
                let value = value.expose_secret();
                secrets.push(servers::bare(value).to_owned());
                http = http.with_header(name, value);
            }
            Reach::Http(http)
        }
    };
    let filter = entry.tool_filter().map_err(|error| error.to_string())?;
    let protocol = match resolved.protocol {
        servers::Protocol::Auto => Protocol::Auto,
        servers::Protocol::Stateless => Protocol::Stateless,
        servers::Protocol::Legacy => Protocol::Handshake,
    };
    let upstream = UpstreamOptions::new(entry.name.as_str(), reach)
        .protocol(protocol)
        .call_time(Some(resolved.timeout.unwrap_or(CALL_TIME)))
        .admits(move |name| filter.admits(name))
        .questions(questions);
    Ok((upstream, secrets))
}
