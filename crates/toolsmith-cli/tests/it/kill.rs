//! Killed while it writes: every file is all old or all new, and the next start leaves
//! nothing lying about.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::support::{User, newcomer};

/// How many lines every file has.
const LINES: usize = 3_000;

fn content(version: usize) -> String {
    format!("version {version:06}\n").repeat(LINES)
}

/// The version of a file whose lines are all there and all the same.
fn version(path: &Path) -> Option<usize> {
    let text = fs::read_to_string(path).unwrap();
    let version = text.get(8..14)?.parse().ok()?;
    (text == content(version)).then_some(version)
}

/// What was left beside files.
fn leftovers(user: &User) -> Vec<PathBuf> {
    let entries = fs::read_dir(user.home()).unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_left = |path: &PathBuf| path.to_string_lossy().contains("/.toolsmith-");
    paths.filter(is_left).collect()
}

/// The calls of one run: a file that is replaced, one that has another name and is written
/// over, and two that change together.
fn calls(first: usize, pair: usize) -> String {
    let mut calls = String::new();
    let mut add = |name: &str, arguments: serde_json::Value| {
        calls += &json!({ "name": name, "arguments": arguments }).to_string();
        calls.push('\n');
    };
    for version in first..first + 20 {
        add(
            "write",
            json!({ "file_path": "plain.txt", "content": content(version) }),
        );
        add(
            "write",
            json!({ "file_path": "linked.txt", "content": content(version) }),
        );
    }
    let edit = |path: &str| {
        let old = format!("version {pair:06}");
        let new = format!("version {:06}", pair + 1);
        let edit = json!({ "old_string": old, "new_string": new, "replace_all": true });
        json!({ "file_path": path, "edits": [edit] })
    };
    add(
        "multi_edit",
        json!({ "files": [edit("one.txt"), edit("two.txt")] }),
    );
    calls
}

#[test]
fn a_killed_writer_leaves_whole_files() {
    let user = newcomer();
    let file = |name: &str| user.home().join(name);
    for name in ["plain.txt", "linked.txt", "one.txt", "two.txt"] {
        fs::write(file(name), content(0)).unwrap();
    }
    fs::hard_link(file("linked.txt"), file("other-name.txt")).unwrap();
    let journals = user.home().join("state/toolsmith/writing");
    let (mut interrupted, mut random) = (0, 88_172_645_463_325_252_u64);
    for round in 0..20 {
        let pair = version(&file("one.txt")).unwrap();
        fs::write(file("calls"), calls(round * 20, pair)).unwrap();
        let mut command = user.command(["--yes", "batch", "calls"]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // At some moment after it began to write.
        let has_begun = || fs::read_dir(&journals).is_ok_and(|mut files| files.next().is_some());
        while !has_begun() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(100));
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(random % 60_000));
        let _ = child.kill();
        interrupted += usize::from(!child.wait().unwrap().success());
        // Replaced in one step: whole before anything else runs.
        assert!(version(&file("plain.txt")).is_some(), "round {round}");
        user.runs(["call", "read_file_tail", "file_path=plain.txt"])
            .ends_with(0);
        assert_eq!(leftovers(&user), [] as [PathBuf; 0], "round {round}");
        assert!(version(&file("linked.txt")).is_some(), "round {round}");
        assert_eq!(
            fs::read(file("linked.txt")).unwrap(),
            fs::read(file("other-name.txt")).unwrap()
        );
        let pair = (version(&file("one.txt")), version(&file("two.txt")));
        assert!(
            pair.0.is_some() && pair.0 == pair.1,
            "round {round}: {pair:?}"
        );
    }
    assert!(interrupted > 0, "no run was interrupted");
    let left: Vec<_> = fs::read_dir(&journals).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
