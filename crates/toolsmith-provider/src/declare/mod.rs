//! Declare: what a model is told of the tools it may call.
//!
//! `prepare` names and lowers the tools, whoever they are for; a file per provider puts
//! them into that provider's JSON and knows its words for choice, parallel calls, deferred
//! tools and examples. What is refused is refused here, before a request is sent.

mod anthropic;
mod bedrock;
mod gemini;
mod mcp;
mod openai;
mod prepare;
mod texts;

use serde_json::{Map, Value};
use toolsmith_core::Offer;

use crate::dictionary::Dictionary;
use crate::provider::Provider;
use crate::text::{self, TextFormat};
use prepare::Prepared;

pub use texts::declare_as_text;

/// How tools are declared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Whether the provider is to enforce the schemas, as far as it can: each tool is
    /// strict where its schema and the provider's limits allow, and otherwise not, with
    /// the reason in the report.
    pub strict: bool,
    /// Whether and what the model must call.
    pub choice: ToolChoice,
    /// Whether it may make several calls at once; the provider's own habit where not set.
    pub parallel: Option<bool>,
    /// Whether tools that are not shown from the start are declared too, for the provider
    /// to load when they are looked for. Only some can.
    pub deferred: bool,
    /// Whether examples go with the tools, where the provider has a place for them.
    pub examples: bool,
    /// Tools the provider runs itself, in its own words: passed on, never run here.
    pub hosted: Vec<Value>,
    /// The format calls are asked for in where they come as text; JSON where not set.
    pub format: Option<TextFormat>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            choice: ToolChoice::Auto,
            parallel: None,
            deferred: false,
            examples: false,
            hosted: Vec::new(),
            format: None,
        }
    }
}

/// Whether and what a model must call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// Something.
    Required,
    /// The tool that is offered by this name.
    Tool(String),
}

/// Tools in a provider's words.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Declared {
    /// Whose words these are.
    pub provider: Provider,
    /// Every field of the request that has to do with tools, the tools among them.
    pub request: Map<String, Value>,
    /// How calls are asked for as text, where they are. Nothing is declared then: the
    /// prompt says it all.
    pub structured: Option<Structured>,
    /// What was changed, tool by tool, in the order of the offer.
    pub report: Vec<ToolReport>,
    /// The way back.
    pub dictionary: Dictionary,
    /// What the tools take, for calls that come as text.
    pub(crate) schemas: text::Tools,
}

impl Declared {
    /// The value of the provider's field for tools; `null` where nothing is declared.
    pub fn tools(&self) -> &Value {
        let request = &self.request;
        let found = match self.provider {
            Provider::OpenAiFunctions => request.get("functions"),
            Provider::Bedrock => request.get("toolConfig").and_then(|each| each.get("tools")),
            _ => request.get("tools"),
        };
        found.unwrap_or(&Value::Null)
    }
}

/// Calls that come as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Structured {
    /// The format that is asked for.
    pub format: TextFormat,
    /// What the model must be told in its instructions: the tools, and how to call them.
    pub prompt: String,
}

/// What became of one tool on its way to a provider.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// The name it is offered by.
    pub name: String,
    /// The name the provider knows.
    pub declared_name: String,
    /// Whether the provider enforces its schema.
    pub strict: bool,
    /// Why it does not, where it was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_strict_because: Option<String>,
    /// What was changed in its schema, and where.
    pub changes: Vec<crate::lower::Change>,
}

/// Why tools cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// More tools than the provider takes.
    #[error(
        "{provider} takes at most {limit} tools in a request, and there are {count}; offer a tool set"
    )]
    TooManyTools {
        /// The provider.
        provider: Provider,
        /// How many there are.
        count: usize,
        /// How many it takes.
        limit: usize,
    },
    /// A choice of a tool that is not offered.
    #[error("the tool {name:?}, which the model must call, is not among those offered")]
    UnknownChoice {
        /// The name.
        name: String,
    },
    /// Something the provider has no word for.
    #[error("{provider} has no {what}")]
    Unsupported {
        /// The provider.
        provider: Provider,
        /// What was asked for.
        what: &'static str,
    },
}

/// Declares the tools of an offer to a provider.
pub fn declare(
    provider: Provider,
    offer: &Offer,
    options: &Options,
) -> Result<Declared, FormatError> {
    if provider == Provider::Text {
        return declare_as_text(provider, offer, options);
    }
    let Prepared {
        tools,
        report,
        dictionary,
    } = prepare::prepare(provider, offer, options)?;
    let request = if tools.list.is_empty() && options.hosted.is_empty() {
        // Several providers refuse an empty list.
        Map::new()
    } else {
        match provider {
            Provider::Anthropic => anthropic::request(tools, options),
            Provider::Gemini => gemini::request(tools, options)?,
            Provider::Bedrock => bedrock::request(tools, options)?,
            Provider::Mcp => mcp::request(tools),
            _ => openai::request(provider, tools, options)?,
        }
    };
    Ok(Declared {
        provider,
        request,
        structured: None,
        report,
        dictionary,
        schemas: text::Tools::default(),
    })
}
