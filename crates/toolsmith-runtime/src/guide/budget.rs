//! What a guide may cost, and which tools are shown how fully within that.
//!
//! Everything is given up in a fixed order: examples, then long text, then the white space
//! of schemas, then whole tools. A step is taken for all tools before the next one is
//! thought of; then, in the order of the guide, each tool gets back what the last step took
//! from it, if there is still room. So the first tools of a guide are the fullest, and the
//! same tools always give the same guide.

use super::render::Level;
use super::request::Budget;

/// After so many tools of a category in a row found no room, no further ones of it are
/// tried: trying costs time. Other categories are, so that no source of tools pushes out
/// those of another.
const MISSES: usize = 32;

/// No guide is larger than this, whatever is asked for.
const MOST_BYTES: usize = 16 << 20;

impl Budget {
    /// How much there is to spend, in the unit of [`Budget::cost`]. A text never has more
    /// bytes than its cost.
    pub(super) fn limit(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.min(MOST_BYTES),
            Self::Tokens(tokens) => tokens.saturating_mul(3).min(MOST_BYTES),
        }
    }

    /// What a text costs: bytes, or thirds of a token.
    pub(super) fn cost(self, text: &str) -> usize {
        match self {
            Self::Bytes(_) => text.len(),
            Self::Tokens(_) if text.is_ascii() => text.len(),
            Self::Tokens(_) => {
                let cost = |c: char| match c.len_utf8() {
                    1 => 1,
                    4 => 6,
                    _ => 3,
                };
                text.chars().map(cost).sum()
            }
        }
    }
}

/// What the pieces of a guide cost.
pub(super) trait Costs {
    /// The error that ends all.
    type Error;

    /// How many tools there are.
    fn count(&self) -> usize;

    /// What a tool's section costs; none where it has no room by itself.
    fn section(&mut self, tool: usize, level: Level) -> Result<Option<usize>, Self::Error>;

    /// What it costs to show the first tool of this one's category.
    fn heading(&self, tool: usize) -> usize;

    /// Which category a tool is in.
    fn category(&self, tool: usize) -> usize;

    /// What it costs to list a tool among those left out.
    fn name(&self, tool: usize) -> usize;
}

/// Finds the fullest level each tool can be shown at while all of them are, within `room`
/// for the headings and sections.
pub(super) fn levels<C: Costs>(costs: &mut C, room: usize) -> Result<Option<Vec<Level>>, C::Error> {
    let mut previous = None;
    for level in Level::ALL {
        if let Some(spent) = all_at(costs, level, room)? {
            let mut levels = vec![level; costs.count()];
            if let Some(fuller) = previous {
                give_back(costs, &mut levels, level, fuller, room - spent)?;
            }
            return Ok(Some(levels));
        }
        previous = Some(level);
    }
    Ok(None)
}

/// Chooses tools to show, most compactly, while the others are listed by name; `room` is
/// what is left when all of them are listed.
pub(super) fn shown<C: Costs>(costs: &mut C, room: usize) -> Result<Vec<bool>, C::Error> {
    let mut shown = vec![false; costs.count()];
    let mut opened = std::collections::HashSet::new();
    let (mut room, mut misses) = (room, Misses::default());
    for (tool, is_shown) in shown.iter_mut().enumerate() {
        let category = costs.category(tool);
        if misses.are_too_many(category) {
            continue;
        }
        let heading = match opened.contains(&category) {
            true => 0,
            false => costs.heading(tool),
        };
        let regained = room + costs.name(tool);
        let left = match costs.section(tool, Level::Compact)? {
            Some(section) => regained.checked_sub(section + heading),
            None => None,
        };
        match left {
            Some(left) => {
                *is_shown = true;
                opened.insert(category);
                room = left;
                misses.count = 0;
            }
            None => misses.count += 1,
        }
    }
    Ok(shown)
}

/// What all tools cost at a level, if that is no more than `room`.
fn all_at<C: Costs>(costs: &mut C, level: Level, room: usize) -> Result<Option<usize>, C::Error> {
    let mut spent = 0_usize;
    let mut opened = std::collections::HashSet::new();
    for tool in 0..costs.count() {
        if opened.insert(costs.category(tool)) {
            spent += costs.heading(tool);
        }
        match costs.section(tool, level)? {
            Some(section) => spent += section,
            None => return Ok(None),
        }
        if spent > room {
            return Ok(None);
        }
    }
    Ok(Some(spent))
}

fn give_back<C: Costs>(
    costs: &mut C,
    levels: &mut [Level],
    level: Level,
    fuller: Level,
    room: usize,
) -> Result<(), C::Error> {
    let (mut room, mut misses) = (room, Misses::default());
    for (tool, at) in levels.iter_mut().enumerate() {
        if misses.are_too_many(costs.category(tool)) {
            continue;
        }
        let has = costs.section(tool, level)?.unwrap_or_default();
        let left = match costs.section(tool, fuller)? {
            Some(wants) => (room + has).checked_sub(wants),
            None => None,
        };
        match left {
            Some(left) => {
                *at = fuller;
                room = left;
                misses.count = 0;
            }
            None => misses.count += 1,
        }
    }
    Ok(())
}

/// How many tools in a row found no room, in one category.
#[derive(Default)]
struct Misses {
    category: Option<usize>,
    count: usize,
}

impl Misses {
    /// Whether no further tool of a category is tried.
    fn are_too_many(&mut self, category: usize) -> bool {
        if self.category.replace(category) != Some(category) {
            self.count = 0;
        }
        self.count >= MISSES
    }
}
