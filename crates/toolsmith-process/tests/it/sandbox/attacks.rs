//! Attempts on the network, on other processes and on the kernel are refused.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use toolsmith_process::Support;

use super::{assert_refused, attempt, machines, workspace};

/// System calls, each of which must be refused by the filter and not for its arguments.
const CALLS: &[&str] = &[
    "ptrace-me",
    "peek",
    "poke",
    "pidfd-getfd",
    "mount",
    "umount",
    "pivot-root",
    "chroot",
    "fsopen",
    "open-tree",
    "mount-setattr",
    "new-user",
    "new-mounts",
    "new-network",
    "new-time",
    "namespaces-by-clone",
    "setns",
    "io-uring",
    "bpf",
    "perf",
    "keyctl",
    "add-key",
    "request-key",
    "userfaultfd",
    "kexec",
    "module",
    "module-file",
    "reboot",
    "swap",
    "account",
    "quota",
    "by-handle",
    "type-for-others",
    "type-with-high-bits",
    "console",
];

const SOCKETS: &[&str] = &[
    "tcp", "tcp6", "udp", "raw", "packet", "netlink", "vsock", "alg",
];

#[tokio::test]
async fn calls_that_no_tool_needs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        let outcomes = attempt(Some(sandbox), folder.path(), CALLS).await;
        let others: Vec<_> = outcomes
            .iter()
            .filter(|(_, outcome)| *outcome != "EPERM")
            .collect();
        assert!(others.is_empty(), "{machine}: {others:?}");
    }
}

#[tokio::test]
async fn what_a_filter_cannot_judge_seems_not_to_exist() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        let attempts: &[&str] = if cfg!(target_arch = "x86_64") {
            &["clone3", "x32"]
        } else {
            &["clone3"]
        };
        let outcomes = attempt(Some(sandbox), folder.path(), attempts).await;
        assert!(
            outcomes.values().all(|outcome| outcome == "ENOSYS"),
            "{machine}: {outcomes:?}"
        );
    }
}

#[tokio::test]
async fn without_network_there_are_no_sockets_but_local_ones() {
    let folder = tempfile::tempdir().unwrap();
    let without = attempt(None, folder.path(), &["tcp", "udp", "netlink"]).await;
    assert!(
        without.values().all(|outcome| outcome == "done"),
        "{without:?}"
    );
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        let outcomes = attempt(Some(sandbox.clone()), folder.path(), SOCKETS).await;
        assert_refused(&outcomes, machine);
        let local = ["unix".to_owned(), format!("unix-path:{machine}")];
        let outcomes = attempt(Some(sandbox), folder.path(), &local).await;
        assert!(
            outcomes.values().all(|outcome| outcome == "done"),
            "{machine}: {outcomes:?}"
        );
    }
}

#[tokio::test]
async fn with_network_there_is_the_network_and_nothing_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("connect:{}", listener.local_addr().unwrap());
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        let refused = attempt(Some(sandbox.clone()), folder.path(), &[&connect]).await;
        assert_refused(&refused, machine);
        let sandbox = sandbox.with_network();
        let allowed = ["tcp", "tcp6", "udp", "netlink", &connect];
        let outcomes = attempt(Some(sandbox.clone()), folder.path(), &allowed).await;
        assert!(
            outcomes.values().all(|outcome| outcome == "done"),
            "{machine}: {outcomes:?}"
        );
        let refused = ["raw", "packet", "vsock", "alg"];
        assert_refused(
            &attempt(Some(sandbox), folder.path(), &refused).await,
            machine,
        );
    }
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("toolsmith-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let me = std::process::id();
    let attempts = [
        format!("signal:{me}"),
        format!("kill:{me}"),
        format!("ptrace:{me}"),
        format!("abstract:{name}"),
        format!("read:/proc/{me}/environ"),
        format!("read-link:/proc/{me}/fd/0"),
        format!("read-link:/proc/{me}/cwd"),
        format!("read:/proc/{me}/root//etc/passwd"),
        format!("open:/proc/{me}/oom_score_adj"),
    ];
    let possible = [
        &attempts[0],
        &attempts[3],
        &attempts[4],
        &attempts[5],
        &attempts[6],
    ];
    let without = attempt(None, folder.path(), &possible).await;
    assert!(
        without.values().all(|outcome| outcome == "done"),
        "{without:?}"
    );
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        assert_refused(
            &attempt(Some(sandbox), folder.path(), &attempts).await,
            machine,
        );
    }
}

#[tokio::test]
async fn without_scopes_of_landlock_namespaces_still_hold_signals_back() {
    let folder = tempfile::tempdir().unwrap();
    let me = std::process::id();
    let old: Support = super::support().with_landlock(1);
    let sandbox = workspace(folder.path()).support(old);
    let attempts = [
        format!("signal:{me}"),
        "tcp".to_owned(),
        "open:/etc/passwd".to_owned(),
    ];
    assert_refused(
        &attempt(Some(sandbox), folder.path(), &attempts).await,
        "old landlock",
    );
}

#[tokio::test]
async fn nobody_becomes_more_than_he_is() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support);
        let device = format!("device:{}/null", folder.path().display());
        let attempts = [
            "privileged",
            "open:/proc/sys/kernel/core_pattern",
            "open:/proc/sysrq-trigger",
            "open:/sys/power/state",
            &device,
        ];
        assert_refused(
            &attempt(Some(sandbox), folder.path(), &attempts).await,
            machine,
        );
    }
}

/// A program that would make its caller root, put there by `other_user`.
#[tokio::test]
async fn a_program_of_root_stays_without_rights_of_root() {
    let program = super::program("sandbox-probe-of-root");
    if !program.exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let launch = toolsmith_process::Launch::new(&program)
            .argument("privileged")
            .sandbox(workspace(folder.path()).support(support));
        let (_, text) = super::run(launch).await;
        assert_eq!(text.trim_end(), "privileged=permission denied", "{machine}");
    }
}
