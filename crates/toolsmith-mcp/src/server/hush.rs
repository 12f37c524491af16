//! Takes secrets and hidden characters out of what is beside the tools.
//!
//! What a call says is shaped by the toolbox. Lists, resources, prompts, completions and what
//! prompts ask are not, so they come here on their way to a client.

use std::borrow::Cow;

use serde_json::Value;
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::reply::Question;
use toolsmith_core::{Block, Schema};
use toolsmith_runtime::shape::Redactor;

/// How many characters of a question are asked.
const LONGEST_QUESTION: usize = 4000;

pub(super) struct Hush<'r>(pub(super) &'r Redactor);

impl Hush<'_> {
    pub(super) fn text(&self, text: String) -> String {
        match self.0.clean(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        }
    }

    /// Every text in a value.
    pub(super) fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(std::mem::take(text)),
            Value::Array(values) => values.iter_mut().for_each(|each| self.value(each)),
            Value::Object(fields) => fields.values_mut().for_each(|each| self.value(each)),
            _ => {}
        }
    }

    pub(super) fn resource(&self, content: ResourceContent) -> ResourceContent {
        match content {
            ResourceContent::Text(text) => ResourceContent::Text(self.text(text)),
            blob @ ResourceContent::Blob(_) => blob,
        }
    }

    pub(super) fn block(&self, block: Block) -> Block {
        match block {
            Block::Text { text } => Block::text(self.text(text)),
            Block::Resource {
                uri,
                mime_type,
                content,
            } => Block::Resource {
                uri: self.text(uri),
                mime_type,
                content: self.resource(content),
            },
            Block::Link {
                uri,
                name,
                description,
                mime_type,
            } => Block::Link {
                uri: self.text(uri),
                name: self.text(name),
                description: description.map(|text| self.text(text)),
                mime_type,
            },
            other => other,
        }
    }

    /// What a prompt asks the person it is made for.
    pub(super) fn question(&self, question: Question) -> Question {
        let short = |text| self.text(text).chars().take(LONGEST_QUESTION).collect();
        match question {
            Question::Form { message, schema } => {
                let mut said = schema.as_value().clone();
                self.value(&mut said);
                Question::Form {
                    message: short(message),
                    schema: Schema::as_received(said).unwrap_or_else(|_| Schema::no_arguments()),
                }
            }
            Question::Visit { message, url } => Question::Visit {
                message: short(message),
                url: self.text(url),
            },
            Question::Sample { mut request } => {
                self.value(&mut request);
                Question::Sample { request }
            }
            other => other,
        }
    }
}
