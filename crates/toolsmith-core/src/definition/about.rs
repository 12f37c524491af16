//! What is said about a tool: what it is for, how it is called, what it takes to be
//! allowed, and where it belongs. How it is worded for models is told in `describe.rs`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
