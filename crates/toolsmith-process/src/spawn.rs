//! Separates a child from its parent, between fork and exec.
//!
//! The child leads its own session and group, keeps no descriptor but its three streams,
//! and on Linux dies with its parent. What runs between fork and exec makes system calls
//! and nothing else: another thread may have held any lock at the moment of the fork.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, getpid, setsid};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use crate::launch::Output;
use crate::running::Running;
use crate::tree::Tree;

/// The first descriptor that is none of the three streams.
const AFTER_STREAMS: libc::c_int = 3;

/// Returns a name for one launch that no other launch has, nor can guess.
pub(crate) fn new_mark() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Tells whether the runtime of this thread can watch a child's pipes.
///
/// Tokio panics where it cannot. In the thread that starts all children a panic would be
/// everybody's: they die with that thread.
pub(crate) fn can_watch_pipes() -> bool {
    // A pipe that cannot be made is told when the child's own cannot be.
    panic::catch_unwind(tokio::net::unix::pipe::pipe).is_ok()
}

/// Starts the command, with some descriptors more, and notes its tree.
pub(crate) fn spawn(
    command: Command,
    handed: Vec<OwnedFd>,
    runtime: Handle,
    mark: String,
) -> io::Result<(Child, Tree)> {
    let (reply, answer) = sync_channel(1);
    let order = Order {
        command,
        handed,
        runtime,
        mark,
        reply,
    };
    launcher()?.send(order).map_err(|_| launcher_is_gone())?;
    answer.recv().map_err(|_| launcher_is_gone())?
}

/// What the launcher is asked to start.
struct Order {
    command: Command,
    handed: Vec<OwnedFd>,
    runtime: Handle,
    mark: String,
    reply: SyncSender<io::Result<(Child, Tree)>>,
}

/// Returns the way to the one thread that starts all children.
///
/// Linux sends the parent's death signal when the *thread* that forked ends, and threads
/// of a runtime come and go. This thread stays for as long as the process.
fn launcher() -> io::Result<SyncSender<Order>> {
    static LAUNCHER: Mutex<Option<SyncSender<Order>>> = Mutex::new(None);
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*launcher {
        return Ok(orders.clone());
    }
    let (orders, inbox) = sync_channel(16);
    thread::Builder::new()
        .name("launcher".to_owned())
        .spawn(move || serve(&inbox))?;
    *launcher = Some(orders.clone());
    Ok(orders)
}

fn serve(inbox: &Receiver<Order>) {
    for order in inbox {
        let Order {
            mut command,
            handed,
            runtime,
            mark,
            reply,
        } = order;
        let _inside = runtime.enter();
        separate(&mut command);
        hand_over(command.as_std_mut(), &handed);
        // Whoever asked may have given up; the child is then dropped and ended here.
        let started = Tree::grow(mark, || {
            let child = command.spawn()?;
            let id = child.id().ok_or_else(launcher_is_gone)?;
            Ok((child, id))
        });
        if let Err(unclaimed) = reply.send(started)
            && let Ok((child, tree)) = unclaimed.0
        {
            drop(Running::new(child, tree, Output::Tail, None));
        }
    }
}

fn launcher_is_gone() -> io::Error {
    io::Error::other("the thread that starts processes has ended")
}

#[expect(
    unsafe_code,
    reason = "the closure runs in a fork of a process with threads; it makes system calls only"
)]
fn separate(command: &mut Command) {
    let parent = getpid();
    // SAFETY: `leave` neither allocates nor locks nor touches memory shared with threads.
    unsafe {
        command.pre_exec(move || leave(parent));
    }
}

/// Lets the child of a command keep descriptors that are closed in every other child.
#[expect(
    unsafe_code,
    reason = "the closure runs in a fork of a process with threads; it makes system calls only"
)]
pub(crate) fn hand_over(command: &mut std::process::Command, handed: &[OwnedFd]) {
    use std::os::unix::process::CommandExt as _;

    let numbers: Vec<_> = handed
        .iter()
        .map(|descriptor| descriptor.as_raw_fd())
        .collect();
    // SAFETY: `keep` neither allocates nor locks nor touches memory shared with threads.
    unsafe {
        command.pre_exec(move || keep(&numbers));
    }
}

#[expect(
    unsafe_code,
    reason = "the descriptors are known by number: their owner stays in the parent"
)]
fn keep(numbers: &[RawFd]) -> io::Result<()> {
    for number in numbers {
        // SAFETY: clearing a flag by number; the parent has the descriptor open.
        if unsafe { libc::fcntl(*number, libc::F_SETFD, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn leave(parent: Pid) -> io::Result<()> {
    setsid()?;
    die_with(parent)?;
    seal_descriptors()
}

/// Asks for death with the parent, which may have died before it was asked for.
///
/// This reaches the child only, not the child's children, and a child that changes its
/// user loses it. It is what is left when the parent is killed without a chance to act.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn die_with(parent: Pid) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}

/// Marks every descriptor but the three streams to be closed at exec.
///
/// Marked, not closed: the standard library reports a failed exec through one of them.
#[expect(
    unsafe_code,
    reason = "rustix offers neither close_range nor fcntl on descriptors it does not own"
)]
fn seal_descriptors() -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // SAFETY: the call takes three numbers; no memory is handed over.
        let sealed = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                AFTER_STREAMS as libc::c_uint,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        if sealed == 0 {
            return Ok(());
        }
    }
    // Linux before 5.11 and other systems: one by one, up to the limit.
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a live `rlimit`, which the call fills in.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let end = libc::c_int::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1 << 20);
    for descriptor in AFTER_STREAMS..end {
        // SAFETY: setting a flag by number; a number without a descriptor is refused.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}
