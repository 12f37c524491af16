//! A patch is applied whole or not at all, within the workspace, and where its dry run said so.

use serde_json::json;
use toolsmith_builtin::patch::{self, FileChange};

use super::ground;

/// Texts that hunks are applied to.
const TEXTS: &[&str] = &["", "one\ntwo\nthree\n", "a\r\nb\r\nc", "x\nx\nx\nx\n"];

/// Checks one patch; `$ROOT` and `$HOME` in it stand for folders of the ground.
pub fn check(bytes: &[u8]) {
    let ground = ground::ground();
    let text = ground.named(&String::from_utf8_lossy(bytes));
    if text.contains(ground::CANARY) {
        return;
    }
    let Ok(changes) = patch::parse(&text) else {
        ground.call("multi_edit", &json!({ "patch": text }));
        return;
    };
    assert!(!changes.is_empty(), "a patch changes something");
    for change in &changes {
        assert!(!change.path().trim().is_empty(), "{change:?}");
        if let FileChange::Update { hunks, .. } = change {
            for old in TEXTS {
                let _ = patch::apply(old, hunks);
            }
        }
    }
    let dry = ground.call("multi_edit", &json!({ "patch": text, "dry_run": true }));
    let real = ground.call("multi_edit", &json!({ "patch": text }));
    // The other way round folders are missing, which only the real one makes.
    assert!(real || !dry, "its dry run promised more");
}
