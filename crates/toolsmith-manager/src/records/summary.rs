//! Records in numbers: for each tool how often it was called, how often that failed, and how
//! long it took.
//!
//! Quantiles are exact up to a bound of memory, and beyond it taken from a sample that
//! every call has the same chance to be in.

use std::collections::BTreeMap;

use serde::Serialize;
use toolsmith_core::record::{CallRecord, Status};

/// How many durations of one tool are kept.
const MOST_OF_TOOL: usize = 100_000;
/// How many durations are kept in all: 32 MB of them.
const MOST_DURATIONS: usize = 4_000_000;
/// How many tools are told apart.
const MOST_TOOLS: usize = 10_000;
/// What calls of tools that do not exist go by; such names are without end.
const NO_SUCH_TOOL: &str = "(no such tool)";
/// What the tools beyond the bound go by.
const OTHERS: &str = "(others)";

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    tools: BTreeMap<String, Counted>,
    kept: usize,
    /// Chooses the sample; any sequence without a pattern will do.
    chance: u64,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    calls: u64,
    failures: u64,
    denied: u64,
    ran: u64,
    micros: Vec<u64>,
}

/// What was counted of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolSummary {
    /// The tool.
    pub tool: String,
    /// Its calls.
    pub calls: u64,
    /// Those that failed, the refused ones included.
    pub failures: u64,
    /// Those that were refused by policy or by a person.
    pub denied: u64,
    /// How long those took that ran; none if none did.
    pub durations: Option<Quantiles>,
}

/// Durations in microseconds that a share of the calls did not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Quantiles {
    /// Half of them.
    pub p50_us: u64,
    /// 95 of 100.
    pub p95_us: u64,
    /// 99 of 100.
    pub p99_us: u64,
    /// The longest of those looked at.
    pub most_us: u64,
    /// How many were looked at, where that is fewer than ran.
    pub sample: Option<usize>,
}

impl Summary {
    /// Counts a record.
    pub fn add(&mut self, record: &CallRecord<'_>) {
        let name = record.tool.as_deref().unwrap_or(NO_SUCH_TOOL);
        let is_known = self.tools.contains_key(name) || self.tools.len() < MOST_TOOLS;
        let name = if is_known { name } else { OTHERS };
        if !self.tools.contains_key(name) {
            self.tools.insert(name.to_owned(), Counted::default());
        }
        let Some(counted) = self.tools.get_mut(name) else {
            return;
        };
        counted.calls += 1;
        counted.failures += u64::from(record.is_failed());
        counted.denied += u64::from(record.is_denied());
        let Some(micros) = took(record) else {
            return;
        };
        counted.ran += 1;
        if counted.micros.len() < MOST_OF_TOOL && self.kept < MOST_DURATIONS {
            counted.micros.push(micros);
            self.kept += 1;
            return;
        }
        // Each of those that ran stays with the same chance.
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from((self.chance >> 16) % counted.ran).unwrap_or(usize::MAX);
        if let Some(kept) = counted.micros.get_mut(at) {
            *kept = micros;
        }
    }

    /// What was counted of each tool, by name.
    pub fn tools(&self) -> Vec<ToolSummary> {
        let tools = self.tools.iter();
        let summary = |(tool, counted): (&String, &Counted)| ToolSummary {
            tool: tool.clone(),
            calls: counted.calls,
            failures: counted.failures,
            denied: counted.denied,
            durations: counted.quantiles(),
        };
        tools.map(summary).collect()
    }

    /// The durations that were kept of each tool, in microseconds, and how many it ran.
    pub fn durations(&self) -> impl Iterator<Item = (&str, &[u64], u64)> {
        let tools = self.tools.iter();
        tools.map(|(tool, counted)| (tool.as_str(), counted.micros.as_slice(), counted.ran))
    }
}

/// How long a call took in microseconds; none where its tool did not run.
fn took(record: &CallRecord<'_>) -> Option<u64> {
    let has_run = record.timings.ran > 0 || record.outcome.status == Status::Ok;
    has_run.then(|| record.took())
}

impl Counted {
    fn quantiles(&self) -> Option<Quantiles> {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let most_us = *sorted.last()?;
        // The smallest that so many of a hundred do not exceed.
        let at = |share: usize| sorted[(sorted.len() * share).div_ceil(100).max(1) - 1];
        Some(Quantiles {
            p50_us: at(50),
            p95_us: at(95),
            p99_us: at(99),
            most_us,
            sample: (self.ran > sorted.len() as u64).then_some(sorted.len()),
        })
    }
}
