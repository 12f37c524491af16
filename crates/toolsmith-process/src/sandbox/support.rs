//! What this machine can do to confine a child.
//!
//! Landlock and seccomp are asked for by a system call. Namespaces are tried out in a
//! helper process, since many systems offer them and refuse to do anything in them.

use std::sync::OnceLock;

use crate::helper;

/// The layers of a sandbox that this machine has, and why it lacks the others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Support {
    /// The version of Landlock's interface, or why there is none.
    pub landlock: Result<u32, String>,
    /// Whether system calls can be filtered, or why they cannot.
    pub seccomp: Result<(), String>,
    /// Whether users, mounts, processes and the network can be set apart, or why they cannot.
    pub namespaces: Result<(), String>,
}

impl Support {
    /// Finds out what this machine can do, once; what could not be tried is tried again.
    ///
    /// Blocks for as long as a process takes to start. While no helper is known (see
    /// [`helper`](crate::helper)), namespaces count as missing for that reason.
    pub fn of_this_machine() -> Self {
        static FOUND: OnceLock<Support> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return found.clone();
        }
        let Some(program) = helper::program() else {
            let why = "no helper is known to try them with".to_owned();
            return Self::ask(Err(why));
        };
        match helper::try_namespaces(&program) {
            Ok(tried) => FOUND.get_or_init(|| Self::ask(tried)).clone(),
            // A machine that is out of something for a moment is not judged by that for good.
            Err(why) => Self::ask(Err(why)),
        }
    }

    /// The same machine with another version of Landlock's interface.
    #[must_use]
    pub fn with_landlock(mut self, version: u32) -> Self {
        self.landlock = Ok(version);
        self
    }

    /// The same machine without Landlock.
    #[must_use]
    pub fn without_landlock(mut self, why: impl Into<String>) -> Self {
        self.landlock = Err(why.into());
        self
    }

    /// The same machine without filters for system calls.
    #[must_use]
    pub fn without_seccomp(mut self, why: impl Into<String>) -> Self {
        self.seccomp = Err(why.into());
        self
    }

    /// The same machine without namespaces.
    #[must_use]
    pub fn without_namespaces(mut self, why: impl Into<String>) -> Self {
        self.namespaces = Err(why.into());
        self
    }

    fn ask(namespaces: Result<(), String>) -> Self {
        Self {
            landlock: helper::landlock_version(),
            seccomp: helper::seccomp_support(),
            namespaces,
        }
    }
}
