//! Where in a text something comes nearest to being, to explain why it is not there.
//!
//! Rare words vote for where the first line would be, so that only a few places are
//! compared in full, however long the text is.

use std::collections::HashMap;

use super::align::align;
use super::graft::Words;
use super::lines::Lines;
use super::visible;

/// How many places are compared.
const CANDIDATES: usize = 16;
/// A word says little once it is this common.
const MOST_PER_WORD: u32 = 2000;
/// How many votes are counted.
const MOST_VOTES: usize = 4 << 20;
/// What comparing lines letter by letter may cost: their lengths multiplied, summed up.
const LETTERS: usize = 1 << 20;
/// Below this nothing is worth showing.
const LEAST: f64 = 0.3;
/// How many bytes of differences are shown, and how many characters of a line.
const SHOWN_BYTES: usize = 2200;
const SHOWN_WIDTH: usize = 100;

/// The place that comes nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// Its first line, counted from 1.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// How much is alike, of a hundred.
    pub percent: u8,
    /// What differs: `-` what was looked for, `+` what is there, with whitespace shown.
    pub diff: String,
}

impl Nearest {
    /// The place that comes nearest to having these lines, if any comes near.
    pub(crate) fn find(lines: &Lines<'_>, old: &[&str]) -> Option<Self> {
        let candidates = candidates(lines, old);
        let compared = candidates.into_iter().take(4).map(|line| {
            let there = region(lines, line, old.len());
            (alike(old, &there), line)
        });
        let best = compared.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let (similarity, line) = best.filter(|(similarity, _)| *similarity >= LEAST)?;
        let there = region(lines, line, old.len());
        Some(Self {
            first_line: line + 1,
            last_line: line + there.len(),
            percent: percent(similarity),
            diff: difference(old, &there, line + 1),
        })
    }
}

/// What was looked for as lines: a last ending does not begin another.
pub(crate) fn lines_of(old: &str) -> Vec<&str> {
    old.split_inclusive('\n')
        .map(|line| line.strip_suffix('\n').unwrap_or(line))
        .collect()
}

/// The lines, counted from 0, at which something alike may start, the likeliest first.
pub(crate) fn candidates(lines: &Lines<'_>, old: &[&str]) -> Vec<usize> {
    let mut words: HashMap<&str, Word> = HashMap::new();
    for (index, line) in old.iter().enumerate() {
        for word in Words(line).filter(|word| !word.trim().is_empty()) {
            words.entry(word).or_default().lines.push(index);
        }
    }
    // Punctuation tells only where there is nothing else.
    let tells = |word: &str| {
        word.chars()
            .next()
            .is_some_and(|first| first.is_alphanumeric() || first == '_')
    };
    if words.keys().any(|word| tells(word)) {
        words.retain(|word, _| tells(word));
    }
    let mut seen: Vec<(usize, &str)> = Vec::new();
    'lines: for line in 0..lines.count() {
        for word in Words(lines.content(line)) {
            let Some(found) = words.get_mut(word) else {
                continue;
            };
            found.times += 1;
            if found.times <= MOST_PER_WORD {
                seen.push((line, word));
            }
            if seen.len() == MOST_VOTES {
                break 'lines;
            }
        }
    }
    let mut votes = vec![0_f32; lines.count() + old.len()];
    for (line, word) in seen {
        let word = &words[word];
        #[expect(clippy::cast_precision_loss, reason = "a weight need not be exact")]
        let weight = 1.0 / (word.times as f32 * word.lines.len() as f32);
        for index in word.lines.iter().take(4) {
            votes[line + old.len() - index] += weight;
        }
    }
    best(&votes)
        .into_iter()
        .map(|place| place.saturating_sub(old.len()))
        .collect()
}

/// How much of two lines is alike, from 0 to 1, whitespace around them aside.
pub(crate) fn alike_lines(one: &str, other: &str, letters: &mut usize) -> f64 {
    let (one, other) = (one.trim(), other.trim());
    if one == other {
        return 1.0;
    }
    let cost = one.len().saturating_mul(other.len());
    if cost <= *letters {
        *letters -= cost;
        return strsim::normalized_levenshtein(one, other);
    }
    let mut bag: HashMap<&str, i64> = HashMap::new();
    let mut total = 0;
    for word in Words(one) {
        *bag.entry(word).or_default() += 1;
        total += word.len();
    }
    let mut common = 0;
    for word in Words(other) {
        total += word.len();
        if let Some(left) = bag.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            common += 2 * word.len();
        }
    }
    share(common, total)
}

