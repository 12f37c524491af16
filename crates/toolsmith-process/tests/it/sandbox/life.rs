//! A sandboxed child starts, ends and reports like any other.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolsmith_process::{Limits, MARK, Mode};

use super::{machines, run, workspace};
use crate::support::script;

#[tokio::test]
async fn a_sandboxed_child_writes_in_its_workspace_and_not_outside() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let text = format!(
        "echo inside > file; cat file; (echo out > {}/file) 2>/dev/null || exit 3",
        outside.path().display()
    );
    let launch = script(&text)
        .current_dir(folder.path())
        .sandbox(workspace(folder.path()));
    assert_eq!(run(launch).await, (Some(3), "inside\n".to_owned()));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn streams_are_joined_in_the_order_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let text = "for i in 1 2 3; do echo out $i; echo err $i >&2; done";
        let launch = script(text).sandbox(workspace(folder.path()).support(support));
        let (_, text) = run(launch).await;
        assert_eq!(
            text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n",
            "{machine}"
        );
    }
}

#[tokio::test]
async fn streams_can_be_read_apart() {
    let folder = tempfile::tempdir().unwrap();
    let launch = script("cat; echo err >&2")
        .separate_output()
        .sandbox(workspace(folder.path()));
    let mut running = launch.start().unwrap();
    let mut stdin = running.take_stdin().unwrap();
    stdin.write_all(b"given").await.unwrap();
    drop(stdin);
    let (mut out, mut err) = (String::new(), String::new());
    let mut stdout = running.take_stdout().unwrap();
    let mut stderr = running.take_stderr().unwrap();
    stdout.read_to_string(&mut out).await.unwrap();
    stderr.read_to_string(&mut err).await.unwrap();
    assert_eq!((out.as_str(), err.as_str()), ("given", "err\n"));
    assert_eq!(running.stderr().total(), 0);
}

#[tokio::test]
async fn a_child_has_three_descriptors_and_its_own_environment() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let launch = script("ls /proc/self/fd | tr '\\n' ' '; env | grep -v PWD= | sed 's/=.*//' | sort | tr '\\n' ' '")
            .environment([("GIVEN", "x")])
            .sandbox(workspace(folder.path()).support(support));
        let (_, text) = run(launch).await;
        // The fourth is the folder that `ls` reads; `_` comes from the shell.
        let names = text
            .replace("_ ", "")
            .replace("SHLVL ", "")
            .replace("OLD", "");
        assert_eq!(names, format!("0 1 2 3 GIVEN PATH {MARK} "), "{machine}");
    }
}

#[tokio::test]
async fn limits_hold() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let limits = Limits::default().open_files(50).file_size(4096);
        let sandbox = workspace(folder.path()).limits(limits).support(support);
        let launch = script("ulimit -n; ulimit -c; head -c 5000 /dev/zero > big; wc -c < big")
            .current_dir(folder.path())
            .sandbox(sandbox);
        let (_, text) = run(launch).await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[1]), ("50", "0"), "{machine}: {text}");
        assert_eq!(lines.last(), Some(&"4096"), "{machine}: {text}");
    }
}

#[tokio::test]
async fn processes_are_counted_within_a_sandbox() {
    // Root is bound by the numbers there are, which the kernel keeps above 300.
    let is_root = rustix::process::geteuid().is_root();
    let (limit, wanted) = if is_root { (301, 400) } else { (20, 50) };
    let folder = tempfile::tempdir().unwrap();
    let sandbox = workspace(folder.path()).limits(Limits::default().processes(limit));
    let text =
        format!("i=0; while [ $i -lt {wanted} ]; do sleep 1000 & i=$((i+1)); done; echo all");
    let before = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let (code, text) = run(script(&text).sandbox(sandbox)).await;
    assert!(code != Some(0) && !text.contains("all"), "{text}");
    let after = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    assert_eq!(before, after, "the machine's own is left alone");
}

#[tokio::test]
async fn shared_memory_is_a_childs_own() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("toolsmith-test-{}", std::process::id());
    let text = format!("echo x > /dev/shm/{name} && cat /dev/shm/{name}");
    let (code, text) = run(script(&text).sandbox(workspace(folder.path()))).await;
    assert_eq!((code, text.as_str()), (Some(0), "x\n"));
    assert!(!std::path::Path::new("/dev/shm").join(name).exists());
}

#[tokio::test]
async fn a_child_makes_terminals_of_its_own_and_sees_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let (master, _) = terminal();
    let launch = script("ls /dev/pts; script -qec 'tty; stty size' /dev/null < /dev/null")
        .sandbox(workspace(folder.path()));
    let (_, text) = run(launch).await;
    drop(master);
    let first = text.lines().next().unwrap_or_default();
    assert_eq!(first, "ptmx", "{text}");
    let has_script = std::path::Path::new("/usr/bin/script").exists();
    assert!(!has_script || text.contains("/dev/pts/0"), "{text}");
}

/// A terminal of the host's.
fn terminal() -> (rustix::fd::OwnedFd, std::ffi::CString) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    (master, name)
}

#[tokio::test]
async fn only_processes_of_the_sandbox_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ls /proc | grep -c '^[0-9]'; echo $$; cat /proc/1/comm";
    let (_, text) = run(script(text).sandbox(workspace(folder.path()))).await;
    let lines: Vec<_> = text.lines().collect();
    // The keeper, the shell, and its pipeline.
    assert!(lines[0].parse::<u32>().unwrap() <= 5, "{text}");
    assert_eq!(lines[1], "2", "{text}");
}

#[test]
fn modes_have_names() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    let error = "readonly".parse::<Mode>().unwrap_err();
    let expected = "no sandbox mode \"readonly\"; use read-only, workspace-write or full";
    assert_eq!(error.to_string(), expected);
}
