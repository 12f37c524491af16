//! A folder that is exchanged for a link while calls go on: no call gets out.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use toolsmith_builtin::WorkspaceOptions;

use super::ground::{Ground, SECRET, text};

/// How many files one call reads.
const AT_ONCE: usize = 100;

/// Ends the exchange with the calls, also where one of them fails.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges `desk/door`, a folder with a file of the secret's name, for a link to the
/// outside and back, until told to stop; meanwhile `calls` are made.
async fn while_exchanging(options: WorkspaceOptions, calls: usize, name: &str) {
    let ground = Ground::with(options.with_unread_writes());
    let outside = ground.outside();
    exchanging(&ground, &outside, calls, name).await;
    assert_eq!(fs::read_dir(ground.outside()).unwrap().count(), 1);
}

/// The same with a link to where nobody may go.
async fn exchanging(ground: &Ground, closed: &Path, calls: usize, name: &str) {
    ground.file("door/secret.txt", "inside\n");
    let door = ground.root().join("door");
    // The link lies outside; exchanging the two names is one step of the kernel's.
    let link = ground.folder.path().join("outside-link");
    symlink(closed, &link).unwrap();
    let (stop, inside, refused) = (AtomicBool::new(false), &mut 0, &mut 0);
    let handle = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &door, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let _end = EndOf(&stop);
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
    });
    // Both happened, or nothing was tried.
    assert!(*inside > 0 && *refused > 0, "{inside} {refused}");
    let secret = closed.join("secret.txt");
    assert_eq!(fs::read(secret).unwrap(), SECRET.as_bytes());
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

/// What is private in a root is as far away as what is outside of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_to_what_is_private() {
    for (calls, name) in [(20_000 / AT_ONCE, "read_files"), (1_000, "write")] {
        let ground = Ground::new();
        let private = ground.root().join("private");
        fs::create_dir(&private).unwrap();
        fs::write(private.join("secret.txt"), SECRET).unwrap();
        let options = WorkspaceOptions::default()
            .with_unread_writes()
            .with_private(Some(private.clone()));
        let toolbox = super::ground::toolbox(&[&ground.root()], options);
        let ground = Ground { toolbox, ..ground };
        exchanging(&ground, &private, calls, name).await;
        assert_eq!(fs::read_dir(&private).unwrap().count(), 1);
    }
}
