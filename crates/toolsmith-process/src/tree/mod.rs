//! Everything that one launch started, wherever it went.
//!
//! On Linux (`linux.rs`, reading `/proc` by `proc.rs`) a process belongs to the tree when
//! it is in the child's session, carries the launch's mark in its environment, descends
//! from one that does, or was adopted by this process and can be nobody else's. Elsewhere
//! (`other.rs`) the tree is the child's group.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod other;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod proc;

use std::io;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{Tree, kill_descendants};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use other::Tree;

/// The variable that each child gets, with a value of its own, so that its descendants are found.
pub const MARK: &str = "TOOLSMITH_LAUNCH";

/// Whether the child's exit was taken, and its number may be another's by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// The number is the child's, dead or alive.
    Unreaped,
    /// The number may be used anew.
    Reaped,
}

/// What an attempt to kill the tree came to.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    pub(crate) killed: Vec<u32>,
    pub(crate) survived: Vec<u32>,
}

/// Makes this process the one that adopts orphans among its descendants.
///
/// For a program to call at its start, on Linux; elsewhere it does nothing. Without it a
/// descendant that left its session, its parents and its environment behind is not found.
///
/// With it, a process in a session of its own that this program started by other means
/// than a [`Launch`](crate::Launch) is taken for such a descendant when a launch ends.
///
/// # Errors
/// When the system knows no such thing (Linux before 3.4).
pub fn become_subreaper() -> io::Result<()> {
    Tree::adopt_orphans()
}

/// Returns the number as the system takes it; a number that is none names no process.
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}
