//! Edits of files: what is told, what is refused, and all or none of several.

use std::fs;

use serde_json::{Value, json};
use toolsmith_builtin::WorkspaceOptions;

use super::ground::{Ground, SECRET, reason, text};

#[tokio::test]
async fn an_edit_tells_what_it_did() {
    let ground = Ground::new();
    ground.file("a.txt", "one\ntwo\nthree\n");
    let call = json!({ "file_path": "a.txt", "old_string": "two", "new_string": "zwei" });
    let outcome = ground.call("edit", call).await;
    assert_eq!(ground.bytes("a.txt"), b"one\nzwei\nthree\n");
    let facts = &outcome.metadata;
    assert_eq!(facts["matches_found"], 1);
    assert_eq!(facts["replacements_made"], 1);
    assert_eq!(
        (&facts["original_size"], &facts["new_size"]),
        (&json!(14), &json!(15))
    );
    assert_eq!(facts["size_diff"], 1);
    assert_eq!(facts["matched"], "exact");
    assert!(
        facts["diff_snippet"]
            .as_str()
            .unwrap()
            .contains("-two\n+zwei")
    );
    assert_eq!(
        outcome.display.as_deref(),
        Some("Edited a.txt (1 replaced)")
    );
    let call =
        json!({ "file_path": "a.txt", "old_string": "zwei", "new_string": "2", "dry_run": true });
    let outcome = ground.call("edit", call).await;
    assert!(
        text(&outcome).starts_with("Would edit a.txt"),
        "{}",
        text(&outcome)
    );
    assert_eq!(ground.bytes("a.txt"), b"one\nzwei\nthree\n");
}

#[tokio::test]
async fn names_from_other_tools_are_understood() {
    let ground = Ground::new();
    ground.file("a.txt", "one\n");
    let call = json!({ "path": "a.txt", "old_str": "one", "new_str": "two" });
    let outcome = ground.call("edit", call).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(outcome.facts.repairs.len(), 3);
    let call = json!({ "path": "a.txt", "edits": [{ "oldText": "two", "newText": "three" }] });
    assert!(ground.call("multi_edit", call).await.is_success());
    assert_eq!(ground.bytes("a.txt"), b"three\n");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_word() {
    let ground = Ground::new();
    ground.file("a.txt", "one\none\n");
    ground.file("a.bin", [0_u8, 1, 2].repeat(50));
    let tries = [
        (
            "NO_MATCH",
            json!({ "file_path": "a.txt", "old_string": "two", "new_string": "x" }),
        ),
        (
            "AMBIGUOUS",
            json!({ "file_path": "a.txt", "old_string": "one", "new_string": "x" }),
        ),
        (
            "NO_CHANGE",
            json!({ "file_path": "a.txt", "old_string": "one", "new_string": "one" }),
        ),
        (
            "NOT_FOUND",
            json!({ "file_path": "b.txt", "old_string": "one", "new_string": "x" }),
        ),
        (
            "BINARY",
            json!({ "file_path": "a.bin", "old_string": "one", "new_string": "x" }),
        ),
        (
            "IS_DIRECTORY",
            json!({ "file_path": ".", "old_string": "one", "new_string": "x" }),
        ),
        (
            "OUTSIDE_ROOT",
            json!({ "file_path": "../secret.txt", "old_string": "the", "new_string": "x" }),
        ),
    ];
    for (word, call) in tries {
        let outcome = ground.call("edit", call.clone()).await;
        assert_eq!(reason(&outcome), word, "{call}: {}", text(&outcome));
        assert!(!text(&outcome).contains(SECRET));
    }
    assert_eq!(ground.bytes("a.txt"), b"one\none\n");
    assert!(ground.is_untouched());
}

/// A file nobody has read, or that changed since, is edited only where the place is
/// exactly known.
#[tokio::test]
async fn a_place_that_is_exactly_known_needs_no_reading() {
    let ground = Ground::with(WorkspaceOptions::default());
    ground.file("a.txt", "\tone\n\ttwo\n");
    let loose = json!({ "file_path": "a.txt", "old_string": "    one", "new_string": "    1" });
    assert_eq!(
        reason(&ground.call("edit", loose.clone()).await),
        "NOT_READ"
    );
    let exact = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "1" });
    assert!(ground.call("edit", exact).await.is_success());
    ground.file("a.txt", "\tone\n\ttwo\n\tthree\n");
    assert_eq!(reason(&ground.call("edit", loose.clone()).await), "STALE");
    let exact = json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2" });
    let outcome = ground.call("edit", exact).await;
    assert!(
        text(&outcome).contains("the file changed on disk since it was read; 2 lines differ"),
        "{}",
        text(&outcome)
    );
    ground.call("read", json!({ "file_path": "a.txt" })).await;
    assert!(ground.call("edit", loose).await.is_success());
    assert_eq!(ground.bytes("a.txt"), b"\t1\n\t2\n\tthree\n");
}

