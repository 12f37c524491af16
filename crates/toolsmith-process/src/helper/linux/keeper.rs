//! Watches over the child until it has ended, and what it started with it.
//!
//! A keeper that is number 1 of a namespace only has to end: the kernel ends all others
//! with it. One without a namespace adopts the orphans and kills what is left, also when
//! the host has died, for which the kernel wakes it.

use std::ffi::c_int;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, WaitStatus, getpid, getppid, set_child_subreaper,
    set_dumpable_behavior, wait, waitpid,
};

use super::run::Reporter;
use super::sys::{self, Notice};
use super::{AtStage as _, Failure, program};
use crate::sandbox::{Findings, Frame, Order, Stage};
use crate::tree::kill_descendants;

/// How long killed processes may take to disappear.
const TO_DISAPPEAR: Duration = Duration::from_secs(3);

/// What a keeper is to its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    /// Number 1 of the child's namespace.
    Init,
    /// A process like others.
    Outside,
}

/// Starts the ordered program, and ends with it.
pub(super) fn start_and_keep(
    order: &Order,
    folder: &Path,
    findings: &Findings,
    reporter: &Reporter,
    keeper: Keeper,
) -> Result<c_int, Failure> {
    // Nothing of the child may look into this process.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Stage::Program)?;
    if keeper == Keeper::Outside {
        set_child_subreaper(Some(getpid())).at(Stage::Program)?;
        // Instead of dying with the host: somebody must end the others.
        sys::notify_of_parents_death(sys::HOST_DIED).at(Stage::Program)?;
        if is_host_gone(order) {
            return Ok(1);
        }
    }
    let (mut started, starting) = std::io::pipe().at(Stage::Program)?;
    let me = getpid();
    let Some(child) = sys::fork(0).at(Stage::Program)? else {
        drop(started);
        if keeper == Keeper::Outside {
            sys::notify_of_parents_death(libc::SIGKILL).at(Stage::Program)?;
            if getppid() != Some(me) {
                sys::exit(1);
            }
        }
        let Err(failure) = program::become_program(order, folder, findings, reporter);
        reporter.send(&failure.frame());
        sys::exit(127)
    };
    drop(starting);
    // Who reads what the child writes must see its end when the child's own are closed.
    reporter.let_go_of_streams();
    // It ends when the program has taken the place of the child, or the child has failed.
    let _ = started.read(&mut [0]);
    reporter.send(&Frame::Started);
    match keeper {
        Keeper::Init => Ok(keep_within(order, child, reporter)),
        Keeper::Outside => Ok(keep_outside(order, child, reporter)),
    }
}

/// Waits for a process, and returns an exit status like its own.
pub(super) fn mirror(process: Pid) -> c_int {
    loop {
        match waitpid(Some(process), WaitOptions::empty()) {
            Ok(Some((_, status))) => return like(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}

fn keep_within(order: &Order, child: Pid, reporter: &Reporter) -> c_int {
    let mut outcome = 1;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == child => {
                reporter.send(&Frame::Exited(status.as_raw()));
                outcome = like(status);
                if !order.keep_descendants {
                    return outcome;
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            // Nobody is left.
            Err(_) => return outcome,
        }
    }
}

fn keep_outside(order: &Order, child: Pid, reporter: &Reporter) -> c_int {
    let mut outcome = None;
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((ended, status))) if ended == child => {
                    if !order.keep_descendants {
                        // First all is quiet, then it is told: as a namespace does it.
                        kill_descendants(TO_DISAPPEAR);
                    }
                    reporter.send(&Frame::Exited(status.as_raw()));
                    outcome = Some(like(status));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return outcome.unwrap_or(1),
            }
        }
        if let (Some(outcome), false) = (outcome, order.keep_descendants) {
            return outcome;
        }
        if sys::wait_for_notice() == Notice::Host && is_host_gone(order) {
            kill_descendants(TO_DISAPPEAR);
            return 1;
        }
    }
}

fn is_host_gone(order: &Order) -> bool {
    getppid().map(Pid::as_raw_pid) != i32::try_from(order.host).ok()
}

/// An exit status that says the same, where a signal cannot be repeated.
fn like(status: WaitStatus) -> c_int {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (_, Some(signal)) => 128 + signal,
        _ => 1,
    }
}
