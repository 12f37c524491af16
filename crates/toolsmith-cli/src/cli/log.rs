//! What can be said about the record of calls.

use std::time::SystemTime;

use clap::Args;
use toolsmith_core::duration;
use toolsmith_core::moment::{Moment, read_day};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith log
  toolsmith log --failed --since 10m
  toolsmith log --tool 'mcp__git__*' --follow
  toolsmith log --summary --since 2026-01-31
  toolsmith log --tool read --plot
  toolsmith log --json --last 0 > calls.jsonl

Calls of `ask`, `call`, `batch` and `serve` are recorded, by project; `records:` in
toolsmith.yaml says how, and with `enabled: false` that they are not. Times are UTC.")]
pub(crate) struct Log {
    /// Only tools whose name fits.
    #[arg(long, value_name = "GLOB")]
    pub(crate) tool: Option<String>,

    /// Only tools of a sort of source or of one source: mcp, builtin, a server, a file.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<String>,

    /// Only callers whose name fits.
    #[arg(long, value_name = "GLOB")]
    pub(crate) caller: Option<String>,

    /// Only calls that failed, were refused or were given up.
    #[arg(long)]
    pub(crate) failed: bool,

    /// Only calls that were refused by policy or by a person.
    #[arg(long)]
    pub(crate) denied: bool,

    /// Only calls since then: a time ago such as 10m, a day such as 2026-01-31, or a moment
    /// such as 2026-01-31T09:26:53Z.
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Moment>,

    /// How many of the latest calls are shown, 0 for all [default: 50; --summary and --plot:
    /// all]
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,

    /// Go on with calls as they are made.
    #[arg(long, short, conflicts_with_all = ["summary", "plot"])]
    pub(crate) follow: bool,

    /// Count instead: calls, failures and durations of each tool.
    #[arg(long)]
    pub(crate) summary: bool,

    /// Draw how long calls took; with --tool for each tool.
    #[arg(long)]
    pub(crate) plot: bool,
}

fn since(text: &str) -> Result<Moment, String> {
    if let Some(day) = read_day(text) {
        return Ok(Moment::of_day(day));
    }
    if let Ok(ago) = duration::parse(text) {
        return Ok(Moment::from(SystemTime::now()).before(ago));
    }
    let wrong = "write a time ago such as 10m, a day such as 2026-01-31, or a moment such as \
                 2026-01-31T09:26:53Z";
    text.parse().map_err(|_| wrong.to_owned())
}
