//! Texts that may refer to secrets: `${env:NAME}`, `${file:PATH}`, and the `${NAME}`
//! and `${NAME:-default}` of other clients' files.
//!
//! A template keeps its references as they are written. What they stand for is looked
//! up where it is needed ([`Template::fill`]) and never before, through a [`Lookup`]: the
//! environment and the files are the host's. What is written out may be a secret all the
//! same, so `Debug` shows references only.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text with references in it, not looked up yet. Two are equal that are written alike,
/// wherever they stand.
#[derive(Clone)]
pub struct Template {
    written: String,
    parts: Vec<Part>,
    /// Where it stands in its file.
    place: Place,
}

/// A place in a file, from 1; 0 where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Answers what references stand for. Implemented by hosts.
pub trait Lookup {
    /// The value of an environment variable, if it is set.
    fn variable(&self, name: &str) -> Option<String>;

    /// The content of a file, which is small and holds text.
    ///
    /// # Errors
    /// Says in words why it cannot be read.
    fn file(&self, path: &str) -> Result<String, String>;
}

/// A text with its references looked up. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filled {
    /// The text.
    pub text: String,
    /// What each reference stands for: none of it may be shown to anybody.
    pub secrets: Vec<String>,
}

impl fmt::Debug for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filled({} secrets)", self.secrets.len())
    }
}

/// What a text refers to and is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A variable that is not set.
    #[error("the environment variable `{0}` is not set")]
    Variable(String),
    /// A file that cannot be read.
    #[error("the file {path:?} cannot be read: {reason}")]
    File {
        /// The file, as it is written.
        path: String,
        /// Why.
        reason: String,
    },
    /// A NUL character, which no argument, variable or header can hold.
    #[error("what it stands for holds a NUL character")]
    Nul,
}

/// A piece of a template.
#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable {
        name: String,
        default: Option<String>,
    },
    File(String),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A `${` without its `}`.
    #[error("a reference begins with `${{` and does not end; write `$${{` for the characters")]
    Open,
    /// Something else between the braces.
    #[error(
        "`${{{0}}}` is no reference; write ${{env:NAME}}, ${{file:PATH}}, ${{NAME}} or \
         ${{NAME:-default}}, and `$${{` for the characters"
    )]
    Unknown(String),
    /// A character no argument, variable or header can hold.
    #[error("it holds a NUL character")]
    Nul,
}

impl Template {
    /// The text as it is written, secrets and all if they are written out.
    pub fn expose_written(&self) -> &str {
        &self.written
    }

    /// Tells whether it refers to anything.
    pub fn has_references(&self) -> bool {
        let is_text = |part: &Part| matches!(part, Part::Text(_));
        !self.parts.iter().all(is_text)
    }

    /// Where it stands in its file.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The same at a place in a file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Looks up every reference.
    ///
    /// # Errors
    /// Tells what is not there, and never what is.
    pub fn fill(&self, lookup: &dyn Lookup) -> Result<Filled, FillError> {
        let (mut text, mut secrets) = (String::new(), Vec::new());
        let mut refer = |text: &mut String, value: &str| {
            text.push_str(value);
            if !value.is_empty() {
                secrets.push(value.to_owned());
            }
        };
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Variable { name, default } => {
                    // As in a shell, `:-` stands in for what is empty too.
                    let value = match (lookup.variable(name), default) {
                        (Some(value), Some(default)) if value.is_empty() => default.clone(),
                        (Some(value), _) => value,
                        (None, Some(default)) => default.clone(),
                        (None, None) => return Err(FillError::Variable(name.clone())),
                    };
                    refer(&mut text, &value);
                }
                Part::File(path) => {
                    let content = lookup.file(path).map_err(|reason| FillError::File {
                        path: path.clone(),
                        reason,
                    })?;
                    // Editors end files with a line feed nobody means.
                    refer(&mut text, content.trim_end_matches(['\r', '\n']));
                }
            }
        }
        if text.contains('\0') {
            return Err(FillError::Nul);
        }
        Ok(Filled { text, secrets })
    }

    /// The text, if it refers to nothing.
    pub fn plain(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Variable { .. } | Part::File(_) => None,
        });
        texts.collect()
    }

    /// The same with a text in front.
    #[must_use]
    pub fn after(mut self, text: &str) -> Self {
        self.written.insert_str(0, text);
        self.parts.insert(0, Part::Text(text.to_owned()));
        self
    }

    /// What is written out of it; references leave nothing.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Variable { default, .. } => default.as_deref(),
            Part::File(_) => None,
        })
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Template {}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(written: &str) -> Result<Self, TemplateError> {
        if written.contains('\0') {
            return Err(TemplateError::Nul);
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = written;
        while let Some(at) = rest.find("${") {
            if let Some(before) = rest[..at].strip_suffix('$') {
                text.push_str(before);
                text.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            text.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let end = inside.find('}').ok_or(TemplateError::Open)?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(reference(&inside[..end])?);
            rest = &inside[end + 1..];
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self {
            written: written.to_owned(),
            parts,
            place: Place::default(),
        })
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// As it is written, for files that are written by machine.
impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

/// Shows the references and hides the rest.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template(")?;
        for part in &self.parts {
            match part {
                Part::Text(_) => f.write_str("[…]")?,
                Part::Variable { name, .. } => write!(f, "${{env:{name}}}")?,
                Part::File(path) => write!(f, "${{file:{path}}}")?,
            }
        }
        f.write_str(")")
    }
}

fn reference(inside: &str) -> Result<Part, TemplateError> {
    let unknown = || TemplateError::Unknown(inside.chars().take(40).collect());
    if let Some(path) = inside.strip_prefix("file:") {
        return match path.trim() {
            "" => Err(unknown()),
            path => Ok(Part::File(path.to_owned())),
        };
    }
    let inside_env = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside_env.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (inside_env, None),
    };
    if !is_variable(name) {
        return Err(unknown());
    }
    let name = name.to_owned();
    Ok(Part::Variable { name, default })
}

/// Tells whether a text can name an environment variable.
fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_references_only() {
        for (written, shown) in [
            ("", "Template()"),
            ("hunter2", "Template([…])"),
            ("Bearer ${env:KEY}!", "Template([…]${env:KEY}[…])"),
            ("${KEY:-hunter2}", "Template(${env:KEY})"),
            ("${file: a/b }", "Template(${file:a/b})"),
            ("$${KEY} $HOME $", "Template([…])"),
        ] {
            let template: Template = written.parse().unwrap();
            assert_eq!(format!("{template:?}"), shown, "{written}");
            assert_eq!(template.expose_written(), written);
        }
    }

    #[test]
    fn an_escaped_reference_is_a_text() {
        let template: Template = "a$${B}c$${".parse().unwrap();
        assert_eq!(template.plain().as_deref(), Some("a${B}c${"));
        assert!(!template.has_references());
    }

    #[test]
    fn what_is_no_template() {
        for (text, message) in [
            ("${", "does not end"),
            ("a ${KEY", "does not end"),
            ("${}", "`${}` is no reference"),
            ("${env:}", "`${env:}` is no reference"),
            ("${input:key}", "`${input:key}` is no reference"),
            ("${1A}", "`${1A}` is no reference"),
            ("${A B}", "`${A B}` is no reference"),
            ("${file: }", "`${file: }` is no reference"),
            ("${A${B}}", "`${A${B}` is no reference"),
            ("a\0b", "NUL"),
        ] {
            let error = text.parse::<Template>().unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
