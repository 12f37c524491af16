//! What came of a call: one type, complete, from which every other shape is
//! projected (see [`crate::project`]).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::name::{CallId, ToolName};
use crate::store::Spilled;

/// What came of a call.
///
/// ```
/// use toolsmith_core::Outcome;
///
/// let outcome = Outcome::ok(42).with_message("Found it.");
/// assert!(outcome.is_success());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The value, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What the model reads, where it is more than the value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Block>,
    /// One line for the person: action, object, amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// A message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How the agent should behave from here on, apart from any message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// What went wrong, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Whatever the tool wants to tell programs.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// How many bytes its text and its value may have, where the tool bounds them itself
    /// and its caller asked for more than is usual. The runtime sets a limit to it.
    #[serde(skip)]
    pub room: Option<usize>,
    /// What the runtime knows about the call.
    pub facts: Facts,
}

impl Outcome {
    /// Success with a value.
    pub fn ok(value: impl Into<Value>) -> Self {
        Self {
            value: Some(value.into()),
            ..Self::default()
        }
    }

    /// Success with a text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with_block(Block::text(text))
    }

    /// Success with nothing to say.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Failure.
    pub fn failure(error: impl Into<ToolError>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::default()
        }
    }

    /// Tells whether it succeeded.
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }

    /// Adds something for the model to read.
    #[must_use]
    pub fn with_block(mut self, block: Block) -> Self {
        self.content.push(block);
        self
    }

    /// Sets the value.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the line for the person.
    #[must_use]
    pub fn with_display(mut self, display: impl Into<String>) -> Self {
        self.display = Some(display.into());
        self
    }

    /// Sets the message for the user.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Tells the agent how to behave.
    #[must_use]
    pub fn with_instruction(mut self, instruction: impl Into<String>) -> Self {
        self.instruction = Some(instruction.into());
        self
    }

    /// Asks for more room than is usual.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.room = Some(bytes);
        self
    }

    /// Adds something for programs.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

impl<T: Into<ToolError>> From<T> for Outcome {
    fn from(error: T) -> Self {
        Self::failure(error)
    }
}

/// A piece of what a model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A resource with its content.
    Resource {
        /// Its address.
        uri: String,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Its content.
        #[serde(flatten)]
        content: ResourceContent,
    },
    /// A resource by address only.
    Link {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Block {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The content of an embedded resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

/// What the runtime knows about a call and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// The tool that was called, by its bare name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The name it was called by, where that was another or no tool's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_as: Option<String>,
    /// Which call it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// How long it took, from the door and back, without waiting for people.
    #[serde(
        skip_serializing_if = "Option::is_none",
        rename = "duration_ms",
        serialize_with = "milliseconds"
    )]
    pub duration: Option<Duration>,
    /// How many bytes were left out of what the model reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_bytes: Option<u64>,
    /// What was mended in the call before it ran, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// Where the whole of it was put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spill: Option<Spilled>,
    /// How old the answer is, where it was kept from an earlier call.
    #[serde(
        skip_serializing_if = "Option::is_none",
        rename = "cached_ms",
        serialize_with = "milliseconds"
    )]
    pub cached: Option<Duration>,
    /// How often the tool was called, where that was more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn milliseconds<S: serde::Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // Three decimals: calls of a few microseconds are the rule, not the exception.
    let micros = duration.unwrap_or_default().as_micros();
    let micros = u32::try_from(micros).map_or(micros as f64, f64::from);
    serializer.serialize_f64(micros / 1000.0)
}
