//! Conversation: what was said and done so far.
//!
//! A list of [`Entry`]s in memory, and the same in a [`Journal`] while it grows, so that a
//! program that is killed finds everything again but what was under way. An answer is kept
//! before its calls are made: what has no result after a crash may have run, and is told
//! as such instead of being run again.

mod entry;
mod journal;
mod read;
mod told;

use std::fmt;
use std::sync::Arc;

use toolsmith_core::{ErrorKind, Outcome, ToolError};

pub use entry::{Entry, Head, KeptAnswer, KeptCall, KeptOutcome, VERSION};
pub use journal::{Journal, JournalError};
pub use read::ReadError;

/// What was said and done so far.
#[derive(Clone, Default)]
pub struct Conversation {
    exchanges: Vec<Exchange>,
    journal: Option<Arc<dyn Journal>>,
    /// What was left out or mended when it was read.
    notes: Vec<String>,
}

/// A piece of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Exchange {
    /// What the user said.
    User(String),
    /// What the model said, and what came of each of its calls, in call order.
    Turn {
        answer: Box<KeptAnswer>,
        results: Vec<Option<KeptOutcome>>,
    },
}

impl Conversation {
    /// A conversation that has not begun, kept in memory alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same conversation, with what is still to come kept in a journal too.
    #[must_use]
    pub fn kept_by(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Where it is kept.
    pub(crate) fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.journal.as_ref()
    }

    /// What was left out or mended when it was read, in words.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// How many turns the model has had.
    pub fn turns(&self) -> usize {
        let is_turn = |exchange: &&Exchange| matches!(exchange, Exchange::Turn { .. });
        self.exchanges.iter().filter(is_turn).count()
    }

    /// What the model said last.
    pub fn last_text(&self) -> Option<&str> {
        { self.exchanges.iter().rev() }.find_map(|exchange| match exchange {
            Exchange::Turn { answer, .. } => Some(answer.text.as_str()),
            Exchange::User(_) => None,
        })
    }

    /// What the user said first.
    pub fn first_question(&self) -> Option<&str> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::User(text) => Some(text.as_str()),
            Exchange::Turn { .. } => None,
        })
    }

    /// Whether the model has to speak next: the user has, or its calls have come to an end.
    pub fn awaits_the_model(&self) -> bool {
        match self.exchanges.last() {
            None => false,
            Some(Exchange::User(_)) => true,
            Some(Exchange::Turn { answer, .. }) => !answer.calls.is_empty(),
        }
    }

    /// Adds what the user says.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn say(&mut self, text: impl Into<String>) -> Result<(), JournalError> {
        let text = text.into();
        self.append(&Entry::User { text: text.clone() })?;
        self.exchanges.push(Exchange::User(text));
        Ok(())
    }

    /// Adds what the model said. Its calls have no results yet.
    pub(crate) fn answered(&mut self, answer: KeptAnswer) -> Result<(), JournalError> {
        let entry = Entry::Answer(Box::new(answer));
        self.append(&entry)?;
        if let Entry::Answer(answer) = entry {
            self.push_answer(answer);
        }
        Ok(())
    }

    /// Adds what came of the calls of the last turn, in call order. The journal has them
    /// already: they were kept as they came.
    pub(crate) fn results(&mut self, outcomes: Vec<KeptOutcome>) {
        if let Some(Exchange::Turn { results, .. }) = self.exchanges.last_mut() {
            for (slot, outcome) in results.iter_mut().zip(outcomes) {
                *slot = Some(outcome);
            }
        }
    }

    /// Answers the calls nothing is known of, because whoever made them was ended: they
    /// may have run, and are not run again.
    ///
    /// # Errors
    /// When the answers cannot be kept.
    pub fn settle(&mut self) -> Result<usize, JournalError> {
        let mut settled = 0;
        for at in 0..self.exchanges.len() {
            let Exchange::Turn { results, .. } = &self.exchanges[at] else {
                continue;
            };
            // Only the last turn can have such calls; a turn before it is whole or lost.
            let open = (results.iter().enumerate()).filter(|(_, result)| result.is_none());
            let open: Vec<usize> = open.map(|(index, _)| index).collect();
            for index in open {
                let outcome = KeptOutcome::of(&interrupted());
                if at + 1 == self.exchanges.len() {
                    let outcome = Box::new(outcome.clone());
                    self.append(&Entry::Result { index, outcome })?;
                }
                if let Exchange::Turn { results, .. } = &mut self.exchanges[at] {
                    results[index] = Some(outcome);
                }
                settled += 1;
            }
        }
        Ok(settled)
    }

    /// Notes how a run ended.
    pub(crate) fn ended(&self, entry: &Entry) -> Result<(), JournalError> {
        self.append(entry)
    }

    pub(crate) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    fn push_answer(&mut self, answer: Box<KeptAnswer>) {
        let results = vec![None; answer.calls.len()];
        self.exchanges.push(Exchange::Turn { answer, results });
    }

    fn append(&self, entry: &Entry) -> Result<(), JournalError> {
        match &self.journal {
            Some(journal) => journal.append(entry),
            None => Ok(()),
        }
    }
}

/// What is told of a call whose result was lost with the program that made it.
fn interrupted() -> Outcome {
    Outcome::failure(
        ToolError::new(
            ErrorKind::Cancelled,
            "the program was ended before the result of this call was known: it may have run, \
             wholly or in part, and was not run again",
        )
        .for_good(),
    )
    .with_instruction("Look at what is there before you make this call again.")
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("exchanges", &self.exchanges)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
