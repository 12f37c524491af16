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
        other => DefaultMessageFormatter.format_message(other).into_owned(),
    }
}

const ONE_DOCUMENT: &str = "a second document begins here; a configuration is one";
const ALIASES: &str = "the aliases stand for more than is accepted";

fn breached(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Documents { .. } => ONE_DOCUMENT.to_owned(),
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => ALIASES.to_owned(),
        BudgetBreach::Depth { .. } => "it nests too deep from here on".to_owned(),
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
