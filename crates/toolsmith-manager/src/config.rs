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
//! guide:
//!   title: Acme             # Acme Tools Usage Guide
//! servers:
//!   git: { command: uvx mcp-server-git, allow: ["git_*"] }
//! policy:
//!   mode: ask               # plan, ask, auto-edit, auto
//!   allow: ["read(file_path: docs/**)"]
//!   deny: ["effect:execute"]
//!   rules:
//!     - { effect: deny, tool: write, args: { file_path: { beneath: secrets } } }
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolsmith_core::{Binding, Detail, Exposure, duration};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Limits, Mode, Policy};

use crate::servers::{self, ServerEntry};

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
    #[serde(deserialize_with = "bindings")]
    pub bindings: BTreeMap<String, Binding>,
    /// What is allowed, asked for and denied.
    pub policy: PolicyConfig,
    /// How the usage guide is written.
    pub guide: GuideConfig,
    /// Upstream servers, in the order of the file.
    #[serde(deserialize_with = "servers::servers")]
    pub servers: Vec<ServerEntry>,
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

/// How the usage guide is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GuideConfig {
    /// Whose tools its title speaks of.
    pub title: Option<String>,
    /// The template it is written by, seen from the folder of this file.
    pub template: Option<PathBuf>,
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

/// Bindings whose patterns and prefixes were checked while there was still a place
/// to point at.
fn bindings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Binding>, D::Error> {
    let forms = Option::<BTreeMap<Pattern, BindingForm>>::deserialize(deserializer)?;
    let forms = forms.unwrap_or_default();
    few(forms.len(), "bindings")?;
    let pairs = forms.into_iter();
    Ok(pairs.map(|(name, form)| (name.0, form.into())).collect())
}

/// How many rules or bindings one list may hold. Each is compiled, and a thousand
/// times as many would take a gigabyte.
const MOST: usize = 500;

fn few<E: Error>(count: usize, what: &str) -> Result<(), E> {
    if count > MOST {
        let message = format!("{count} {what} are more than the {MOST} that are accepted");
        return Err(E::custom(message));
    }
    Ok(())
}

/// Rules, not too many of them.
fn rules<'de, D: Deserializer<'de>, R: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<R>, D::Error> {
    struct Rules<R>(PhantomData<R>);

    impl<'de, R: Deserialize<'de>> Visitor<'de> for Rules<R> {
        type Value = Vec<R>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of rules")
        }

        fn visit_unit<E>(self) -> Result<Vec<R>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<R>, A::Error> {
            let mut rules = Vec::new();
            while let Some(rule) = items.next_element()? {
                rules.push(rule);
                // Checked as they come: the rest need not be compiled to be refused.
                few(rules.len(), "rules")?;
            }
            Ok(rules)
        }
    }

    deserializer.deserialize_seq(Rules(PhantomData))
}

/// A name or glob that means tools.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pattern(pub(crate) String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        globset::Glob::new(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

/// A binding as the file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingForm {
    timeout: Option<Span>,
    exposure: Option<Exposure>,
    prefix: Option<Prefix>,
}

impl From<BindingForm> for Binding {
    fn from(form: BindingForm) -> Self {
        let mut binding = Self::default();
        binding.timeout = form.timeout.map(|span| span.0);
        binding.exposure = form.exposure;
        binding.prefix = form.prefix.map(|prefix| prefix.0);
        binding
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
    /// How long planning and each guard may take.
    pub judging: Option<Span>,
    /// How long people may take to answer, all questions of a call together.
    pub approval: Option<Span>,
    /// How many bytes of arguments a call may have.
    pub argument_bytes: Option<Positive>,
    /// How many bytes of text a model gets from one call.
    pub output_bytes: Option<Positive>,
    /// How many bytes a call may ask for instead.
    pub most_output_bytes: Option<Positive>,
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
            (&mut limits.judging, &self.judging),
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
            (&mut limits.most_output_bytes, &self.most_output_bytes),
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

/// The highest ceiling: whoever writes more means none, and there is none to have.
const HIGHEST: usize = 1 << 30;

/// A number of at least one, and at most a gigabyte or a billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub usize);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Count;

        impl<'de> Visitor<'de> for Count {
            type Value = Positive;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 1 to {HIGHEST}")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Positive, E> {
                match usize::try_from(count) {
                    Ok(count) if (1..=HIGHEST).contains(&count) => Ok(Positive(count)),
                    _ => Self::refuse(count),
                }
            }

            fn visit_i64<E: Error>(self, count: i64) -> Result<Positive, E> {
                Self::refuse(count)
            }

            fn visit_f64<E: Error>(self, count: f64) -> Result<Positive, E> {
                Self::refuse(count)
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Positive, E> {
                Self::refuse(value)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Positive, E> {
                let text: String = text.chars().take(40).collect();
                Self::refuse(format_args!("{text:?}"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Positive, A::Error> {
                Self::refuse("a list")
            }
        }

        impl Count {
            /// In words of our own: the parser knows the place of such an error
            /// better than that of serde's own.
            fn refuse<E: Error>(found: impl fmt::Display) -> Result<Positive, E> {
                let message = format!("expected a whole number from 1 to {HIGHEST}, found {found}");
                Err(E::custom(message))
            }
        }

        // By what it is, not by what it could be taken for: '64' is a text.
        deserializer.deserialize_any(Count)
    }
}

/// A duration such as `30s`, longer than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match duration::parse(&text).map_err(D::Error::custom)? {
            Duration::ZERO => Err(D::Error::custom("it must be longer than nothing")),
            span => Ok(Self(span)),
        }
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
    #[serde(deserialize_with = "rules")]
    pub rules: Vec<Rule>,
    /// Rules that allow, in the short form.
    #[serde(deserialize_with = "rules")]
    pub allow: Vec<Short<Allow>>,
    /// Rules that ask, in the short form.
    #[serde(deserialize_with = "rules")]
    pub ask: Vec<Short<Ask>>,
    /// Rules that deny, in the short form.
    #[serde(deserialize_with = "rules")]
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
    verdict: PhantomData<V>,
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
            verdict: PhantomData,
        })
    }
}
