//! Several edits of one text, one after the other: all of them, or none.

use std::fmt;

use serde_json::json;

use super::ladder::{Explain, search};
use super::lines::plain;
use super::miss::Miss;
use super::{Found, Wanted};
use crate::refusal::Refusal;

/// How many bytes may be searched in all: for each edit the text's length, and as many
/// times that as there are rungs where none finds it.
const MOST_SEARCHED: usize = 1 << 30;
const RUNGS: usize = 8;
/// How many bytes of earlier edits are searched for what later ones replace.
const MOST_FLAGGED: usize = 64 << 20;

/// A text with all edits made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The text.
    pub text: String,
    /// What each edit found, in the text as the edits before left it.
    pub found: Vec<Found>,
    /// Edits that replace something an earlier one wrote: the later, then the earlier,
    /// counted from 0.
    pub within_earlier: Vec<(usize, usize)>,
}

/// Why none of several edits is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllMiss {
    /// The edit that fails first, counted from 0.
    pub index: usize,
    /// Why.
    pub miss: Box<Miss>,
    /// The others that would have been made without it, counted from 0. Others that are
    /// named neither here nor below were not tried, for want of time.
    pub would_apply: Vec<usize>,
    /// The others that would have failed without it too.
    pub would_fail: Vec<usize>,
    /// Edits that replace something an earlier one wrote: the later, then the earlier.
    pub within_earlier: Vec<(usize, usize)>,
}

/// Makes edits one after the other, each on what the one before left, if all can be made.
///
/// # Errors
///
/// An [`AllMiss`] says which edit fails first and why, and what would become of the others.
pub fn apply_all(text: &str, edits: &[Wanted<'_>]) -> Result<Applied, AllMiss> {
    apply_all_until(text, edits, &|| false)
}

/// As [`apply_all`], until nobody wants it any more.
pub(crate) fn apply_all_until(
    text: &str,
    edits: &[Wanted<'_>],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Applied, AllMiss> {
    let within_earlier = within_earlier(edits);
    let mut text = text.to_owned();
    let mut found = Vec::with_capacity(edits.len());
    let mut failed: Option<AllMiss> = None;
    let mut searched = 0_usize;
    for (index, wanted) in edits.iter().enumerate() {
        searched = searched.saturating_add(text.len());
        let is_over = is_cancelled();
        let result = match &failed {
            _ if is_over => Err(Miss::Cancelled),
            _ if searched > MOST_SEARCHED => Err(Miss::TooLarge {
                what: format!("it and the {} edits together are too much", edits.len()),
            }),
            Some(_) => search(&text, wanted, Explain::Not, is_cancelled),
            None => search(&text, wanted, Explain::Fully, is_cancelled),
        };
        match (result, &mut failed) {
            (Ok(next), failed) => {
                text = next.apply(&text);
                match failed {
                    Some(failed) => failed.would_apply.push(index),
                    None => found.push(next),
                }
            }
            // The rest would fail for the same reason, which says nothing about them.
            (Err(Miss::TooLarge { .. }), Some(_)) if searched > MOST_SEARCHED => break,
            (Err(Miss::Cancelled), Some(_)) => break,
            (Err(_), Some(failed)) => failed.would_fail.push(index),
            (Err(miss), failed) => {
                *failed = Some(AllMiss {
                    index,
                    miss: Box::new(miss),
                    would_apply: (0..index).collect(),
                    would_fail: Vec::new(),
                    within_earlier: Vec::new(),
                });
            }
        }
        if failed.is_some() {
            searched = searched.saturating_add(text.len() * RUNGS);
        }
    }
    match failed {
        Some(failed) => Err(AllMiss {
            within_earlier,
            ..failed
        }),
        None => Ok(Applied {
            text,
            found,
            within_earlier,
        }),
    }
}

impl AllMiss {
    /// Why, what to do next, and what a program may want to know.
    pub fn refusal(&self, path: &str) -> Refusal {
        let mut refusal = self.miss.refusal(path);
        let mut message = format!("edit {} failed, so none was made: ", self.index + 1);
        message.push_str(&refusal.message);
        for (edits, fate) in [(&self.would_apply, "apply"), (&self.would_fail, "fail too")] {
            if !edits.is_empty() {
                message.push_str(&format!("\nwithout it, {} would {fate}", named(edits)));
            }
        }
        let mine = self
            .within_earlier
            .iter()
            .filter(|(later, _)| *later == self.index);
        for (_, earlier) in mine.take(1) {
            message.push_str(&format!(
                "\nits old_string is part of the new_string of edit {}",
                earlier + 1
            ));
        }
        refusal.message = message;
        refusal
            .detail("edit_index", self.index)
            .detail("would_apply", json!(self.would_apply))
            .detail("would_fail", json!(self.would_fail))
            .detail("within_earlier", json!(self.within_earlier))
    }
}

impl fmt::Display for AllMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal("the text").fmt(f)
    }
}

impl std::error::Error for AllMiss {}

/// Names edits, counted from 1, a few of them if there are many.
fn named(edits: &[usize]) -> String {
    let named: Vec<String> = edits
        .iter()
        .take(20)
        .map(|edit| (edit + 1).to_string())
        .collect();
    let more = match edits.len().saturating_sub(20) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if edits.len() == 1 { "edit" } else { "edits" };
    format!("{noun} {}{more}", named.join(", "))
}

/// Which edits replace something that lies in what an earlier one wrote.
fn within_earlier(edits: &[Wanted<'_>]) -> Vec<(usize, usize)> {
    let mut flagged = Vec::new();
    let mut searched = 0_usize;
    for (later, wanted) in edits.iter().enumerate() {
        let old = plain(wanted.old);
        for (earlier, before) in edits[..later].iter().enumerate() {
            searched = searched.saturating_add(before.new.len() + 16);
            if searched > MOST_FLAGGED {
                return flagged;
            }
            if !old.is_empty() && plain(before.new).contains(&*old) {
                flagged.push((later, earlier));
                break;
            }
        }
    }
    flagged
}
