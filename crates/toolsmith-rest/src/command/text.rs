//! Text in which `{name}` stands for an argument of the tool.
//!
//! What stands between braces is a name and nothing else: no format, no default, no
//! expression. `{{` and `}}` are the braces themselves.

use std::collections::BTreeSet;

use serde_json::Value;
use toolsmith_core::Arguments;

/// A text with names in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    parts: Vec<Part>,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Fixed(String),
    Argument(String),
}

impl Text {
    /// Reads a text whose names are all among those that are declared.
    ///
    /// # Errors
    /// Says in words what is wrong with it, and what to write.
    pub(super) fn read(written: &str, declared: &BTreeSet<&str>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut fixed = String::new();
        let mut rest = written;
        while let Some(at) = rest.find(['{', '}']) {
            fixed.push_str(&rest[..at]);
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                fixed.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(format!(
                    "{} has a `}}` without its `{{`; write `}}}}` for the character",
                    shown(written)
                ));
            }
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!(
                    "{} has a `{{` without its `}}`; write `{{{{` for the character",
                    shown(written)
                ));
            };
            check(name, fixed.ends_with('$'), declared)?;
            if !fixed.is_empty() {
                parts.push(Part::Fixed(std::mem::take(&mut fixed)));
            }
            parts.push(Part::Argument(name.to_owned()));
            rest = after;
        }
        fixed.push_str(rest);
        if !fixed.is_empty() {
            parts.push(Part::Fixed(fixed));
        }
        Ok(Self { parts })
    }

    /// The text, if it names nothing.
    pub(super) fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Fixed(text)] => Some(text),
            _ => None,
        }
    }

    /// The name, if the text is nothing but one.
    pub(super) fn only(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// The names in it, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Fixed(_) => None,
            Part::Argument(name) => Some(name.as_str()),
        })
    }

    /// Tells whether an argument decides what the text begins with.
    pub(super) fn begins_with_argument(&self) -> bool {
        matches!(self.parts.first(), Some(Part::Argument(_)))
    }

    /// Tells whether every argument it names is there.
    pub(super) fn is_complete(&self, arguments: &Arguments) -> bool {
        self.names().all(|name| present(arguments, name).is_some())
    }

    /// The text with its arguments in their places; one that is absent leaves nothing.
    pub(super) fn fill(&self, arguments: &Arguments) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Fixed(fixed) => text.push_str(fixed),
                Part::Argument(name) => {
                    if let Some(value) = present(arguments, name) {
                        text.push_str(&plain(value));
                    }
                }
            }
        }
        text
    }
}

/// An argument that was given; `null` is none.
pub(super) fn present<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// A value as a program reads it: a string as it is, anything else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn check(name: &str, after_dollar: bool, declared: &BTreeSet<&str>) -> Result<(), String> {
    if declared.contains(name) {
        return Ok(());
    }
    if after_dollar {
        return Err(format!(
            "`${{{name}}}` may not stand here, where other users of the machine can see it; \
             put it under `env` and let the program read the variable"
        ));
    }
    let known = match declared.len() {
        0 => "it declares none".to_owned(),
        _ => {
            let names: Vec<&str> = declared.iter().copied().take(10).collect();
            format!("it declares {}", names.join(", "))
        }
    };
    Err(format!(
        "`{{{name}}}` is no parameter of the tool: {known}; declare it under `parameters`, or \
         write `{{{{` and `}}}}` for the characters"
    ))
}

/// A text as a message quotes it.
fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> Result<Text, String> {
        Text::read(written, &BTreeSet::from(["a", "b c", "{"]))
    }

    #[test]
    fn braces_are_doubled() {
        for (written, text) in [
            ("", ""),
            ("plain", "plain"),
            ("{{a}}", "{a}"),
            ("{{{{}}}}", "{{}}"),
            ("ä{{ö}}ü", "ä{ö}ü"),
        ] {
            assert_eq!(read(written).unwrap().fixed(), Some(text), "{written}");
        }
    }

    #[test]
    fn names_stand_between_braces() {
        let text = read("x{a}{b c}{{{a}}}").unwrap();
        assert_eq!(text.names().collect::<Vec<_>>(), ["a", "b c", "a"]);
        assert!(!text.begins_with_argument());
        assert_eq!(read("{b c}").unwrap().only(), Some("b c"));
        assert_eq!(read("{a} ").unwrap().only(), None);
    }

    #[test]
    fn what_is_no_text() {
        for (written, message) in [
            ("{", "has a `{` without its `}`"),
            ("}", "has a `}` without its `{`"),
            ("a}b", "has a `}` without its `{`"),
            ("{a", "has a `{` without its `}`"),
            ("{}", "`{}` is no parameter"),
            (
                "{z}",
                "`{z}` is no parameter of the tool: it declares a, b c, {;",
            ),
            ("{ a }", "`{ a }` is no parameter"),
            ("${env:KEY}", "put it under `env`"),
            ("{{{z}}}", "`{z}` is no parameter"),
        ] {
            let error = read(written).unwrap_err();
            assert!(error.contains(message), "{written}: {error}");
        }
    }
}
