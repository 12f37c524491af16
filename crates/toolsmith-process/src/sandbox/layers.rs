//! What was in force when a child ran, in a few words and in full.

use std::fmt;

use super::demand::Means;
use super::{Findings, Mode, Sandbox, Support};

/// The first version of Landlock's interface that holds back signals and abstract sockets.
const SCOPES: u32 = 6;

/// The layers in force around a child, and what they do not cover.
///
/// Its short form names the layers: `landlock7+seccomp+userns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    mode: Mode,
    network: bool,
    landlock: Option<u32>,
    namespaces: bool,
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
        for path in findings.missing_protected.iter(&sandbox.protected) {
            notes.push(format!(
                "{path:?} is not protected: it does not exist, and may be created"
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

    /// Returns what the layers do not cover, one sentence each, without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn missing_namespaces(sandbox: &Sandbox, means: Means, notes: &mut Vec<String>) {
    if !sandbox.protected.is_empty() && sandbox.mode != Mode::ReadOnly {
        let paths: Vec<_> = sandbox
            .protected
            .iter()
            .map(|path| format!("{path:?}"))
            .collect();
        let verb = if paths.len() == 1 { "is" } else { "are" };
        notes.push(format!(
            "{} {verb} not write-protected: no mount namespace",
            paths.join(", ")
        ));
    }
    if sandbox.mode != Mode::Full {
        notes.push(
            "modes, owners and times of files outside the writable folders can be changed"
                .to_owned(),
        );
    }
    if !sandbox.hidden.is_empty() {
        notes.push("folders above hidden paths cannot be listed".to_owned());
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
