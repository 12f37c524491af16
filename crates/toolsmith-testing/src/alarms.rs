//! Counts what a redactor takes for secrets in folders of ordinary files.
//!
//! Whether an alarm is a false one only a person can tell: files of tests hold keys that
//! open nothing and look like every other. So each is listed with its place.

use std::fs;
use std::path::{Path, PathBuf};

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";
/// Larger files are data, and not read by models as they are.
const LARGEST: u64 = 4 << 20;
/// How much of a line is shown before an alarm and behind it.
const SHOWN: usize = 60;

/// What was found in some folders.
#[derive(Debug, Default)]
pub struct Alarms {
    /// How many files were read.
    pub files: usize,
    /// How many lines they have.
    pub lines: usize,
    /// Where something was taken for a secret: file, line, and what stands there.
    pub found: Vec<String>,
}

impl Alarms {
    /// How many alarms there are for ten thousand lines.
    pub fn per_ten_thousand_lines(&self) -> f64 {
        self.found.len() as f64 * 10_000.0 / self.lines.max(1) as f64
    }

    /// Reads a file, or every file beneath a folder whose name says that it is a program,
    /// a configuration or prose.
    pub fn look_into(&mut self, path: &Path, redact: &dyn Fn(&str) -> String) {
        let Ok(kind) = fs::symlink_metadata(path) else {
            return;
        };
        if kind.is_dir() {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            let is_foreign = |path: &PathBuf| path.ends_with(".git") || path.ends_with("target");
            paths.retain(|path| !is_foreign(path));
            paths.iter().for_each(|path| self.look_into(path, redact));
        } else if kind.is_file() && kind.len() <= LARGEST && is_ordinary(path) {
            // What is no text is none of a model's either.
            if let Ok(text) = fs::read_to_string(path) {
                self.look_at(path, &text, redact);
            }
        }
    }

    fn look_at(&mut self, path: &Path, text: &str, redact: &dyn Fn(&str) -> String) {
        self.files += 1;
        self.lines += text.lines().count();
        let redacted = redact(text);
        let mut pieces = redacted.split(REDACTED);
        let mut at = pieces.next().map_or(0, str::len);
        for piece in pieces {
            // What the text says of itself is no alarm.
            if text[at..].starts_with(REDACTED) {
                at += REDACTED.len() + piece.len();
                continue;
            }
            let line = text[..at].matches('\n').count() + 1;
            let shown = text.floor_char_boundary(at.saturating_sub(SHOWN));
            let shown = &text[shown..text.floor_char_boundary(at + SHOWN)];
            let shown = shown.replace('\n', "⏎");
            self.found
                .push(format!("{}:{line}: {shown}", path.display()));
            let next = if piece.is_empty() {
                None
            } else {
                text[at..].find(piece)
            };
            at = next.map_or(text.len(), |next| at + next + piece.len());
        }
    }
}

fn is_ordinary(path: &Path) -> bool {
    let endings = [
        "rs", "py", "js", "ts", "mjs", "cjs", "c", "h", "cpp", "go", "java", "rb", "sh", "md",
        "toml", "json", "yaml", "yml", "html", "css", "txt",
    ];
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.contains(&ending))
}
