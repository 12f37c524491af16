//! What each provider accepts, as data: the table that lowering obeys and the judge holds
//! declarations against.
//!
//! Nothing here acts. [`table`] has one constant per provider, each limit with its source;
//! limits change with date and deployment, so they stand there and nowhere else.

mod keyword;
mod table;

pub(crate) use keyword::{Keyword, Keywords, Scope};

use crate::provider::Provider;

/// What a provider accepts in the schema of a tool.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Where this is known from.
    pub(crate) source: &'static str,
    /// Whether every keyword of JSON Schema is taken below the root. Lowering does not use
    /// that, for what one server takes another that speaks the same format may not.
    pub(crate) whole: bool,
    /// Keywords that are passed on as they are.
    pub(crate) keywords: Keywords,
    /// The formats of texts it knows, where it refuses others.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// Whether patterns may look around.
    pub(crate) lookaround: bool,
    /// The largest `minItems`, where that is limited.
    pub(crate) min_items: Option<u64>,
    /// How a value of several types is said.
    pub(crate) types: Types,
    /// Whether a place may say nothing of its type.
    pub(crate) untyped: bool,
    /// Which values may be listed.
    pub(crate) choices: Choices,
    /// Whether anything may stand beside `anyOf`.
    pub(crate) beside_union: bool,
    /// What becomes of definitions that contain themselves.
    pub(crate) recursion: Recursion,
    /// How objects are said.
    pub(crate) objects: Objects,
    /// The names properties may have.
    pub(crate) properties: Option<Names>,
    /// How large a schema may be.
    pub(crate) limits: Limits,
}

/// How a value of several types is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// `type` is a list.
    List,
    /// `type` is a list of one type and `null`; more are an `anyOf`.
    ListWithNull,
    /// `nullable` says that `null` is accepted; more are an `anyOf`.
    Nullable,
    /// All of them are an `anyOf`.
    Union,
}

/// Which values may be listed in an `enum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choices {
    /// Texts, numbers, booleans and `null`.
    Scalars,
    /// Texts that are not empty.
    Texts,
}

/// What becomes of definitions that contain themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recursion {
    /// They stay definitions.
    Kept,
    /// They end after a few levels.
    Cut,
}

/// How objects are said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Objects {
    /// Whether every object must list all it takes. Nothing may be open then.
    pub(crate) closed: bool,
    /// Whether all that is listed must be required.
    pub(crate) all_required: bool,
    /// Whether `additionalProperties` is understood.
    pub(crate) additional: bool,
    /// Whether `properties` may be empty.
    pub(crate) empty: bool,
    /// Whether `properties` must be there, were it empty.
    pub(crate) listed: bool,
}

/// How large a schema may be; 0 where nobody says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// Properties in all.
    pub(crate) properties: usize,
    /// Objects within objects.
    pub(crate) depth: usize,
    /// Characters of names and listed values.
    pub(crate) characters: usize,
    /// Listed values in all.
    pub(crate) choices: usize,
    /// The number of texts in one list from which on their length counts, and how long they
    /// may be together then.
    pub(crate) long_list: (usize, usize),
    /// Properties that must be required at the least.
    pub(crate) required: usize,
}

/// The names that are accepted: letters, digits, `_` and what is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    /// Further characters.
    pub(crate) more: &'static [u8],
    /// Whether the first must be a letter or `_`.
    pub(crate) begins_with_letter: bool,
    /// The longest.
    pub(crate) longest: usize,
}

/// What a provider accepts in a request.
#[derive(Debug)]
pub(crate) struct RequestRules {
    /// Where this is known from.
    pub(crate) source: &'static str,
    /// The names of tools.
    pub(crate) names: Names,
    /// How many tools there may be, where that is known.
    pub(crate) tools: Option<usize>,
    /// Whether a tool must have a description.
    pub(crate) description: bool,
    /// Schemas that are not enforced. `None` where they are passed on untouched.
    pub(crate) plain: Option<&'static Rules>,
    /// Schemas that are enforced, where the provider can.
    pub(crate) strict: Option<Strict>,
}

/// How a provider enforces schemas.
#[derive(Debug)]
pub(crate) struct Strict {
    pub(crate) rules: &'static Rules,
    /// Whether one switch holds for all tools of a request.
    pub(crate) all_or_none: bool,
    /// What all strict tools of a request may spend together.
    pub(crate) budget: Budget,
}

/// What all strict tools of a request may spend together; 0 where nobody says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    pub(crate) tools: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

/// What a provider accepts.
pub(crate) const fn of(provider: Provider) -> &'static RequestRules {
    table::of(provider)
}

impl Names {
    /// Tells whether a name is accepted as it is.
    pub(crate) fn accept(&self, name: &str) -> bool {
        let bytes = name.as_bytes();
        let Some(&first) = bytes.first() else {
            return false;
        };
        bytes.len() <= self.longest
            && bytes.iter().all(|&byte| self.accept_byte(byte))
            && (!self.begins_with_letter || first.is_ascii_alphabetic() || first == b'_')
    }

    pub(crate) fn accept_byte(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_' || self.more.contains(&byte)
    }
}

impl Rules {
    /// Tells whether a format of texts or numbers may be named.
    pub(crate) fn accepts_format(&self, format: &str) -> bool {
        self.formats.is_none_or(|known| known.contains(&format))
    }

    /// Tells whether a pattern may be sent.
    pub(crate) fn accepts_pattern(&self, pattern: &str) -> bool {
        self.lookaround || !looks_around(pattern)
    }
}

/// Tells whether a pattern looks ahead or behind.
fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|mark| pattern.contains(mark))
}
