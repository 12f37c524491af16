//! The parser's errors in our own words.
//!
//! The parser speaks to programmers: of its options, of `u64` and of budgets. The
//! person whose file it is has none of these.

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter};

/// What is wrong, in one line, without the place.
pub(super) fn in_words(error: &Error) -> String {
    match error {
        // The place is where the alias stands; what is wrong is what it stands for.
        Error::AliasError { error, .. } => in_words(error),
        Error::WithSnippet { error, .. } => in_words(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("key `{key}` stands here twice")
        }
        Error::DuplicateMappingKey { key: None, .. } => "a key stands here twice".to_owned(),
        Error::Unexpected { expected, .. } => format!("expected {}", plainly(expected)),
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => "expected a word".to_owned(),
        Error::NullIntoString { .. } => "expected a text, found nothing".to_owned(),
        Error::MergeKeyNotAllowed { .. } => "merge keys (`<<`) are not supported".to_owned(),
        Error::MultipleDocuments { .. } => ONE_DOCUMENT.to_owned(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "the alias stands inside what it stands for".to_owned()
        }
        Error::UnknownAnchor { .. } => "the alias names no anchor before it".to_owned(),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => ALIASES.to_owned(),
        Error::Budget { breach, .. } => breached(breach),
        Error::SerdeUnknownField {
            field, expected, ..
        } => unknown("key", field, expected),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => unknown("word", variant, expected),
        Error::SerdeMissingField { field, .. } => format!("the key `{field}` is missing here"),
        Error::InvalidBooleanStrict { .. } => "expected true or false".to_owned(),
        Error::InvalidScalar { ty, .. } => format!("expected {}", counted(ty)),
        other => {
            let message = DefaultMessageFormatter.format_message(other);
            match &*message {
                "recursion limit exceeded" => DEEP.to_owned(),
                message if message.ends_with(A_TAB) => INDENT.to_owned(),
                _ => message.into_owned(),
            }
        }
    }
}

/// What is said of a tab where none can stand.
pub(super) const INDENT: &str = "a tab indents nothing; use spaces";
/// How the parser ends when it says that.
const A_TAB: &str = "found a tab";
const DEEP: &str = "it nests too deep from here on";
const ONE_DOCUMENT: &str = "a second document begins here; a configuration is one";
const ALIASES: &str = "the aliases stand for more than is accepted";

fn breached(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Documents { .. } => ONE_DOCUMENT.to_owned(),
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => ALIASES.to_owned(),
        BudgetBreach::Depth { .. } => DEEP.to_owned(),
        _ => "it holds more than is accepted from here on".to_owned(),
    }
}

fn plainly(expected: &str) -> &str {
    match expected {
        "mapping start" => "a mapping (`key: value`)",
        "sequence start" => "a list",
        "string scalar" | "scalar" => "a text",
        other => other,
    }
}

/// What is said of a key or a word nobody knows: which one is meant, most likely, or which
/// there are.
fn unknown(what: &str, found: &str, known: &[&str]) -> String {
    let found: String = found.chars().take(LONGEST).collect();
    let distance = |each: &str| strsim::damerau_levenshtein(&found.to_lowercase(), each);
    // Of two that are as near, what was begun is meant.
    let nearest = known
        .iter()
        .min_by_key(|each| (distance(each), !each.starts_with(&found)));
    // A third of the letters may be wrong; beyond that it is another word.
    let is_near = |each: &&&str| distance(each) * 3 <= each.len().max(found.len());
    if let Some(nearest) = nearest.filter(is_near) {
        return format!("unknown {what} `{found}`; did you mean `{nearest}`?");
    }
    let mut all: Vec<&str> = Vec::new();
    for each in known {
        if !all.iter().any(|other| other.eq_ignore_ascii_case(each)) {
            all.push(each);
        }
    }
    match all.as_slice() {
        [] => format!("unknown {what} `{found}`; there is none here"),
        all => format!("unknown {what} `{found}`; known here: {}", all.join(", ")),
    }
}

/// How many characters of a word are looked at.
const LONGEST: usize = 60;

/// What sort of number a type of the parser's is.
fn counted(kind: &str) -> &str {
    match kind {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "u128" | "usize" => "a whole number, not below 0",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" | "floating point" => "a number",
        other => other,
    }
}
