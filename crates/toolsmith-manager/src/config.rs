//! What `toolsmith.yaml` may say.
//!
//! Every key is optional, unknown keys are errors, and rules and durations are
//! parsed while the file is read, so that a mistake in them has a line and a column
//! like any other.
//!
//! ```yaml
//! serve:
//!   prefix: acme            # offered names become acme_read, acme_write …
//! descriptions: brief       # or full
//! limits:
//!   timeout: 30s
//!   output_bytes: 51200
//! bindings:
//!   "mcp__*": { timeout: 60s }
//! policy:
//!   mode: ask               # plan, ask, auto-edit, auto
//!   allow: ["read(file_path: docs/**)"]
//!   deny: ["effect:execute"]
//!   rules:
//!     - { effect: deny, tool: write, args: { file_path: { beneath: secrets } } }
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};
use toolsmith_core::{Binding, Detail, duration};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Limits, Mode, Policy};

/// The content of `toolsmith.yaml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// How tools are offered.
    pub serve: Serve,
    /// Short for `serve.prefix`.
    pub prefix: Option<Prefix>,
    /// How much of the descriptions models are sent.
    pub descriptions: Detail,
    /// Ceilings.
    pub limits: LimitsConfig,
    /// How tools are run, by name or glob.
    pub bindings: BTreeMap<String, Binding>,
    /// What is allowed, asked for and denied.
    pub policy: PolicyConfig,
}

/// How tools are offered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Serve {
    /// The prefix of offered names.
    pub prefix: Option<Prefix>,
}

impl Config {
    /// The prefix the file sets, if it sets one.
    pub fn prefix(&self) -> Option<&str> {
        let prefix = self.serve.prefix.as_ref().or(self.prefix.as_ref());
        prefix.map(|prefix| prefix.0.as_str())
    }
}

/// A prefix of tool names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(pub String);

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if text.len() > 32 || !text.chars().all(fits) {
            return Err(D::Error::custom(
                "a prefix has at most 32 letters, digits, `_`, `.` and `-`",
            ));
        }
        Ok(Self(text))
    }
}

/// Ceilings; what is not set keeps its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitsConfig {
    /// How many calls of one batch run at once.
    pub parallel: Option<Positive>,
    /// The time limit of a call.
    pub timeout: Option<Span>,
    /// The longest time limit anything may ask for.
    pub longest: Option<Span>,
    /// How long a cancelled tool may take to stop by itself.
    pub grace: Option<Span>,
    /// How long a person may take to answer.
    pub approval: Option<Span>,
    /// How many bytes of arguments a call may have.
    pub argument_bytes: Option<Positive>,
    /// How many bytes of text a model gets from one call.
    pub output_bytes: Option<Positive>,
    /// How many bytes of images and sounds one call may return.
    pub blob_bytes: Option<Positive>,
    /// How many bytes one call may stream while it runs.
    pub streamed_bytes: Option<Positive>,
    /// How many bytes of arguments and result a log line holds.
    pub log_bytes: Option<Positive>,
    /// How many threads blocking tools share.
    pub blocking_threads: Option<Positive>,
}

impl LimitsConfig {
    /// The limits, with the defaults where nothing is set.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        let spans = [
            (&mut limits.timeout, &self.timeout),
            (&mut limits.longest, &self.longest),
            (&mut limits.grace, &self.grace),
            (&mut limits.approval, &self.approval),
        ];
        for (limit, set) in spans {
            if let Some(Span(span)) = set {
                *limit = *span;
            }
        }
        let counts = [
            (&mut limits.parallel, &self.parallel),
            (&mut limits.argument_bytes, &self.argument_bytes),
            (&mut limits.output_bytes, &self.output_bytes),
            (&mut limits.blob_bytes, &self.blob_bytes),
            (&mut limits.streamed_bytes, &self.streamed_bytes),
            (&mut limits.log_bytes, &self.log_bytes),
            (&mut limits.blocking_threads, &self.blocking_threads),
        ];
        for (limit, set) in counts {
            if let Some(Positive(count)) = set {
                *limit = *count;
            }
        }
        limits
    }
}

/// A number of at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub usize);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match usize::deserialize(deserializer)? {
            0 => Err(D::Error::custom("it must be at least 1")),
            count => Ok(Self(count)),
        }
    }
}

/// A duration such as `30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let span = duration::parse(&text).map_err(D::Error::custom)?;
        Ok(Self(span))
    }
}

/// What is allowed, asked for and denied.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// What happens to calls no rule speaks of.
    pub mode: Mode,
    /// Rules in full.
    pub rules: Vec<Rule>,
    /// Rules that allow, in the short form.
    pub allow: Vec<Short<Allow>>,
    /// Rules that ask, in the short form.
    pub ask: Vec<Short<Ask>>,
    /// Rules that deny, in the short form.
    pub deny: Vec<Short<Deny>>,
}

impl PolicyConfig {
    /// The policy.
    pub fn policy(&self) -> Policy {
        let allow = self.allow.iter().map(|short| short.rule.clone());
        let ask = self.ask.iter().map(|short| short.rule.clone());
        let deny = self.deny.iter().map(|short| short.rule.clone());
        Policy::new(self.mode)
            .with_rules(deny.chain(ask).chain(allow))
            .with_rules(self.rules.iter().cloned())
    }
}

/// A rule in the short form, whose verdict is the key it stands under.
#[derive(Clone, Debug)]
pub struct Short<V> {
    rule: Rule,
    verdict: std::marker::PhantomData<V>,
}

/// The verdict a key stands for.
pub trait Says {
    /// The verdict.
    const VERDICT: Verdict;
}

/// Under `allow`.
#[derive(Clone, Copy, Debug)]
pub enum Allow {}
/// Under `ask`.
#[derive(Clone, Copy, Debug)]
pub enum Ask {}
/// Under `deny`.
#[derive(Clone, Copy, Debug)]
pub enum Deny {}

impl Says for Allow {
    const VERDICT: Verdict = Verdict::Allow;
}
impl Says for Ask {
    const VERDICT: Verdict = Verdict::Ask;
}
impl Says for Deny {
    const VERDICT: Verdict = Verdict::Deny;
}

impl<'de, V: Says> Deserialize<'de> for Short<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let rule = Rule::parse(V::VERDICT, &text).map_err(D::Error::custom)?;
        Ok(Self {
            rule,
            verdict: std::marker::PhantomData,
        })
    }
}
