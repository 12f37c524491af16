//! What a lowered schema costs of the limits a provider sets.

use serde_json::{Map, Value};

use crate::rules::Limits;

/// What a lowered schema costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measure {
    properties: usize,
    depth: usize,
    characters: usize,
    choices: usize,
    /// The most texts in one list, and how long those are together.
    longest_list: (usize, usize),
    /// Required properties of the root.
    required: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

impl Measure {
    pub(crate) fn of(schema: &Map<String, Value>) -> Self {
        let mut measure = Self {
            required: count(schema.get("required")),
            ..Self::default()
        };
        let mut waiting = vec![(schema, 0)];
        while let Some((schema, depth)) = waiting.pop() {
            measure.add(schema, depth, &mut waiting);
        }
        measure
    }

    fn add<'s>(
        &mut self,
        schema: &'s Map<String, Value>,
        mut depth: usize,
        waiting: &mut Vec<(&'s Map<String, Value>, usize)>,
    ) {
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    depth += 1;
                    self.depth = self.depth.max(depth);
                    self.properties += properties.len();
                    self.optional += properties.len() - count(schema.get("required"));
                    self.characters += properties.keys().map(String::len).sum::<usize>();
                    waiting.extend(objects(properties.values()).map(|below| (below, depth)));
                }
                ("$defs", Value::Object(definitions)) => {
                    self.characters += definitions.keys().map(String::len).sum::<usize>();
                    waiting.extend(objects(definitions.values()).map(|below| (below, 0)));
                }
                ("enum", Value::Array(values)) => {
                    let texts = values.iter().filter_map(Value::as_str);
                    let length = texts.map(str::len).sum::<usize>();
                    self.choices += values.len();
                    self.characters += length;
                    self.longest_list = self.longest_list.max((values.len(), length));
                }
                ("anyOf", Value::Array(branches)) => {
                    self.unions += 1;
                    waiting.extend(objects(branches.iter()).map(|below| (below, depth)));
                }
                ("type", Value::Array(_)) => self.unions += 1,
                ("items", Value::Object(items)) => waiting.push((items, depth)),
                _ => {}
            }
        }
    }

    /// Which limit is exceeded, in words.
    pub(crate) fn exceeds(&self, limits: &Limits) -> Option<String> {
        let counted = [
            (self.properties, limits.properties, "properties"),
            (self.depth, limits.depth, "levels of objects"),
            (
                self.characters,
                limits.characters,
                "characters of names and listed values",
            ),
            (self.choices, limits.choices, "listed values"),
        ];
        for (count, limit, what) in counted {
            if limit > 0 && count > limit {
                return Some(format!("it has {count} {what}, and {limit} are the limit"));
            }
        }
        let (many, longest) = limits.long_list;
        let (values, length) = self.longest_list;
        if many > 0 && values > many && length > longest {
            return Some(format!(
                "a list of {values} values has {length} characters, and {longest} are the limit"
            ));
        }
        (self.required < limits.required).then(|| "it has no required parameter".to_owned())
    }
}

fn objects<'s>(
    values: impl Iterator<Item = &'s Value>,
) -> impl Iterator<Item = &'s Map<String, Value>> {
    values.filter_map(Value::as_object)
}

fn count(list: Option<&Value>) -> usize {
    list.and_then(Value::as_array).map_or(0, Vec::len)
}
