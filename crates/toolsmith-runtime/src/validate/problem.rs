//! What is wrong with a call, in words a model corrects itself from: which
//! argument, what was expected, what came, and what may have been meant.

use std::collections::VecDeque;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::{Value, json};
use toolsmith_core::{ErrorKind, ToolDef, ToolError};

use super::choice;
use super::text::{self, name_of};
use crate::registry::{Measure, nearest};
use crate::shape::Redactor;

/// The word tools too use for an argument they do not take.
const REASON: &str = "BAD_ARGUMENT";

/// More than this many problems teach nothing more.
const MOST: usize = 20;

/// How many characters of what a schema wants are told.
const EXPECTED: usize = 1000;

/// What one fault takes in memory, beside the texts it tells.
const FAULT_BYTES: usize = 256;
/// How much one fault of each value may take: the validator notes every one before it tells
/// the first.
const MOST_BYTES: usize = 16 << 20;
/// How much all of them may take where a value is put to several schemas, each of which may
/// find a fault.
const MOST_BYTES_OF_ALL: usize = 128 << 20;

/// What came where nothing did.
const NOTHING: &str = "nothing";

/// One thing that is wrong with a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The argument, as people write it: `edits[0].old_string`.
    pub path: String,
    /// What the schema wants.
    pub expected: String,
    /// What came.
    pub found: String,
    /// What may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Tells whether everything that may be wrong with a value can be noted in bearable memory:
/// each fault has the whole way to its place, and the pattern or the name that was wanted.
pub(super) fn can_be_told(schema: &Value, measure: &Measure, value: &Value) -> bool {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX).max(1);
    let (heaviest, widest) = (count(measure.heaviest), count(measure.widest));
    let most = MOST_BYTES.min(MOST_BYTES_OF_ALL / heaviest);
    let each = FAULT_BYTES + longest_wanted(schema);
    let mut bytes = 0_usize;
    let mut of_all = count(measure.work).saturating_mul(each);
    let mut waiting = vec![(value, 0_usize, 1_usize)];
    while let Some((value, way, times)) = waiting.pop() {
        bytes = bytes.saturating_add(way + each);
        of_all = of_all.saturating_add(times.saturating_mul(way + each));
        if bytes > most || of_all > MOST_BYTES_OF_ALL {
            return false;
        }
        let times = times.saturating_mul(widest);
        match value {
            Value::Array(items) => {
                waiting.extend(items.iter().map(|item| (item, way + 8, times)));
            }
            Value::Object(fields) => {
                let below = |(key, it)| (it, way + String::len(key) + 1, times);
                waiting.extend(fields.iter().map(below));
            }
            _ => {}
        }
    }
    true
}

/// How long the longest pattern or required name of a schema is.
fn longest_wanted(schema: &Value) -> usize {
    let mut longest = 0;
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        match schema {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                let pattern = fields.get("pattern").into_iter();
                let names = fields.get("required").and_then(Value::as_array);
                let texts = pattern.chain(names.into_iter().flatten());
                let lengths = texts.filter_map(Value::as_str).map(str::len);
                longest = lengths.fold(longest, usize::max);
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
    longest
}

/// Everything that is wrong, as far as it teaches anything.
pub(super) fn problems(tool: &ToolDef, validator: &Validator, value: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in validator.iter_errors(value) {
        describe(tool, value, &error, &mut problems);
        if problems.len() >= MOST {
            break;
        }
    }
    // In the order of the schema, which is the order a reader has in mind.
    let names = known_names(tool, value, "");
    problems.sort_by_key(|problem| {
        let outermost = problem.path.split(['.', '[']).next().unwrap_or_default();
        names.iter().position(|name| name == outermost)
    });
    problems
}

/// The error a model reads.
pub(super) fn error(tool: &ToolDef, problems: &[Problem]) -> ToolError {
    let mut text = match problems.len() {
        1 => format!("an argument of `{}` does not fit:", tool.name),
        n => format!("{n} arguments of `{}` do not fit:", tool.name),
    };
    for problem in problems {
        text.push_str(&format!(
            "\n- `{}`: expected {}, got {}",
            problem.path, problem.expected, problem.found
        ));
        if let Some(suggestion) = &problem.suggestion {
            text.push_str("; ");
            text.push_str(suggestion);
        }
    }
    text.push('\n');
    text.push_str(&signature(tool));
    ToolError::new(ErrorKind::InvalidParameters, text)
        .with_details(json!({ "reason": REASON, "problems": problems }))
}

/// What the tool takes, in one line.
fn signature(tool: &ToolDef) -> String {
    let schema = tool.input.as_value();
    let Some(properties) = schema["properties"].as_object() else {
        return format!("See the schema of `{}`.", tool.name);
    };
    if properties.is_empty() {
        return format!("`{}` takes no arguments.", tool.name);
    }
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|r| r.iter().any(|n| n == name));
    let mut names: Vec<String> = properties
        .iter()
        .take(MOST)
        .map(|(name, property)| {
            let mark = if is_required(name) { "" } else { "?" };
            format!(
                "{}{mark}: {}",
                bounded(name),
                text::bounded(&wanted_by(property), EXPECTED)
            )
        })
        .collect();
    if properties.len() > MOST {
        names.push("…".to_owned());
    }
    format!("`{}` takes ({}).", tool.name, names.join(", "))
}

