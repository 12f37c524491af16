//! Schemas as clients list them: what a model reads of them hides nothing.
//!
//! Names, listed values, constants and patterns are compared with arguments, so they stay as
//! they came; words beside them are only read.

use std::borrow::Cow;

use serde_json::Value;
use toolsmith_core::clean::clean;

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
}
