//! Paths that try to lead out: none of them reads a byte from outside or changes one.

use std::fs;

use serde_json::{Value, json};
use toolsmith_builtin::WorkspaceOptions;

use super::ground::{Ground, SECRET, reason, text};

/// A ground with every sort of way out.
fn ground(options: WorkspaceOptions) -> Ground {
    let ground = Ground::with(options.with_unread_writes());
    let outside = ground.outside();
    ground.file("a.txt", "inside\n");
    ground.file("sub/b.txt", "inside\n");
    ground.link("/", "to_slash");
    ground.link("/proc/self/root", "to_proc_root");
    ground.link("/proc/self/cwd", "to_cwd");
    ground.link("/proc/self/fd", "to_fds");
    ground.link("..", "to_parent");
    ground.link("../outside", "to_outside");
    ground.link("../outside/secret.txt", "to_secret");
    ground.link(&outside, "abs_outside");
    ground.link(outside.join("secret.txt"), "abs_secret");
    ground.link("to_secret", "link_to_link");
    ground.link("sub/../../outside", "winding");
    ground.link("to_parent/outside", "through_parent");
    ground.link("../../outside/secret.txt", "sub/to_secret");
    ground.link("loop_b", "loop_a");
    ground.link("loop_a", "loop_b");
    ground.link("self", "self");
    ground.link("nowhere", "dangling");
    ground.link("../outside/new.txt", "dangling_outside");
    ground.link(outside.join("new.txt"), "abs_dangling_outside");
    ground
}

/// Ways out, and to where nothing is.
fn ways_out(ground: &Ground) -> Vec<String> {
    let folder = ground.folder.path().display().to_string();
    let mut ways: Vec<String> = [
        "../secret.txt",
        "../outside/secret.txt",
        "../desk-2/secret.txt",
        "./../secret.txt",
        "sub/../../secret.txt",
        "sub/../sub/../../outside/secret.txt",
        "..//secret.txt",
        "../desk/../secret.txt",
        "sub/./../../secret.txt",
        "a.txt/../../secret.txt",
        "nowhere/../../secret.txt",
        "../../../../../../../../../../etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "/etc/../etc/passwd",
        "/./etc/passwd",
        "/proc/self/environ",
        "/proc/self/cwd/Cargo.toml",
        "/proc/thread-self/environ",
        "/dev/stdin",
        "/dev/fd/0",
        "/sys/kernel/uevent_seqnum",
        "to_slash/etc/passwd",
        "to_slash/../etc/passwd",
        "to_proc_root/etc/passwd",
        "to_cwd/Cargo.toml",
        "to_fds/0",
        "to_parent/secret.txt",
        "to_parent/outside/secret.txt",
        "to_parent/desk-2/secret.txt",
        "to_outside/secret.txt",
        "to_outside/../secret.txt",
        "to_outside/../outside/secret.txt",
        "to_secret",
        "abs_outside/secret.txt",
        "abs_outside/../secret.txt",
        "abs_secret",
        "link_to_link",
        "winding/secret.txt",
        "through_parent/secret.txt",
        "sub/to_secret",
        "sub/../to_secret",
        "loop_a",
        "self",
        "loop_a/secret.txt",
        "dangling_outside",
        "abs_dangling_outside",
        "~/secret.txt",
        "~root/secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "%2e%2e%2fsecret.txt",
        "..%c0%afsecret.txt",
        "..\\secret.txt",
        "\u{ff0e}\u{ff0e}/secret.txt",
        "\u{2024}\u{2024}/secret.txt",
        "..\u{2215}secret.txt",
        "..\u{ff0f}secret.txt",
        "file:///etc/passwd",
        "\\\\server\\share\\secret.txt",
        "C:\\Windows\\win.ini",
        "a.txt\0../secret.txt",
        "../secret.txt\0.txt",
        "..\n/secret.txt",
        " ../secret.txt",
        "../secret.txt ",
        "$HOME/secret.txt",
        "`cat ../secret.txt`",
        "sub/to_secret/",
        "to_outside/",
    ]
    .map(str::to_owned)
    .into();
    ways.extend([
        format!("{folder}/secret.txt"),
        format!("{folder}/outside/secret.txt"),
        format!("{folder}/desk-2/secret.txt"),
        format!("{folder}/desk/../secret.txt"),
        format!("{folder}/desk/../desk-2/secret.txt"),
        format!("{folder}/desk/to_secret"),
        format!("{folder}/WORK/../secret.txt"),
        format!("{folder}/desk//..//secret.txt"),
    ]);
    ways
}

