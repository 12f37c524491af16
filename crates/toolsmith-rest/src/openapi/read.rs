//! From bytes to a document: JSON or YAML, read strictly and within bounds.

use serde_json::Value;
use serde_saphyr::granit_parser::{Scanner, StrInput, TokenType};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Options};
use toolsmith_core::json;

use super::text;

/// How deep a document in YAML may nest. The parser recurses, and its stack may be a
/// small one.
const YAML_DEPTH: usize = 64;
/// How much of what others wrote an error shows.
const SHOWN: usize = 300;

/// How large a document may be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadLimits {
    /// How many bytes of JSON.
    pub json_bytes: usize,
    /// How many bytes of YAML, which takes longer to read.
    pub yaml_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            json_bytes: 64 << 20,
            yaml_bytes: 32 << 20,
        }
    }
}

/// A document that says it is OpenAPI, in a version that is understood.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) root: Value,
    pub(super) version: Version,
}

/// Which dialect of schemas a document speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V30,
    /// JSON Schema 2020-12; so does what comes after it.
    V31,
}

/// Why a document cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// Too many bytes.
    #[error(
        "the document has {bytes} bytes, and {limit} are accepted; import a smaller part of the API"
    )]
    TooLarge {
        /// How many there are.
        bytes: usize,
        /// How many are accepted.
        limit: usize,
    },
    /// Neither JSON nor YAML that is accepted.
    #[error("the document cannot be read{}: {message}", at(*line, *column))]
    Malformed {
        /// The line, from 1; 0 where it is not known.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Another format, or a version of this one that is not understood.
    #[error("{found}; {next}")]
    Version {
        /// What it is.
        found: String,
        /// What to do about it.
        next: &'static str,
    },
    /// Something is not what OpenAPI says.
    #[error("`{pointer}` is {found}, not {wanted}")]
    Shape {
        /// Where, as a JSON pointer.
        pointer: &'static str,
        /// What stands there.
        found: &'static str,
        /// What should.
        wanted: &'static str,
    },
    /// An option of the import that cannot be used.
    #[error("{0}")]
    Option(String),
    /// The entry could not be written.
    #[error("the tools cannot be written as YAML: {0}")]
    Write(String),
}

fn at(line: usize, column: usize) -> String {
    match line {
        0 => String::new(),
        _ => format!(" at line {line}, column {column}"),
    }
}

/// Reads a document in JSON or YAML.
///
/// # Errors
/// Tells what is wrong, where, and what to do where there is something to do.
pub fn read(bytes: &[u8], limits: &ReadLimits) -> Result<Document, OpenApiError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let root = match first {
        Some(b'{') => match read_json(bytes, limits.json_bytes) {
            Ok(root) => root,
            // Flow mappings of YAML begin with a brace too.
            Err(error) => read_yaml(bytes, limits.yaml_bytes).map_err(|_| error)?,
        },
        _ => read_yaml(bytes, limits.yaml_bytes)?,
    };
    let version = version(&root)?;
    Ok(Document { root, version })
}

fn read_json(bytes: &[u8], limit: usize) -> Result<Value, OpenApiError> {
    json::parse(bytes, limit).map_err(|error| match error {
        json::JsonError::TooLarge { bytes, limit } => OpenApiError::TooLarge { bytes, limit },
        json::JsonError::Malformed(error) => OpenApiError::Malformed {
            line: error.line(),
            column: error.column(),
            message: shown(without_place(&error.to_string())),
        },
        other => malformed(&other.to_string()),
    })
}

/// The place is told apart, so it is cut off the message.
fn without_place(message: &str) -> &str {
    message
        .rsplit_once(" at line ")
        .map_or(message, |(message, _)| message)
}

fn read_yaml(bytes: &[u8], limit: usize) -> Result<Value, OpenApiError> {
    if bytes.len() > limit {
        let bytes = bytes.len();
        return Err(OpenApiError::TooLarge { bytes, limit });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(&format!("no UTF-8 after byte {}", error.valid_up_to())))?;
    no_tags(text)?;
    serde_saphyr::from_str_with_options(text, options(limit)).map_err(|error| {
        let place = error.location();
        let count = |number: u64| usize::try_from(number).unwrap_or_default();
        OpenApiError::Malformed {
            line: place.map_or(0, |place| count(place.line())),
            column: place.map_or(0, |place| count(place.column())),
            message: shown(&in_words(&error)),
        }
    })
}

