//! No path leads out of a workspace: nothing from outside is read, nothing outside is written.
//!
//! The first byte chooses the tool, the rest is the path or pattern it gets; `$ROOT` and
//! `$HOME` in it stand for folders of the ground.

use serde_json::{Value, json};

use super::ground;

/// Checks one path.
pub fn check(bytes: &[u8]) {
    let [choice, path @ ..] = bytes else { return };
    let ground = ground::ground();
    let path = ground.named(&String::from_utf8_lossy(path));
    // What a tool says of a path it was given is not read from outside.
    if path.contains(ground::CANARY) {
        return;
    }
    let (tool, arguments) = call(*choice, &path);
    ground.call(tool, &arguments);
}

fn call(choice: u8, path: &str) -> (&'static str, Value) {
    match choice % 10 {
        0 => ("read", json!({ "file_path": path })),
        1 => (
            "write",
            json!({ "file_path": path, "content": "written\n" }),
        ),
        2 => ("list_directory", json!({ "path": path })),
        3 => (
            "grep",
            json!({ "pattern": "canary|inside", "path": path, "output_mode": "content" }),
        ),
        4 => ("glob", json!({ "pattern": path })),
        5 => (
            "edit",
            json!({ "file_path": path, "old_string": "two", "new_string": "2" }),
        ),
        6 => ("show_tree", json!({ "path": path })),
        7 => ("read_files", json!({ "file_paths": [path, "a.txt"] })),
        8 => ("find", json!({ "path": path, "name": "*" })),
        _ => (
            "write",
            json!({ "file_path": path, "content": "x", "create_directories": true }),
        ),
    }
}
