//! Refuses system calls that a tool has no use for and an attacker has.
//!
//! A list of what is refused, not of what is allowed: programs of all kinds are to run.
//! Two things make such a list hold: calls by the numbers of another architecture are not
//! let through (the library kills their process, `without_x32` answers that there are
//! none), and `clone3`, whose flags a filter cannot see, seems not to exist, so that
//! libraries use `clone`.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use super::{Failure, sys};
use crate::sandbox::{Order, Stage};
use rustix::io::Errno;

#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: TargetArch = TargetArch::riscv64;
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;

/// Calls that are refused whatever their arguments.
const REFUSED: &[libc::c_long] = &[
    // Looking into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    // Parts of the kernel that go round what is checked here, or have often been broken.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Mounts, which hold up what is hidden and protected.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// The library has no name for it yet; new calls have one number everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// What makes a new namespace, in which a process could be root.
const NEW_NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// The same, where the lowest bits are no signal.
const NEW_TIME: u64 = 0x80;

/// Typing into a terminal for others.
const TERMINAL_INPUT: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// What a child with network may open: itself, the network, and questions about it.
const NETWORK: &[i32] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Tells whether system calls can be filtered, or why they cannot.
pub(crate) fn support() -> Result<(), String> {
    sys::can_filter_calls().map_err(|errno| format!("the system refuses filters: {errno}"))
}

/// Filters the system calls of this process and of all that it starts.
pub(super) fn restrict(order: &Order) -> Result<(), Failure> {
    let failed = |errno| Failure::new(Stage::Seccomp, errno);
    let programs = programs(order.network).map_err(|_| failed(Errno::INVAL))?;
    for program in programs {
        apply_filter(&program).map_err(|error| match error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                failed(super::errno(&error))
            }
            _ => failed(Errno::INVAL),
        })?;
    }
    Ok(())
}

fn programs(network: bool) -> Result<Vec<BpfProgram>, BackendError> {
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut programs = vec![
        filter(unknown, libc::ENOSYS)?,
        filter(refused(network)?, libc::EPERM)?,
    ];
    if cfg!(target_arch = "x86_64") {
        programs.push(without_x32());
    }
    Ok(programs)
}

fn filter(
    rules: BTreeMap<libc::c_long, Vec<SeccompRule>>,
    errno: i32,
) -> Result<BpfProgram, BackendError> {
    let answer = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, ARCHITECTURE)?.try_into()
}

fn refused(network: bool) -> Result<BTreeMap<libc::c_long, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<_, _> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let mut namespaces = Vec::new();
    for flag in NEW_NAMESPACES {
        namespaces.push(when_set(u64::from(flag.unsigned_abs()))?);
    }
    rules.insert(libc::SYS_clone, namespaces.clone());
    namespaces.push(when_set(NEW_TIME)?);
    rules.insert(libc::SYS_unshare, namespaces);
    let mut terminal = Vec::new();
    for request in TERMINAL_INPUT {
        let is_request = condition(1, SeccompCmpOp::Eq, *request)?;
        terminal.push(SeccompRule::new(vec![is_request])?);
    }
    rules.insert(libc::SYS_ioctl, terminal);
    let families = if network { NETWORK } else { &[libc::AF_UNIX] };
    let mut others = Vec::new();
    for family in families {
        let family = u64::from(family.unsigned_abs());
        others.push(condition(0, SeccompCmpOp::Ne, family)?);
    }
    let others = vec![SeccompRule::new(others)?];
    rules.insert(libc::SYS_socket, others.clone());
    rules.insert(libc::SYS_socketpair, others);
    Ok(rules)
}

fn when_set(flag: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])
}

/// Compares the lower half of an argument: the kernel looks at no more of these.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Answers that there is no such call to those by the numbers of x32.
///
/// They come with the same architecture as those of x86-64 and this bit.
fn without_x32() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let statement = |code: u32, k: u32, jump_false: u8| seccompiler::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt: 0,
        jf: jump_false,
        k,
    };
    // The number of the call is the first field of what a filter sees.
    vec![
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32, 1),
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
            0,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ]
}
