//! Changes to several files at once: what is foreseen, and what is left of those that fail.

use std::fs;

use serde_json::json;

use super::ground::{Ground, reason, text};

/// What a run would do is told also where it would make folders, and none is made.
#[tokio::test]
async fn a_dry_run_foresees_folders() {
    let ground = Ground::new();
    ground.file("b.txt", "old\n");
    let patch = "*** Begin Patch\n*** Add File: new/deep/a.txt\n+a\n*** Update File: b.txt\n\
                 *** Move to: moved/b.txt\n@@\n-old\n+new\n*** End Patch\n";
    let arguments = |dry: bool| json!({ "patch": patch, "dry_run": dry });
    let dry = ground.call("multi_edit", arguments(true)).await;
    assert!(dry.is_success(), "{}", text(&dry));
    let files = &dry.metadata["files"];
    assert_eq!(
        (&files[0]["action"], &files[0]["file_path"]),
        (&json!("added"), &json!("new/deep/a.txt"))
    );
    assert_eq!(files[1]["moved_to"], "moved/b.txt");
    assert_eq!(fs::read_dir(ground.root()).unwrap().count(), 1);
    let real = ground.call("multi_edit", arguments(false)).await;
    assert!(real.is_success(), "{}", text(&real));
    assert_eq!(real.metadata["files"], dry.metadata["files"]);
    assert_eq!(ground.bytes("new/deep/a.txt"), b"a\n");
    assert_eq!(ground.bytes("moved/b.txt"), b"new\n");
}

/// What a real run refuses a dry one refuses too.
#[tokio::test]
async fn a_dry_run_foresees_no_more_than_there_would_be() {
    let ground = Ground::new();
    ground.file("file", "x\n");
    ground.link("../outside", "out");
    for path in [
        "new/../../a.txt",
        "file/new/a.txt",
        "out/new/a.txt",
        "../new/a.txt",
    ] {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+a\n*** End Patch\n");
        let mut reasons = Vec::new();
        for dry_run in [true, false] {
            let arguments = json!({ "patch": patch, "dry_run": dry_run });
            let outcome = ground.call("multi_edit", arguments).await;
            assert!(!outcome.is_success(), "{path}");
            reasons.push(reason(&outcome));
        }
        assert_eq!(reasons[0], reasons[1], "{path}");
    }
    let twice = "*** Begin Patch\n*** Add File: new/a.txt\n+a\n*** Add File: ./new//a.txt\n+b\n*** End Patch\n";
    let arguments = json!({ "patch": twice, "dry_run": true });
    let outcome = ground.call("multi_edit", arguments).await;
    assert!(text(&outcome).contains("named twice"), "{}", text(&outcome));
    assert!(ground.is_untouched());
}

/// Folders that were made for one file in those made for another go too.
#[tokio::test]
async fn folders_made_within_each_other_go_again() {
    let ground = Ground::new();
    ground.file("b.txt", "b\n");
    for files in [
        ["made/a.txt", "made/deep/b.txt", "made/deep/er/c.txt"],
        ["made/deep/er/c.txt", "made/a.txt", "made/other/b.txt"],
    ] {
        let added = files.map(|file| format!("*** Add File: {file}\n+x\n"));
        let patch = format!(
            "*** Begin Patch\n{}*** Update File: b.txt\n@@\n-nowhere\n+x\n*** End Patch\n",
            added.concat()
        );
        let outcome = ground.call("multi_edit", json!({ "patch": patch })).await;
        assert_eq!(reason(&outcome), "NO_MATCH", "{}", text(&outcome));
        assert!(!ground.root().join("made").exists(), "{files:?}");
    }
}

/// Each file of a patch is held open, so there is an end to them.
#[tokio::test]
async fn a_patch_of_very_many_files_is_refused() {
    let ground = Ground::new();
    let patch = |count: usize| {
        let files = (0..count).map(|number| format!("*** Add File: {number}.txt\n+x\n"));
        let files: String = files.collect();
        json!({ "patch": format!("*** Begin Patch\n{files}*** End Patch\n") })
    };
    let outcome = ground.call("multi_edit", patch(201)).await;
    assert_eq!(reason(&outcome), "TOO_LARGE", "{}", text(&outcome));
    assert_eq!(fs::read_dir(ground.root()).unwrap().count(), 0);
    let outcome = ground.call("multi_edit", patch(200)).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(fs::read_dir(ground.root()).unwrap().count(), 200);
}

/// Which file is in the way, and what would become of the others, so that one answer is enough to
/// mend the call.
#[tokio::test]
async fn a_file_that_is_refused_is_told_beside_the_others() {
    let ground = Ground::new();
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        ground.file(name, "one\n");
    }
    let edit = |path: &str, old: &str| json!({ "file_path": path, "edits": [{ "old_string": old, "new_string": "two" }] });
    let files = [
        edit("a.txt", "one"),
        edit("b.txt", "none"),
        edit("c.txt", "one"),
        edit("d.txt", "none"),
    ];
    let outcome = ground.call("multi_edit", json!({ "files": files })).await;
    assert_eq!(reason(&outcome), "NO_MATCH");
    let error = outcome.error.unwrap();
    let details = error.details.unwrap();
    assert_eq!(details["file_index"], 1);
    assert_eq!(details["others_that_fit"], json!(["a.txt", "c.txt"]));
    assert_eq!(details["others_that_do_not"], json!(["d.txt"]));
    for words in [
        "file 2 of 4: ",
        "o file was changed; a.txt, c.txt would be; d.txt would not be either",
    ] {
        assert!(error.message.contains(words), "{}", error.message);
    }
    assert_eq!(ground.bytes("a.txt"), b"one\n");
}

#[tokio::test]
async fn half_a_call_and_two_at_once_are_told_apart() {
    let ground = Ground::new();
    ground.file("a.txt", "one\n");
    let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch";
    for (arguments, words) in [
        (
            json!({ "file_path": "a.txt" }),
            "file_path and edits are given together",
        ),
        (
            json!({ "file_path": "a.txt", "patch": patch }),
            "is said in more than one way",
        ),
        (json!({}), "nothing says what to change"),
    ] {
        let outcome = ground.call("multi_edit", arguments).await;
        assert!(text(&outcome).contains(words), "{}", text(&outcome));
    }
}
