//! Sets how much the child may use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{AtStage as _, Failure};
use crate::sandbox::{Limits, Stage};

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
