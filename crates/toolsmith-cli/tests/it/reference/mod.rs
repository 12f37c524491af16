//! The reference of the documents is made of what the program says of itself: of schemas,
//! definitions and tables. Each page is made here and compared with the file. `UPDATE_DOCS=1`
//! writes the files anew. The page of the command line is made where the command line is, in
//! `src/cli/reference.rs`.

mod configuration;
mod error_kinds;
mod tools;

use std::fs;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");

/// Compares a page with its file, which is written where that is asked for.
#[track_caller]
fn check(file: &str, page: &str) {
    let path = Path::new(FOLDER).join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(kept.as_str(), page)
        .unified_diff()
        .header("the file", "what the program says")
        .to_string();
    assert!(
        difference.is_empty(),
        "docs/reference/{file} is not what the program says; run this test with UPDATE_DOCS=1\n{difference}"
    );
}

/// A row of a table.
fn row<const N: usize>(cells: [&str; N]) -> String {
    let cell = |cell: &str| cell.replace('\n', " ").replace('|', "\\|");
    let cells = cells.map(cell);
    format!("| {} |\n", cells.join(" | "))
}

/// The first rows of a table.
fn head<const N: usize>(cells: [&str; N]) -> String {
    format!("{}|{}\n", row(cells), "---|".repeat(N))
}
