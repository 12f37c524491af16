//! What is told when something is not there: where it nearly is, what would have to be
//! overlooked to find it, and whether what shall be there is there already.

use serde_json::json;

use super::fold::{Fold, Folded};
use super::lines::Lines;
use super::nearest::{Nearest, lines_of};
use super::occur::Occurrences;
use crate::refusal::{Reason, Refusal};

/// Places are counted up to this many.
const MOST_COUNTED: usize = 1000;

/// Why something was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The place that comes nearest.
    pub nearest: Option<Nearest>,
    /// What would match if more were overlooked than is safe.
    pub weaker: Vec<Weaker>,
    /// The line, counted from 1, where what shall be there is already.
    pub present_at: Option<usize>,
    /// What else is to be said.
    pub note: Option<String>,
}

/// Places that match if more is overlooked than is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weaker {
    /// What is overlooked, after "ignoring".
    pub ignoring: &'static str,
    /// How many places match.
    pub places: usize,
    /// The line of the first, counted from 1.
    pub line: usize,
}

impl Report {
    /// Explains why something is not in a text that weaker rungs were tried on.
    pub(super) fn new(lines: &Lines<'_>, old: &str, new: &str, uneven: Uneven) -> Self {
        let mut report = Self::default();
        if old.trim().is_empty() {
            report.note = Some("it is only whitespace, which has to be there exactly".to_owned());
            report.present_at = present_at(lines, new);
            return report;
        }
        let counted = [
            ("indentation, which differs unevenly", uneven.indentation),
            (
                "whitespace within lines and indentation, which differs unevenly",
                uneven.whitespace,
            ),
            ("case", count(lines, old, Fold::Case)),
            (
                "all whitespace and line breaks",
                count(lines, old, Fold::Spaceless),
            ),
        ];
        let counted = counted.into_iter().filter(|(_, count)| count.places > 0);
        report.weaker = counted
            .map(|(ignoring, count)| Weaker {
                ignoring,
                places: count.places,
                line: count.line + 1,
            })
            .collect();
        report.nearest = Nearest::find(lines, &lines_of(old));
        report.present_at = present_at(lines, new);
        report
    }

    /// Says only why the text was not searched further.
    pub(super) fn of_note(note: String) -> Self {
        Self {
            note: Some(note),
            ..Self::default()
        }
    }

    pub(super) fn refusal(&self, path: &str) -> Refusal {
        let mut message = format!("old_string is not in {path}");
        if let Some(note) = &self.note {
            message.push_str(&format!("; {note}"));
        }
        if let Some(line) = self.present_at {
            message.push_str(&format!("\nnew_string is already present at line {line}"));
        }
        for weaker in &self.weaker {
            let (line, ignoring) = (weaker.line, weaker.ignoring);
            message.push_str(&match weaker.places {
                1 => format!("\n1 place, line {line}, matches ignoring {ignoring}"),
                places => {
                    let or_more = if places == MOST_COUNTED {
                        " or more"
                    } else {
                        ""
                    };
                    format!(
                        "\n{places} places{or_more}, from line {line}, match ignoring {ignoring}"
                    )
                }
            });
        }
        let mut refusal = Refusal::new(Reason::NoMatch, String::new());
        refusal = match (&self.nearest, self.present_at) {
            (Some(nearest), present_at) => {
                let (first, last) = (nearest.first_line, nearest.last_line);
                let at = if first == last {
                    format!("line {first}")
                } else {
                    format!("lines {first}-{last}")
                };
                message.push_str(&format!(
                    "\nnearest is {at}, {} % alike:\n{}(- is old_string, + is the file; · is a space, → a tab)",
                    nearest.percent, nearest.diff,
                ));
                let nearest =
                    json!({ "first_line": first, "last_line": last, "percent": nearest.percent });
                let again = match present_at {
                    Some(_) => "Leave the edit out if it is made already, else correct",
                    None => "Correct",
                };
                refusal
                    .detail("nearest", nearest)
                    .next(format!("{again} old_string by what is at {at}"))
            }
            (None, Some(_)) => {
                refusal.next("Leave the edit out if it is made already, else read the file again")
            }
            (None, None) => refusal.next("Read the file again, and copy old_string from it"),
        };
        if let Some(line) = self.present_at {
            refusal = refusal.detail("present_at_line", line);
        }
        if !self.weaker.is_empty() {
            let weaker = self.weaker.iter();
            let weaker = weaker
                .map(|weaker| json!({ "ignoring": weaker.ignoring, "places": weaker.places, "line": weaker.line }));
            refusal = refusal.detail("weaker", weaker.collect::<Vec<_>>());
        }
        refusal.message = message;
        refusal
    }
}

/// How many places there are, and the line of the first, counted from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) places: usize,
    pub(super) line: usize,
}

impl Count {
    /// Counts one more place.
    pub(super) fn add(&mut self, line: usize) {
        if self.places == 0 {
            self.line = line;
        }
        self.places += 1;
    }
}

/// Places that match but for indentation that differs unevenly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Uneven {
    pub(super) indentation: Count,
    pub(super) whitespace: Count,
}

fn count(lines: &Lines<'_>, old: &str, fold: Fold) -> Count {
    let mut count = Count::default();
    let needle = Folded::new(old, fold);
    if needle.text().trim().is_empty() {
        return count;
    }
    let folded = Folded::new(lines.plain(), fold);
    let places = Occurrences::new(folded.text(), needle.text()).take(MOST_COUNTED);
    for place in places.filter_map(|place| folded.start(place)) {
        count.add(lines.at_plain(place));
    }
    count
}

/// Where a text is that says something: a brace or a short word is present everywhere.
fn present_at(lines: &Lines<'_>, new: &str) -> Option<usize> {
    const SAYS_SOMETHING: usize = 6;
    let new = super::lines::plain(new);
    let letters = new.chars().filter(|character| character.is_alphanumeric());
    let says_something = letters.count() >= SAYS_SOMETHING;
    let place = says_something
        .then(|| lines.plain().find(&*new))
        .flatten()?;
    Some(lines.at_plain(place) + 1)
}
