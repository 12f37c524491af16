//! The helper on Linux.
//!
//! In the order in which a launch goes through them: `begin` (the host's side), `run`,
//! `limits`, `namespaces`, `mounts` with `cover`, `keeper`, and then what the child does to
//! itself: `program`, `capabilities`, `landlock`, `seccomp`.

mod begin;
mod capabilities;
mod cover;
mod keeper;
mod landlock;
mod limits;
mod mounts;
mod namespaces;
mod program;
mod run;
mod seccomp;
mod sys;
mod watch;

use rustix::io::Errno;

pub(crate) use begin::{Begun, begin, try_namespaces};
pub(crate) use landlock::version as landlock_version;
pub(crate) use run::serve_if_asked;
pub(crate) use seccomp::support as seccomp_support;
pub(crate) use watch::Watch;

use crate::sandbox::{Frame, Stage};

/// What a helper is called in lists of processes, and by which it knows that it is one.
const NAME: &str = "toolsmith-sandbox";

/// Why the helper could not do what it was told.
#[derive(Clone, Copy, Debug)]
struct Failure {
    stage: Stage,
    errno: Errno,
    index: usize,
}

impl Failure {
    fn new(stage: Stage, errno: Errno) -> Self {
        Self::at(stage, errno, 0)
    }

    fn at(stage: Stage, errno: Errno, index: usize) -> Self {
        Self {
            stage,
            errno,
            index,
        }
    }

    fn frame(self) -> Frame {
        Frame::Failed {
            stage: self.stage,
            errno: self.errno.raw_os_error(),
            index: u32::try_from(self.index).unwrap_or(u32::MAX),
        }
    }
}

/// Says at which stage a system call failed.
trait AtStage<T> {
    fn at(self, stage: Stage) -> Result<T, Failure>;
}

impl<T> AtStage<T> for Result<T, Errno> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|errno| Failure::new(stage, errno))
    }
}

impl<T> AtStage<T> for std::io::Result<T> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(stage, errno(&error)))
    }
}

/// Returns the system's number for an error, which one of our own making has not.
fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::INVAL)
}
