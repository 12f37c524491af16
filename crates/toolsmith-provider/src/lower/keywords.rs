//! Keywords that hold no structure: passed on where the rules keep them, in words where they
//! do not.

use serde_json::Value;
use toolsmith_core::json;

use super::facts::Facts;
use super::types::TypeSet;
use super::walk::{DEEPEST, Lowered, Walker};
use super::words;
use crate::rules::{Keyword, Scope};

impl<'a> Walker<'a> {
    /// Passes on the keywords that the rules keep, and puts the others into words.
    pub(crate) fn write_rest(&mut self, types: TypeSet, facts: &Facts<'a>, lowered: &mut Lowered) {
        for &(keyword, value) in &facts.rest {
            if !concerns(keyword, types) {
                if concerns(keyword, facts.types) {
                    // Another branch of the same place says it.
                    continue;
                }
                self.change_of(
                    keyword.word(),
                    "says nothing about this type; it was left out",
                );
            } else if self.keeps(keyword, value, types) && self.spend(json::size(value)) {
                lowered.set(keyword.word(), words::cleaned(value));
            } else {
                self.say(keyword, value);
            }
        }
    }

    fn keeps(&self, keyword: Keyword, value: &Value, types: TypeSet) -> bool {
        if !self.rules.keywords.has(keyword) || json::depth_exceeds(value, DEEPEST) {
            return false;
        }
        match (keyword, value) {
            (Keyword::Format, Value::String(format)) => {
                let of_numbers = ["int32", "int64", "float", "double"].contains(&format.as_str());
                self.rules.accepts_format(format)
                    && (self.rules.formats.is_none() || of_numbers != types.has(TypeSet::STRING))
            }
            // Without what hides in it, it would match something else.
            (Keyword::Pattern, Value::String(pattern)) => {
                self.rules.accepts_pattern(pattern) && words::is_clean(pattern)
            }
            (Keyword::MinItems, value) => match (self.rules.min_items, value.as_u64()) {
                (Some(most), Some(count)) => count <= most,
                _ => true,
            },
            _ => true,
        }
    }

    /// Puts a keyword into words.
    fn say(&mut self, keyword: Keyword, value: &Value) {
        let said = words::words(keyword, value);
        let what = match (said.is_empty(), keyword.is_annotation()) {
            (true, _) => "was left out",
            (false, _) => "was put into words",
        };
        self.change_of(keyword.word(), what);
        self.remarks.push(said);
    }

    /// Puts into words all that cannot be said of a place that takes anything.
    pub(crate) fn lose(&mut self, facts: &Facts<'a>) {
        for &(keyword, value) in &facts.rest {
            self.say(keyword, value);
        }
    }
}

/// The types that are meant where only keywords say so.
pub(crate) fn implied(facts: &Facts<'_>) -> TypeSet {
    let mut types = TypeSet::NONE;
    if facts.speaks_of_objects() {
        types = types.with(TypeSet::OBJECT);
    }
    if facts.speaks_of_lists() {
        types = types.with(TypeSet::ARRAY);
    }
    for (keyword, _) in &facts.rest {
        types = types.with(match keyword.scope() {
            Scope::Anything => TypeSet::NONE,
            Scope::Text => TypeSet::STRING,
            Scope::Number => TypeSet::NUMBER,
            Scope::List => TypeSet::ARRAY,
            Scope::Object => TypeSet::OBJECT,
        });
    }
    types
}

/// Tells whether a keyword says anything about values of these types.
fn concerns(keyword: Keyword, types: TypeSet) -> bool {
    match keyword.scope() {
        Scope::Anything => true,
        Scope::Text if keyword == Keyword::Format => {
            types.has(TypeSet::STRING.with(TypeSet::NUMBER).with(TypeSet::INTEGER))
        }
        Scope::Text => types.has(TypeSet::STRING),
        Scope::Number => types.has(TypeSet::NUMBER.with(TypeSet::INTEGER)),
        Scope::List => types.has(TypeSet::ARRAY),
        Scope::Object => types.has(TypeSet::OBJECT),
    }
}
