//! Keeps a conversation within the context of a model: older results are shortened first,
//! and say where the whole of them is.
//!
//! What was shortened stays so for the rest of the run, and some room is made at once: a
//! request that begins as the one before it did costs providers, and so users, less.

use std::collections::HashMap;
use std::sync::Arc;

use toolsmith_core::store::{Spill, SpillStore};
use toolsmith_core::{Block, CallId, Outcome, ToolName};

use crate::conversation::{Conversation, Exchange, KeptCall, KeptOutcome};

/// How much of a shortened result is left.
const LEFT: usize = 400;

/// What an image counts for: providers count its size in pixels, not in bytes.
const IMAGE: usize = 6_000;

/// What was shortened so far, by exchange and call.
#[derive(Debug, Default)]
pub(crate) struct Context {
    shortened: HashMap<(usize, usize), KeptOutcome>,
}

/// A conversation that does not fit, whatever is shortened.
#[derive(Debug)]
pub(crate) struct TooLarge;

impl Context {
    /// What is told of a result now.
    pub(crate) fn result<'c>(
        &'c self,
        place: (usize, usize),
        outcome: &'c KeptOutcome,
    ) -> &'c KeptOutcome {
        self.shortened.get(&place).unwrap_or(outcome)
    }

    /// Shortens results until the conversation fits, the oldest first, and tells how many
    /// were.
    pub(crate) async fn fit(
        &mut self,
        conversation: &Conversation,
        beside: usize,
        limit: usize,
        store: Option<&Arc<dyn SpillStore>>,
    ) -> Result<usize, TooLarge> {
        let mut size = beside.saturating_add(self.size(conversation));
        if size <= limit {
            return Ok(0);
        }
        // Not just as much as is needed, or the next turn would do it again.
        let goal = limit / 4 * 3;
        let mut shortened = 0;
        for (at, exchange) in conversation.exchanges().iter().enumerate() {
            let Exchange::Turn { answer, results } = exchange else {
                continue;
            };
            for (index, (call, outcome)) in answer.calls.iter().zip(results).enumerate() {
                let place = (at, index);
                let Some(outcome) = outcome else { continue };
                let before = weight(self.result(place, outcome));
                if size <= goal || self.shortened.contains_key(&place) || before <= 2 * LEFT {
                    continue;
                }
                let short = shorten(call, outcome, store).await;
                size = size.saturating_sub(before) + weight(&short);
                self.shortened.insert(place, short);
                shortened += 1;
            }
        }
        match size <= limit {
            true => Ok(shortened),
            false => Err(TooLarge),
        }
    }

    fn size(&self, conversation: &Conversation) -> usize {
        let exchanges = conversation.exchanges().iter().enumerate();
        let sizes = exchanges.map(|(at, exchange)| match exchange {
            Exchange::User(text) => text.len(),
            Exchange::Turn { answer, results } => {
                let turn: usize = answer.turn.iter().map(|part| part.to_string().len()).sum();
                let results = results.iter().enumerate();
                let results = results.filter_map(|(index, outcome)| {
                    Some(weight(self.result((at, index), outcome.as_ref()?)))
                });
                turn + results.sum::<usize>()
            }
        });
        sizes.sum()
    }
}

fn weight(outcome: &KeptOutcome) -> usize {
    let blocks = outcome.outcome().to_blocks();
    let sizes = blocks.iter().map(|block| match block {
        Block::Text { text } => text.len(),
        Block::Image { .. } | Block::Audio { .. } => IMAGE,
        other => Outcome::default()
            .with_block(other.clone())
            .model_text()
            .len(),
    });
    sizes.sum()
}

/// The beginning of a result, and where the whole of it is.
async fn shorten(
    call: &KeptCall,
    outcome: &KeptOutcome,
    store: Option<&Arc<dyn SpillStore>>,
) -> KeptOutcome {
    let text = outcome.outcome().model_text();
    let head = &text[..text.floor_char_boundary(LEFT)];
    let left_out = text.len() - head.len();
    let whole = keep(call, outcome, &text, head.len(), store).await;
    let whole = whole.unwrap_or_else(|| "Make the call again if you need it.".to_owned());
    let note = format!(
        "{head}\n[{left_out} bytes of this older result were left out to make room. {whole}]"
    );
    let mut short = KeptOutcome::of(&Outcome::text(note));
    short.tool.clone_from(&outcome.tool);
    short.duration_ms = outcome.duration_ms;
    if let Some(error) = &outcome.error {
        // What went wrong is in the text; that it did is told apart.
        let mut error = error.clone();
        error.message = "see below".to_owned();
        error.details = None;
        short.error = Some(error);
    }
    short
}

/// Puts the whole of a result where it can be read again, and tells how.
async fn keep(
    call: &KeptCall,
    outcome: &KeptOutcome,
    text: &str,
    shown: usize,
    store: Option<&Arc<dyn SpillStore>>,
) -> Option<String> {
    let tool = ToolName::new(outcome.tool.as_deref().unwrap_or(&call.name)).ok()?;
    let id = CallId::new(&call.id);
    let spill = Spill::new(&id, &tool, text, shown);
    let spilled = store?.keep(spill).await.ok()?;
    Some(spilled.read_on)
}