fn describe(
    tool: &ToolDef,
    arguments: &Value,
    error: &ValidationError<'_>,
    problems: &mut Vec<Problem>,
) {
    let at = error.instance_path().as_str();
    let found = shown(error.instance());
    let mut problem =
        |path: String, expected: String, found: String, suggestion: Option<String>| {
            // The model knows what it sent; whoever reads the log must not.
            let is_secret = Redactor::is_secret_name(&path) && found != NOTHING;
            let found = if is_secret {
                "[redacted]".to_owned()
            } else {
                found
            };
            let problem = Problem {
                path,
                expected: text::bounded(&expected, EXPECTED),
                found,
                suggestion,
            };
            // Two keywords can say the same thing; a reader needs it once.
            if problems.len() < MOST && !problems.contains(&problem) {
                problems.push(problem);
            }
        };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let mut wanted: Vec<String> = Vec::new();
            for schema in schemas_at(tool, arguments, at) {
                if let Some(property) = schema["properties"].get(name) {
                    let root = tool.input.as_value();
                    let text = wanted_by(choice::resolved(root, property).unwrap_or(property));
                    if !wanted.contains(&text) {
                        wanted.push(text);
                    }
                }
            }
            if wanted.is_empty() {
                wanted.push("a value".to_owned());
            }
            let expected = wanted.join(", or ");
            problem(within(at, name), expected, NOTHING.to_owned(), None);
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if choice::nearest_branch(context, at).is_some() =>
        {
            for error in choice::nearest_branch(context, at).into_iter().flatten() {
                describe(tool, arguments, error, problems);
                if problems.len() >= MOST {
                    break;
                }
            }
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known = known_names(tool, arguments, at);
            for name in unexpected.iter().take(MOST) {
                let value = &arguments.pointer(at).unwrap_or(&Value::Null)[name.as_str()];
                let near = nearest(name, known.iter().map(String::as_str));
                let suggestion = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "leave it out".to_owned(),
                };
                let expected = "no such argument".to_owned();
                problem(within(at, name), expected, shown(value), Some(suggestion));
            }
        }
        ValidationErrorKind::Enum { options } => {
            let texts: Vec<&str> = options.as_array().map_or_else(Vec::new, |options| {
                options.iter().filter_map(Value::as_str).collect()
            });
            let wanted = error.instance().as_str().unwrap_or_default();
            let near = nearest(wanted, texts)
                .first()
                .map(|near| (*near).to_owned());
            let suggestion = near.map(|near| format!("did you mean {near:?}?"));
            problem(name_or_all(at), choices(options), found, suggestion);
        }
        kind => problem(name_or_all(at), expectation(kind, error), found, None),
    }
}

