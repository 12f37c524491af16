//! Everything known about a tool, and nothing about how it is run.
//!
//! Time limits, addresses and headers are a [`Binding`](crate::binding::Binding)
//! or live inside the tool; a definition can be shown to a model whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// What sort of thing a tool does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Reads something.
    Read,
    /// Changes something.
    Edit,
    /// Removes something.
    Delete,
    /// Moves or renames something.
    Move,
    /// Looks for something.
    Search,
    /// Runs a program.
    Execute,
    /// Talks to the network.
    Network,
    /// Only reasons.
    Think,
    /// Belongs to somebody else's server.
    External,
    /// None of these.
    Other,
}

impl Kind {
    /// The effect that goes with the kind. What is not known to stay here is
    /// taken to leave.
    pub const fn effect(self) -> Effect {
        match self {
            Self::Read | Self::Search | Self::Think => Effect::Read,
            Self::Edit | Self::Delete | Self::Move => Effect::Write,
            Self::Execute => Effect::Execute,
            Self::Network | Self::External | Self::Other => Effect::Network,
        }
    }

    /// The kind that goes with an effect, where only that was said.
    pub const fn of_effect(effect: Effect) -> Self {
        match effect {
            Effect::Read => Self::Read,
            Effect::Write => Self::Edit,
            Effect::Execute => Self::Execute,
            Effect::Network => Self::Network,
        }
    }
}

/// What a tool does to the world; what modes and rules speak of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks, and changes nothing.
    Read,
    /// Changes files or state here.
    Write,
    /// Runs programs here.
    Execute,
    /// Reaches beyond this machine.
    Network,
}

/// Finer statements about an effect, as MCP's annotations know them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// Says that it only looks. Answers may be kept and calls repeated on the strength of
    /// it; permission is decided by the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// May destroy what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Doing it twice does no more than doing it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Deals with an open world: the web, other people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a tool is for: one short form for models, one long form for the guide.
///
/// ```
/// use toolsmith_core::Description;
///
/// let description = Description::from("Finds files by name.\n\nHidden ones are left out.");
/// assert_eq!(description.short, "Finds files by name.");
/// assert_eq!(description.long, "Hidden ones are left out.");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Description {
    /// One or two sentences.
    pub short: String,
    /// Everything there is to say, without what `short` says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub long: String,
    /// Hints for using it well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usage_notes: Vec<String>,
    /// What must not be overlooked; always sent to models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub important: Vec<String>,
}

impl From<&str> for Description {
    /// The first paragraph is the short form, the rest the long one.
    fn from(text: &str) -> Self {
        let (short, long) = text.trim().split_once("\n\n").unwrap_or((text, ""));
        Self {
            short: short.split_whitespace().collect::<Vec<_>>().join(" "),
            long: long.trim().to_owned(),
            ..Self::default()
        }
    }
}

impl From<String> for Description {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// A call that shows how a tool is used.
///
/// ```
/// use serde_json::{Map, json};
/// use toolsmith_core::{Example, ToolDef};
///
/// let arguments = Map::from_iter([("count".to_owned(), json!(2))]);
/// let definition = ToolDef::new("roll_dice")?
///     .with_example(Example::new(arguments).with_comment("Two dice."));
/// assert_eq!(definition.examples[0].comment.as_deref(), Some("Two dice."));
/// # Ok::<(), toolsmith_core::name::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Example {
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
}

impl Example {
    /// An example of a call with these arguments.
    pub fn new(arguments: Map<String, Value>) -> Self {
        Self {
            comment: None,
            arguments,
        }
    }

    /// Says what the example shows.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }
}

/// The literal a caller must say, word for word, to make a call.
///
/// ```
/// use toolsmith_core::{Consent, Kind, ToolDef};
///
/// let consent = Consent::new("DELETE_BRANCH").because("A branch that is gone stays gone.");
/// let definition = ToolDef::new("delete_branch")?
///     .with_kind(Kind::Delete)
///     .with_consent(consent);
/// let argument = &definition.input.as_value()["properties"]["consent"];
/// assert_eq!(argument["const"], "DELETE_BRANCH");
/// # Ok::<(), toolsmith_core::name::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Consent {
    /// The argument that carries it.
    pub argument: String,
    /// What must stand there.
    pub literal: String,
    /// Why consent is needed, for the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Consent {
    /// Demands `literal` in the argument `consent`.
    pub fn new(literal: impl Into<String>) -> Self {
        Self {
            argument: "consent".to_owned(),
            literal: literal.into(),
            reason: None,
        }
    }

    /// Says why consent is needed.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// Identity, grouping, and whatever else is known about a tool.
///
/// ```
/// use toolsmith_core::{Meta, ToolDef};
///
/// let mut meta = Meta::new("dice");
/// meta.category = Some("games".to_owned());
/// let definition = ToolDef::new("roll_dice")?.with_meta(meta);
/// assert_eq!(definition.category(), "games");
/// # Ok::<(), toolsmith_core::name::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Meta {
    /// What identifies it across changes of name; the name unless set.
    pub id: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its group in lists and guides; inferred where not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Free words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where more is written about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Meta {
    /// Starts with an id and nothing else.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            version: None,
            category: None,
            tags: Vec::new(),
            documentation_url: None,
            extra: Map::new(),
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