async fn nothing_is_read(options: WorkspaceOptions) {
    let ground = ground(options);
    let ways = ways_out(&ground);
    assert!(ways.len() >= 60, "{}", ways.len());
    for way in &ways {
        let calls = [
            ("read", json!({ "file_path": way })),
            ("read", json!({ "file_path": way, "encoding": "base64" })),
            ("read", json!({ "file_path": way, "offset": -5 })),
            ("read_entire_file", json!({ "file_path": way })),
            (
                "read_file_lines",
                json!({ "file_path": way, "start_line": 1, "end_line": 9 }),
            ),
            ("read_file_tail", json!({ "file_path": way })),
            ("read_files", json!({ "file_paths": [way, "a.txt"] })),
        ];
        for (name, arguments) in calls {
            let outcome = ground.call(name, arguments).await;
            let told = serde_json::to_string(&outcome).unwrap();
            let told = format!("{told}{}", text(&outcome));
            assert!(!told.contains(SECRET), "{name} {way}: {told}");
            assert!(!told.contains("dGhlLXNlY3JldC"), "{name} {way}: {told}");
            assert!(!told.contains("root:x:0"), "{name} {way}: {told}");
            if name == "read_files" {
                let value = outcome.value.unwrap();
                assert_eq!(value["success_count"], 1, "{way}: {value}");
                assert_eq!(value["error_count"], 1, "{way}: {value}");
            } else {
                assert!(!outcome.is_success(), "{name} {way}");
            }
        }
    }
    assert!(ground.is_untouched());
}

#[tokio::test]
async fn no_way_leads_out_for_a_reader() {
    nothing_is_read(WorkspaceOptions::default()).await;
}

#[tokio::test]
async fn no_way_leads_out_for_a_reader_where_the_kernel_does_not_help() {
    nothing_is_read(WorkspaceOptions::default().step_by_step()).await;
}

