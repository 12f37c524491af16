//! What the store of large outputs says of what it kept.

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
        assert_eq!(std::fs::metadata(&path).unwrap().len(), kept as u64);
        std::fs::remove_file(path).unwrap();
    }
}
