//! Sets how much the child may use.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::system::uname;

use super::{AtStage as _, Failure};
use crate::sandbox::{Limits, Stage};

const MOST_NUMBERS: &str = "/proc/sys/kernel/pid_max";
/// The kernel takes no less.
const LEAST_NUMBERS: u64 = 301;

/// Sets what counts for each process.
pub(super) fn apply(limits: &Limits) -> Result<(), Failure> {
    set(Resource::Core, Some(0))?;
    set(Resource::Nofile, limits.open_files)?;
    set(Resource::Fsize, limits.file_size)
}

/// Sets what counts for all processes of a user in a namespace.
///
/// From within the namespace: set outside, it would count the user's other processes too.
pub(super) fn apply_within(limits: &Limits) -> Result<(), Failure> {
    set(Resource::Nproc, limits.processes)
}

/// Bounds the numbers of processes in a namespace, and so how many live at once: the limit
/// above does not bind root.
///
/// With `/proc` of the namespace in place. Before Linux 6.14 the machine has one such
/// setting for all, which must not be touched.
pub(super) fn bound_numbers(limits: &Limits) {
    let Some(limit) = limits.processes.filter(|_| numbers_are_apart()) else {
        return;
    };
    // Where it cannot be set, the other limit is what there is.
    let _ = fs::write(MOST_NUMBERS, limit.max(LEAST_NUMBERS).to_string());
}

fn numbers_are_apart() -> bool {
    let system = uname();
    let release = system.release().to_string_lossy();
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    matches!((number(), number()), (Some(major), Some(minor)) if (major, minor) >= (6, 14))
}

/// Lowers a limit, and never raises it.
fn set(resource: Resource, limit: Option<u64>) -> Result<(), Failure> {
    let Some(limit) = limit else { return Ok(()) };
    let now = getrlimit(resource);
    let lower = |bound: Option<u64>| Some(bound.map_or(limit, |bound| bound.min(limit)));
    let new = Rlimit {
        current: lower(now.current),
        maximum: lower(now.maximum),
    };
    setrlimit(resource, new).at(Stage::Limits)
}
