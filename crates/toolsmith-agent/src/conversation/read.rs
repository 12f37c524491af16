//! Reads a conversation that was kept.
//!
//! The last line of a program that was killed may be torn: it is left out, and told; so is
//! one that only lacks its end, since whoever wrote it was never told that it is kept. What
//! is wrong elsewhere is an error with its line: a conversation with a hole in it would be
//! another conversation.

use super::{Conversation, Entry, Exchange, Head, VERSION};

/// Why a conversation cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It does not begin as one does.
    #[error("it is no conversation: {0}")]
    NoConversation(String),
    /// It was written by a newer program.
    #[error("it has version {0}, and this program reads version {VERSION}; use a newer one")]
    Newer(u32),
    /// A line of it cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

impl Conversation {
    /// Reads the lines a [`Journal`](super::Journal) kept, the head first.
    ///
    /// # Errors
    /// When it is no conversation, or a line other than the last cannot be read.
    pub fn read(text: &str) -> Result<(Head, Self), ReadError> {
        let whole_lines = text.ends_with('\n');
        let count = text.lines().count();
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or(ReadError::Empty)?;
        let head = head(first)?;
        let mut conversation = Self::default();
        for (number, line) in lines {
            let line_number = number + 1;
            // What was being written when the program was killed.
            let is_torn = line_number == count && !whole_lines;
            if is_torn {
                let note =
                    format!("line {line_number} was not written to its end, and is left out");
                conversation.notes.push(note);
                break;
            }
            let taken = entry(line).and_then(|entry| conversation.take(entry));
            taken.map_err(|reason| ReadError::Line {
                line: line_number,
                reason,
            })?;
        }
        Ok((head, conversation))
    }

    fn take(&mut self, entry: Entry) -> Result<(), String> {
        match entry {
            Entry::User { text } => self.exchanges.push(Exchange::User(text)),
            Entry::Answer(answer) => self.push_answer(answer),
            Entry::Result { index, outcome } => {
                let Some(Exchange::Turn { results, .. }) = self.exchanges.last_mut() else {
                    return Err("a result without a call before it".to_owned());
                };
                let slot = results.get_mut(index);
                let slot = slot.ok_or_else(|| format!("the turn before it has no call {index}"))?;
                *slot = Some(*outcome);
            }
            Entry::Ended { .. } => {}
        }
        Ok(())
    }
}

fn head(line: &str) -> Result<Head, ReadError> {
    let no_conversation = |error: serde_json::Error| ReadError::NoConversation(error.to_string());
    let head: Head = serde_json::from_str(line).map_err(no_conversation)?;
    match head.conversation {
        0 => Err(ReadError::NoConversation("its version is 0".to_owned())),
        1..=VERSION => Ok(head),
        newer => Err(ReadError::Newer(newer)),
    }
}

fn entry(line: &str) -> Result<Entry, String> {
    // Depth is bounded by the reader itself.
    serde_json::from_str(line).map_err(|error| error.to_string())
}
