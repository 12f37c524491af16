//! The two files as they are written: names of tools, and what is said of each.
//!
//! A file is taken whole or not at all: an entry that is no text refuses it, with the
//! place, so that what holds is always something somebody wrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use serde_saphyr::{Location, Spanned};
use toolsmith_runtime::guide::{Described, PENDING, Place, Snippet};

use super::node::{Node, Pairs, word};
use crate::yaml::{self, YamlError};

/// What `tool_descriptions.yaml` says, by tool.
pub(super) type Descriptions = BTreeMap<String, Described>;
/// What `tool_examples.yaml` says, by tool.
pub(super) type Examples = BTreeMap<String, Vec<Snippet>>;

const ENTRY: &str = "a text, or a mapping of `text`, `returns` and `category`";
const CALLS: &str = "a list of calls";
const CALL: &str = "a call such as `name(key=\"value\")`, or arguments as JSON";

/// Reads descriptions: each a text, or a mapping of text, returns and category.
pub(super) fn descriptions(file: &Arc<str>, bytes: &[u8]) -> Result<Descriptions, YamlError> {
    let form = Form { file, bytes };
    let mut descriptions = BTreeMap::new();
    for (name, entry) in form.entries()? {
        let mut described = Described::default();
        described.place = form.place(name.referenced);
        match entry.value {
            Node::Scalar(Value::String(text)) => {
                described.text = Some(form.filled(text, entry.referenced)?);
            }
            // To YAML the placeholder is a list, if nobody puts it in quotes.
            Node::List(items) if is_pending(&items) => {
                described.text = Some(PENDING.to_owned());
            }
            Node::Mapping(fields) => {
                for (key, node) in fields {
                    let field = match key.value.as_str() {
                        "text" => &mut described.text,
                        "returns" => &mut described.returns,
                        "category" => &mut described.category,
                        other => {
                            let message = format!(
                                "unknown key `{other}`; there are `text`, `returns` and `category`"
                            );
                            return Err(form.error(key.referenced, &message));
                        }
                    };
                    *field = match node.value {
                        Value::String(text) => Some(form.filled(text, node.referenced)?),
                        other => {
                            return Err(form.unexpected("a text", word(&other), node.referenced));
                        }
                    };
                }
            }
            other => return Err(form.unexpected(ENTRY, other.word(), entry.referenced)),
        }
        descriptions.insert(name.value, described);
    }
    Ok(descriptions)
}

fn is_pending(items: &[Spanned<Value>]) -> bool {
    let pending = PENDING.trim_matches(['[', ']']);
    matches!(items, [only] if only.value == pending)
}

/// Reads examples: a list of snippets, or one.
pub(super) fn examples(file: &Arc<str>, bytes: &[u8]) -> Result<Examples, YamlError> {
    let form = Form { file, bytes };
    let mut examples = BTreeMap::new();
    for (name, entry) in form.entries()? {
        let snippets = match entry.value {
            Node::List(items) => items.into_iter().map(|item| form.snippet(item)).collect(),
            Node::Scalar(Value::String(code)) => {
                let code = form.filled(code, entry.referenced);
                code.map(|code| vec![Snippet::new(code, form.place(entry.referenced))])
            }
            other => Err(form.unexpected(CALLS, other.word(), entry.referenced)),
        };
        examples.insert(name.value, snippets?);
    }
    Ok(examples)
}

/// A file that is being read.
struct Form<'a> {
    file: &'a Arc<str>,
    bytes: &'a [u8],
}

impl Form<'_> {
    /// The names, with an entry each.
    fn entries(&self) -> Result<Pairs<Node<Value>>, YamlError> {
        if yaml::is_blank(self.bytes) {
            return Ok(Vec::new());
        }
        let root: Spanned<Node<Node<Value>>> = yaml::read(self.file, self.bytes)?;
        match root.value {
            Node::Mapping(entries) => Ok(entries),
            Node::Scalar(Value::Null) => Ok(Vec::new()),
            other => {
                let expected = "a mapping of tools' names to what is said of them";
                Err(self.unexpected(expected, other.word(), root.referenced))
            }
        }
    }

    /// One example. `{"path": "."}` without quotes around it is a mapping to YAML; it is
    /// written out as the JSON it looks like.
    fn snippet(&self, item: Spanned<Value>) -> Result<Snippet, YamlError> {
        let code = match item.value {
            Value::String(code) => self.filled(code, item.referenced)?,
            arguments @ Value::Object(_) => arguments.to_string(),
            other => return Err(self.unexpected(CALL, word(&other), item.referenced)),
        };
        Ok(Snippet::new(code, self.place(item.referenced)))
    }

    /// A text with something in it. One without is most likely not finished, and would
    /// hide what the tool says of itself.
    fn filled(&self, text: String, at: Location) -> Result<String, YamlError> {
        match text.trim() {
            "" => Err(self.error(at, "the text is empty; leave it out")),
            trimmed if trimmed.len() == text.len() => Ok(text),
            trimmed => Ok(trimmed.to_owned()),
        }
    }

    fn unexpected(&self, expected: &str, found: &str, at: Location) -> YamlError {
        let message = format!("expected {expected}, found {found}");
        self.error(at, &message)
    }

    fn error(&self, at: Location, message: &str) -> YamlError {
        let text = std::str::from_utf8(self.bytes).unwrap_or_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        YamlError::at(self.file, text, line(at), column(at), message)
    }

    fn place(&self, at: Location) -> Place {
        Place {
            file: Arc::clone(self.file),
            line: line(at),
        }
    }
}

fn line(at: Location) -> usize {
    usize::try_from(at.line()).unwrap_or_default()
}

fn column(at: Location) -> usize {
    usize::try_from(at.column()).unwrap_or_default()
}
