//! What a program did under load, and why another could not be measured.

use std::time::Duration;

use toolsmith_testing::bench::median;

/// Why somebody else's program is not measured: mostly that it is of one era only.
pub(crate) fn failed(error: &std::io::Error) -> String {
    let text: String = error.to_string().chars().take(100).collect();
    format!("no good answer: {text}")
}

/// What a program did under load, all rounds together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    /// Calls per second, round by round.
    pub(crate) rates: Vec<f64>,
    pub(crate) calls: u64,
    pub(crate) cpu: Duration,
}

impl Load {
    /// Adds a round.
    pub(crate) fn add(&mut self, calls: u64, took: Duration, cpu: Duration) {
        self.rates.push(calls as f64 / took.as_secs_f64());
        self.calls += calls;
        self.cpu += cpu;
    }

    /// Calls per second, in the middle of all rounds.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// Microseconds of CPU per call.
    pub(crate) fn cost(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.calls.max(1) as f64
    }

    /// How many calls per second there are for each of another's, round by round.
    pub(crate) fn rate_against(&self, other: &Self) -> f64 {
        let pairs = self.rates.iter().zip(&other.rates);
        median(pairs.map(|(ours, theirs)| ours / theirs).collect())
    }
}
