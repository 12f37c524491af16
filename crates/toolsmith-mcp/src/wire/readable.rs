//! Schemas as clients list them: what a model reads of them hides nothing.
//!
//! Names, listed values, constants and patterns are compared with arguments, so they stay as
//! they came; words beside them are only read. A name that hides something is neither sent
//! nor changed: there is no such tool then.

use std::borrow::Cow;

use serde_json::Value;
use toolsmith_core::clean::{clean, is_plain};

/// Takes hidden characters out of the words of a schema. It nests no deeper than schemas may.
pub(crate) fn reveal(schema: &mut Value) {
    match schema {
        // Of a keyword that nobody compares anything with, known or not.
        Value::String(text) => {
            if let Cow::Owned(clean) = clean(text) {
                *text = clean;
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(reveal),
        Value::Object(keywords) => {
            for (keyword, said) in keywords {
                match (keyword.as_str(), said) {
                    (
                        "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$id" | "$ref" | "const"
                        | "dependentRequired" | "enum" | "pattern" | "required",
                        _,
                    ) => {}
                    // What is there for reading only.
                    ("default" | "examples", said) => reveal_texts(said),
                    // Here the keys are names, which may sound like keywords.
                    (
                        "$defs" | "definitions" | "dependentSchemas" | "patternProperties"
                        | "properties",
                        Value::Object(schemas),
                    ) => schemas.values_mut().for_each(reveal),
                    (_, said) => reveal(said),
                }
            }
        }
        _ => {}
    }
}

/// A name in a schema that holds hidden characters, if there is one: of a property, a
/// definition or a keyword, wherever it stands. It nests no deeper than schemas may.
pub(crate) fn hidden_name(schema: &Value) -> Option<&str> {
    match schema {
        Value::Array(schemas) => schemas.iter().find_map(hidden_name),
        Value::Object(keywords) => keywords.iter().find_map(|(keyword, said)| {
            let within = || match (keyword.as_str(), said) {
                ("required", Value::Array(names)) => {
                    names.iter().filter_map(Value::as_str).find(is_hiding)
                }
                (_, said) => hidden_name(said),
            };
            Some(keyword.as_str()).filter(is_hiding).or_else(within)
        }),
        _ => None,
    }
}

/// Tells whether a name is not what is seen of it. None has several lines.
fn is_hiding(name: &&str) -> bool {
    !name.chars().all(|c| is_plain(c) && !c.is_control())
}

fn reveal_texts(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(reveal_texts),
        Value::Object(fields) => fields.values_mut().for_each(reveal_texts),
        other => reveal(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_hide_nothing_and_what_is_compared_stays() {
        let schema = |hidden: &str| {
            json!({
                "description": format!("reads{hidden}"),
                "properties": {
                    "enum": { "type": "string", "title": format!("a{hidden}"), "enum": ["\u{200b}b"] },
                    "kind\u{200b}": { "const": "c\u{202e}", "default": [format!("d{hidden}")] },
                },
                "required": ["kind\u{200b}"],
                "x-note": format!("h{hidden}"),
                "x-notes": { "all": [format!("i{hidden}")], "$ref": "#/$defs/\u{200b}" },
                "anyOf": [{ "$comment": format!("e{hidden}"), "pattern": "\u{200b}+" }],
                "$defs": { "description": { "examples": [{ "f": format!("g{hidden}") }] } },
            })
        };
        let mut revealed = schema("\u{e0041}\u{202e}\u{1b}[31m");
        reveal(&mut revealed);
        assert_eq!(revealed, schema(""));
    }
    #[test]
    fn names_that_hide_something_are_found_wherever_they_stand() {
        let bad = "p\u{202e}";
        for schema in [
            json!({ "properties": { bad: {} } }),
            json!({ "properties": { "a": { "items": { "properties": { bad: {} } } } } }),
            json!({ "anyOf": [{}, { "properties": { bad: true } }] }),
            json!({ "$defs": { "a": { "not": { "required": [bad] } } } }),
            json!({ "definitions": { bad: {} } }),
            json!({ "patternProperties": { bad: {} } }),
            json!({ "dependentRequired": { bad: [] } }),
            json!({ "properties": { "enum": { "properties": { bad: {} } } } }),
        ] {
            assert_eq!(hidden_name(&schema), Some(bad), "{schema}");
        }
        for name in [
            "\u{1b}[2J",
            "a\u{200b}",
            "\u{e0041}",
            "a\nb",
            "\u{7}",
            "\u{feff}",
        ] {
            assert_eq!(
                hidden_name(&json!({ "properties": { name: {} } })),
                Some(name)
            );
        }
        let plain = json!({
            "description": bad,
            "properties": { "größe ☂\u{fe0f}": { "enum": [bad] }, "required": { "type": "string" } },
        });
        assert_eq!(hidden_name(&plain), None);
    }
}
