//! The lines of the table: figures, goals, and whether they are met.

use std::time::Duration;

/// Whether goals are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    NotMet,
}

impl Verdict {
    /// Met where both are.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Met, Self::Met) => Self::Met,
            _ => Self::NotMet,
        }
    }

    fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }

    /// The word in the table.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "NOT met",
        }
    }
}

/// What a figure is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    /// Judges a figure.
    pub(crate) fn judge(self, figure: f64) -> Verdict {
        Verdict::of(match self {
            Self::AtLeast(least) => figure >= least,
            Self::AtMost(most) => figure <= most,
        })
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::AtMost(most) => format!("≤ {most}"),
        }
    }
}

/// Prints the title of a part.
pub(crate) fn title(text: &str) {
    println!("{text}");
}

/// Prints a figure with its goal and returns whether it is met.
pub(crate) fn judged(what: &str, figure: f64, unit: &str, goal: Goal) -> Verdict {
    let verdict = goal.judge(figure);
    let (goal, word) = (goal.text(), verdict.word());
    println!("  {what:56} {figure:9.2} {unit:3} goal {goal} {unit}: {word}");
    verdict
}

/// Prints a figure that has no goal.
pub(crate) fn told(what: &str, figure: f64, unit: &str) {
    println!("  {what:56} {figure:9.2} {unit}");
}

/// Prints why something is not measured.
pub(crate) fn skipped(what: &str, why: &str) {
    println!("  {what:56} skipped: {why}");
}

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

/// The figure in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