/// How much letter by letter comparison one place is worth.
pub(crate) const fn letters() -> usize {
    LETTERS
}

#[derive(Default)]
struct Word {
    /// The lines that have it, of what was looked for.
    lines: Vec<usize>,
    /// How often the text has it.
    times: u32,
}

/// The places with the most votes, the best first, and the earlier of equals.
fn best(votes: &[f32]) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    for (place, vote) in votes.iter().enumerate().filter(|(_, vote)| **vote > 0.0) {
        let rank = best.partition_point(|other| votes[*other] >= *vote);
        if rank < CANDIDATES {
            best.insert(rank, place);
            best.truncate(CANDIDATES);
        }
    }
    best
}

fn region<'a>(lines: &'a Lines<'_>, line: usize, count: usize) -> Vec<&'a str> {
    let last = lines.count() - usize::from(lines.has_final_ending());
    (line..last.min(line + count))
        .map(|line| lines.content(line))
        .collect()
}

fn alike(old: &[&str], there: &[&str]) -> f64 {
    let trimmed = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.trim().to_owned()).collect()
    };
    let (old, there) = (trimmed(old), trimmed(there));
    let length = |lines: &[String]| lines.iter().map(String::len).sum::<usize>();
    let total = length(&old) + length(&there);
    let mut different = 0.0;
    let mut budget = LETTERS;
    for block in align(&old, &there) {
        let (old, there) = (&old[block.old], &there[block.new]);
        different += weight(length(old) + length(there));
        for (one, other) in old.iter().zip(there) {
            different -= alike_lines(one, other, &mut budget) * weight(one.len() + other.len());
        }
    }
    if total == 0 {
        0.0
    } else {
        1.0 - different / weight(total)
    }
}

/// What differs, with a line around it, as far as there is room.
fn difference(old: &[&str], there: &[&str], first_line: usize) -> String {
    let mut shown = String::new();
    let mut done = 0;
    let mut left_out = 0;
    for block in align(old, there) {
        if shown.len() > SHOWN_BYTES {
            left_out += 1;
            continue;
        }
        let before = block.new.start.saturating_sub(1).max(done);
        for (index, line) in there[before..block.new.start].iter().enumerate() {
            row(&mut shown, ' ', Some(first_line + before + index), line, 0);
        }
        let pairs = block.old.len().max(block.new.len());
        for index in 0..pairs {
            let one = old[block.old.clone()].get(index);
            let other = there[block.new.clone()].get(index);
            let same = match (one, other) {
                (Some(one), Some(other)) => common_start(one, other),
                _ => 0,
            };
            if shown.len() > SHOWN_BYTES {
                left_out += 1;
                break;
            }
            if let Some(one) = one {
                row(&mut shown, '-', None, one, same);
            }
            if let Some(other) = other {
                row(
                    &mut shown,
                    '+',
                    Some(first_line + block.new.start + index),
                    other,
                    same,
                );
            }
        }
        done = block.new.end;
        if let Some(after) = there.get(done).filter(|_| shown.len() <= SHOWN_BYTES) {
            row(&mut shown, ' ', Some(first_line + done), after, 0);
            done += 1;
        }
    }
    if left_out > 0 {
        shown.push_str("  …\n");
    }
    shown
}

fn row(shown: &mut String, sign: char, number: Option<usize>, line: &str, place: usize) {
    let (piece, head, tail) = visible::around(line, place, SHOWN_WIDTH);
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let piece = visible::whitespace(piece);
    shown.push_str(&format!("{sign} {number:>5} {head}{piece}{tail}\n"));
}

fn common_start(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        weight(part) / weight(whole)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
fn weight(length: usize) -> f64 {
    length as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is between 0 and 1"
)]
fn percent(similarity: f64) -> u8 {
    // What is not there is not wholly alike, however little differs.
    (similarity * 100.0).clamp(0.0, 99.0) as u8
}
