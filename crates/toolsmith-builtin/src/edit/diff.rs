//! A unified diff for people and models to read, bounded in lines, width and time.

use std::fmt::Write;
use std::ops::Range;

use super::align::{Block, align};
use super::lines::{endings, pieces};
use super::visible;

/// How many lines around a change are shown.
const AROUND: usize = 3;
/// How many characters of a line are shown.
const WIDTH: usize = 400;

/// More lines than this are not compared: each costs some tens of bytes.
const MOST_LINES: usize = 2 << 20;

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// The unified diff, with `\n` after each line.
    pub text: String,
    /// How many lines are new.
    pub added: usize,
    /// How many lines are gone.
    pub removed: usize,
    /// Whether lines of the diff were left out.
    pub truncated: bool,
}

/// What changed between two texts, in at most so many lines. Where only line endings
/// differ, `␍` shows a carriage return.
pub fn diff(old: &str, new: &str, path: &str, max_lines: usize) -> Diff {
    let (old, new, skipped) = narrowed(old, new);
    let (removed, added) = (endings(old), endings(new));
    if removed + added > MOST_LINES {
        return Diff {
            text: format!("--- {0}\n+++ {0}\n", visible::plainly(path)),
            added,
            removed,
            truncated: true,
        };
    }
    let (old, new) = (pieces(old), pieces(new));
    let blocks = align(&old, &new);
    let mut diff = Diff {
        added: blocks.iter().map(|block| block.new.len()).sum(),
        removed: blocks.iter().map(|block| block.old.len()).sum(),
        ..Diff::default()
    };
    if blocks.is_empty() {
        return diff;
    }
    let changed = blocks.iter().flat_map(|block| {
        let old = old[block.old.clone()].iter();
        old.chain(&new[block.new.clone()])
    });
    let returns = changed.filter(|line| line.contains('\r')).count();
    let mut writer = Writer {
        text: String::new(),
        left: max_lines,
        truncated: false,
        skipped,
        // If all lines end alike there is nothing to tell.
        show_returns: returns > 0 && returns < diff.added + diff.removed,
    };
    let path = visible::plainly(path);
    writer.line("--- ", &path);
    writer.line("+++ ", &path);
    for hunk in hunks(&blocks) {
        writer.hunk(&old, &new, hunk);
        if writer.truncated {
            break;
        }
    }
    diff.text = writer.text;
    diff.truncated = writer.truncated;
    diff
}

/// Both texts without the lines they begin and end with alike, but for those that are
/// shown around changes, and how many lines that leaves out before them. Lines cost far
/// more than their bytes once they are compared.
fn narrowed<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str, usize) {
    let pairs = || old.bytes().zip(new.bytes());
    let alike = pairs().take_while(|(old, new)| old == new).count();
    let mut before = alike;
    for _ in 0..=AROUND {
        before = memchr::memrchr(b'\n', &old.as_bytes()[..before]).unwrap_or(0);
    }
    // After the end of the line before; at the beginning there is none.
    if before > 0 {
        before += 1;
    }
    let left = old.len().min(new.len()) - alike;
    let backwards = old.bytes().rev().zip(new.bytes().rev()).take(left);
    let mut after = backwards.take_while(|(old, new)| old == new).count();
    for _ in 0..=AROUND {
        let rest = &old.as_bytes()[old.len() - after..];
        after -= memchr::memchr(b'\n', rest).map_or(after, |end| end + 1);
    }
    let skipped = endings(&old[..before]);
    let (old, new) = (&old[..old.len() - after], &new[..new.len() - after]);
    (&old[before..], &new[before..], skipped)
}

/// Blocks that are near enough to be shown together.
fn hunks(blocks: &[Block]) -> impl Iterator<Item = &[Block]> {
    blocks.chunk_by(|one, next| next.old.start - one.old.end <= 2 * AROUND)
}

struct Writer {
    text: String,
    left: usize,
    truncated: bool,
    /// How many lines there are before those that are compared.
    skipped: usize,
    show_returns: bool,
}

impl Writer {
    fn hunk(&mut self, old: &[&str], new: &[&str], blocks: &[Block]) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
            return;
        };
        let before = first.old.start.min(AROUND);
        let after = (old.len() - last.old.end).min(AROUND);
        let old_range = first.old.start - before..last.old.end + after;
        let new_range = first.new.start - before..last.new.end + after;
        let (old_span, new_span) = (self.span(&old_range), self.span(&new_range));
        self.line("@@ ", &format!("-{old_span} +{new_span} @@"));
        let mut at = old_range.start;
        for block in blocks {
            self.lines(" ", &old[at..block.old.start]);
            self.lines("-", &old[block.old.clone()]);
            self.lines("+", &new[block.new.clone()]);
            at = block.old.end;
        }
        self.lines(" ", &old[at..old_range.end]);
    }

    fn lines(&mut self, sign: &str, lines: &[&str]) {
        for line in lines {
            let content = line.trim_end_matches(['\r', '\n']);
            let (piece, head, tail) = visible::around(content, 0, WIDTH);
            let shown_return = if self.show_returns && line[content.len()..].starts_with('\r') {
                "␍"
            } else {
                ""
            };
            self.line(sign, &format!("{head}{piece}{tail}{shown_return}"));
            if content.len() == line.len() {
                self.line("\\ ", "No newline at end of file");
            }
            if self.truncated {
                return;
            }
        }
    }

    /// Lines as a unified diff counts them.
    fn span(&self, range: &Range<usize>) -> String {
        let start = self.skipped + range.start;
        match range.len() {
            0 => format!("{start},0"),
            1 => (start + 1).to_string(),
            length => format!("{},{length}", start + 1),
        }
    }

    fn line(&mut self, sign: &str, line: &str) {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                // Writing to a string does not fail.
                let _ = writeln!(self.text, "{sign}{line}");
            }
            None => self.truncated = true,
        }
    }
}
