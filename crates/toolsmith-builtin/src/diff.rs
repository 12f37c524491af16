//! What changed between two texts, as a unified diff that stays short.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

/// How long it may take to find a good diff; then a coarser one does.
const PATIENCE: Duration = Duration::from_millis(200);

/// The longest line that is shown.
const LINE: usize = 500;

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Diff {
    /// The diff; empty where nothing changed.
    pub(crate) text: String,
    /// How many lines are new.
    pub(crate) added: usize,
    /// How many lines are gone.
    pub(crate) removed: usize,
}

/// Compares two texts and shows at most so many lines of what changed.
pub(crate) fn diff(old: &str, new: &str, path: &str, most_lines: usize) -> Diff {
    if old == new {
        return Diff::default();
    }
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(old, new);
    let mut diff = Diff::default();
    let mut lines = vec![format!("--- {path}"), format!("+++ {path}")];
    for group in compared.grouped_ops(3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let (old, new) = (first.old_range(), first.new_range());
        lines.push(format!(
            "@@ -{},{} +{},{} @@",
            old.start + 1,
            last.old_range().end - old.start,
            new.start + 1,
            last.new_range().end - new.start
        ));
        for change in group.iter().flat_map(|op| compared.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            diff.added += usize::from(sign == '+');
            diff.removed += usize::from(sign == '-');
            if lines.len() <= most_lines {
                let line: String = change.value().chars().take(LINE).collect();
                lines.push(format!("{sign}{}", line.trim_end_matches(['\n', '\r'])));
            }
        }
    }
    let left_out = lines.len() > most_lines;
    lines.truncate(most_lines);
    if left_out {
        lines.push("… the rest of the diff is left out".to_owned());
    }
    diff.text = lines.join("\n");
    diff
}
