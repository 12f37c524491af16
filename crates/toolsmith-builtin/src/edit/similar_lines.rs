//! The place that is similar to what is wanted, for callers who ask for one.
//!
//! It has as many lines, each like its counterpart, and no other place comes close.

use super::attempt::{Attempt, Spot};
use super::lines::Lines;
use super::nearest::{alike_lines, candidates, letters, lines_of};

/// How much has to be alike, of the whole and of each line.
const LEAST: f64 = 0.9;
const LEAST_OF_A_LINE: f64 = 0.6;
/// How far behind every other place has to be.
const MARGIN: f64 = 0.05;

/// The similar place, if there is one.
pub(super) fn similar(lines: &Lines<'_>, attempt: &Attempt<'_>) -> Option<Spot> {
    let old = lines_of(&attempt.old);
    let places = candidates(lines, &old).into_iter();
    let mut places: Vec<(f64, f64, usize)> = places
        .filter_map(|line| compare(lines, &old, line).map(|(whole, least)| (whole, least, line)))
        .collect();
    places.sort_by(|one, other| other.0.total_cmp(&one.0));
    places.dedup_by_key(|(_, _, line)| *line);
    let (whole, least, line) = *places.first()?;
    let runner_up = places.get(1).map_or(0.0, |(whole, _, _)| *whole);
    if whole < LEAST || least < LEAST_OF_A_LINE || whole - runner_up < MARGIN {
        return None;
    }
    let end = lines.start(line + old.len());
    let last = line + old.len() - 1;
    let spot = Spot {
        start: lines.start(line),
        end: match attempt.old.ends_with('\n') {
            true => end,
            false => end - lines.ending(last).len(),
        },
        line,
    };
    // What replaces it has to be indented in some way that is known.
    attempt.indents(lines, &spot).map(|_| spot)
}

/// How much is alike of the whole, and of the line that is least so.
fn compare(lines: &Lines<'_>, old: &[&str], line: usize) -> Option<(f64, f64)> {
    let last = lines.count() - usize::from(lines.has_final_ending());
    if line + old.len() > last {
        return None;
    }
    let mut budget = letters();
    let (mut alike, mut total, mut least) = (0.0, 0.0, 1.0_f64);
    for (index, one) in old.iter().enumerate() {
        let other = lines.content(line + index);
        let share = alike_lines(one, other, &mut budget);
        #[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
        let weight = (one.trim().len() + other.trim().len()) as f64;
        alike += share * weight;
        total += weight;
        least = least.min(share);
    }
    (total > 0.0).then_some((alike / total, least))
}
