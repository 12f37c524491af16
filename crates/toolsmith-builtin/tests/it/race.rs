//! A folder that is exchanged for a link while calls go on: no call gets out.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use toolsmith_builtin::WorkspaceOptions;

use super::ground::{Ground, SECRET, text};

/// How many files one call reads.
const AT_ONCE: usize = 100;

/// Exchanges `desk/door`, a folder with a file of the secret's name, for a link to the
/// outside and back, until told to stop; meanwhile `calls` are made.
async fn while_exchanging(options: WorkspaceOptions, calls: usize, name: &str) {
    let ground = Ground::with(options.with_unread_writes());
    ground.file("door/secret.txt", "inside\n");
    let door = ground.root().join("door");
    // The link lies outside; exchanging the two names is one step of the kernel's.
    let link = ground.folder.path().join("outside-link");
    symlink(ground.outside(), &link).unwrap();
    let (stop, inside, refused) = (AtomicBool::new(false), &mut 0, &mut 0);
    let handle = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &door, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        tokio::task::block_in_place(|| {
            for _ in 0..calls {
                let arguments = match name {
                    "write" => json!({ "file_path": "door/secret.txt", "content": "inside\n" }),
                    _ => json!({ "file_paths": vec!["door/secret.txt"; AT_ONCE] }),
                };
                let outcome = handle.block_on(ground.call(name, arguments));
                assert!(!text(&outcome).contains(SECRET), "{}", text(&outcome));
                let value = outcome.value.clone().unwrap_or_default();
                match (
                    value["success_count"].as_u64(),
                    value["error_count"].as_u64(),
                ) {
                    (Some(read), Some(not_read)) => {
                        *inside += read;
                        *refused += not_read;
                    }
                    _ if outcome.is_success() => *inside += 1,
                    _ => *refused += 1,
                }
            }
        });
        stop.store(true, Ordering::Relaxed);
    });
    // Both happened, or nothing was tried.
    assert!(*inside > 0 && *refused > 0, "{inside} {refused}");
    let secret = ground.outside().join("secret.txt");
    assert_eq!(fs::read(secret).unwrap(), SECRET.as_bytes());
    assert_eq!(fs::read_dir(ground.outside()).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_readers_do_not_get_out() {
    while_exchanging(WorkspaceOptions::default(), 100_000 / AT_ONCE, "read_files").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_go_step_by_step_do_not_get_out() {
    let options = WorkspaceOptions::default().step_by_step();
    while_exchanging(options, 20_000 / AT_ONCE, "read_files").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_do_not_get_out() {
    while_exchanging(WorkspaceOptions::default(), 1_000, "write").await;
    while_exchanging(WorkspaceOptions::default().step_by_step(), 300, "write").await;
}
