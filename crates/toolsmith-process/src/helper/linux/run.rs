//! The helper's side: reads its order, and does as it is told.

use std::ffi::{OsStr, c_int};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{CWD, Mode as FileMode, OFlags, SealFlags, fcntl_get_seals, openat};
use rustix::io::Errno;
use rustix::process::{chdir, getcwd};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::keeper::{self, Keeper};
use super::{AtStage as _, Failure, NAME, limits, mounts, namespaces, sys};
use crate::sandbox::{Findings, Frame, MAX_ORDER, Order, Stage, Task};

/// Does the helper's work and ends the process, if it was started for that.
pub(crate) fn serve_if_asked() {
    let mut words = std::env::args_os();
    if words.next().as_deref() != Some(OsStr::new(NAME)) {
        return;
    }
    let status = words.next().map_or(2, |numbers| serve(&numbers));
    sys::exit(status)
}

/// The way back to the host.
pub(super) struct Reporter {
    pipe: OwnedFd,
}

impl Reporter {
    /// Sends a message; a host that is gone does not read it.
    pub(super) fn send(&self, frame: &Frame) {
        let bytes = frame.to_bytes();
        while rustix::io::write(&self.pipe, &bytes) == Err(Errno::INTR) {}
    }

    /// Closes the child's streams in this process.
    ///
    /// Something stays in their places, so that nothing opened later gets there.
    #[expect(
        clippy::unused_self,
        reason = "who has a reporter is a process that stays"
    )]
    pub(super) fn let_go_of_streams(&self) {
        let nothing = openat(
            CWD,
            c"/dev/null",
            OFlags::RDWR | OFlags::CLOEXEC,
            FileMode::empty(),
        );
        if let Ok(nothing) = nothing {
            let _ = dup2_stdin(&nothing);
            let _ = dup2_stdout(&nothing);
            let _ = dup2_stderr(&nothing);
        }
    }
}

fn serve(numbers: &OsStr) -> c_int {
    let Some((order, pipe)) = descriptors(numbers) else {
        return 2;
    };
    let reporter = Reporter { pipe };
    let outcome = read(order)
        .at(Stage::Order)
        .and_then(|order| fulfil(&order, &reporter));
    match outcome {
        Ok(status) => status,
        Err(failure) => {
            reporter.send(&failure.frame());
            1
        }
    }
}

/// Takes over the two descriptors: one with the order, one to the host.
fn descriptors(numbers: &OsStr) -> Option<(OwnedFd, OwnedFd)> {
    let (order, pipe) = numbers.to_str()?.split_once(':')?;
    let order = sys::adopt(order.parse().ok()?).ok()?;
    let pipe = sys::adopt(pipe.parse().ok()?).ok()?;
    Some((order, pipe))
}

fn read(order: OwnedFd) -> Result<Order, Errno> {
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK;
    if !fcntl_get_seals(order.as_fd())?.contains(seals) {
        return Err(Errno::PERM);
    }
    let mut bytes = Vec::new();
    File::from(order)
        .take(MAX_ORDER as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| super::errno(&error))?;
    Order::from_bytes(&bytes).ok_or(Errno::PROTO)
}

fn fulfil(order: &Order, reporter: &Reporter) -> Result<c_int, Failure> {
    sys::block_signals().at(Stage::Order)?;
    if let Some(folder) = &order.current_dir {
        chdir(folder).at(Stage::Folder)?;
    }
    let folder = folder()?;
    limits::apply(&order.limits)?;
    if !order.namespaces {
        let findings = Findings::default();
        return keeper::start_and_keep(order, &folder, &findings, reporter, Keeper::Outside);
    }
    let keeper = namespaces::fork(order.network).at(Stage::Namespaces)?;
    if let Some(keeper) = keeper {
        let id = keeper.id.as_raw_nonzero().get().unsigned_abs();
        reporter.send(&Frame::Keeper(id));
        reporter.let_go_of_streams();
        return Ok(keeper::mirror(keeper.id));
    }
    limits::apply_within(&order.limits)?;
    let mut findings = Findings::default();
    mounts::arrange(order, &folder, &mut findings)?;
    match order.task {
        Task::Start => keeper::start_and_keep(order, &folder, &findings, reporter, Keeper::Init),
        Task::TryNamespaces => {
            reporter.send(&Frame::Ready(findings));
            Ok(0)
        }
    }
}

fn folder() -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStringExt as _;

    let path = getcwd(Vec::new()).at(Stage::Folder)?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()));
    // The kernel marks a folder that no path leads to, and the mark is no path.
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(Failure::new(Stage::Folder, Errno::NOENT))
    }
}
