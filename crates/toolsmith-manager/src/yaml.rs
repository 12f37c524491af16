//! YAML, read strictly: no tags, no key twice, bounded depth, size and aliases,
//! and every error with file, line, column and the line itself.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Options};

/// How large a configuration file may be.
pub const MAX_BYTES: usize = 1 << 20;

/// How much of a line an error shows.
const SHOWN: usize = 160;

/// A file that cannot be used, and where it goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct YamlError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub excerpt: Option<String>,
}

impl YamlError {
    /// An error about a file as a whole.
    pub fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            message: message.into(),
            excerpt: None,
        }
    }

    fn at(file: &str, text: &str, line: usize, column: usize, message: String) -> Self {
        let excerpt = line
            .checked_sub(1)
            .and_then(|index| text.lines().nth(index));
        Self {
            file: file.to_owned(),
            line,
            column,
            message,
            excerpt: excerpt.map(visible),
        }
    }
}

/// `file:line:column: message`, the line, and a caret beneath the column.
impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        let (file, line, column) = (&self.file, self.line, self.column);
        write!(f, "{file}:{line}:{column}: {}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            let margin = " ".repeat(line.to_string().len());
            let indent = " ".repeat(column.saturating_sub(1).min(excerpt.chars().count()));
            write!(f, "\n{margin} |\n{line} | {excerpt}\n{margin} | {indent}^")?;
        }
        Ok(())
    }
}

/// Reads a document into a type.
pub fn read<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, YamlError> {
    if bytes.len() > MAX_BYTES {
        let message = format!("it is larger than {MAX_BYTES} bytes");
        return Err(YamlError::whole(file, message));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(file, bytes, &error))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let message = plain(&error.to_string());
        match error.location() {
            Some(location) => {
                let (line, column) = (location.line(), location.column());
                YamlError::at(file, text, line as usize, column as usize, message)
            }
            None => YamlError::whole(file, message),
        }
    })
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_depth = 64;
    budget.max_nodes = 100_000;
    budget.max_events = 200_000;
    budget.max_documents = 1;
    budget.max_aliases = 100;
    budget.max_anchors = 100;
    budget.max_total_scalar_bytes = MAX_BYTES;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = 10_000;
    options.alias_limits.max_replay_stack_depth = 8;
    options.alias_limits.max_alias_expansions_per_anchor = 100;
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.strict_booleans = true;
    options.reject_unsupported_tags = true;
    options.with_snippet = false;
    options
}

fn not_utf8(file: &str, bytes: &[u8], error: &std::str::Utf8Error) -> YamlError {
    let before = &bytes[..error.valid_up_to()];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    YamlError {
        file: file.to_owned(),
        line,
        column,
        message: "it is not UTF-8 from here on".to_owned(),
        excerpt: None,
    }
}

/// The parser's message in one line, without the place it repeats.
fn plain(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = match line.rfind(" at line ") {
        Some(end) if line[end..].contains("column") => line[..end].to_owned(),
        _ => line,
    };
    visible(&line)
}

/// A text that steers no terminal.
fn visible(text: &str) -> String {
    let clean = toolsmith_runtime::shape::clean(text);
    clean.replace('\t', "→").chars().take(SHOWN * 3).collect()
}
