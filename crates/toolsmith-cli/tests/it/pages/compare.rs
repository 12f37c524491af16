//! Whether what is seen is what a page shows, and what the page should show if it is not.

use similar::TextDiff;

/// Stands for anything within a line, and alone on a line for any lines.
const ANYTHING: &str = "…";

/// What came of a comparison.
pub(super) enum Judged {
    Same,
    Other {
        /// What the page should show; lines that fit stay as they are.
        update: Vec<String>,
        /// For whoever reads what failed.
        difference: String,
    },
}

/// Compares what is shown with what is seen.
pub(super) fn judge(shown: &[String], seen: &[String]) -> Judged {
    let (cost, update) = align(shown, seen);
    if cost == 0 {
        return Judged::Same;
    }
    let (before, after) = (joined(shown), joined(&update));
    let difference = TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header("shown", "seen")
        .to_string();
    Judged::Other { update, difference }
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// A way to bring the lines from here on together.
#[derive(Clone, Copy)]
enum Way {
    /// The shown line fits the seen one, and stays.
    Keep,
    /// The seen line takes the place of the shown one.
    Exchange,
    /// Nothing is seen for the shown line.
    Remove,
    /// The seen line is not shown.
    Insert,
    /// Any lines may be seen here: this one is passed over.
    Pass,
    /// Any lines may be seen here, and there are no more.
    Leave,
}

/// How many lines are not as they are shown, at the least, and what should be shown.
fn align(shown: &[String], seen: &[String]) -> (usize, Vec<String>) {
    // From the ends on: the cost of what follows, and the first step of the cheapest way.
    let end = (0, Way::Keep);
    let mut ways = vec![vec![end; seen.len() + 1]; shown.len() + 1];
    for at in (0..=shown.len()).rev() {
        for place in (0..=seen.len()).rev() {
            let cost = |at: usize, place: usize| ways[at][place].0;
            let mut best: Option<(usize, Way)> = None;
            let mut consider = |cost: usize, way: Way| {
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, way));
                }
            };
            match (shown.get(at), seen.get(place)) {
                (None, None) => continue,
                (None, Some(_)) => consider(cost(at, place + 1) + 1, Way::Insert),
                (Some(line), seen) if line == ANYTHING => {
                    consider(cost(at + 1, place), Way::Leave);
                    if seen.is_some() {
                        consider(cost(at, place + 1), Way::Pass);
                    }
                }
                (Some(_), None) => consider(cost(at + 1, place) + 1, Way::Remove),
                (Some(line), Some(other)) => {
                    match fits(line, other) {
                        true => consider(cost(at + 1, place + 1), Way::Keep),
                        false => consider(cost(at + 1, place + 1) + 1, Way::Exchange),
                    }
                    consider(cost(at + 1, place) + 1, Way::Remove);
                    consider(cost(at, place + 1) + 1, Way::Insert);
                }
            }
            ways[at][place] = best.expect("every case has a way");
        }
    }
    let (mut at, mut place, mut update) = (0, 0, Vec::new());
    while at < shown.len() || place < seen.len() {
        match ways[at][place].1 {
            Way::Keep | Way::Leave => update.push(shown[at].clone()),
            Way::Exchange | Way::Insert => update.push(seen[place].clone()),
            Way::Remove | Way::Pass => {}
        }
        let (further, next) = match ways[at][place].1 {
            Way::Keep | Way::Exchange => (1, 1),
            Way::Remove | Way::Leave => (1, 0),
            Way::Insert | Way::Pass => (0, 1),
        };
        (at, place) = (at + further, place + next);
    }
    (ways[0][0].0, update)
}

/// Whether a line is as it is shown.
fn fits(shown: &str, seen: &str) -> bool {
    let (shown, seen) = (timeless(shown), timeless(seen));
    let mut parts = shown.split(ANYTHING);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = seen.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(found) = rest.find(part) else {
                return false;
            };
            rest = &rest[found + part.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

/// The line with one time for all times, whatever their unit, and one space before it where
/// there are several: in tables their digits decide how many.
fn timeless(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        text += &rest[..begin];
        rest = &rest[begin..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = rest.split_at(length.unwrap_or(rest.len()));
        rest = match after_unit(after) {
            Some(after) => {
                let width = text.trim_end_matches(' ').len();
                text.truncate(text.len().min(width + 1));
                text += "0s";
                after
            }
            None => {
                text += number;
                after
            }
        };
    }
    text + rest
}

/// What stands behind the unit of time after a number, where there is one: a quick machine
/// has other units than a slow one.
fn after_unit(after: &str) -> Option<&str> {
    let unit = after.strip_prefix(' ').unwrap_or(after);
    let units = ["ns", "us", "µs", "ms", "s"];
    let after = units.iter().find_map(|word| unit.strip_prefix(word))?;
    (!after.starts_with(|c: char| c.is_alphanumeric())).then_some(after)
}