#[tokio::test]
async fn several_edits_are_all_or_nothing() {
    let ground = Ground::new();
    ground.file("a.txt", "one\ntwo\n");
    ground.file("b.txt", "three\n");
    let edits = |last: &str| {
        json!({ "file_path": "a.txt", "edits": [
            { "old_string": "one", "new_string": "1" },
            { "old_string": last, "new_string": "2" },
        ] })
    };
    let outcome = ground.call("multi_edit", edits("zwei")).await;
    assert_eq!(reason(&outcome), "NO_MATCH");
    assert!(
        text(&outcome).contains("edit 2 failed, so none was made"),
        "{}",
        text(&outcome)
    );
    assert_eq!(ground.bytes("a.txt"), b"one\ntwo\n");
    assert!(ground.call("multi_edit", edits("two")).await.is_success());
    assert_eq!(ground.bytes("a.txt"), b"1\n2\n");
    let files = |last: &str| {
        json!({ "files": [
            { "file_path": "a.txt", "edits": [{ "old_string": "1", "new_string": "one" }] },
            { "file_path": "b.txt", "edits": [{ "old_string": last, "new_string": "3" }] },
        ] })
    };
    assert_eq!(
        reason(&ground.call("multi_edit", files("drei")).await),
        "NO_MATCH"
    );
    assert_eq!(ground.bytes("a.txt"), b"1\n2\n");
    let outcome = ground.call("multi_edit", files("three")).await;
    assert_eq!(outcome.metadata["files"].as_array().unwrap().len(), 2);
    assert_eq!(
        (ground.bytes("a.txt"), ground.bytes("b.txt")),
        (b"one\n2\n".into(), b"3\n".into())
    );
    assert_eq!(ground.leftovers().len(), 0);
}

#[tokio::test]
async fn patches_add_change_move_and_delete() {
    let ground = Ground::new();
    ground.file("change.txt", "one\ntwo\n");
    ground.file("move.txt", "here\r\n");
    ground.file("delete.txt", "gone\n");
    let patch = "*** Begin Patch\n*** Add File: new/a.txt\n+hello\n*** Update File: change.txt\n@@\n one\n-two\n+zwei\n\
                 *** Update File: move.txt\n*** Move to: moved/there.txt\n@@\n-here\n+there\n*** Delete File: delete.txt\n*** End Patch\n";
    let outcome = ground.call("multi_edit", json!({ "patch": patch })).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(ground.bytes("new/a.txt"), b"hello\n");
    assert_eq!(ground.bytes("change.txt"), b"one\nzwei\n");
    assert_eq!(ground.bytes("moved/there.txt"), b"there\r\n");
    assert!(!ground.root().join("move.txt").exists());
    assert!(!ground.root().join("delete.txt").exists());
    assert_eq!(ground.leftovers().len(), 0);
    // One hunk that does not fit, and nothing happens.
    let patch = "*** Begin Patch\n*** Add File: b.txt\n+hello\n*** Delete File: change.txt\n*** Update File: new/a.txt\n@@\n-nowhere\n+x\n*** End Patch\n";
    assert_eq!(
        reason(&ground.call("multi_edit", json!({ "patch": patch })).await),
        "NO_MATCH"
    );
    assert!(!ground.root().join("b.txt").exists());
    assert!(ground.root().join("change.txt").exists());
}

/// What fails when everything is worked out already leaves everything as it was.
#[tokio::test]
async fn a_change_that_fails_half_way_is_taken_back() {
    let ground = Ground::new();
    ground.file("a.txt", "one\n");
    ground.file("b.txt", "two\n");
    ground.file("locked.txt", "three\n");
    let mut mode = fs::metadata(ground.root().join("locked.txt"))
        .unwrap()
        .permissions();
    mode.set_readonly(true);
    fs::set_permissions(ground.root().join("locked.txt"), mode).unwrap();
    let edit = |path: &str, old: &str| json!({ "file_path": path, "edits": [{ "old_string": old, "new_string": "x" }] });
    let call = json!({ "files": [edit("a.txt", "one"), edit("b.txt", "two"), edit("locked.txt", "three")] });
    assert_eq!(reason(&ground.call("multi_edit", call).await), "DENIED");
    assert_eq!(
        (ground.bytes("a.txt"), ground.bytes("b.txt")),
        (b"one\n".into(), b"two\n".into())
    );
    assert_eq!(ground.leftovers().len(), 0);
}

#[tokio::test]
async fn only_one_way_to_say_it() {
    let ground = Ground::new();
    ground.file("a.txt", "one\n");
    let edit = json!([{ "old_string": "one", "new_string": "two" }]);
    let calls: [Value; 5] = [
        json!({}),
        json!({ "file_path": "a.txt" }),
        json!({ "edits": edit }),
        json!({ "file_path": "a.txt", "edits": edit, "patch": "*** Begin Patch\n*** End Patch" }),
        json!({ "files": [{ "file_path": "a.txt", "edits": edit }, { "file_path": "./a.txt", "edits": edit }] }),
    ];
    for call in calls {
        let outcome = ground.call("multi_edit", call.clone()).await;
        assert_eq!(
            reason(&outcome),
            "BAD_ARGUMENT",
            "{call}: {}",
            text(&outcome)
        );
    }
    assert_eq!(ground.bytes("a.txt"), b"one\n");
}
