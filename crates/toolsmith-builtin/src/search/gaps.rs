//! What a search did not get to, so that nobody takes its answer for the whole.

use schemars::JsonSchema;
use serde::Serialize;

use super::content::Skipped;
use super::page::many;
use super::walk::Unseen;

/// What was not searched; of what is zero there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NotSearched {
    /// Folders that could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unreadable_folders: u64,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unreadable_files: u64,
    /// Files that are too long, or have lines that are; up to there they were searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) too_long_files: u64,
    /// Files in which the pattern takes too many steps; up to there they were searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) too_many_steps_files: u64,
    /// Files that are not text, of which only the beginning was searched.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) binary_files: u64,
    /// Folders that lie deeper than was asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) deeper_folders: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl NotSearched {
    /// What a walk did not get to.
    pub(crate) fn in_walk(unseen: Unseen) -> Self {
        Self {
            unreadable_folders: unseen.unreadable,
            ..Self::default()
        }
    }

    /// What a search of contents did not get to.
    pub(crate) fn in_search(unseen: Unseen, skipped: Skipped) -> Self {
        Self {
            unreadable_files: skipped.unreadable,
            too_long_files: skipped.too_long,
            too_many_steps_files: skipped.too_many_steps,
            binary_files: skipped.binary,
            ..Self::in_walk(unseen)
        }
    }

    /// Whether something is missing that was asked for.
    pub(crate) fn is_missed(self) -> bool {
        let asked_for = Self {
            binary_files: 0,
            deeper_folders: 0,
            ..self
        };
        asked_for != Self::default()
    }

    /// The value, if there is anything to it.
    pub(crate) fn told(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Says it.
    pub(crate) fn tell(self, notes: &mut Vec<String>) {
        let reasons = [
            (self.unreadable_files, "they cannot be read"),
            (self.too_long_files, "they, or lines in them, are too long"),
            (
                self.too_many_steps_files,
                "the pattern takes too many steps in them",
            ),
        ];
        for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            notes.push(format!(
                "Files not searched to their end, because {why}: {count}."
            ));
        }
        if self.binary_files > 0 {
            notes.push(format!(
                "Files that are not text and were searched only at their beginning: {}; name one as `path` to search all of it.",
                self.binary_files
            ));
        }
        if self.deeper_folders > 0 {
            notes.push(format!(
                "{} deeper than max_depth {} not searched.",
                many(self.deeper_folders, "folder", "folders"),
                if self.deeper_folders == 1 {
                    "was"
                } else {
                    "were"
                }
            ));
        }
        if self.unreadable_folders > 0 {
            notes.push(format!(
                "{} could not be read.",
                many(self.unreadable_folders, "folder", "folders")
            ));
        }
    }
}
