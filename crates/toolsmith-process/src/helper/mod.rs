//! The helper: this program started once more, to confine itself and become the child.
//!
//! What confines a process can mostly be done by that process alone, before it runs
//! anything else, and with one thread. So a sandboxed launch starts a helper, hands it an
//! order through a descriptor, and reads from a pipe how it went.
//!
//! ```text
//! host ─ start ─▶ helper ─ clone ─▶ keeper (number 1 of its namespace) ─ fork ─▶ the child
//!                 waits             mounts; waits for the child                  Landlock, seccomp, exec
//! ```
//!
//! Without namespaces the helper is the keeper. `begin.rs` is the host's side, `run.rs` the
//! helper's; the steps lie in files named after them, `sys.rs` has the system calls.

// Elsewhere means also Linux on processors whose system calls cannot be filtered.
#[cfg_attr(
    all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    ),
    path = "linux/mod.rs"
)]
#[cfg_attr(
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    )),
    path = "elsewhere.rs"
)]
mod platform;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub(crate) use platform::{Begun, Watch, begin, landlock_version, seccomp_support, try_namespaces};

/// The program that calls [`helper`] first, if one is known.
static PROGRAM: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Makes this program able to start sandboxed children; call it first in `main`.
///
/// When the program was started as a helper, this does the helper's work and does not
/// return. Otherwise it takes note that the program can be started as one. It belongs
/// before everything else in `main`: what comes before it is done for each child again,
/// and threads that exist by then keep a child from being confined.
///
/// ```
/// toolsmith_process::helper();
/// // What the program is for.
/// ```
pub fn helper() {
    platform::serve_if_asked();
    // Where no sandbox can be had, a launch says that, and not that nobody called this.
    use_helper("/proc/self/exe");
}

/// Names another program that calls [`helper`] first in its `main`.
///
/// For programs whose `main` is not their own, as that of a test is not.
pub fn use_helper(program: impl Into<PathBuf>) {
    *PROGRAM.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.into());
}

/// Returns the program to start as a helper.
pub(crate) fn program() -> Option<PathBuf> {
    PROGRAM
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}
