//! Everything known about a tool, and nothing about how it is run.
//!
//! Time limits, addresses and headers are a [`Binding`](crate::binding::Binding)
//! or live inside the tool; a definition can be shown to a model whole.

mod about;
mod effect;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use about::{Consent, Description, Example, Meta};
pub use effect::{Effect, Hints, Kind};

use crate::name::{NameError, ToolName};
use crate::schema::Schema;

/// A tool's definition.
///
/// Made with [`ToolDef::new`] and filled through its fields or `with_` methods;
/// `#[tool]` makes it from a function.
///
/// ```
/// use serde_json::json;
/// use toolsmith_core::{Kind, Schema, ToolDef};
///
/// let definition = ToolDef::new("roll_dice")?
///     .with_description("Rolls dice and returns the sum.")
///     .with_kind(Kind::Read)
///     .with_input(Schema::input(json!({
///         "properties": { "count": { "type": "integer", "description": "How many dice." } },
///         "required": ["count"],
///     }))?);
/// assert_eq!(definition.input.as_value()["type"], "object");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDef {
    /// What it is called, without any prefix.
    pub name: ToolName,
    /// What people see instead of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// What sort of thing it does.
    pub kind: Kind,
    /// What it does to the world, which permission is decided by.
    pub effect: Effect,
    /// Finer statements about the effect.
    #[serde(default, skip_serializing_if = "Hints::is_empty")]
    pub hints: Hints,
    /// What it is for.
    pub description: Description,
    /// The schema of its arguments.
    pub input: Schema,
    /// Other names callers use for arguments, with the names they stand for. One within
    /// a list of objects is written `list.name`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// The schema of its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Schema>,
    /// Calls that show how it is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// What it returns, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The literal that must be said to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// Identity, grouping and whatever else is known.
    pub meta: Meta,
}

impl ToolDef {
    /// Starts a definition: a built-in tool of kind [`Kind::Other`] that takes
    /// no arguments.
    pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
        let name = ToolName::new(name)?;
        Ok(Self {
            meta: Meta::new(name.as_str()),
            name,
            title: None,
            source: Source::Builtin,
            kind: Kind::Other,
            effect: Kind::Other.effect(),
            hints: Hints::default(),
            description: Description::default(),
            input: Schema::no_arguments(),
            aliases: BTreeMap::new(),
            output: None,
            examples: Vec::new(),
            returns: None,
            consent: None,
        })
    }

    /// Sets what people see instead of the name.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets where it comes from.
    #[must_use]
    pub fn with_source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Sets the kind, and the effect that goes with it.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self.effect = kind.effect();
        self
    }

    /// Sets the effect where the kind does not tell it.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the finer statements about the effect.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Sets the description; a plain text becomes its short and long form.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<Description>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the schema of the arguments.
    #[must_use]
    pub fn with_input(mut self, schema: Schema) -> Self {
        self.input = schema;
        self
    }

    /// Adds other names callers use for an argument; `list.name` within a list of
    /// objects. They are no part of the schema: a call that uses one is mended.
    ///
    /// ```
    /// use toolsmith_core::ToolDef;
    ///
    /// let definition = ToolDef::new("read")?.with_aliases("file_path", &["path", "file"]);
    /// assert_eq!(definition.aliases["path"], "file_path");
    /// # Ok::<(), toolsmith_core::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_aliases(mut self, argument: &str, aliases: &[&str]) -> Self {
        for alias in aliases {
            self.aliases
                .insert((*alias).to_owned(), argument.to_owned());
        }
        self
    }

    /// Sets the schema of the value.
    #[must_use]
    pub fn with_output(mut self, schema: Schema) -> Self {
        self.output = Some(schema);
        self
    }

    /// Adds a call that shows how it is used.
    #[must_use]
    pub fn with_example(mut self, example: Example) -> Self {
        self.examples.push(example);
        self
    }

    /// Says in words what it returns.
    #[must_use]
    pub fn with_returns(mut self, returns: impl Into<String>) -> Self {
        self.returns = Some(returns.into());
        self
    }

    /// Demands a literal argument, which is added to the schema where it is not
    /// there yet.
    #[must_use]
    pub fn with_consent(mut self, consent: Consent) -> Self {
        self.input = self.input.requiring_literal(
            &consent.argument,
            &consent.literal,
            "Say this only when the user explicitly asked for it.",
        );
        self.consent = Some(consent);
        self
    }

    /// Sets identity, grouping and extras.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// What people see: the title, or the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.name.as_str())
    }

    /// The category it was given, or the one its name, effect and source imply.
    pub fn category(&self) -> &str {
        if let Some(category) = &self.meta.category {
            return category;
        }
        if let Source::Mcp { server } = &self.source {
            return server;
        }
        let has = |words: &[&str]| words.iter().any(|word| self.name.as_str().contains(word));
        if has(&["guide", "help"]) {
            return "guide";
        }
        match self.effect {
            Effect::Read if has(&["list", "tree", "directory"]) => "navigation",
            Effect::Read if has(&["search", "find", "grep", "glob"]) => "search",
            Effect::Read => "read",
            Effect::Write => "edit",
            Effect::Execute => "execution",
            Effect::Network => "network",
        }
    }

    /// Tells whether making the same call twice does no more than making it once.
    pub fn is_idempotent(&self) -> bool {
        self.hints.idempotent.unwrap_or(self.changes_nothing())
    }

    /// Tells whether a call only looks, as far as anybody says. Permission goes by the
    /// effect alone: what somebody else's tool claims of itself widens nothing.
    pub fn changes_nothing(&self) -> bool {
        self.effect == Effect::Read
            || (self.effect == Effect::Network && self.hints.read_only == Some(true))
    }
}

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// A function in this program.
    Builtin,
    /// A local command.
    Native,
    /// An API over HTTP.
    Rest,
    /// A tool of an MCP server.
    Mcp {
        /// The name the user gave the server.
        server: String,
    },
}

impl Source {
    /// The word rules and lists use: `builtin`, `native`, `rest` or `mcp`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Native => "native",
            Self::Rest => "rest",
            Self::Mcp { .. } => "mcp",
        }
    }
}

/// What a model is told of a tool: a direct projection of its definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDeclaration {
    /// The name the model calls it by, with any prefix.
    pub name: String,
    /// The description, as brief or as full as was asked for.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: Schema,
}

impl ToolDeclaration {
    /// Projects a definition under the name it is offered by.
    pub fn new(name: impl Into<String>, tool: &ToolDef, detail: Detail) -> Self {
        Self {
            name: name.into(),
            description: tool.description_for_models(detail),
            parameters: tool.input.clone(),
        }
    }
}

/// How much of a description models are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The short form and what is important: the schema says the rest.
    #[default]
    Brief,
    /// Everything, with the arguments as Markdown.
    Full,
}