/// What is wrong with the YAML, in the words of whoever wrote it.
fn in_words(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;

    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => in_words(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("key `{key}` stands here twice")
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "the aliases stand for more than is accepted".to_owned()
        }
        Error::MergeKeyNotAllowed { .. } => "merge keys (`<<`) are not supported".to_owned(),
        other => match without_place(&other.to_string()) {
            "recursion limit exceeded" => "it nests too deep from here on".to_owned(),
            message => message.to_owned(),
        },
    }
}

/// Refuses tags: no value here needs one, and what a tag means is up to who reads it.
fn no_tags(text: &str) -> Result<(), OpenApiError> {
    if !text.contains('!') {
        return Ok(());
    }
    for token in Scanner::new(StrInput::new(text)) {
        // What the scanner cannot read is left to the parser, which says so better.
        let Ok(token) = token else { break };
        if let TokenType::Tag(handle, suffix) = token.token_type() {
            let start = token.span().start;
            return Err(OpenApiError::Malformed {
                line: start.line(),
                column: start.col() + 1,
                message: shown(&format!(
                    "tags such as `{handle}{suffix}` are not supported"
                )),
            });
        }
    }
    Ok(())
}

fn options(limit: usize) -> Options {
    let mut budget = Budget::default();
    budget.max_depth = YAML_DEPTH;
    budget.max_nodes = 2 * json::MAX_VALUES;
    budget.max_events = 4 * json::MAX_VALUES;
    budget.max_documents = 1;
    budget.max_aliases = 10_000;
    budget.max_anchors = 10_000;
    budget.max_total_scalar_bytes = limit;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = 200_000;
    options.alias_limits.max_replay_stack_depth = 16;
    options.alias_limits.max_alias_expansions_per_anchor = 10_000;
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.strict_booleans = true;
    options.reject_unsupported_tags = true;
    options.with_snippet = false;
    options
}

fn version(root: &Value) -> Result<Version, OpenApiError> {
    let Value::Object(fields) = root else {
        return Err(OpenApiError::Shape {
            pointer: "/",
            found: kind_of(root),
            wanted: "an object",
        });
    };
    if fields.contains_key("swagger") {
        return Err(OpenApiError::Version {
            found: "the document is Swagger 2.0".to_owned(),
            next: "convert it to OpenAPI 3 first, for instance with swagger2openapi",
        });
    }
    if fields.contains_key("asyncapi") {
        return Err(OpenApiError::Version {
            found: "the document is AsyncAPI, which describes messages".to_owned(),
            next: "only OpenAPI 3 describes operations over HTTP",
        });
    }
    let version = match fields.get("openapi") {
        Some(Value::String(version)) => version.trim().to_owned(),
        // `openapi: 3.1` without quotes is a number in YAML.
        Some(Value::Number(number)) => number.to_string(),
        _ => {
            return Err(OpenApiError::Version {
                found: "the document has no `openapi` with its version".to_owned(),
                next: "write `openapi: 3.1.0` or whichever version it follows",
            });
        }
    };
    let is = |wanted: &str| version == wanted || version.starts_with(&format!("{wanted}."));
    match () {
        () if is("3.0") => Ok(Version::V30),
        () if is("3.1") || is("3.2") => Ok(Version::V31),
        () => Err(OpenApiError::Version {
            found: format!("the document's version is {:?}", shown(&version)),
            next: "OpenAPI 3.0, 3.1 and 3.2 are understood",
        }),
    }
}

/// What a value is, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn malformed(message: &str) -> OpenApiError {
    OpenApiError::Malformed {
        line: 0,
        column: 0,
        message: shown(message),
    }
}

fn shown(message: &str) -> String {
    text::line(message, SHOWN)
}
