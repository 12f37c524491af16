//! Which reply answers which call, and what of it a model can be shown.

use std::borrow::Cow;
use std::collections::HashMap;

use toolsmith_core::outcome::{Block, ResourceContent};
use toolsmith_core::{ErrorKind, Outcome, Reply, ToolError, json};

use crate::answer::{Answer, ParsedCall};
use crate::parse::echo_name;
use crate::provider::Provider;

/// A call and what came of it.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub(super) call: &'a ParsedCall,
    /// Which call of the turn it is.
    pub(super) position: usize,
    /// The name as it stands in the turn.
    pub(super) name: String,
    pub(super) outcome: Cow<'a, Outcome>,
}

/// A piece of what a model is shown.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// In a format every model that sees knows.
    Image {
        media_type: String,
        data: String,
    },
    /// A PDF.
    Document {
        uri: String,
        data: String,
    },
}

/// The formats of images that every provider takes.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What stands where there is nothing: several providers take no empty text.
pub(super) const NOTHING: &str = "(no output)";

/// Finds the answer to every call.
pub(super) fn answered<'a>(
    provider: Provider,
    answer: &'a Answer,
    replies: &'a [Reply],
) -> Vec<Answered<'a>> {
    let by_number: HashMap<&str, usize> = (answer.calls.iter().enumerate())
        .map(|(position, call)| (call.id().as_str(), position))
        .collect();
    let mut slots: Vec<Option<&Reply>> = vec![None; answer.calls.len()];
    let mut others = Vec::new();
    for (order, reply) in replies.iter().enumerate() {
        let number = reply.outcome().and_then(|it| it.facts.call_id.as_ref());
        let position = number.and_then(|number| by_number.get(number.as_str()));
        match position {
            Some(position) if slots[*position].is_none() => slots[*position] = Some(reply),
            _ => others.push((order, reply)),
        }
    }
    for (order, reply) in others {
        if let Some(slot) = slots.get_mut(order)
            && slot.is_none()
        {
            *slot = Some(reply);
        }
    }
    let calls = answer.calls.iter().zip(slots).enumerate();
    calls
        .map(|(position, (call, reply))| Answered {
            call,
            position,
            name: echo_name(provider, &call.declared_name),
            outcome: outcome(reply),
        })
        .collect()
}

fn outcome(reply: Option<&Reply>) -> Cow<'_, Outcome> {
    match reply {
        Some(Reply::Done(outcome)) => showable(outcome),
        Some(other) => Cow::Owned(other.clone().into_outcome()),
        None => Cow::Owned(Outcome::failure(ToolError::new(
            ErrorKind::Cancelled,
            "the call was not run",
        ))),
    }
}

/// The outcome without a value nobody could write down.
fn showable(outcome: &Outcome) -> Cow<'_, Outcome> {
    let too_deep = |value| json::depth_exceeds(value, json::MAX_DEPTH);
    if !outcome.value.as_ref().is_some_and(too_deep) {
        return Cow::Borrowed(outcome);
    }
    let mut shown = Outcome::default();
    shown.content.clone_from(&outcome.content);
    shown.error.clone_from(&outcome.error);
    shown.instruction.clone_from(&outcome.instruction);
    if shown.content.is_empty() {
        shown = shown.with_block(Block::text("(a value that nests too deeply to be shown)"));
    }
    Cow::Owned(shown)
}

impl Answered<'_> {
    pub(super) fn id(&self) -> &str {
        self.call.id().as_str()
    }

    pub(super) fn failed(&self) -> bool {
        !self.outcome.is_success()
    }

    /// Everything as one text.
    pub(super) fn text(&self) -> String {
        self.outcome.model_text()
    }

    /// Everything piece by piece. What has no piece of its own is told in words.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        self.outcome.to_blocks().into_iter().map(piece).collect()
    }

    /// The images among the pieces.
    pub(super) fn images(&self) -> Vec<(String, String)> {
        let has_media = |block: &Block| !matches!(block, Block::Text { .. } | Block::Link { .. });
        if !self.outcome.content.iter().any(has_media) {
            return Vec::new();
        }
        let image = |piece| match piece {
            Piece::Image { media_type, data } => Some((media_type, data)),
            _ => None,
        };
        self.pieces().into_iter().filter_map(image).collect()
    }
}

fn piece(block: Block) -> Piece {
    match block {
        Block::Text { text } if text.trim().is_empty() => Piece::Text(NOTHING.to_owned()),
        Block::Text { text } => Piece::Text(text),
        Block::Image { data, mime_type } if IMAGES.contains(&mime_type.as_str()) => Piece::Image {
            media_type: mime_type,
            data,
        },
        Block::Resource {
            mime_type: Some(media_type),
            content: ResourceContent::Blob(data),
            ..
        } if IMAGES.contains(&media_type.as_str()) => Piece::Image { media_type, data },
        Block::Resource {
            uri,
            mime_type: Some(media_type),
            content: ResourceContent::Blob(data),
        } if media_type == "application/pdf" => Piece::Document { uri, data },
        other => Piece::Text(Outcome::default().with_block(other).model_text()),
    }
}

/// Says in words what a piece is that has no place where it should stand.
pub(super) fn in_words(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Image { media_type, .. } => format!("[image: {media_type}]"),
        Piece::Document { uri, .. } => format!("[document: {uri}]"),
    }
}
