//! Which of the places that fit are meant.

use super::attempt::{Attempt, Spot, Spots};
use super::lines::Lines;
use super::miss::{Hit, Miss};
use super::{Rung, Wanted};

/// How many places a miss shows.
const SHOWN: usize = 10;

/// The places that are meant, in order and none over another.
pub(super) fn choose(
    lines: &Lines<'_>,
    wanted: &Wanted<'_>,
    attempt: &Attempt<'_>,
    found: Spots,
) -> Result<Vec<Spot>, Miss> {
    let Spots { spots, more, .. } = found;
    let rung = attempt.rung;
    let ambiguous = |spots: &[Spot]| Miss::Ambiguous {
        rung,
        hits: shown(lines, spots),
        total: spots.len(),
        more,
    };
    if spots.is_empty() {
        return Err(Miss::TooLarge {
            what: "it repeats itself too often for its indentation to be compared".to_owned(),
        });
    }
    // An escape may be meant as it stands; only a single place tells that it is not.
    if rung == Rung::Escapes && spots.len() > 1 {
        return Err(ambiguous(&spots));
    }
    if wanted.replace_all || wanted.expected_count.is_some() {
        if more {
            return Err(Miss::TooLarge {
                what: format!("old_string is there more than {} times", spots.len()),
            });
        }
        let spots = apart(spots);
        return match wanted.expected_count {
            Some(expected) if expected != spots.len() => Err(Miss::WrongCount {
                rung,
                expected,
                found: spots.len(),
                hits: shown(lines, &spots),
            }),
            _ => Ok(spots),
        };
    }
    match (spots.as_slice(), wanted.near_line) {
        ([only], _) if !more => Ok(vec![*only]),
        (_, Some(near)) if !more => match nearest(&spots, near.saturating_sub(1)) {
            Some(spot) => Ok(vec![spot]),
            None => Err(ambiguous(&spots)),
        },
        _ => Err(ambiguous(&spots)),
    }
}

/// Leaves out what overlaps something before it.
fn apart(spots: Vec<Spot>) -> Vec<Spot> {
    let mut end = 0;
    let free = |spot: &Spot| {
        let free = spot.start >= end;
        if free {
            end = spot.end;
        }
        free
    };
    spots.into_iter().filter(free).collect()
}

/// The place nearest to a line, if one is nearer than all others.
fn nearest(spots: &[Spot], line: usize) -> Option<Spot> {
    let distance = |spot: &&Spot| spot.line.abs_diff(line);
    let nearest = spots.iter().min_by_key(distance)?;
    let as_near = spots
        .iter()
        .filter(|spot| distance(spot) == distance(&nearest));
    (as_near.count() == 1).then_some(*nearest)
}

fn shown(lines: &Lines<'_>, spots: &[Spot]) -> Vec<Hit> {
    let hits = spots.iter().take(SHOWN);
    hits.map(|spot| Hit::new(lines, spot.line)).collect()
}
