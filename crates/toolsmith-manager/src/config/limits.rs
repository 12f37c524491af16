//! The ceilings a configuration sets.

use std::fmt;

use serde::de::{Error, Expected, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolsmith_core::duration::Span;
use toolsmith_runtime::Limits;

/// Ceilings; what is not set keeps its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitsConfig {
    /// How many calls of one batch run at once.
    pub parallel: Option<Parallel>,
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
    /// How many bytes of answers are kept for calls to come.
    pub cache_bytes: Option<Positive>,
    /// How many answers are.
    pub cache_entries: Option<Positive>,
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
        if let Some(Parallel(calls)) = self.parallel {
            limits.parallel = calls;
        }
        let counts = [
            (&mut limits.argument_bytes, &self.argument_bytes),
            (&mut limits.output_bytes, &self.output_bytes),
            (&mut limits.most_output_bytes, &self.most_output_bytes),
            (&mut limits.blob_bytes, &self.blob_bytes),
            (&mut limits.streamed_bytes, &self.streamed_bytes),
            (&mut limits.log_bytes, &self.log_bytes),
            (&mut limits.blocking_threads, &self.blocking_threads),
            (&mut limits.cache_bytes, &self.cache_bytes),
            (&mut limits.cache_entries, &self.cache_entries),
        ];
        for (limit, set) in counts {
            if let Some(Positive(count)) = set {
                *limit = *count;
            }
        }
        limits
    }
}

/// How many calls run at once: a number, `false` for one after the other, or `true` for as
/// many as there are where nobody says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallel(pub usize);

impl<'de> Deserialize<'de> for Parallel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = deserializer.deserialize_any(Count {
            switch: Some(Limits::default().parallel),
        });
        count.map(|Positive(count)| Self(count))
    }
}

/// The highest ceiling: whoever writes more means none, and there is none to have.
const HIGHEST: usize = 1 << 30;

/// A number of at least one, and at most a gigabyte or a billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positive(pub usize);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By what it is, not by what it could be taken for: '64' is a text.
        deserializer.deserialize_any(Count { switch: None })
    }
}

/// Reads a number of at least one.
struct Count {
    /// What `true` stands for where it may be written; `false` is one.
    switch: Option<usize>,
}

impl<'de> Visitor<'de> for Count {
    type Value = Positive;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.switch.is_some() {
            f.write_str("true, false or ")?;
        }
        write!(f, "a whole number from 1 to {HIGHEST}")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Positive, E> {
        match usize::try_from(count) {
            Ok(count) if (1..=HIGHEST).contains(&count) => Ok(Positive(count)),
            _ => self.refuse(count),
        }
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Positive, E> {
        self.refuse(count)
    }

    fn visit_f64<E: Error>(self, count: f64) -> Result<Positive, E> {
        self.refuse(count)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Positive, E> {
        match self.switch {
            Some(usual) => Ok(Positive(if value { usual } else { 1 })),
            None => self.refuse(value),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Positive, E> {
        let text: String = text.chars().take(40).collect();
        self.refuse(format_args!("{text:?}"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Positive, A::Error> {
        self.refuse("a list")
    }
}

impl Count {
    /// In words of our own: the parser knows the place of such an error
    /// better than that of serde's own.
    fn refuse<E: Error>(self, found: impl fmt::Display) -> Result<Positive, E> {
        let expected: &dyn Expected = &self;
        Err(E::custom(format!("expected {expected}, found {found}")))
    }
}
