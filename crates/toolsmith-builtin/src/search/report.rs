//! What is told of names that were found: the value, and the lines a model reads.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::define::LIMIT;
use super::folder::Kind;
use super::gaps::NotSearched;
use super::names::{Findings, Found};
use super::naming;
use super::page::{self, Page, Pushed};
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
    /// Whether there are more, or may be.
    pub(crate) truncated: bool,
    /// The matches, in order.
    pub(crate) matches: Vec<Match>,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    pub(crate) hidden_by_ignore: u64,
    /// Whether time ran out, so that there may be more than was found.
    pub(crate) timed_out: bool,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_searched: Option<NotSearched>,
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
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "is_true")]
    pub(crate) is_exact: bool,
}

pub(crate) fn is_true(is_so: &bool) -> bool {
    *is_so
}

/// What is told of findings: as many as there is room for.
#[derive(Debug)]
pub(crate) struct Told<T> {
    pub(crate) page: Page,
    pub(crate) rows: Vec<T>,
    /// How many results are told, or can never be.
    pub(crate) passed: usize,
    /// Whether there are more.
    has_more: bool,
    /// Whether there are more, or may be.
    pub(crate) truncated: bool,
    pub(crate) not_searched: NotSearched,
    pub(crate) notes: Vec<String>,
}

impl<T> Told<T> {
    /// The arguments that continue the answer, if there is more and some of it was told.
    pub(crate) fn next(&self, arguments: &impl Serialize, offset: usize) -> Option<Value> {
        match self.has_more && self.passed > 0 {
            true => page::continuing(arguments, offset + self.passed),
            false => None,
        }
    }
}

impl Match {
    fn new(start: &Start, found: &Found) -> Self {
        Self {
            path: start.show(&found.path),
            relative_path: naming::one_line(&found.path),
            kind: word(found.kind),
            is_directory: found.kind == Kind::Folder,
            size: found.size,
            mtime: found.modified.written(),
            is_exact: start.is_exact(&found.path),
        }
    }
}

impl Matches {
    /// The value of an answer.
    pub(crate) fn new(
        start: &Start,
        findings: &Findings,
        told: &mut Told<Match>,
        stop: &Stop<'_>,
    ) -> Self {
        let matches = std::mem::take(&mut told.rows);
        Self {
            search_path: start.shown.clone(),
            total_matches: findings.total,
            returned_matches: matches.len(),
            truncated: told.truncated,
            matches,
            hidden_by_ignore: findings.unseen.ignored,
            timed_out: stop.is_late(),
            not_searched: told.not_searched.told(),
            next: None,
        }
    }
}

/// Tells findings, from an offset on: each as a line and as a value. `what` they are is for the
/// line that counts them.
pub(crate) fn tell<T: Serialize>(
    start: &Start,
    findings: &Findings,
    offset: usize,
    stop: &Stop<'_>,
    mut page: Page,
    what: &str,
    row: impl Fn(Match) -> (String, T),
) -> Told<T> {
    let mut rows = Vec::new();
    let mut passed = 0;
    for found in findings.found.iter().skip(offset) {
        let (line, value) = row(Match::new(start, found));
        match page.push(&line, &value) {
            Pushed::In => rows.push(value),
            Pushed::Later => break,
            Pushed::Never => {}
        }
        passed += 1;
    }
    let mut notes = Vec::new();
    if findings.total > 0 {
        notes.push(page::window(offset, passed, findings.total, what));
    }
    if passed > rows.len() {
        notes.push(format!("Too long to be told: {}.", passed - rows.len()));
    }
    if stop.is_late() {
        notes.push(format!(
            "Time ran out after {} s: there may be more.",
            LIMIT.as_secs()
        ));
    }
    let not_searched = NotSearched {
        deeper_folders: findings.unseen.deeper,
        ..NotSearched::in_walk(findings.unseen)
    };
    not_searched.tell(&mut notes);
    page::hidden(findings.unseen.ignored, &mut notes);
    let has_more = ((offset + passed) as u64) < findings.total;
    Told {
        page,
        rows,
        passed,
        has_more,
        truncated: has_more || stop.is_late() || not_searched.is_missed(),
        not_searched,
        notes,
    }
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
