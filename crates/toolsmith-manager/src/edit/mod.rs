//! Edits a user's YAML as text, so that comments, order, quoting and blank lines stay.
//!
//! Two edits are known: one more item in a list, and one more key in a mapping. The text
//! is read into a tree that knows where everything stands (`tree`); what is new is
//! written in the manner of what surrounds it (`insert`), and nothing else is touched.
//! Every edit is checked before it is given out: the new text must read as the old one
//! with exactly the change, or the edit is refused.

mod insert;
mod tree;
mod written;

use serde_json::{Map, Value};

use self::insert::{Insertion, Place};
use self::tree::{Kind, Tree};
use crate::yaml::{self, YamlError};

pub use written::scalar;

/// What files are called in errors: a text has no name.
const FILE: &str = "the file";

/// Why a text is not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text is no YAML that is accepted.
    #[error("it cannot be read: {0}")]
    Unreadable(YamlError),
    /// What is to be added is none.
    #[error("what is to be added cannot be read: {0}")]
    Value(YamlError),
    /// Something else stands there already.
    #[error("`{path}` is {found} and no {expected}; change the file by hand")]
    Other {
        /// Where.
        path: String,
        /// What stands there.
        found: &'static str,
        /// What would have to.
        expected: &'static str,
    },
    /// The key is there already.
    #[error("`{0}` is there already; change it by hand, or choose another name")]
    Exists(String),
    /// The edit would change more than it is meant to.
    #[error("`{0}` is written in a way that cannot be added to safely; change the file by hand")]
    Unsafe(String),
}

/// Adds a text to the end of a list, which is made where it is missing.
///
/// ```
/// use toolsmith_manager::edit;
///
/// let text = "tools:\n  - read # the first\n  # the last\n";
/// let edited = edit::append_to_list(text, &["tools"], "write")?;
/// assert_eq!(edited, "tools:\n  - read # the first\n  - write\n  # the last\n");
/// # Ok::<(), edit::EditError>(())
/// ```
///
/// # Errors
/// When the text is no YAML, when something else stands there, and when the edit would
/// change anything but the list.
pub fn append_to_list(text: &str, path: &[&str], item: &str) -> Result<String, EditError> {
    let document = Document::read(text)?;
    let mut expected = document.value.clone();
    let refused = || EditError::Unsafe(path.join("."));
    match slot(&mut expected, path) {
        Some(slot @ Value::Null) => *slot = Value::Array(vec![item.into()]),
        Some(Value::Array(items)) => items.push(item.into()),
        Some(found) => return Err(other(path, found, "list")),
        None => return Err(document.blocked(path)),
    }
    let item = scalar(item);
    let insertion = match document.find(path) {
        Found::There(place) => Insertion::item(&document.tree, place, &item),
        Found::Missing { within, rest } => {
            let (key, deeper) = rest.split_first().ok_or_else(refused)?;
            let value = written::nested(deeper, &format!("- {item}"));
            Insertion::entry(&document.tree, within, key, &value)
        }
        Found::Nothing => {
            let value = written::nested(path, &format!("- {item}"));
            Insertion::document(&document.tree, &value)
        }
    };
    document.checked(insertion, &expected, path)
}

/// Adds a key to a mapping, which is made where it is missing; its value is written as
/// YAML, in lines or in one.
///
/// ```
/// use toolsmith_manager::edit;
///
/// let text = "servers:\n    git: { command: git-mcp } # ours\n";
/// let edited = edit::insert_mapping_entry(text, &["servers"], "web", "url: https://a.b\n")?;
/// assert_eq!(edited, format!("{text}    web:\n      url: https://a.b\n"));
/// # Ok::<(), edit::EditError>(())
/// ```
///
/// # Errors
/// When either text is no YAML, when the key or something else stands there, and when
/// the edit would change anything but the mapping.
pub fn insert_mapping_entry(
    text: &str,
    path: &[&str],
    key: &str,
    yaml_block: &str,
) -> Result<String, EditError> {
    let document = Document::read(text)?;
    let added: Value = read(yaml_block).map_err(EditError::Value)?;
    let whole: Vec<&str> = path.iter().copied().chain([key]).collect();
    let mut expected = document.value.clone();
    match slot(&mut expected, path) {
        Some(slot @ Value::Null) => {
            *slot = Value::Object(Map::from_iter([(key.to_owned(), added)]))
        }
        Some(Value::Object(entries)) => {
            if entries.contains_key(key) {
                return Err(EditError::Exists(whole.join(".")));
            }
            entries.insert(key.to_owned(), added);
        }
        Some(found) => return Err(other(path, found, "mapping")),
        None => return Err(document.blocked(path)),
    }
    let insertion = match document.find(path) {
        Found::There(place) => Insertion::entry(&document.tree, place, key, yaml_block),
        Found::Missing { within, rest } => {
            let (first, deeper) = rest.split_first().unwrap_or((&key, &[]));
            let value = written::nested(deeper, &written::entry(key, yaml_block));
            Insertion::entry(&document.tree, within, first, &value)
        }
        Found::Nothing => {
            let value = written::nested(path, &written::entry(key, yaml_block));
            Insertion::document(&document.tree, &value)
        }
    };
    document.checked(insertion, &expected, &whole)
}

