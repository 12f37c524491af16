//! Sets users, mounts, processes, memory and the network of a child apart.
//!
//! The helper stays outside and only writes down who is who within: everybody keeps the
//! number he has. Root of the machine is root within, and root over nothing without.

use std::ffi::c_int;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, getegid, geteuid, kill_process, set_parent_process_death_signal,
};

use super::sys;

/// How much of a map is read; the kernel lets one have 340 lines.
const MAX_MAP: u64 = 64 << 10;

/// Forks a child into namespaces of its own; returns its number to the parent.
///
/// The child goes on when its users are known, and dies with its parent.
pub(super) fn fork(network: bool) -> Result<Option<Forked>, Errno> {
    let mut flags =
        libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if !network {
        flags |= libc::CLONE_NEWNET;
    }
    fork_mapped(flags)
}

/// A child in namespaces of its own.
pub(super) struct Forked {
    pub(super) id: Pid,
    /// Open for as long as the parent lives, by which the child sees that it does.
    _alive: PipeWriter,
}

fn fork_mapped(flags: c_int) -> Result<Option<Forked>, Errno> {
    let (mut wait, mut go) = io::pipe().map_err(|error| super::errno(&error))?;
    let Some(child) = sys::fork(flags)? else {
        drop(go);
        set_parent_process_death_signal(Some(Signal::KILL))?;
        let mut word = [0];
        // The parent may have sent its word and died before the signal was asked for. It
        // keeps its end open while it lives.
        return match wait.read_exact(&mut word) {
            Ok(()) if has_parent(&wait) => Ok(None),
            _ => sys::exit(1),
        };
    };
    drop(wait);
    let mapped = map(child).and_then(|()| go.write_all(&[1]));
    if let Err(error) = mapped {
        let _ = kill_process(child, Signal::KILL);
        return Err(super::errno(&error));
    }
    Ok(Some(Forked {
        id: child,
        _alive: go,
    }))
}

/// Tells whether the other end of a pipe is open.
fn has_parent(wait: &PipeReader) -> bool {
    let mut ends = [PollFd::new(wait, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(poll(&mut ends, Some(&now)), Ok(0))
}

/// Says who is who in the namespace of a child.
fn map(child: Pid) -> io::Result<()> {
    let child = child.as_raw_nonzero();
    // Without it nobody but root may map groups: leaving one might open a file.
    fs::write(format!("/proc/{child}/setgroups"), "deny")?;
    for (what, own) in [
        ("uid_map", geteuid().as_raw()),
        ("gid_map", getegid().as_raw()),
    ] {
        let path = format!("/proc/{child}/{what}");
        let everybody = identity(&read(what)?);
        // Who may not map everybody maps himself.
        if fs::write(&path, everybody).is_err() {
            fs::write(&path, format!("{own} {own} 1\n"))?;
        }
    }
    Ok(())
}

fn read(what: &str) -> io::Result<String> {
    let file = fs::File::open(format!("/proc/self/{what}"))?;
    let mut text = String::new();
    file.take(MAX_MAP).read_to_string(&mut text)?;
    Ok(text)
}

/// Maps everybody who is known here to himself.
fn identity(map: &str) -> String {
    let mut out = String::new();
    for line in map.lines() {
        let mut numbers = line.split_ascii_whitespace();
        if let (Some(inside), Some(count)) = (numbers.next(), numbers.nth(1)) {
            // Writing to a text cannot fail.
            let _ = writeln!(out, "{inside} {inside} {count}");
        }
    }
    out
}
