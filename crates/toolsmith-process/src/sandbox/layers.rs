//! What was in force when a child ran, in a few words and in full.

use std::fmt;
use std::path::{Path, PathBuf};

use super::demand::Means;
use super::{Findings, Mode, Sandbox, Support};

/// The first version of Landlock's interface that holds back signals and abstract sockets.
const SCOPES: u32 = 6;

/// How programs tell that a file was refused to them.
const REFUSED_FILES: [&str; 6] = [
    "Permission denied",
    "Read-only file system",
    "Operation not permitted",
    "EACCES",
    "EROFS",
    "EPERM",
];
/// How programs tell that they were refused a connection or a name.
const REFUSED_CONNECTIONS: [&str; 9] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "EAI_AGAIN",
    "getaddrinfo",
    "Couldn't connect",
    "Failed to connect",
    "Failed to establish a new connection",
    "socket: Operation not permitted",
];

/// The layers in force around a child, and what they do not cover.
///
/// Its short form names the layers: `landlock7+seccomp+userns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    mode: Mode,
    network: bool,
    landlock: Option<u32>,
    namespaces: bool,
    absent: Vec<PathBuf>,
    notes: Vec<String>,
}

impl Layers {
    pub(crate) fn new(
        sandbox: &Sandbox,
        support: &Support,
        means: Means,
        findings: &Findings,
    ) -> Self {
        let mut notes = Vec::new();
        if let Err(why) = &support.namespaces {
            notes.push(format!("no namespaces: {why}"));
            missing_namespaces(sandbox, means, &mut notes);
        } else if !findings.has_own_proc {
            notes.push("the processes of the whole machine are seen in /proc".to_owned());
        }
        if let Err(why) = &support.landlock {
            notes.push(format!("no landlock: {why}"));
        }
        let writable = sandbox.writable_folders();
        for folder in findings.missing_writable.iter(&writable) {
            notes.push(format!(
                "{folder:?} is not writable: it does not exist or cannot be reached"
            ));
        }
        let absent: Vec<PathBuf> = findings
            .missing_protected
            .iter(&sandbox.protected)
            .map(Path::to_path_buf)
            .collect();
        if !absent.is_empty() {
            let (verb, pronoun) = match absent.len() {
                1 => ("is", "it does"),
                _ => ("are", "they do"),
            };
            notes.push(format!(
                "{} {verb} not protected: {pronoun} not exist, and may be created",
                listed(&absent)
            ));
        }
        for path in findings.linked_protected.iter(&sandbox.protected) {
            notes.push(format!(
                "{path:?} is a link: what it leads to is protected, the link may be replaced"
            ));
        }
        Self {
            mode: sandbox.mode,
            network: sandbox.network,
            landlock: (means.landlock > 0).then_some(means.landlock),
            namespaces: means.namespaces,
            absent,
            notes,
        }
    }

    /// Returns the mode in force.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Tells whether the child may use the network.
    pub fn has_network(&self) -> bool {
        self.network
    }

    /// Returns the protected paths that did not exist and exist now.
    ///
    /// No layer keeps a path from being created, so whoever protects one looks afterwards.
    /// Relative paths are not looked at.
    pub fn appeared(&self) -> Vec<&Path> {
        let absent = self.absent.iter().map(PathBuf::as_path);
        let exists = |path: &&Path| path.is_absolute() && path.symlink_metadata().is_ok();
        absent.filter(exists).collect()
    }

    /// Says that the sandbox may be the reason, if a text tells of something refused.
    ///
    /// For what a model reads: a refusal by the sandbox looks like wrong permissions, which
    /// it would try to put right.
    pub fn hint(&self, text: &str) -> Option<String> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let writes = has(&REFUSED_FILES);
        let connections = !self.network && has(&REFUSED_CONNECTIONS);
        if !writes && !connections {
            return None;
        }
        let mut hint = format!("this may be the sandbox ({}", self.mode);
        hint.push_str(if self.network {
            "): "
        } else {
            ", network off): "
        });
        let mut parts = Vec::new();
        if writes {
            parts.push(match self.mode {
                Mode::ReadOnly => "nothing may be written but temporary files",
                Mode::WorkspaceWrite => {
                    "only the workspace and temporary files may be written, and some paths are \
                     protected or hidden"
                }
                Mode::Full => "some paths are hidden, and some system calls are not allowed",
            });
        }
        if connections {
            parts.push("the network cannot be reached");
        }
        hint.push_str(&parts.join("; "));
        hint.push_str("; changing permissions does not help");
        Some(hint)
    }

    /// Returns what the layers do not cover, one sentence each, without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn missing_namespaces(sandbox: &Sandbox, means: Means, notes: &mut Vec<String>) {
    if !sandbox.protected.is_empty() && sandbox.mode != Mode::ReadOnly {
        let verb = if sandbox.protected.len() == 1 {
            "is"
        } else {
            "are"
        };
        notes.push(format!(
            "{} {verb} not write-protected: no mount namespace",
            listed(&sandbox.protected)
        ));
    }
    if sandbox.mode != Mode::Full {
        notes.push(
            "modes, owners and times of files outside the writable folders can be changed"
                .to_owned(),
        );
    }
    if !sandbox.hidden.is_empty() {
        // Landlock grants files; to connect to a socket takes none of its rights.
        notes.push(
            "folders above hidden paths cannot be listed, and hidden sockets can be connected to"
                .to_owned(),
        );
    }
    if means.landlock < SCOPES {
        notes.push(
            "signals to other processes of this user and their abstract sockets are not held back"
                .to_owned(),
        );
    }
    if sandbox.limits.processes.is_some() {
        notes.push("the number of processes is not limited".to_owned());
    }
}

/// Names paths, the first few of them.
fn listed(paths: &[PathBuf]) -> String {
    const FEW: usize = 3;
    let mut names: Vec<_> = paths
        .iter()
        .take(FEW)
        .map(|path| format!("{path:?}"))
        .collect();
    if paths.len() > FEW {
        names.push(format!("and {} more", paths.len() - FEW));
    }
    names.join(", ")
}

impl fmt::Display for Layers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(version) = self.landlock {
            write!(formatter, "landlock{version}+")?;
        }
        formatter.write_str("seccomp")?;
        if self.namespaces {
            formatter.write_str("+userns")?;
        }
        Ok(())
    }
}
