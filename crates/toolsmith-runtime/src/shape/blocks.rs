//! The pieces of a reply that are more than text, within one budget for all.

use toolsmith_core::Block;
use toolsmith_core::outcome::ResourceContent;

use super::{Shaper, cut};
use crate::limits::Limits;

/// How many pieces a reply may have.
const MAX_BLOCKS: usize = 256;

/// What is left for the pieces of one reply.
struct Budget {
    /// For what is in base64.
    blobs: usize,
    /// For addresses, names and the texts of resources. Text blocks have their own.
    texts: usize,
}

impl Shaper {
    /// Cleans every piece, and leaves out what is too much.
    pub(super) fn blocks(&self, blocks: Vec<Block>, limits: &Limits) -> Vec<Block> {
        let mut budget = Budget {
            blobs: limits.blob_bytes,
            texts: limits.output_bytes,
        };
        let mut kept = Vec::new();
        let mut left_out = 0_usize;
        for block in blocks {
            if kept.len() >= MAX_BLOCKS {
                left_out += 1;
                continue;
            }
            match self.block(block, &mut budget) {
                Some(block) => kept.push(block),
                None => left_out += 1,
            }
        }
        if left_out > 0 {
            let note = format!("[{left_out} more pieces left out: too many, or too large]");
            kept.push(Block::text(note));
        }
        kept
    }

    fn block(&self, mut block: Block, budget: &mut Budget) -> Option<Block> {
        match &mut block {
            Block::Text { text } => {
                self.tidy(text);
                return Some(block);
            }
            Block::Image { data, mime_type } => {
                self.small(mime_type);
                if let Some(note) = budget.refuse("image", data) {
                    return Some(note);
                }
            }
            Block::Audio { data, mime_type } => {
                self.small(mime_type);
                if let Some(note) = budget.refuse("audio", data) {
                    return Some(note);
                }
            }
            Block::Resource {
                uri,
                mime_type,
                content,
            } => {
                self.small(uri);
                mime_type.iter_mut().for_each(|text| self.small(text));
                match content {
                    ResourceContent::Text(text) => {
                        self.tidy(text);
                        if text.len() > budget.texts {
                            *text = cut::shorten(text, budget.texts, "").0;
                        }
                    }
                    ResourceContent::Blob(data) => {
                        if let Some(note) = budget.refuse("resource", data) {
                            return Some(note);
                        }
                    }
                }
            }
            Block::Link {
                uri,
                name,
                description,
                mime_type,
            } => {
                self.small(uri);
                self.small(name);
                for text in [description, mime_type].into_iter().flatten() {
                    self.small(text);
                }
            }
            _ => return None,
        }
        budget.spend(&block).then_some(block)
    }
}

impl Budget {
    /// The note that stands for data that is too large, or is no base64 and so
    /// could be anything.
    fn refuse(&mut self, what: &str, data: &str) -> Option<Block> {
        let length = data.len();
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_\r\n".contains(&byte);
        if !data.bytes().all(is_base64) {
            let note = format!("[{what} of {length} bytes left out: it is not base64]");
            return Some(Block::text(note));
        }
        match self.blobs.checked_sub(length) {
            Some(rest) => {
                self.blobs = rest;
                None
            }
            None => {
                self.blobs = 0;
                let note = format!("[{what} of {length} bytes in base64 left out: too large]");
                Some(Block::text(note))
            }
        }
    }

    /// Takes a piece's texts from the budget; tells whether there was room.
    fn spend(&mut self, block: &Block) -> bool {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let cost = match block {
            Block::Resource {
                uri,
                mime_type,
                content,
            } => {
                let text = match content {
                    ResourceContent::Text(text) => text.len(),
                    ResourceContent::Blob(_) => 0,
                };
                // A text that was cut to the last of the budget still fits.
                text.min(self.texts.saturating_sub(uri.len())) + uri.len() + optional(mime_type)
            }
            Block::Link {
                uri,
                name,
                description,
                mime_type,
            } => uri.len() + name.len() + optional(description) + optional(mime_type),
            _ => 0,
        };
        let fits = cost <= self.texts;
        self.texts = self.texts.saturating_sub(cost);
        fits
    }
}
