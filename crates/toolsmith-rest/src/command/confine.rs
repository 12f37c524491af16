//! What a program is kept within, as its file and the host have it at the time of a call.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use toolsmith_core::{ErrorKind, ToolError};
use toolsmith_process::Sandbox;

use crate::form::{Entry, Network, SandboxSettings};
use crate::make::{Problem, Surroundings};

/// Why a program is refused.
const NO_SANDBOX: &str = "it would run a program, and there is no sandbox to run it in; whoever \
                          wrote the tool can let it run without one by adding `sandbox: none` to \
                          its file";
/// Where temporary files are kept when the environment does not say.
const TEMPORARY: &str = "/tmp";

/// The sandbox of a project, as it is at the moment.
type Host = Arc<dyn Fn() -> Sandbox + Send + Sync>;

/// What one program is kept within.
pub(super) enum Confinement {
    /// Its file says that it runs without.
    Without,
    /// The host's sandbox, with what its file lays over it.
    Within {
        host: Host,
        settings: SandboxSettings,
        root: PathBuf,
        temporary: PathBuf,
    },
    /// Nobody has a sandbox.
    Missing,
}

impl Confinement {
    /// What an entry and the host say about it.
    ///
    /// # Errors
    /// When a writable folder is neither a full path nor one that leads down from the root.
    pub(super) fn of(entry: &Entry, surroundings: &Surroundings) -> Result<Self, Problem> {
        let settings = match &entry.sandbox {
            Some(sandbox) => match sandbox.value.settings() {
                Some(settings) => settings,
                None => return Ok(Self::Without),
            },
            None => SandboxSettings::default(),
        };
        let leads_up = |path: &&PathBuf| path.components().any(|part| part == Component::ParentDir);
        if let Some(path) = settings.writable.iter().find(leads_up) {
            let place = entry.sandbox.as_ref().map(|sandbox| sandbox.place);
            let message = format!(
                "`sandbox.writable` names {path:?}; write a path seen from the root or a full \
                 one, without `..`"
            );
            return Err(Problem::at(place.unwrap_or_default(), message));
        }
        let Some(host) = surroundings.sandbox.clone() else {
            return Ok(Self::Missing);
        };
        let mut variables = surroundings.environment.iter();
        let temporary = variables.find(|(name, _)| name == "TMPDIR");
        Ok(Self::Within {
            host,
            settings,
            root: surroundings.root.clone(),
            temporary: temporary.map_or_else(|| TEMPORARY.into(), |(_, value)| value.into()),
        })
    }

    /// What models and people are told about it.
    pub(super) fn note(&self) -> &'static str {
        match self {
            Self::Without => "It runs a program on this machine, without a sandbox.",
            Self::Within { .. } => "It runs a program on this machine, in a sandbox.",
            Self::Missing => "Every call is refused until its file says `sandbox: none`.",
        }
    }

    /// The sandbox for a call; none where it runs without.
    ///
    /// # Errors
    /// When there is none and one is needed.
    pub(super) fn now(&self) -> Result<Option<Sandbox>, ToolError> {
        let (host, settings, root) = match self {
            Self::Without => return Ok(None),
            Self::Missing => return Err(ToolError::new(ErrorKind::PermissionDenied, NO_SANDBOX)),
            Self::Within {
                host,
                settings,
                root,
                ..
            } => (host, settings, root),
        };
        // Whatever the tools of the project work in, this one works in its folder.
        let mut sandbox = host().writable(root);
        if let Some(mode) = settings.mode {
            sandbox = sandbox.with_mode(mode.into());
        }
        sandbox = match settings.network {
            Some(Network::On) => sandbox.with_network(),
            Some(Network::Off) => sandbox.without_network(),
            None => sandbox,
        };
        let writable = settings.writable.iter();
        Ok(Some(writable.fold(sandbox, |sandbox, path| {
            sandbox.writable(root.join(path))
        })))
    }

    /// The folder beneath which a call has one for its temporary files.
    pub(super) fn temporary(&self) -> &Path {
        match self {
            Self::Within { temporary, .. } => temporary,
            Self::Without | Self::Missing => Path::new(TEMPORARY),
        }
    }
}

/// How a person is told what a program would run in.
pub(super) fn told(sandbox: Option<&Sandbox>) -> String {
    let Some(sandbox) = sandbox else {
        return "run without a sandbox:".to_owned();
    };
    let network = if sandbox.has_network() { "on" } else { "off" };
    format!("run in a sandbox ({}, network {network}):", sandbox.mode())
}
