//! Lower: schemas as a provider accepts them, with what was changed and the way back.
//!
//! One walker reads the table of rules; no provider has code of its own here. Lowering only
//! relaxes: arguments that fit the tool's own schema fit the lowered one after
//! [`Mapping::out`], and [`Mapping::back`] brings them home. Two readings are tighter than
//! the letter, and told as changes: in strict mode an object that names its properties and
//! says nothing of others takes no others, and where a provider demands types, keywords
//! imply them.

mod choices;
mod definitions;
mod facts;
mod fits;
mod keywords;
mod mapping;
mod measure;
mod merge;
mod object;
mod references;
mod renames;
mod types;
mod union;
mod walk;
mod words;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::rules::Rules;

pub use mapping::Mapping;
pub(crate) use measure::Measure;

/// One change of a schema.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where, as a JSON pointer into the tool's own schema, its references written out. A
    /// very long one ends in `…`.
    pub path: String,
    /// What, in words.
    pub what: Cow<'static, str>,
}

/// A schema in a provider's words.
#[derive(Debug)]
pub(crate) struct Lowering {
    pub(crate) schema: Map<String, Value>,
    pub(crate) mapping: Mapping,
    pub(crate) changes: Vec<Change>,
    /// What it costs, where the rules count that.
    pub(crate) measure: Measure,
    /// Why the rules cannot be kept, where they cannot.
    pub(crate) refusal: Option<String>,
}

impl Lowering {
    /// A schema that is passed on as it is.
    pub(crate) fn untouched() -> Self {
        Self {
            schema: Map::new(),
            mapping: Mapping::default(),
            changes: Vec::new(),
            measure: Measure::default(),
            refusal: None,
        }
    }
}

/// Lowers a schema to what the rules accept.
pub(crate) fn lower(schema: &Value, rules: &'static Rules) -> Lowering {
    let mut walker = walk::Walker::new(schema, rules);
    let (mut lowered, mut mapping) = walker.run();
    if walker.overflown && rules.recursion == crate::rules::Recursion::Kept {
        // Written out it is too large; with its definitions it is as large as it was.
        walker = walk::Walker::new(schema, rules);
        walker.keep_references = true;
        (lowered, mapping) = walker.run();
    }
    let measure = if rules.objects.closed {
        Measure::of(&lowered)
    } else {
        Measure::default()
    };
    let refusal = walker.refusal.or_else(|| measure.exceeds(&rules.limits));
    Lowering {
        schema: lowered,
        mapping,
        changes: walker.changes,
        measure,
        refusal,
    }
}
