//! Shape: whatever reaches a model or a terminal passes here.
//!
//! Characters that hide or steer are removed, secrets are replaced, and sizes are
//! bounded: head and tail stay, the whole goes to the spill store with the exact
//! way to read on. Failures are shaped like successes, and so are progress and
//! streamed output.

mod blocks;
mod cut;
mod definition;
mod keys;
mod known;
mod named;
mod redact;
mod spelling;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use toolsmith_core::error::Retry;
use toolsmith_core::reply::Question;
use toolsmith_core::store::{Spill, SpillStore, Spilled};
use toolsmith_core::{
    Block, CallId, Outcome, Schema, ToolDef, ToolError, ToolName, json as strict,
};

pub(crate) use definition::{hushed_definition, shown_arguments, shown_plan, without_secrets};
pub use redact::Redactor;
pub use toolsmith_core::clean::clean;
pub(crate) use toolsmith_core::clean::is_plain;

use crate::limits::Limits;

/// How many bytes a line for the person, a message or an instruction may have.
const SMALL_TEXT: usize = 8 << 10;
/// How many bytes of JSON error details or metadata may have.
const SMALL_JSON: usize = 32 << 10;
/// A store that takes longer is treated as one that failed.
const STORE_PATIENCE: Duration = Duration::from_secs(10);

/// Shapes what a toolbox gives out.
pub(crate) struct Shaper {
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) store: Option<Arc<dyn SpillStore>>,
}

impl std::fmt::Debug for Shaper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let store = if self.store.is_some() {
            "with"
        } else {
            "without"
        };
        write!(f, "Shaper {store} a store")
    }
}

/// The call an outcome belongs to.
pub(crate) struct About<'a> {
    pub(crate) id: &'a CallId,
    pub(crate) tool: Option<&'a Arc<ToolDef>>,
}

/// What became of a value that was too large, or was not.
enum Cut {
    InPlace,
    IntoText,
}

impl Shaper {
    /// Cleans, redacts and bounds an outcome.
    pub(crate) async fn shape(
        &self,
        mut outcome: Outcome,
        about: &About<'_>,
        limits: &Limits,
    ) -> Outcome {
        let limits = &limits.with_room(outcome.room.take());
        for text in [
            &mut outcome.display,
            &mut outcome.message,
            &mut outcome.instruction,
        ]
        .into_iter()
        .flatten()
        {
            self.small(text);
        }
        if let Some(error) = &mut outcome.error {
            self.error(error, about.tool);
        }
        self.small_json(&mut outcome.metadata);
        // A cut value may have become a text, whose note comes on top of the limit.
        let room = match self.value(&mut outcome, about, limits).await {
            Cut::IntoText => limits.output_bytes.saturating_add(SMALL_TEXT),
            Cut::InPlace => limits.output_bytes,
        };
        self.content(&mut outcome, about, limits, room).await;
        outcome
    }

    /// A short text: a message, a line, a piece of progress.
    pub(crate) fn small(&self, text: &mut String) {
        self.tidy(text);
        if text.len() > SMALL_TEXT {
            let (shortened, _) = cut::shorten(text, SMALL_TEXT, "");
            *text = shortened;
        }
    }

    /// A question a tool asks.
    pub(crate) fn question(&self, question: &mut Question) {
        match question {
            Question::Form { message, schema } => {
                self.small(message);
                let tidy = self.small_value(schema.as_value().clone());
                *schema = Schema::as_received(tidy).unwrap_or_else(|_| Schema::no_arguments());
            }
            Question::Visit { message, url } => {
                self.small(message);
                self.small(url);
            }
            Question::Sample { request } => *request = self.small_value(request.take()),
            _ => {}
        }
    }

    fn tidy(&self, text: &mut String) {
        if let std::borrow::Cow::Owned(clean) = self.redactor.clean(text) {
            *text = clean;
        }
    }

    /// A failure, wherever it is shown.
    pub(crate) fn error(&self, error: &mut ToolError, tool: Option<&Arc<ToolDef>>) {
        self.small(&mut error.message);
        if let (Retry::IfIdempotent, Some(tool)) = (error.kind.retry(), tool) {
            error.retryable = tool.is_idempotent();
        }
        if let Some(details) = error.details.take() {
            error.details = Some(self.small_value(details));
        }
        if let Some(cause) = &error.cause {
            let told = cause.to_string();
            let mut text = told.clone();
            self.small(&mut text);
            // The real cause is worth more to the host, where nothing speaks against it.
            if text != told {
                let text: Box<dyn std::error::Error + Send + Sync> = text.into();
                error.cause = Some(text.into());
            }
        }
    }

    fn small_json(&self, object: &mut Map<String, Value>) {
        if object.is_empty() {
            return;
        }
        if let Value::Object(tidy) = self.small_value(Value::Object(std::mem::take(object))) {
            *object = tidy;
        }
    }