/// A text, what it says, and where.
struct Document<'a> {
    /// The text without its byte order mark.
    text: &'a str,
    mark: &'a str,
    value: Value,
    tree: Tree<'a>,
}

/// What lies at a path.
enum Found<'t, 'p> {
    There(Place<'t>),
    /// The deepest mapping on the way, and what is left of the path.
    Missing {
        within: Place<'t>,
        rest: &'p [&'p str],
    },
    /// The document is empty.
    Nothing,
}

impl<'a> Document<'a> {
    fn read(whole: &'a str) -> Result<Self, EditError> {
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let mark = &whole[..whole.len() - text.len()];
        let value = read(text).map_err(EditError::Unreadable)?;
        // What was read just now is bounded, in depth and in every other way.
        let tree = Tree::read(text).ok_or_else(|| EditError::Unsafe(FILE.to_owned()))?;
        Ok(Self {
            text,
            mark,
            value,
            tree,
        })
    }

    fn find<'p>(&self, path: &'p [&'p str]) -> Found<'_, 'p> {
        let Some(root) = self.tree.root.as_ref() else {
            return Found::Nothing;
        };
        let mut place = Place {
            node: root,
            under: None,
        };
        for (depth, key) in path.iter().enumerate() {
            match place.deeper(key) {
                Some(deeper) => place = deeper,
                None => {
                    return Found::Missing {
                        within: place,
                        rest: &path[depth..],
                    };
                }
            }
        }
        Found::There(place)
    }

    /// The text with what is new, if it says what it should.
    fn checked(
        &self,
        insertion: Option<Insertion>,
        expected: &Value,
        path: &[&str],
    ) -> Result<String, EditError> {
        let refused = || EditError::Unsafe(path.join("."));
        let edited = insertion.ok_or_else(refused)?.apply(self.text);
        match read(&edited) {
            Ok(value) if value == *expected => Ok(format!("{}{edited}", self.mark)),
            _ => Err(refused()),
        }
    }

    /// What stands in the way of a path.
    fn blocked(&self, path: &[&str]) -> EditError {
        let mut value = &self.value;
        for (depth, key) in path.iter().enumerate() {
            match value {
                Value::Object(entries) if entries.contains_key(*key) => value = &entries[*key],
                found => return other(&path[..depth], found, "mapping"),
            }
        }
        EditError::Unsafe(path.join("."))
    }
}

/// Something else stands at a path.
fn other(path: &[&str], found: &Value, expected: &'static str) -> EditError {
    let path = match path {
        [] => FILE.to_owned(),
        path => path.join("."),
    };
    EditError::Other {
        path,
        found: word(found),
        expected,
    }
}

/// The place at a path, with mappings made on the way where nothing stands; none where
/// something else does.
fn slot<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    let mut slot = value;
    for key in path {
        if slot.is_null() {
            *slot = Value::Object(Map::new());
        }
        slot = slot.as_object_mut()?.entry(*key).or_insert(Value::Null);
    }
    Some(slot)
}

fn read(text: &str) -> Result<Value, YamlError> {
    if yaml::is_blank(text.as_bytes()) {
        return Ok(Value::Null);
    }
    yaml::read(FILE, text.as_bytes())
}

fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

impl Place<'_> {
    /// What stands under a key of a mapping.
    fn deeper(self, key: &str) -> Option<Self> {
        let Kind::Mapping(pairs) = &self.node.kind else {
            return None;
        };
        let (name, value) = pairs.iter().find(|(name, _)| name.is_text(key))?;
        Some(Self {
            node: value,
            under: Some((self.node, name)),
        })
    }
}