async fn nothing_is_written(options: WorkspaceOptions) {
    let ground = ground(options);
    let ways = ways_out(&ground);
    for way in &ways {
        // Where nothing is, and where something is; with folders to be made.
        let beside = way.replace("secret.txt", "new.txt");
        for path in [
            way.clone(),
            beside.clone(),
            format!("{beside}/made/deep.txt"),
        ] {
            let arguments = json!({ "file_path": path, "content": "written" });
            let outcome = ground.call("write", arguments).await;
            assert!(ground.is_untouched(), "{path}: {outcome:?}");
            // Odd names within the workspace are names like any other.
            if outcome.is_success() {
                let made = outcome.value.unwrap()["file_path"]
                    .as_str()
                    .unwrap()
                    .to_owned();
                assert_eq!(ground.bytes(&made), b"written", "{path}");
            }
        }
    }
    assert_eq!(ground.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

#[tokio::test]
async fn no_way_leads_out_for_a_writer() {
    nothing_is_written(WorkspaceOptions::default()).await;
}

#[tokio::test]
async fn no_way_leads_out_for_a_writer_where_the_kernel_does_not_help() {
    nothing_is_written(WorkspaceOptions::default().step_by_step()).await;
}

/// Links that stay within are followed, however they are written, and it is their
/// referent that is written.
#[tokio::test]
async fn links_within_are_followed() {
    for options in [
        WorkspaceOptions::default(),
        WorkspaceOptions::default().step_by_step(),
    ] {
        let ground = Ground::with(options.with_unread_writes());
        ground.file("sub/deep/b.txt", "inside\n");
        ground.link("sub/deep", "relative");
        ground.link(ground.root().join("sub/deep"), "absolute");
        ground.link("../relative/b.txt", "sub/twice");
        ground.link("sub/new.txt", "to_new");
        for path in [
            "relative/b.txt",
            "absolute/b.txt",
            "sub/twice",
            "relative/../deep/b.txt",
        ] {
            let outcome = ground.call("read", json!({ "file_path": path })).await;
            assert!(
                text(&outcome).contains("inside"),
                "{path}: {}",
                text(&outcome)
            );
        }
        let arguments = json!({ "file_path": "sub/twice", "content": "changed\n" });
        assert!(ground.call("write", arguments).await.is_success());
        assert_eq!(ground.bytes("sub/deep/b.txt"), b"changed\n");
        assert!(ground.root().join("sub/twice").is_symlink());
        let arguments = json!({ "file_path": "to_new", "content": "made\n" });
        assert!(ground.call("write", arguments).await.is_success());
        assert_eq!(ground.bytes("sub/new.txt"), b"made\n");
    }
}

/// The words for what is wrong.
#[tokio::test]
async fn every_refusal_has_its_word() {
    let ground = ground(WorkspaceOptions::default());
    rustix_fifo(&ground, "fifo");
    let long = "x".repeat(5000);
    let longer_name = "y".repeat(300);
    let words: Vec<(&str, Value)> = vec![
        ("NOT_FOUND", json!({ "file_path": "nowhere.txt" })),
        ("NOT_FOUND", json!({ "file_path": "dangling" })),
        ("NOT_FOUND", json!({ "file_path": "loop_a" })),
        ("OUTSIDE_ROOT", json!({ "file_path": "../secret.txt" })),
        ("OUTSIDE_ROOT", json!({ "file_path": "to_secret" })),
        ("OUTSIDE_ROOT", json!({ "file_path": "/etc/passwd" })),
        ("NOT_DIRECTORY", json!({ "file_path": "a.txt/b" })),
        ("NOT_REGULAR", json!({ "file_path": "fifo" })),
        ("BAD_ARGUMENT", json!({ "file_path": "" })),
        ("BAD_ARGUMENT", json!({ "file_path": "a\0b" })),
        ("BAD_ARGUMENT", json!({ "file_path": long })),
        ("BAD_ARGUMENT", json!({ "file_path": longer_name })),
        (
            "BAD_ARGUMENT",
            json!({ "file_path": "a.txt", "encoding": "klingon" }),
        ),
    ];
    for (word, arguments) in words {
        let outcome = ground.call("read", arguments.clone()).await;
        assert_eq!(reason(&outcome), word, "{arguments}: {}", text(&outcome));
        // What is outside stays unsaid.
        let folder = ground.folder.path().display().to_string();
        assert!(!text(&outcome).contains(&folder), "{}", text(&outcome));
    }
    let outcome = ground.call("read", json!({ "file_path": "a.tx" })).await;
    assert!(text(&outcome).contains("`a.txt`"), "{}", text(&outcome));
}

fn rustix_fifo(ground: &Ground, name: &str) {
    let made = std::process::Command::new("mkfifo")
        .arg(ground.root().join(name))
        .status();
    assert!(made.unwrap().success());
}

/// Several roots: each by its whole path, and a link from one into another.
#[tokio::test]
async fn several_roots_are_one_workspace() {
    let folder = tempfile::TempDir::new().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&two).unwrap();
    fs::write(two.join("b.txt"), "two\n").unwrap();
    fs::write(folder.path().join("c.txt"), SECRET).unwrap();
    std::os::unix::fs::symlink(&two, one.join("link")).unwrap();
    let options = WorkspaceOptions::default().with_unread_writes();
    let toolbox = super::ground::toolbox(&[&one, &two], options);
    let caller = toolsmith_runtime::Caller::new("test");
    let run = async |name: &str, arguments: Value| {
        let call = toolsmith_core::RawCall::new(name, arguments);
        toolbox.run(call, &caller).await.into_outcome()
    };
    for path in [
        two.join("b.txt").display().to_string(),
        "link/b.txt".to_owned(),
    ] {
        let outcome = run("read", json!({ "file_path": path })).await;
        assert!(text(&outcome).contains("two"), "{}", text(&outcome));
    }
    let outcome = run(
        "write",
        json!({ "file_path": "link/new.txt", "content": "x" }),
    )
    .await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(fs::read(two.join("new.txt")).unwrap(), b"x");
    let outcome = run("read", json!({ "file_path": "link/../c.txt" })).await;
    assert_eq!(reason(&outcome), "OUTSIDE_ROOT");
}

/// What may only be read is not written, by whatever name.
#[tokio::test]
async fn readable_folders_are_not_written() {
    let folder = tempfile::TempDir::new().unwrap();
    let kept = folder.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("large.txt"), "spilled\n").unwrap();
    let options = WorkspaceOptions::default()
        .with_unread_writes()
        .with_readable(Some(kept.clone()));
    let ground = Ground::with(options);
    ground.link(kept.join("large.txt"), "link");
    let path = kept.join("large.txt").display().to_string();
    let outcome = ground.call("read", json!({ "file_path": path })).await;
    assert!(text(&outcome).contains("spilled"), "{}", text(&outcome));
    for path in [
        path,
        "link".to_owned(),
        kept.join("new/a.txt").display().to_string(),
    ] {
        let arguments = json!({ "file_path": path, "content": "x" });
        assert_eq!(
            reason(&ground.call("write", arguments).await),
            "DENIED",
            "{path}"
        );
    }
    assert_eq!(fs::read(kept.join("large.txt")).unwrap(), b"spilled\n");
    assert!(!kept.join("new").exists());
}

