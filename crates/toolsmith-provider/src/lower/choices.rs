//! Listed values: of one type, of several, and as texts where a provider lists nothing else.

use std::collections::HashSet;

use serde_json::Value;

use super::facts::Facts;
use super::mapping::Shape;
use super::types::TypeSet;
use super::walk::{Lowered, Walker};
use super::words;
use crate::rules::{Choices, Types};

impl<'a> Walker<'a> {
    /// Writes a place whose values are listed.
    pub(crate) fn choices(&mut self, facts: &mut Facts<'a>) -> Lowered {
        let listed = facts.choices.take().unwrap_or_default();
        let fitting = listed.iter().copied();
        let mut fitting: Vec<&Value> = fitting.filter(|value| facts.types.holds(value)).collect();
        if fitting.is_empty() {
            self.change("no listed value is of the type; the type was left out");
            fitting = listed;
        }
        facts.nullable |= fitting.iter().any(|value| value.is_null());
        fitting.retain(|value| !value.is_null());
        let types = fitting.iter().fold(TypeSet::NONE, |types, value| {
            types.with(TypeSet::of_value(value))
        });
        let structures = types.has(TypeSet::OBJECT.with(TypeSet::ARRAY));
        let textual = self.rules.choices == Choices::Texts
            && (types != TypeSet::STRING || fitting.iter().any(|value| **value == ""))
            || fitting.iter().any(|value| hides(value));
        if types.is_empty() || structures || (textual && self.choices_in_words) {
            if !types.is_empty() {
                self.change("listed values were put into words");
                self.remarks.push(words::one_of(fitting.into_iter()));
            }
            facts.types = types.with(if facts.nullable {
                TypeSet::NULL
            } else {
                TypeSet::NONE
            });
            facts.typed = true;
            return self.typed(facts);
        }
        let mut lowered = if textual {
            self.textual(&fitting)
        } else {
            self.listed(&fitting, types, facts.typed)
        };
        self.write_rest(types, facts, &mut lowered);
        lowered
    }

    /// Writes listed values of any scalar type.
    fn listed(&mut self, values: &[&'a Value], mut types: TypeSet, typed: bool) -> Lowered {
        if types.has(TypeSet::NUMBER) {
            types = types.without(TypeSet::INTEGER);
        }
        if !types.is_one() && self.rules.types != Types::List {
            self.change("listed values of several types became anyOf");
            let of_type = |one: TypeSet| {
                let chosen = values.iter().copied().filter(|value| one.holds(value));
                let chosen: Vec<&Value> = chosen.collect();
                list(&chosen, one)
            };
            let branches = types.each().map(of_type).collect();
            return self.join(branches);
        }
        if !typed {
            self.change("listed values got the type they have");
        }
        list(values, types)
    }

    /// Writes listed values as texts in which nothing hides.
    fn textual(&mut self, values: &[&'a Value]) -> Lowered {
        if values
            .iter()
            .any(|value| !value.is_string() || **value == "")
        {
            self.change("listed values that are no texts became texts");
        }
        if values.iter().any(|value| hides(value)) {
            self.change("listed values are told without what hides in them");
        }
        let own: HashSet<&str> = values.iter().filter_map(|value| value.as_str()).collect();
        let mut pairs: Vec<(String, Value)> = Vec::with_capacity(values.len());
        let mut seen: HashSet<String> = HashSet::new();
        let mut used: HashSet<String> = HashSet::new();
        for value in values.iter().filter(|value| seen.insert(value.to_string())) {
            let mut text = match value {
                Value::String(text) => words::cleaned_text(text.clone()),
                other => other.to_string(),
            };
            if text.is_empty() {
                text.push_str("(empty)");
            }
            let is_own = value.as_str() == Some(&text);
            while !is_own && (own.contains(text.as_str()) || used.contains(&text)) {
                text.push('\'');
            }
            used.insert(text.clone());
            pairs.push((text, (*value).clone()));
        }
        let mut lowered = Lowered::of_type("string");
        let texts: Vec<Value> = pairs.iter().map(|(text, _)| text.clone().into()).collect();
        lowered.set("enum", texts);
        pairs.retain(|(text, value)| value != text);
        lowered.shape = Shape::Choices(pairs);
        lowered
    }
}

/// Tells whether a listed value is a text in which something hides.
fn hides(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !words::is_clean(text))
}

/// A list of values, none twice.
pub(crate) fn list(values: &[&Value], types: TypeSet) -> Lowered {
    let mut lowered = Lowered::new();
    let mut words = types.words();
    match (words.next(), types.is_one()) {
        (Some(word), true) => lowered.set("type", word),
        _ => lowered.set("type", types.words().collect::<Vec<_>>()),
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut chosen: Vec<Value> = Vec::with_capacity(values.len());
    for value in values {
        let is_new = match values.len() {
            ..16 => !chosen.contains(value),
            _ => seen.insert(value.to_string()),
        };
        if is_new {
            chosen.push((*value).clone());
        }
    }
    lowered.set("enum", chosen);
    lowered
}
