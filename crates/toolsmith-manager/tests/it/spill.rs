//! What the store of large outputs says of what it kept.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use toolsmith_core::store::{Spill, SpillStore};
use toolsmith_core::{CallId, ToolName};
use toolsmith_manager::spill::FileSpills;

#[tokio::test]
async fn only_a_whole_output_is_called_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSpills::new(folder.path());
    let (call, tool) = (CallId::new("1"), ToolName::new("tool").unwrap());
    let limit = 64 << 20;
    for (length, kept) in [(10, 10), (limit, limit), (limit + 5, limit)] {
        let text = "x".repeat(length);
        let spill = Spill::new(&call, &tool, &text, 3);
        let spilled = store.keep(spill).await.unwrap();
        let path = spilled.location.clone();
        let what = if kept < length {
            format!("the first {kept} of {length} bytes are in")
        } else {
            "the whole is in".to_owned()
        };
        assert_eq!(spilled.bytes, kept as u64);
        assert_eq!(
            spilled.read_on,
            format!("{what} {path}; read on with: tail -c +4 {path}")
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), kept as u64);
        fs::remove_file(path).unwrap();
    }
}

#[tokio::test]
async fn old_outputs_go_and_what_else_lies_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSpills::new(folder.path());
    let (call, tool) = (CallId::new("1"), ToolName::new("tool").unwrap());
    let kept = store.keep(Spill::new(&call, &tool, "old", 0)).await;
    let old = PathBuf::from(kept.unwrap().location);
    let foreign = [
        "notes.txt",
        "tool-1-2.txt",
        "tool-1-2-3-4.md",
        "2026-11-12.txt",
        "notes-2026-01-02.txt",
    ];
    let foreign = foreign.map(|name| folder.path().join(name));
    for path in &foreign {
        fs::write(path, "mine").unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
    for path in foreign.iter().chain([&old]) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    { store.keep(Spill::new(&call, &tool, "new", 0)).await }.unwrap();
    assert!(!old.exists());
    assert!(foreign.iter().all(|path| path.exists()));
}
