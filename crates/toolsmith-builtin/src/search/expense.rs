//! What a pattern with look-around or backreferences costs at worst.
//!
//! Its engine counts how often it goes back, and nothing else: between two such steps it
//! may look ahead over the whole text, again and again. How long that can take is told
//! here from the pattern alone, so that the steps can be limited by what they cost.

use fancy_regex::{Assertion, Expr};

use super::linear::Weight;

/// What one instruction takes, in nanoseconds.
const INSTRUCTION: u64 = 20;

/// How many bytes a character has at most.
const WIDEST: u64 = 4;

/// What is known of a part of a pattern.
#[derive(Clone, Copy, Debug)]
struct Measure {
    /// The fewest characters it can match, and the most.
    least: u64,
    most: u64,
    weight: Weight,
    /// Whether the linear engine could not do it.
    is_hard: bool,
}

/// How long it takes to match a part of a pattern without going back.
#[derive(Clone, Copy, Debug)]
struct Time {
    /// To match all of it; none where that is not possible without going back.
    whole: Option<u64>,
    /// To get as far as possible.
    far: u64,
}

/// How long the engine takes at worst between two steps back, in nanoseconds, in a text
/// of so many bytes; none where that cannot be told.
pub(super) fn between_steps(pattern: &Expr, length: usize) -> Option<u64> {
    Some(time(pattern, length as u64, false)?.far)
}

/// How much work a pattern would be for the linear engine; none where that cannot be told.
pub(super) fn weight(pattern: &Expr) -> Option<Weight> {
    Some(measure(pattern)?.weight)
}

fn measure(part: &Expr) -> Option<Measure> {
    let of = |least, most, weight| Measure {
        least,
        most,
        weight,
        is_hard: false,
    };
    let hard = |measure: Measure| Measure {
        is_hard: true,
        ..measure
    };
    Some(match part {
        Expr::Empty => of(0, 0, Weight::default()),
        Expr::Any { .. } | Expr::Delegate { .. } => of(1, 1, Weight::CLASS),
        Expr::GeneralNewline { .. } => hard(of(1, 2, Weight::CLASS)),
        Expr::Assertion(assertion) => {
            let has_words = !matches!(
                assertion,
                Assertion::StartText
                    | Assertion::EndText
                    | Assertion::StartLine { .. }
                    | Assertion::EndLine { .. }
            );
            let weight = Weight {
                has_words,
                ..Weight::characters(1)
            };
            of(0, 0, weight)
        }
        Expr::Literal { val, .. } => {
            let count = val.chars().count();
            of(count as u64, count as u64, Weight::characters(count))
        }
        Expr::Concat(parts) => {
            let mut sum = of(0, 0, Weight::default());
            for part in parts {
                let part = measure(part)?;
                sum = Measure {
                    least: sum.least.saturating_add(part.least),
                    most: sum.most.saturating_add(part.most),
                    weight: sum.weight.and(part.weight),
                    is_hard: sum.is_hard || part.is_hard,
                };
            }
            sum
        }
        Expr::Alt(parts) => {
            let mut all = of(u64::MAX, 0, Weight::default());
            for part in parts {
                let part = measure(part)?;
                all = Measure {
                    least: all.least.min(part.least),
                    most: all.most.max(part.most),
                    weight: all.weight.and(part.weight).and(Weight::CLASS),
                    is_hard: all.is_hard || part.is_hard,
                };
            }
            all
        }
        Expr::Group(inner) => measure(inner)?,
        Expr::LookAround(inner, _) => hard(Measure {
            least: 0,
            most: 0,
            ..measure(inner)?
        }),
        Expr::AtomicGroup(inner) => hard(measure(inner)?),
        Expr::Repeat { child, lo, hi, .. } => {
            let inner = measure(child)?;
            let (least, most) = (*lo as u64, *hi as u64);
            let times = match *hi {
                usize::MAX => least.saturating_add(1),
                _ => most,
            };
            Measure {
                least: inner.least.saturating_mul(least),
                most: inner.most.saturating_mul(most),
                weight: inner.weight.times(times),
                ..inner
            }
        }
        Expr::Backref { .. } => hard(of(0, u64::MAX, Weight::CLASS)),
        Expr::KeepOut => hard(of(0, 0, Weight::default())),
        // Calls, conditions and verbs: what they cost depends on the rest of the pattern.
        _ => return None,
    })
}

/// How long a part takes. `is_hard` says that what follows may have to go back into it.
fn time(part: &Expr, length: u64, is_hard: bool) -> Option<Time> {
    let both = |time: u64| Time {
        whole: Some(time),
        far: time,
    };
    let measured = measure(part)?;
    if !is_hard && !measured.is_hard {
        return Some(both(delegated(measured, length)));
    }
    Some(match part {
        Expr::Assertion(Assertion::EndTextIgnoreTrailingNewlines { .. }) | Expr::Backref { .. } => {
            both(length.saturating_add(INSTRUCTION))
        }
        Expr::Concat(parts) => {
            // What follows the last hard part is left to the linear engine.
            let last_hard = match is_hard {
                true => parts.len(),
                false => {
                    let mut hard = 0;
                    for (index, part) in parts.iter().enumerate() {
                        if measure(part)?.is_hard {
                            hard = index + 1;
                        }
                    }
                    hard
                }
            };
            let mut sum = both(0);
            for (index, part) in parts.iter().enumerate() {
                let part = time(part, length, index < last_hard)?;
                sum = Time {
                    whole: sum
                        .whole
                        .zip(part.whole)
                        .map(|(one, other)| one.saturating_add(other)),
                    far: sum.far.saturating_add(part.whole.unwrap_or(part.far)),
                };
            }
            sum
        }
        Expr::Alt(parts) => {
            let mut most = Time {
                whole: None,
                far: INSTRUCTION,
            };
            for part in parts {
                let part = time(part, length, is_hard)?;
                most = Time {
                    whole: most.whole.max(part.whole),
                    far: most.far.max(part.far.saturating_add(INSTRUCTION)),
                };
            }
            most
        }
        Expr::Group(inner) => time(inner, length, is_hard)?,
        Expr::LookAround(inner, _) | Expr::AtomicGroup(inner) => time(inner, length, false)?,
        Expr::Repeat {
            child,
            lo,
            hi,
            greedy,
        } => {
            let inner = time(child, length, true)?;
            let child = measure(child)?;
            let most = match *hi {
                usize::MAX => length.saturating_add(1),
                most => most as u64,
            };
            let far = match inner.whole {
                Some(whole) => most.saturating_mul(whole.saturating_add(INSTRUCTION)),
                None => inner.far.saturating_mul(2),
            };
            let whole = inner.whole.map(|whole| whole.saturating_add(INSTRUCTION));
            let whole = match *hi {
                // Only what does not match ends it, and so the engine goes back.
                usize::MAX if *greedy && child.least > 0 => None,
                usize::MAX if child.least > 0 => {
                    whole.map(|whole| whole.saturating_mul((*lo as u64).max(1)))
                }
                _ => whole.map(|whole| whole.saturating_mul(most)),
            };
            Time { whole, far }
        }
        _ => both(delegated(measured, length)),
    })
}

/// What the linear engine takes.
fn delegated(measure: Measure, length: u64) -> u64 {
    let reach = measure.most.saturating_mul(WIDEST).min(length);
    INSTRUCTION.saturating_add(reach.saturating_mul(measure.weight.nanoseconds()))
}
