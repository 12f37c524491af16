//! What benchmarks print: figures, goals, and whether they are met.
//!
//! Every program that measures tells its figures here, so that all of them read alike. Where
//! `BENCH_ROWS` names a file, each line is also appended to it as JSON, which is how
//! `cargo xtask bench` puts the figures of all of them into one table. What is measured, and
//! how, is the programs' own affair.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Whether goals are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// All of them.
    Met,
    /// Not all of them.
    NotMet,
}

impl Verdict {
    /// Met where both are.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Met, Self::Met) => Self::Met,
            _ => Self::NotMet,
        }
    }

    /// Met where it is true.
    pub fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }

    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "NOT met",
        }
    }
}

/// What a figure is to be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
}

impl Goal {
    /// Judges a figure. What is no number meets nothing.
    pub fn judge(self, figure: f64) -> Verdict {
        Verdict::of(match self {
            Self::AtLeast(least) => figure >= least,
            Self::AtMost(most) => figure <= most,
        })
    }

    fn text(self, unit: &str) -> String {
        let text = match self {
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::AtMost(most) => format!("≤ {most}"),
        };
        format!("{text} {unit}").trim_end().to_owned()
    }
}

/// Prints the title of a part; what follows belongs to it.
pub fn title(text: &str) {
    println!("{text}");
    text.clone_into(&mut PART.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Prints a figure with its goal and returns whether it is met.
pub fn judged(what: &str, figure: f64, unit: &str, goal: Goal) -> Verdict {
    let verdict = goal.judge(figure);
    let (text, word) = (goal.text(unit), verdict.word());
    println!("  {what:64} {figure:9.2} {unit:11} goal {text}: {word}");
    keep(json!({
        "what": what, "figure": figure, "unit": unit, "goal": text, "met": verdict == Verdict::Met,
    }));
    verdict
}

/// Prints a figure that has no goal.
pub fn told(what: &str, figure: f64, unit: &str) {
    println!("  {what:64} {figure:9.2} {unit}");
    keep(json!({ "what": what, "figure": figure, "unit": unit }));
}

/// Prints why something is not measured.
pub fn skipped(what: &str, why: &str) {
    println!("  {what:64} skipped: {why}");
    keep(json!({ "what": what, "skipped": why }));
}

/// A run of a benchmark, from its start to its verdict.
#[derive(Debug)]
pub struct Run {
    begun: Instant,
    load: String,
}

impl Run {
    /// Begins: to be called first.
    pub fn begin() -> Self {
        Self {
            begun: Instant::now(),
            load: load(),
        }
    }

    /// Prints what the run itself took, with all that it started, and how busy the machine was.
    pub fn end(self, verdict: Verdict) -> ExitCode {
        let (wall, cpu) = (self.begun.elapsed().as_secs_f64(), cpu_with_children());
        let (memory, after) = (peak(), load());
        let before = &self.load;
        println!(
            "this run: {wall:.1} s, {cpu:.1} s of CPU, at most {memory:.0} MB itself; load average {before} before, {after} after"
        );
        keep(json!({
            "run": { "wall": wall, "cpu": cpu, "memory": memory, "load": [before, after] },
        }));
        match verdict {
            Verdict::Met => ExitCode::SUCCESS,
            Verdict::NotMet => ExitCode::FAILURE,
        }
    }
}

/// The figure in the middle.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The CPU time of this process, all threads together.
pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// Resident memory of this process in megabytes.
pub fn resident() -> f64 {
    status("VmRSS:")
}

/// The most memory this process ever had, in megabytes.
pub fn peak() -> f64 {
    status("VmHWM:")
}

/// How busy the machine is.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.unwrap_or("unknown").to_owned()
}

/// The part that is measured now.
static PART: Mutex<String> = Mutex::new(String::new());

/// Appends a line to the file of rows, where there is one.
fn keep(mut row: Value) {
    let Some(path) = std::env::var_os("BENCH_ROWS") else {
        return;
    };
    let part = PART.lock().unwrap_or_else(PoisonError::into_inner).clone();
    row["part"] = part.into();
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| writeln!(file, "{row}"));
    if let Err(error) = written {
        println!("  the row was not kept: {error}");
    }
}

/// A line of the kernel's report on this process, in megabytes.
fn status(word: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(word));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.unwrap_or(f64::NAN) / 1024.0
}

/// Seconds of CPU of this process and of every child it has waited for.
fn cpu_with_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name may hold anything but what ends it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(4);
    let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}
