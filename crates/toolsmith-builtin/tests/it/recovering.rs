//! What a process left half done, and the next start puts in order: journals as they lie in
//! the folder of the host's, in format 1.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use toolsmith_builtin::{Workspace, WorkspaceOptions};

const NEW: &str = ".toolsmith-0123456789abcdef0123.new";
const OLD: &str = ".toolsmith-0123456789abcdef0124.old";

/// A file that was being written over when the process ended, with what was kept beside it:
/// what it holds after the next start, and how much is left beside it and of journals.
fn recovered(kept: &[(&str, &str)], there: &str) -> (String, usize, usize) {
    let folder = TempDir::new().unwrap();
    let (root, state) = (folder.path().join("desk"), folder.path().join("writing"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&state).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "a journal names its root without links"
    )]
    let root = root.canonicalize().unwrap();
    fs::write(root.join("a.txt"), there).unwrap();
    for (name, content) in kept {
        fs::write(root.join(name), content).unwrap();
    }
    let step = json!({
        "root": root, "folder": "", "name": "a.txt", "new": NEW, "old": OLD,
        "was_there": true, "over": true, "aside": false, "put": null,
    });
    let journal = json!({ "format": 1, "steps": [step] });
    let name = ".toolsmith-0123456789abcdef0125.replacing";
    fs::write(state.join(name), journal.to_string()).unwrap();
    let options = WorkspaceOptions::default().with_state(Some(state.clone()));
    Workspace::open([&root], options).unwrap();
    let count = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let content = fs::read_to_string(root.join("a.txt")).unwrap();
    (content, count(&root) - 1, count(&state))
}

#[test]
fn a_file_that_was_written_over_is_put_back() {
    let old = "old and long\n";
    for (new, there) in [
        ("new\n", "old and long\n"),
        ("new\n", "new and long\n"),
        ("new\n", "new\nand long\n"),
        // All of it, and cut to its length.
        ("new\n", "new\n"),
        ("", ""),
        ("new and longer\n", "new and long\n"),
        ("new and longer\n", "new and longer\n"),
    ] {
        let kept = [(NEW, new), (OLD, old)];
        let put_back = (old.to_owned(), 0, 0);
        assert_eq!(recovered(&kept, there), put_back, "{new:?} {there:?}");
    }
    // Somebody has changed it since.
    let kept = [(NEW, "new\n"), (OLD, old)];
    assert_eq!(recovered(&kept, "other\n"), ("other\n".to_owned(), 0, 0));
}

/// A start that ended while it cleared away: the next one is done with it.
#[test]
fn what_was_put_back_already_is_settled() {
    for kept in [&[][..], &[(OLD, "old\n")], &[(NEW, "new\n")]] {
        let settled = ("old\n".to_owned(), 0, 0);
        assert_eq!(recovered(kept, "old\n"), settled, "{kept:?}");
    }
}
