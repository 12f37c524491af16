//! A sandboxed child starts, ends and reports like any other.

use super::{run, workspace};
use crate::support::script;

#[tokio::test]
async fn a_sandboxed_child_writes_in_its_workspace_and_not_outside() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let text = format!(
        "echo inside > file; cat file; (echo out > {}/file) 2>/dev/null || exit 3",
        outside.path().display()
    );
    let launch = script(&text)
        .current_dir(folder.path())
        .sandbox(workspace(folder.path()));
    assert_eq!(run(launch).await, (Some(3), "inside\n".to_owned()));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}