/// What is the host's own stays unseen, though it lies in a root: by name, by link, and in
/// searches. What is readable in it can be read.
#[tokio::test]
async fn what_is_private_is_not_seen() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().join("home");
    fs::create_dir_all(root.join("state/spills")).unwrap();
    fs::write(root.join("state/token"), SECRET).unwrap();
    fs::write(root.join("state/spills/large.txt"), "spilled\n").unwrap();
    std::os::unix::fs::symlink("state", root.join("door")).unwrap();
    let options = WorkspaceOptions::default()
        .with_unread_writes()
        .with_private(Some(root.join("state")))
        .with_readable(Some(root.join("state/spills")));
    let toolbox = super::ground::toolbox(&[&root], options);
    let caller = toolsmith_runtime::Caller::new("test");
    let run = async |name: &str, arguments: Value| {
        let call = toolsmith_core::RawCall::new(name, arguments);
        toolbox.run(call, &caller).await.into_outcome()
    };
    let calls = [
        ("read", json!({ "file_path": "state/token" })),
        ("read", json!({ "file_path": "door/token" })),
        ("read", json!({ "file_path": "state/../state/token" })),
        (
            "read",
            json!({ "file_path": root.join("state/token").display().to_string() }),
        ),
        (
            "write",
            json!({ "file_path": "state/token", "content": "x" }),
        ),
        (
            "write",
            json!({ "file_path": "state/new/file", "content": "x" }),
        ),
        ("write", json!({ "file_path": "door/new", "content": "x" })),
        (
            "write",
            json!({ "file_path": "state/spills/large.txt", "content": "x" }),
        ),
        (
            "edit",
            json!({ "file_path": "state/token", "old_string": "the", "new_string": "x" }),
        ),
        ("list_directory", json!({ "path": "state" })),
        (
            "search_in_file",
            json!({ "file_path": "state/token", "query": "secret" }),
        ),
        ("grep", json!({ "pattern": "secret", "path": "state" })),
    ];
    for (name, arguments) in calls {
        let outcome = run(name, arguments.clone()).await;
        assert_eq!(
            reason(&outcome),
            "DENIED",
            "{name} {arguments}: {}",
            text(&outcome)
        );
    }
    let outcome = run(
        "grep",
        json!({ "pattern": "secret", "output_mode": "content" }),
    )
    .await;
    assert!(!text(&outcome).contains(SECRET), "{}", text(&outcome));
    let outcome = run(
        "glob",
        json!({ "pattern": "**/token", "include_ignored": true }),
    )
    .await;
    assert_eq!(outcome.value.unwrap()["total_matches"], 0);
    for path in [
        "state/spills/large.txt".to_owned(),
        root.join("state/spills/large.txt").display().to_string(),
    ] {
        let outcome = run("read", json!({ "file_path": path })).await;
        assert!(text(&outcome).contains("spilled"), "{}", text(&outcome));
    }
    assert_eq!(
        fs::read(root.join("state/token")).unwrap(),
        SECRET.as_bytes()
    );
    assert!(!root.join("state/new").exists());
}

/// A folder of the host's that is made later is as private as one that was there.
#[tokio::test]
async fn what_becomes_private_later_is_not_seen() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().join("home");
    fs::create_dir_all(root.join("local")).unwrap();
    let private = root.join("local/state/toolsmith");
    let options = WorkspaceOptions::default().with_private(Some(private.clone()));
    let toolbox = super::ground::toolbox(&[&root], options);
    let caller = toolsmith_runtime::Caller::new("test");
    let run = async |name: &str, arguments: Value| {
        let call = toolsmith_core::RawCall::new(name, arguments);
        toolbox.run(call, &caller).await.into_outcome()
    };
    let path = "local/state/toolsmith/token";
    let outcome = run("write", json!({ "file_path": path, "content": "x" })).await;
    assert_eq!(reason(&outcome), "DENIED", "{}", text(&outcome));
    fs::create_dir_all(&private).unwrap();
    fs::write(private.join("token"), SECRET).unwrap();
    let outcome = run("read", json!({ "file_path": path })).await;
    assert_eq!(reason(&outcome), "DENIED", "{}", text(&outcome));
    let arguments = json!({ "pattern": "secret", "output_mode": "content" });
    let outcome = run("grep", arguments).await;
    assert!(!text(&outcome).contains(SECRET), "{}", text(&outcome));
}