/// What a failed keyword wanted.
fn expectation(kind: &ValidationErrorKind, error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as K;
    match kind {
        K::Type { kind } => match kind {
            TypeKind::Single(one) => one.to_string(),
            TypeKind::Multiple(several) => {
                let names: Vec<String> = several.iter().map(|t| t.to_string()).collect();
                names.join(" or ")
            }
        },
        K::Constant { expected_value } => format!("exactly {expected_value}"),
        K::Format { format } => format!("a valid {format}"),
        K::Pattern { pattern } => format!("a text matching /{pattern}/"),
        K::Minimum { limit } => format!("at least {limit}"),
        K::Maximum { limit } => format!("at most {limit}"),
        K::ExclusiveMinimum { limit } => format!("more than {limit}"),
        K::ExclusiveMaximum { limit } => format!("less than {limit}"),
        K::MinLength { limit } => format!("at least {limit} characters"),
        K::MaxLength { limit } => format!("at most {limit} characters"),
        K::MinItems { limit } => format!("at least {limit} items"),
        K::MaxItems { limit } => format!("at most {limit} items"),
        K::UniqueItems => "no item twice".to_owned(),
        K::FalseSchema => "nothing here".to_owned(),
        K::AnyOf { context } | K::OneOfNotValid { context } => {
            let mut wanted: Vec<String> = Vec::new();
            for branch in context {
                if let Some(first) = branch.first() {
                    let text = expectation(first.kind(), first);
                    if !wanted.contains(&text) {
                        wanted.push(text);
                    }
                }
            }
            wanted.join(", or ")
        }
        K::Required { property } => format!("an object with {property}"),
        K::AdditionalProperties { unexpected } | K::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().take(3).map(|n| bounded(n)).collect();
            format!("an object without `{}`", names.join("`, `"))
        }
        K::Enum { options } => choices(options),
        _ => bounded(&error.to_string()),
    }
}

/// What a property's schema wants, in a few words.
fn wanted_by(schema: &Value) -> String {
    if let Some(literal) = schema.get("const") {
        return format!("exactly {literal}");
    }
    if let Some(options) = schema.get("enum") {
        return choices(options);
    }
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => "a value".to_owned(),
    }
}

fn choices(options: &Value) -> String {
    let Some(options) = options.as_array() else {
        return "one of the choices".to_owned();
    };
    let options: Vec<String> = options.iter().take(MOST).map(Value::to_string).collect();
    format!("one of {}", options.join(", "))
}

/// The schemas that speak of the value at an instance path, where they can be
/// followed: through references, and into the branches the value does not deny.
fn schemas_at<'t>(tool: &'t ToolDef, arguments: &Value, pointer: &str) -> Vec<&'t Value> {
    let root = tool.input.as_value();
    let mut value = arguments;
    let mut schemas = spread(root, root, value);
    for part in text::parts(pointer) {
        value = match value {
            Value::Array(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
            value => value.get(&*part),
        }
        .unwrap_or(&Value::Null);
        let parts = schemas.iter().filter_map(|schema| {
            let named = schema.get("properties").and_then(|p| p.get(&*part));
            let index = part.parse::<usize>().ok();
            let first = index.and_then(|index| schema.get("prefixItems")?.get(index));
            named
                .or(first)
                .or_else(|| schema.get("items"))
                .or_else(|| schema.get("additionalProperties"))
        });
        schemas = parts
            .take(MOST)
            .flat_map(|schema| spread(root, schema, value))
            .collect();
    }
    schemas
}

/// A schema and all that it applies to the same value, as far as it can be told.
fn spread<'t>(root: &'t Value, schema: &'t Value, value: &Value) -> Vec<&'t Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut waiting = VecDeque::from([schema]);
    while let Some(schema) = waiting.pop_front() {
        let Some(schema) = choice::resolved(root, schema) else {
            continue;
        };
        if found.len() >= 4 * MOST || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        let meant = schema
            .as_object()
            .and_then(|schema| choice::meant(root, schema, value));
        let lists = match meant {
            Some(branch) => {
                waiting.push_back(branch);
                &["allOf"][..]
            }
            None => &["allOf", "anyOf", "oneOf"],
        };
        let parts = lists
            .iter()
            .filter_map(|keyword| schema.get(*keyword)?.as_array());
        waiting.extend(parts.flatten());
    }
    found
}

fn known_names(tool: &ToolDef, arguments: &Value, pointer: &str) -> Vec<String> {
    let schemas = schemas_at(tool, arguments, pointer);
    let maps = schemas
        .iter()
        .filter_map(|schema| schema["properties"].as_object());
    maps.flat_map(|properties| properties.keys().cloned())
        .collect()
}

fn within(at: &str, name: &str) -> String {
    let name = bounded(name);
    match name_of(at) {
        outer if outer.is_empty() => name,
        outer => format!("{outer}.{name}"),
    }
}

fn name_or_all(at: &str) -> String {
    match name_of(at) {
        name if name.is_empty() => "arguments".to_owned(),
        name => name,
    }
}

/// A value as it is shown: JSON, cut short, with its type where that is not plain.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{} (string)", Value::from(bounded(text))),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(fields) => format!("an object with {} fields", fields.len()),
        plain => plain.to_string(),
    }
}

fn bounded(text: &str) -> String {
    text::bounded(text, 120)
}
