//! Writing files: whole or not at all, with what they had, and only what was read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;
use toolsmith_builtin::{Workspace, WorkspaceOptions};
use toolsmith_core::RawCall;
use toolsmith_runtime::permit::{Policy, Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Toolbox};

use super::ground::{Ground, reason, text};

#[tokio::test]
async fn a_new_file_is_made_with_its_folders() {
    let ground = Ground::new();
    let arguments = json!({ "file_path": "a/b/c.txt", "content": "one\ntwo\n" });
    let outcome = ground.call("write", arguments).await;
    assert_eq!(ground.bytes("a/b/c.txt"), b"one\ntwo\n");
    assert_eq!(
        outcome.display.as_deref(),
        Some("Created a/b/c.txt (8 bytes)")
    );
    for field in [
        "content_size",
        "encoding",
        "created_directories",
        "has_diff",
    ] {
        assert!(outcome.metadata.contains_key(field), "{field}");
    }
    assert_eq!(outcome.metadata["created_directories"], true);
    let arguments = json!({ "file_path": "x/y.txt", "content": "", "create_directories": false });
    assert_eq!(reason(&ground.call("write", arguments).await), "NOT_FOUND");
    assert!(!ground.root().join("x").exists());
}

#[tokio::test]
async fn what_a_file_has_stays() {
    let ground = Ground::new();
    ground.file("script.sh", "#!/bin/sh\r\necho hi\r\n");
    let path = ground.root().join("script.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
    let arguments = json!({ "file_path": "script.sh", "content": "#!/bin/sh\necho bye\n" });
    let outcome = ground.call("write", arguments).await;
    assert!(text(&outcome).contains("+echo bye"), "{}", text(&outcome));
    assert_eq!(ground.bytes("script.sh"), b"#!/bin/sh\r\necho bye\r\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o754);
    assert_eq!(ground.leftovers().len(), 0);
}

/// Other names of a file lead to what was written.
#[tokio::test]
async fn hard_links_stay_together() {
    let ground = Ground::new();
    ground.file("a.txt", "old\n");
    fs::hard_link(ground.root().join("a.txt"), ground.root().join("b.txt")).unwrap();
    let outcome = ground
        .call("write", json!({ "file_path": "a.txt", "content": "new\n" }))
        .await;
    assert_eq!(outcome.metadata["in_place"], true);
    assert_eq!(ground.bytes("b.txt"), b"new\n");
    for (tool, arguments) in [
        (
            "edit",
            json!({ "file_path": "a.txt", "old_string": "new", "new_string": "newer" }),
        ),
        (
            "multi_edit",
            json!({ "file_path": "b.txt", "edits": [{ "old_string": "newer", "new_string": "newest" }] }),
        ),
    ] {
        let outcome = ground.call(tool, arguments).await;
        assert!(
            text(&outcome).contains("written in place"),
            "{}",
            text(&outcome)
        );
    }
    assert_eq!(ground.bytes("a.txt"), b"newest\n");
    assert_eq!(ground.leftovers().len(), 0);
}

#[tokio::test]
async fn what_may_not_be_written_is_refused() {
    let ground = Ground::new();
    ground.file("locked.txt", "old\n");
    let path = ground.root().join("locked.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    ground.file("folder/a.txt", "");
    let tries = [
        (
            "DENIED",
            json!({ "file_path": "locked.txt", "content": "new\n" }),
        ),
        (
            "IS_DIRECTORY",
            json!({ "file_path": "folder", "content": "x" }),
        ),
        (
            "IS_DIRECTORY",
            json!({ "file_path": "folder/", "content": "x" }),
        ),
        ("IS_DIRECTORY", json!({ "file_path": ".", "content": "x" })),
        (
            "NOT_DIRECTORY",
            json!({ "file_path": "locked.txt/x", "content": "x" }),
        ),
        (
            "EXISTS",
            json!({ "file_path": "folder/a.txt", "content": "x", "if_exists": "fail" }),
        ),
        (
            "BAD_ARGUMENT",
            json!({ "file_path": "b.bin", "content": "?!", "encoding": "base64" }),
        ),
        (
            "BAD_ARGUMENT",
            json!({ "file_path": "b.bin", "content": "世", "encoding": "binary" }),
        ),
        (
            "STALE",
            json!({ "file_path": "folder/a.txt", "content": "x", "expected_sha256": "0123456789ab" }),
        ),
    ];
    for (word, arguments) in tries {
        let outcome = ground.call("write", arguments.clone()).await;
        assert_eq!(reason(&outcome), word, "{arguments}: {}", text(&outcome));
    }
    assert_eq!(ground.bytes("locked.txt"), b"old\n");
    assert!(!ground.root().join("b.bin").exists());
    assert_eq!(ground.leftovers().len(), 0);
}

/// Who has not seen what is there does not overwrite it; who has, by whatever name, does.
#[tokio::test]
async fn only_what_was_read_is_overwritten() {
    let ground = Ground::with(WorkspaceOptions::default());
    ground.file("a.txt", "one\n");
    ground.link("a.txt", "link");
    let write = |content: &str| json!({ "file_path": "a.txt", "content": content });
    assert_eq!(
        reason(&ground.call("write", write("two\n")).await),
        "NOT_READ"
    );
    // Another caller's reading is not ours.
    ground
        .call_as("other", "read", json!({ "file_path": "a.txt" }))
        .await;
    assert_eq!(
        reason(&ground.call("write", write("two\n")).await),
        "NOT_READ"
    );
    ground.call("read", json!({ "file_path": "link" })).await;
    assert!(ground.call("write", write("two\n")).await.is_success());
    // What one has written oneself one has seen.
    assert!(ground.call("write", write("three\n")).await.is_success());
    ground.file("a.txt", "four\n");
    let outcome = ground.call("write", write("five\n")).await;
    assert_eq!(reason(&outcome), "STALE");
    assert!(
        text(&outcome).contains("-three\n+four"),
        "{}",
        text(&outcome)
    );
    // The same content is the same, whenever it was written.
    ground.file("a.txt", "three\n");
    assert!(ground.call("write", write("five\n")).await.is_success());
    ground.file("a.txt", "six\n");
    let outcome = ground.call("read", json!({ "file_path": "a.txt" })).await;
    let hash = outcome.metadata["sha256"].clone();
    let mut named = write("seven\n");
    named["expected_sha256"] = hash;
    assert!(ground.call_as("third", "write", named).await.is_success());
    assert_eq!(ground.bytes("a.txt"), b"seven\n");
}

#[tokio::test]
async fn content_that_leaves_code_out_is_refused() {
    let ground = Ground::new();
    ground.file(
        "a.rs",
        "fn one() {}\nfn two() {}\nfn three() {}\nfn four() {}\n",
    );
    let content = "fn one() {}\n// ... rest of the code\n";
    let mut arguments = json!({ "file_path": "a.rs", "content": content });
    let outcome = ground.call("write", arguments.clone()).await;
    assert_eq!(reason(&outcome), "PLACEHOLDER", "{}", text(&outcome));
    arguments["allow_placeholders"] = json!(true);
    assert!(ground.call("write", arguments).await.is_success());
    // A new file may say what it likes, and dots alone stand for nothing.
    let arguments = json!({ "file_path": "b.rs", "content": content });
    assert!(ground.call("write", arguments).await.is_success());
    ground.file("c.rs", "fn one() {}\nfn two() {}\n");
    let arguments = json!({ "file_path": "c.rs", "content": "// wait ...\n" });
    assert!(ground.call("write", arguments).await.is_success());
}

#[tokio::test]
async fn the_old_content_can_be_kept() {
    let ground = Ground::new();
    ground.file("a.txt", "old\n");
    let arguments = json!({ "file_path": "a.txt", "content": "new\n", "backup": true });
    let outcome = ground.call("write", arguments).await;
    assert_eq!(outcome.metadata["backup_path"], "a.txt.bak");
    assert_eq!(ground.bytes("a.txt"), b"new\n");
    assert_eq!(ground.bytes("a.txt.bak"), b"old\n");
    assert_eq!(ground.leftovers().len(), 0);
}

#[tokio::test]
async fn bytes_are_written_as_they_are() {
    let ground = Ground::new();
    let arguments = json!({ "file_path": "a.bin", "content": "AAEC/w==", "encoding": "base64" });
    assert!(ground.call("write", arguments).await.is_success());
    assert_eq!(ground.bytes("a.bin"), [0, 1, 2, 255]);
    let arguments = json!({ "file_path": "b.bin", "content": "\u{0}\u{ff}", "encoding": "binary" });
    assert!(ground.call("write", arguments).await.is_success());
    assert_eq!(ground.bytes("b.bin"), [0, 255]);
    let arguments = json!({ "file_path": "c.txt", "content": "中文", "encoding": "gbk" });
    assert!(ground.call("write", arguments).await.is_success());
    assert_eq!(ground.bytes("c.txt"), [0xd6, 0xd0, 0xce, 0xc4]);
}

/// Many writers of one file: each content is whole, and nothing is left behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_one_file_wait_for_each_other() {
    let ground = std::sync::Arc::new(Ground::new());
    let mut writers = Vec::new();
    for number in 0..20 {
        let ground = std::sync::Arc::clone(&ground);
        writers.push(tokio::spawn(async move {
            let content = format!("{number}\n").repeat(5000);
            let arguments = json!({ "file_path": "a.txt", "content": content });
            ground.call("write", arguments).await.is_success()
        }));
    }
    for writer in writers {
        assert!(writer.await.unwrap());
    }
    let content = String::from_utf8(ground.bytes("a.txt")).unwrap();
    let first = content.lines().next().unwrap().to_owned();
    assert_eq!(content, format!("{first}\n").repeat(5000));
    assert_eq!(ground.leftovers().len(), 0);
}

/// Rules hold for the file that is really written, however it is named; backups too.
#[tokio::test]
async fn plans_name_what_is_really_touched() {
    let ground = Ground::new();
    ground.file("caf\u{e9}/a.txt", "one\n");
    ground.file("b.txt", "two\n");
    ground.link("secret/new.txt", "dangling");
    ground.link("caf\u{e9}", "door");
    fs::create_dir(ground.root().join("secret")).unwrap();
    let deny = [
        "write(file_path beneath secret)",
        "read(file_path beneath caf\u{e9})",
    ];
    let rules = deny.map(|rule| {
        let verdict = Verdict::Deny;
        Rule::parse(verdict, rule).unwrap()
    });
    let policy = Policy::new(Mode::Auto).with_rules(rules);
    let workspace = Workspace::open(
        [ground.root()],
        WorkspaceOptions::default().with_unread_writes(),
    )
    .unwrap();
    let toolbox = Toolbox::builder()
        .tools(toolsmith_builtin::tools(
            &workspace,
            std::time::SystemTime::now,
        ))
        .policy(policy)
        .build()
        .unwrap();
    let caller = Caller::new("test");
    let calls = [
        ("write", json!({ "file_path": "dangling", "content": "x" })),
        (
            "write",
            json!({ "file_path": "secret/x.txt", "content": "x" }),
        ),
        ("read", json!({ "file_path": "caf\u{e9}/a.txt" })),
        ("read", json!({ "file_path": "cafe\u{301}/a.txt" })),
        ("read", json!({ "file_path": "door/a.txt" })),
    ];
    for (name, arguments) in calls {
        let call = RawCall::new(name, arguments.clone());
        let outcome = toolbox.run(call, &caller).await.into_outcome();
        let code = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
        assert_eq!(
            code,
            Some("permission_denied"),
            "{arguments}: {}",
            text(&outcome)
        );
    }
    assert!(!ground.root().join("secret/new.txt").exists());
    // What allows speaks of the workspace too.
    let allow = ["write(file_path: out/**)", "read"].map(|rule| {
        let verdict = Verdict::Allow;
        Rule::parse(verdict, rule).unwrap()
    });
    let policy = Policy::new(Mode::Ask);
    let toolbox = Toolbox::builder()
        .tools(toolsmith_builtin::tools(
            &workspace,
            std::time::SystemTime::now,
        ))
        .policy(policy.with_rules(allow))
        .build()
        .unwrap();
    ground.link("../secret", "out/door");
    for (path, code) in [
        ("out/a.txt", None),
        ("secret/../out/b.txt", None),
        ("out/../c.txt", Some("approval_required")),
        ("out/door/d.txt", Some("approval_required")),
    ] {
        let arguments = json!({ "file_path": path, "content": "x" });
        let call = RawCall::new("write", arguments);
        let outcome = toolbox.run(call, &caller).await.into_outcome();
        let found = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
        assert_eq!(found, code, "{path}: {}", text(&outcome));
    }
}

/// Rules about the path of a file hold for every form of a call, and for a root by the name it
/// was given.
#[tokio::test]
async fn rules_about_paths_hold_in_every_form_of_a_call() {
    let ground = Ground::new();
    ground.file("secret/key.txt", "TOP\n");
    ground.file("a.txt", "TOP\n");
    ground.link("secret", "door");
    let named = ground.folder.path().join("named");
    std::os::unix::fs::symlink(ground.root(), &named).unwrap();
    let options = WorkspaceOptions::default().with_unread_writes();
    let workspace = Workspace::open([named.clone()], options).unwrap();
    let edits = json!([{ "old_string": "TOP", "new_string": "TAP" }]);
    let patch = |head: &str| json!({ "patch": format!("*** Begin Patch\n{head}\n*** End Patch") });
    let calls = [
        json!({ "file_path": "secret/key.txt", "edits": edits }),
        json!({ "files": [{ "file_path": "secret/key.txt", "edits": edits }] }),
        json!({ "files": [{ "file_path": "a.txt", "edits": edits },
            { "file_path": "door/key.txt", "edits": edits }] }),
        patch("*** Add File: secret/new.txt\n+x"),
        patch("*** Delete File: door/key.txt"),
        patch("*** Update File: a.txt\n*** Move to: secret/b.txt\n@@\n-TOP\n+TAP"),
    ];
    let absolute = format!("effect:write(file_path beneath {}/secret)", named.display());
    let rules = [
        "effect:write(file_path beneath secret)",
        "multi_edit(file_path: secret/**)",
        &absolute,
    ];
    for rule in rules {
        let denied = Rule::parse(Verdict::Deny, rule).unwrap();
        let toolbox = Toolbox::builder()
            .tools(toolsmith_builtin::tools(
                &workspace,
                std::time::SystemTime::now,
            ))
            .policy(Policy::new(Mode::Auto).with_rules([denied]))
            .build()
            .unwrap();
        for arguments in &calls {
            let call = RawCall::new("multi_edit", arguments.clone());
            let outcome = toolbox.run(call, &Caller::new("test")).await.into_outcome();
            let code = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
            assert_eq!(code, Some("permission_denied"), "{rule} {arguments}");
        }
        let harmless =
            json!({ "files": [{ "file_path": "a.txt", "edits": edits }], "dry_run": true });
        let call = RawCall::new("multi_edit", harmless);
        let outcome = toolbox.run(call, &Caller::new("test")).await.into_outcome();
        assert!(outcome.is_success(), "{rule}: {}", text(&outcome));
    }
}

/// A backup is no more open than what it keeps, and no way to write elsewhere.
#[tokio::test]
async fn backups_are_as_closed_as_their_files() {
    let ground = Ground::new();
    ground.file(".env", "KEY=1\n");
    let path = ground.root().join(".env");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let arguments = json!({ "file_path": ".env", "content": "KEY=2\n", "backup": true });
    assert!(ground.call("write", arguments).await.is_success());
    let mode = |name: &str| fs::metadata(ground.root().join(name)).unwrap().mode() & 0o777;
    assert_eq!((mode(".env"), mode(".env.bak")), (0o600, 0o600));
    ground.file("a.txt", "a\n");
    ground.file("b.txt", "b\n");
    ground.link("b.txt", "a.txt.bak");
    let arguments = json!({ "file_path": "a.txt", "content": "x\n", "backup": true });
    assert_eq!(
        reason(&ground.call("write", arguments).await),
        "NOT_REGULAR"
    );
    assert_eq!(
        (ground.bytes("a.txt"), ground.bytes("b.txt")),
        (b"a\n".into(), b"b\n".into())
    );
    let patch = "*** Begin Patch\n*** Update File: .env\n*** Move to: .env2\n*** End Patch\n";
    let outcome = ground.call("multi_edit", json!({ "patch": patch })).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(mode(".env2"), 0o600);
}

/// What fails leaves no folders it made.
#[tokio::test]
async fn folders_made_in_vain_go_again() {
    let ground = Ground::new();
    let arguments = json!({ "file_path": "new/deep/a.bin", "content": "!", "encoding": "base64" });
    assert!(!ground.call("write", arguments).await.is_success());
    assert!(!ground.root().join("new").exists());
    ground.file("b.txt", "b\n");
    let patch = "*** Begin Patch\n*** Add File: made/z.txt\n+z\n*** Update File: b.txt\n@@\n-nowhere\n+x\n*** End Patch\n";
    assert!(
        !ground
            .call("multi_edit", json!({ "patch": patch }))
            .await
            .is_success()
    );
    assert!(!ground.root().join("made").exists());
}

/// A folder that takes no other file: what is in it is written in place, and what was
/// there is kept elsewhere meanwhile.
#[tokio::test]
async fn a_file_in_a_folder_that_takes_none_is_written_in_place() {
    let state = tempfile::tempdir().unwrap();
    let options = WorkspaceOptions::default().with_unread_writes();
    let ground = Ground::with(
        options
            .clone()
            .with_state(Some(state.path().join("writing"))),
    );
    let without = Ground::with(options);
    for ground in [&ground, &without] {
        ground.file("closed/a.txt", "old\n");
        let closed = fs::Permissions::from_mode(0o555);
        fs::set_permissions(ground.root().join("closed"), closed).unwrap();
    }
    let arguments = json!({ "file_path": "closed/a.txt", "content": "new\n" });
    let beside = fs::write(without.root().join("closed/b.txt"), "");
    let outcome = ground.call("write", arguments.clone()).await;
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(ground.bytes("closed/a.txt"), b"new\n");
    // Nothing stops the system's own user.
    if beside.is_err() {
        assert_eq!(outcome.metadata["in_place"], true);
        assert_eq!(reason(&without.call("write", arguments).await), "DENIED");
        assert_eq!(without.bytes("closed/a.txt"), b"old\n");
    }
    assert_eq!(
        fs::read_dir(state.path().join("writing")).unwrap().count(),
        0
    );
    for ground in [&ground, &without] {
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(ground.root().join("closed"), open).unwrap();
        assert_eq!(ground.leftovers().len(), 0);
    }
}

#[tokio::test]
async fn a_hash_that_is_none_is_not_taken_for_another() {
    let ground = Ground::new();
    ground.file("a.txt", "old\n");
    for hash in ["", "abc", "not a hash at all"] {
        let arguments =
            json!({ "file_path": "a.txt", "content": "new\n", "expected_sha256": hash });
        let outcome = ground.call("write", arguments).await;
        assert_eq!(reason(&outcome), "BAD_ARGUMENT", "{hash}");
    }
    let arguments = json!({
        "file_path": "a.txt", "content": "new\n", "expected_sha256": "0123456789ab",
    });
    assert_eq!(reason(&ground.call("write", arguments).await), "STALE");
    assert_eq!(ground.bytes("a.txt"), b"old\n");
}

#[tokio::test]
async fn a_refused_path_leaves_no_folders() {
    let ground = Ground::new();
    let long = format!("one/two/{}/file.txt", "n".repeat(300));
    for path in ["new/../../file.txt", &long] {
        let arguments = json!({ "file_path": path, "content": "" });
        assert!(
            !ground.call("write", arguments).await.is_success(),
            "{path}"
        );
    }
    assert_eq!(fs::read_dir(ground.root()).unwrap().count(), 0);
}

/// A patch that replaces a file says so, and shows what is lost.
#[tokio::test]
async fn a_patch_tells_what_it_replaces() {
    let ground = Ground::new();
    ground.file("a.txt", "one\n");
    ground.file("b.txt", "lost\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+two\n*** End Patch";
    let outcome = ground.call("multi_edit", json!({ "patch": patch })).await;
    assert!(
        text(&outcome).contains("b.txt was there, and is replaced"),
        "{}",
        text(&outcome)
    );
    assert!(text(&outcome).contains("-lost"), "{}", text(&outcome));
    let patch = "*** Begin Patch\n*** Add File: b.txt\n+three\n*** End Patch";
    let outcome = ground.call("multi_edit", json!({ "patch": patch })).await;
    assert_eq!(outcome.metadata["files"][0]["action"], "replaced");
    assert_eq!(ground.bytes("b.txt"), b"three\n");
}

#[tokio::test]
async fn what_decides_about_programs_is_asked_for_even_where_writing_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for root in [&one, &two] {
        fs::create_dir_all(root.join("tools/mcp")).unwrap();
    }
    std::os::unix::fs::symlink("tools/mcp", one.join("innocent")).unwrap();
    let options = WorkspaceOptions::default()
        .with_unread_writes()
        .with_deciding(["toolsmith.yaml".into(), "tools/mcp".into()]);
    let workspace = Workspace::open([&one, &two], options).unwrap();
    let toolbox = |policy| {
        let tools = toolsmith_builtin::tools(&workspace, std::time::SystemTime::now);
        let toolbox = Toolbox::builder().tools(tools).policy(policy).build();
        toolbox.unwrap()
    };
    let verdict = async |policy, path: String| {
        let call = RawCall::new("write", json!({ "file_path": path, "content": "x" }));
        let explained = toolbox(policy).explain(call, &Caller::new("test")).await;
        explained.decision.unwrap().verdict
    };
    let editing = || Policy::new(Mode::AutoEdit);
    for path in [
        "toolsmith.yaml",
        "./toolsmith.yaml",
        "tools/mcp/x.yaml",
        "innocent/x.yaml",
    ] {
        assert_eq!(
            verdict(editing(), path.to_owned()).await,
            Verdict::Ask,
            "{path}"
        );
        let by_name = editing().allowing(["write"]).unwrap();
        assert_eq!(
            verdict(by_name, path.to_owned()).await,
            Verdict::Ask,
            "{path}"
        );
    }
    let other_root = two.join("toolsmith.yaml").display().to_string();
    assert_eq!(verdict(editing(), other_root).await, Verdict::Ask);
    for path in ["toolsmith.yaml.txt", "tools/mcp.rs", "src/toolsmith.yaml"] {
        assert_eq!(
            verdict(editing(), path.to_owned()).await,
            Verdict::Allow,
            "{path}"
        );
    }
    let named = editing()
        .allowing(["write(file_path: toolsmith.yaml)"])
        .unwrap();
    assert_eq!(
        verdict(named, "toolsmith.yaml".to_owned()).await,
        Verdict::Allow
    );
    let all = Policy::new(Mode::Auto);
    assert_eq!(
        verdict(all, "toolsmith.yaml".to_owned()).await,
        Verdict::Allow
    );
}
