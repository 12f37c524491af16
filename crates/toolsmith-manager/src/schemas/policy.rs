//! What is allowed, asked for and denied.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

/// What is allowed, asked for and denied.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Policy {
    /// What happens to calls no rule speaks of; `ask` unless set.
    mode: Option<Mode>,
    /// Rules in full.
    rules: Option<Vec<Rule>>,
    /// Rules that allow, such as `read(file_path: docs/**)`.
    allow: Option<Vec<String>>,
    /// Rules that ask.
    ask: Option<Vec<String>>,
    /// Rules that deny, such as `effect:execute`; denying beats allowing.
    deny: Option<Vec<String>>,
}

/// What happens to calls no rule speaks of.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Mode {
    /// Only reading.
    Plan,
    /// Reading runs, the rest is asked for.
    Ask,
    /// Writing runs too.
    AutoEdit,
    /// Everything runs, also what a tool wants confirmed.
    Auto,
}

/// A rule in full.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Rule {
    /// What it says.
    effect: Verdict,
    /// The tool: a name, a glob, `effect:write` or `source:mcp`; every tool unless set.
    #[schemars(default)]
    tool: Option<String>,
    /// What the arguments must be like.
    args: Option<BTreeMap<String, Matcher>>,
    /// Only tools from this sort of source: builtin, native, rest or mcp.
    source: Option<String>,
    /// Only calls of these agents, by name or glob.
    agent: Option<String>,
}

/// What a rule says.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum Verdict {
    /// It may run.
    Allow,
    /// A person must be asked.
    Ask,
    /// It may not run.
    Deny,
}

/// What an argument must be like: a glob, a value, or one of the named forms.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Matcher {
    /// Fits a glob.
    Glob(String),
    /// Is exactly this.
    Number(f64),
    /// Is exactly this.
    Boolean(bool),
    /// One of the named forms.
    Named(Form),
}

/// A named form.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum Form {
    /// Is exactly this.
    Equals(Value),
    /// Fits a glob.
    Glob(String),
    /// Begins with this.
    Prefix(String),
    /// Holds a match of this regular expression.
    Regex(String),
    /// Is a number within `LOW..HIGH`.
    Range(String),
    /// Is a path in this folder or below.
    Beneath(String),
}
