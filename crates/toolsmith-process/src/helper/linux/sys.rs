//! The system calls that no safe library offers, each in a function of its own.
//!
//! All of them are made by the helper, which has one thread: nothing else holds a lock or
//! is halfway through an allocation when it forks.

#![expect(
    unsafe_code,
    reason = "these system calls have no safe wrapper in the libraries in use"
)]

use std::ffi::{CStr, CString, c_int};
use std::mem;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::Pid;

/// The signals that a keeper waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A child has ended, or may have.
    Child,
    /// The host has ended, or may have.
    Host,
}

/// What tells the keeper that its host has ended. Nobody else has reason to send it.
pub(super) const HOST_DIED: c_int = libc::SIGUSR2;

/// Takes over a descriptor that was handed to this process by number.
pub(super) fn adopt(number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: asking about a number is harmless, whether a descriptor has it or not.
    if number < 3 || unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the descriptor is open, and nothing else in this process knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Forks, into new namespaces if `flags` says so; returns the child's number to the parent.
pub(super) fn fork(flags: c_int) -> Result<Option<Pid>, Errno> {
    let flags = (flags | libc::SIGCHLD) as libc::c_long;
    // SAFETY: without a new stack and without shared memory this is `fork`, in a process
    // with one thread. The library's own `fork` cannot make namespaces.
    let id = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match id {
        -1 => Err(last()),
        0 => Ok(None),
        id => Ok(c_int::try_from(id).ok().and_then(Pid::from_raw)),
    }
}

/// Makes a tree of mounts read-only.
pub(super) fn set_read_only(tree: impl AsFd, path: &CStr) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the descriptor, the text and the structure live through the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            path.as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result)
}

/// Keeps all signals from this process until it asks for them.
pub(super) fn block_signals() -> Result<(), Errno> {
    let all = signals(|set| {
        // SAFETY: the set is a live structure.
        unsafe { libc::sigfillset(set) };
    });
    // SAFETY: the set is initialised; the old one is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &all, ptr::null_mut()) }.into())
}

/// Makes signals do what they do in a program that was started freshly.
///
/// What is ignored or blocked stays so through `exec`.
pub(super) fn release_signals() -> Result<(), Errno> {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: no handler is installed. Those that cannot be changed are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let none = signals(|_| {});
    // SAFETY: the set is initialised; the old one is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut()) }.into())
}

/// Waits for a signal that concerns a keeper; both must be blocked.
pub(super) fn wait_for_notice() -> Notice {
    let awaited = signals(|set| {
        // SAFETY: the set is a live structure.
        unsafe {
            libc::sigaddset(set, libc::SIGCHLD);
            libc::sigaddset(set, HOST_DIED);
        }
    });
    // SAFETY: the set is initialised; the details of the signal are not asked for.
    match unsafe { libc::sigwaitinfo(&awaited, ptr::null_mut()) } {
        HOST_DIED => Notice::Host,
        _ => Notice::Child,
    }
}

/// Asks for a signal when the parent ends.
pub(super) fn notify_of_parents_death(signal: c_int) -> Result<(), Errno> {
    // SAFETY: the call takes two numbers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) }.into())
}

/// Becomes another program; returns only if that failed.
pub(super) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> Errno {
    let arguments = pointers(arguments);
    let environment = pointers(environment);
    // SAFETY: both lists end with a null, and what they point to outlives the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    last()
}

/// Ends this process without running anything more of it.
pub(super) fn exit(status: c_int) -> ! {
    // SAFETY: it does not return, and nothing waits to be flushed.
    unsafe { libc::_exit(status) }
}

/// Returns the version of Landlock's interface.
pub(super) fn landlock_version() -> Result<u32, Errno> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no structure and makes nothing.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).map_err(|_| last())
}

/// Tells whether a filter may answer a system call with an error.
pub(super) fn can_filter_calls() -> Result<(), Errno> {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads the number that it is pointed to, and changes nothing.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            &raw const action,
        )
    })
}

fn signals(fill: impl FnOnce(&mut libc::sigset_t)) -> libc::sigset_t {
    // SAFETY: a set is plain numbers, and is made empty before it is used.
    let mut set = unsafe { mem::zeroed() };
    // SAFETY: the set is a live structure.
    unsafe { libc::sigemptyset(&mut set) };
    fill(&mut set);
    set
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    let texts = texts.iter().map(|text| text.as_ptr());
    texts.chain(std::iter::once(ptr::null())).collect()
}

fn check(result: libc::c_long) -> Result<(), Errno> {
    if result == 0 { Ok(()) } else { Err(last()) }
}

fn last() -> Errno {
    super::errno(&std::io::Error::last_os_error())
}
