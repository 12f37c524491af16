//! A child is apart from its parent: its session, its descriptors, and their deaths.

use rustix::process::{Pid, getpgid, getsid};
use toolsmith_process::Launch;

#[tokio::test]
async fn a_child_leads_its_own_session_and_group() {
    let running = Launch::new("/bin/cat").start().unwrap();
    let id = Pid::from_raw(running.id().try_into().unwrap()).unwrap();
    assert_eq!(getsid(Some(id)).unwrap(), id);
    assert_eq!(getpgid(Some(id)).unwrap(), id);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_inherits_three_descriptors() {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{Mode, OFlags, open};

    let leak = open("/dev/null", OFlags::RDONLY, Mode::empty()).unwrap();
    let (running, mut lines) = crate::support::start("echo ready; exec cat");
    crate::support::line(&mut lines).await;
    let open = || {
        let folder = std::fs::read_dir(format!("/proc/{}/fd", running.id())).unwrap();
        let mut open: Vec<_> = folder
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        open.sort();
        open
    };
    // A program opens its libraries while it starts; what it inherited it would keep.
    let what = format!("{} is closed, open are {:?}", leak.as_raw_fd(), open());
    crate::support::until(&what, || open() == ["0", "1", "2"]).await;
}

/// Not a test by itself: the parent in the test below, in a process that can be killed.
#[cfg(target_os = "linux")]
#[test]
fn parent() {
    if std::env::var_os("TOOLSMITH_TEST_PARENT").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    // Started from a thread that ends, which must not end the child.
    let handle = runtime.handle().clone();
    let started = std::thread::spawn(move || {
        let _inside = handle.enter();
        Launch::new("/bin/sleep").argument("1000").start().unwrap()
    });
    let running = started.join().unwrap();
    eprintln!("started {}", running.id());
    std::thread::sleep(crate::support::PATIENCE);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_dies_with_its_parent_and_not_with_a_thread_of_it() {
    use crate::support::{is_running, until};

    let parent = Launch::new(std::env::current_exe().unwrap())
        .arguments(["--exact", "separation::parent", "--nocapture"])
        .environment([("TOOLSMITH_TEST_PARENT", "1")])
        .start()
        .unwrap();
    let stderr = parent.stderr();
    let child = || {
        let text = stderr.text();
        let (_, after) = text.split_once("started ")?;
        after.split_once('\n')?.0.parse::<u32>().ok()
    };
    until("the parent has a child", || child().is_some()).await;
    let child = child().unwrap();
    assert!(is_running(child));
    let id = Pid::from_raw(parent.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    until("the child is gone", || !is_running(child)).await;
}
