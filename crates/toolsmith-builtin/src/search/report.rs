//! What is told of names that were found: the value, and the lines a model reads.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::define::LIMIT;
use super::folder::Kind;
use super::names::Findings;
use super::page::{self, Page};
use super::start::Start;
use super::stop::Stop;

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Matches {
    /// The folder that was searched.
    pub(crate) search_path: String,
    /// How many there are in all.
    pub(crate) total_matches: u64,
    /// How many of them are here.
    pub(crate) returned_matches: usize,
    /// Whether there are more.
    pub(crate) truncated: bool,
    /// The matches, in order.
    pub(crate) matches: Vec<Match>,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    pub(crate) hidden_by_ignore: u64,
    /// Whether time ran out, so that there may be more than was found.
    pub(crate) timed_out: bool,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Value>,
}

/// A file or folder that fits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Match {
    /// Its path, as other tools take it.
    pub(crate) path: String,
    /// Its path from the folder that was searched.
    pub(crate) relative_path: String,
    /// What it is: file, directory, link or other.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Whether it is a folder.
    pub(crate) is_directory: bool,
    /// How many bytes it has.
    pub(crate) size: u64,
    /// When it was last changed, in UTC.
    pub(crate) mtime: String,
}

/// What is told of findings: as many as there is room for.
pub(crate) struct Told {
    pub(crate) page: Page,
    pub(crate) value: Matches,
    pub(crate) notes: Vec<String>,
}

/// Tells findings, from an offset on.
pub(crate) fn tell(
    start: &Start,
    findings: &Findings,
    offset: usize,
    stop: &Stop<'_>,
    line: impl Fn(&Match) -> String,
) -> Told {
    let mut page = Page::new();
    let mut matches = Vec::new();
    for found in findings.found.iter().skip(offset) {
        let relative = String::from_utf8_lossy(&found.path).into_owned();
        let match_ = Match {
            path: start.show(&found.path),
            relative_path: relative,
            kind: word(found.kind),
            is_directory: found.kind == Kind::Folder,
            size: found.size,
            mtime: found.modified.written(),
        };
        if !page.push(&line(&match_)) {
            break;
        }
        matches.push(match_);
    }
    let shown = matches.len();
    let mut notes = Vec::new();
    if findings.total > 0 {
        notes.push(page::window(offset, shown, findings.total, "Matches"));
    }
    if stop.is_late() {
        notes.push(format!(
            "Time ran out after {} s: there may be more.",
            LIMIT.as_secs()
        ));
    }
    page::unseen(findings.unseen, &mut notes);
    let value = Matches {
        search_path: start.shown.clone(),
        total_matches: findings.total,
        returned_matches: shown,
        truncated: (offset + shown) < usize::try_from(findings.total).unwrap_or(usize::MAX),
        matches,
        hidden_by_ignore: findings.unseen.ignored,
        timed_out: stop.is_late(),
        next: None,
    };
    Told { page, value, notes }
}

/// What something is, in a word.
pub(crate) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Folder => "directory",
        Kind::Link => "link",
        Kind::Other => "other",
    }
}