    /// A small JSON value that a tool tells beside its outcome.
    pub(crate) fn small_value(&self, mut value: Value) -> Value {
        if strict::depth_exceeds(&value, strict::MAX_DEPTH) {
            strict::dismantle(value);
            value = json!({ "omitted": "it nested too deep" });
        } else if strict::size_exceeds(&value, SMALL_JSON) {
            value = json!({ "omitted": format!("it had more than {SMALL_JSON} bytes") });
        }
        self.tidy_json(&mut value);
        value
    }

    fn tidy_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.tidy(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.tidy_json(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.tidy_json(field));
                let is_dirty =
                    |key: &String| matches!(self.redactor.clean(key), std::borrow::Cow::Owned(_));
                if fields.keys().any(is_dirty) {
                    let dirty = std::mem::take(fields);
                    let tidy = |(key, value): (String, Value)| {
                        (self.redactor.clean(&key).into_owned(), value)
                    };
                    fields.extend(dirty.into_iter().map(tidy));
                }
            }
            _ => {}
        }
    }

    /// Bounds the value. A text keeps its head and tail; anything else that is too
    /// large is no longer a value but a text about one.
    async fn value(&self, outcome: &mut Outcome, about: &About<'_>, limits: &Limits) -> Cut {
        let Some(mut value) = outcome.value.take() else {
            return Cut::InPlace;
        };
        if strict::depth_exceeds(&value, strict::MAX_DEPTH) {
            strict::dismantle(value);
            outcome.error.get_or_insert_with(|| {
                ToolError::internal("the tool returned a value that nests too deep")
            });
            return Cut::InPlace;
        }
        self.tidy_json(&mut value);
        if let Value::String(text) = &mut value {
            if text.len() > limits.output_bytes {
                *text = self.spill(text, outcome, about, limits).await;
            }
            outcome.value = Some(value);
            return Cut::InPlace;
        }
        // No character takes more than six bytes once escaped, so most values need
        // not be written out to be measured.
        if strict::size_exceeds(&value, limits.output_bytes / 8) {
            let text = value.to_string();
            if text.len() > limits.output_bytes {
                let shortened = self.spill(&text, outcome, about, limits).await;
                if outcome.content.is_empty() {
                    outcome.content.push(Block::text(shortened));
                    return Cut::IntoText;
                }
                return Cut::InPlace;
            }
        }
        outcome.value = Some(value);
        Cut::InPlace
    }

    async fn content(
        &self,
        outcome: &mut Outcome,
        about: &About<'_>,
        limits: &Limits,
        room: usize,
    ) {
        outcome.content = self.blocks(std::mem::take(&mut outcome.content), limits);
        let length = |block: &Block| match block {
            Block::Text { text } => text.len(),
            _ => 0,
        };
        if outcome.content.iter().map(length).sum::<usize>() <= room {
            return;
        }
        let mut whole = String::new();
        let mut first = None;
        let blocks = std::mem::take(&mut outcome.content);
        let mut kept = Vec::new();
        for block in blocks {
            match block {
                Block::Text { text } => {
                    first.get_or_insert(kept.len());
                    if !whole.is_empty() {
                        whole.push('\n');
                    }
                    whole.push_str(&text);
                }
                other => kept.push(other),
            }
        }
        let shortened = self.spill(&whole, outcome, about, limits).await;
        kept.insert(first.unwrap_or_default(), Block::text(shortened));
        outcome.content = kept;
    }

    /// Shortens a text and puts the whole into the store.
    async fn spill(
        &self,
        text: &str,
        outcome: &mut Outcome,
        about: &About<'_>,
        limits: &Limits,
    ) -> String {
        let shown = cut::head_bytes(text, limits.output_bytes);
        let tool = about.tool.map(|tool| &tool.name);
        let (spilled, how) = match self.keep(about.id, tool, text, shown).await {
            Ok(spilled) => {
                let how = spilled.read_on.clone();
                (Some(spilled), how)
            }
            Err(why) => (None, why),
        };
        let (shortened, omitted) = cut::shorten(text, limits.output_bytes, &how);
        outcome.facts.omitted_bytes = Some(omitted + outcome.facts.omitted_bytes.unwrap_or(0));
        outcome.facts.spill = spilled.or(outcome.facts.spill.take());
        shortened
    }

    async fn keep(
        &self,
        id: &CallId,
        tool: Option<&ToolName>,
        text: &str,
        shown: usize,
    ) -> Result<Spilled, String> {
        let (Some(store), Some(tool)) = (&self.store, tool) else {
            return Err("the rest was not kept".to_owned());
        };
        // Inside the block, since a store may panic before it gives a future.
        let keeping = async { store.keep(Spill::new(id, tool, text, shown)).await };
        let keeping = AssertUnwindSafe(keeping).catch_unwind();
        match tokio::time::timeout(STORE_PATIENCE, keeping).await {
            Ok(Ok(Ok(spilled))) => Ok(spilled),
            Ok(Ok(Err(error))) => Err(error.to_string()),
            Ok(Err(_)) => Err("the rest was not kept: the store panicked".to_owned()),
            Err(_) => Err("the rest was not kept: the store did not answer".to_owned()),
        }
    }
}
