//! `toolsmith log`: the record of calls.
//!
//! It reads what is there, one record after the other, and keeps only what it shows. The
//! project need not be in order for that: no configuration is read.

mod line;
mod plot;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use toolsmith_manager::records::{
    RecordFilter, RecordPlace, RecordReader, Stored, Summary, ToolSummary,
};

use crate::cli::{Cli, Log};
use crate::environment;
use crate::failure::Failure;
use crate::print;
use crate::session::project_root;

/// How many records are shown to who does not say.
const USUALLY: usize = 50;
/// How often is looked for more.
const TICK: Duration = Duration::from_millis(200);

pub(crate) async fn run(cli: &Cli, log: &Log) -> Result<u8, Failure> {
    let root = project_root(cli);
    let Some(place) = environment::records(&root) else {
        return Err(Failure::usage(
            "there is no folder for records: set HOME or XDG_STATE_HOME",
        ));
    };
    let filter = filter(log)?;
    let mut reader = RecordReader::new(place.clone());
    let counts = log.summary || log.plot;
    let mut shown = Shown::new(
        cli,
        if counts {
            0
        } else {
            log.last.unwrap_or(USUALLY)
        },
    );
    let mut latest = Latest::new(if counts {
        log.last.unwrap_or(0)
    } else {
        shown.most
    });
    let mut summary = Summary::default();
    let mut take = |stored: Stored, summary: &mut Summary| -> Result<(), Failure> {
        if !filter.fits(&stored.record) {
            return Ok(());
        }
        // Those that may still turn out not to be the latest wait.
        if let Some(stored) = latest.take(stored) {
            match counts {
                true => summary.add(&stored.record),
                false => shown.show(&stored)?,
            }
        }
        Ok(())
    };
    while let Some(stored) = read(&mut reader, &place)? {
        take(stored, &mut summary)?;
    }
    if log.follow {
        for stored in latest.rest() {
            shown.show(&stored)?;
        }
        return follow(reader, &place, &filter, &mut shown).await;
    }
    let (rest, skipped) = reader.finish();
    for stored in rest {
        take(stored, &mut summary)?;
    }
    for stored in latest.rest() {
        match counts {
            true => summary.add(&stored.record),
            false => shown.show(&stored)?,
        }
    }
    if !skipped.is_empty() {
        print::warning(&skipped.to_string());
    }
    if counts {
        shown.count = summary.tools().iter().map(|tool| tool.calls).sum();
        count(cli, log, &summary)?;
    }
    if shown.count == 0 {
        tell_none(&place, log);
    }
    Ok(0)
}

fn filter(log: &Log) -> Result<RecordFilter, Failure> {
    let mut filter = RecordFilter::default();
    let glob =
        |option: &str, error: &dyn std::fmt::Display| Failure::usage(format!("{option}: {error}"));
    if let Some(tool) = &log.tool {
        let with = filter.with_tool(tool);
        filter = with.map_err(|error| glob("--tool", &error))?;
    }
    if let Some(caller) = &log.caller {
        let with = filter.with_caller(caller);
        filter = with.map_err(|error| glob("--caller", &error))?;
    }
    if let Some(source) = &log.source {
        filter = filter.with_source(source);
    }
    if let Some(since) = log.since {
        filter = filter.since(since);
    }
    if log.failed {
        filter = filter.only_failed();
    }
    if log.denied {
        filter = filter.only_denied();
    }
    Ok(filter)
}

/// The next record, or why there is none.
fn read(reader: &mut RecordReader, place: &RecordPlace) -> Result<Option<Stored>, Failure> {
    reader.next().map_err(|error| {
        let error = print::visible(&error.to_string());
        let root = print::visible_path(place.root());
        Failure::usage(format!("the records of {root} cannot be read: {error}"))
            .with_advice("see that it is a file of yours, or move it away")
    })
}

/// Goes on until whoever reads is gone; Ctrl-C ends the program as it ends any.
async fn follow(
    mut reader: RecordReader,
    place: &RecordPlace,
    filter: &RecordFilter,
    shown: &mut Shown,
) -> Result<u8, Failure> {
    let mut told = reader.skipped().clone();
    loop {
        while let Some(stored) = read(&mut reader, place)? {
            if filter.fits(&stored.record) {
                shown.show(&stored)?;
            }
        }
        if *reader.skipped() != told {
            told = reader.skipped().clone();
            print::warning(&told.to_string());
        }
        if is_unread() {
            return Ok(0);
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Tells whether nobody reads standard output any more, which a program that has nothing
/// to write would not notice.
#[cfg(unix)]
fn is_unread() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = io::stdout();
    // Asked for nothing, a poll tells of errors alone.
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec::default();
    let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    poll(&mut asked, Some(&at_once)).is_ok() && asked[0].revents().intersects(gone)
}

#[cfg(not(unix))]
fn is_unread() -> bool {
    false
}

/// Tells the numbers.
fn count(cli: &Cli, log: &Log, summary: &Summary) -> Result<(), Failure> {
    let tools = summary.tools();
    if log.summary && cli.json {
        print::json(&tools)?;
    } else if log.summary && !tools.is_empty() {
        table(&tools)?;
    }
    if log.plot && !cli.json {
        plot::draw(summary, log.tool.is_some())?;
    }
    Ok(())
}

fn table(tools: &[ToolSummary]) -> io::Result<()> {
    let names = tools.iter().map(|tool| print::visible(&tool.tool));
    let names: Vec<String> = names.collect();
    let widest = names.iter().map(|name| name.chars().count()).max();
    let width = widest.unwrap_or_default().max(4);
    print::line(&format!(
        "{:width$}  {:>7}  {:>7}  {:>7}  {:>8}  {:>8}  {:>8}",
        "tool", "calls", "failed", "denied", "p50", "p95", "p99"
    ))?;
    for (tool, name) in tools.iter().zip(&names) {
        let told = |micros: Option<u64>| micros.map_or("-".to_owned(), line::duration);
        let durations = tool.durations;
        print::line(&format!(
            "{name:width$}  {:>7}  {:>7}  {:>7}  {:>8}  {:>8}  {:>8}",
            tool.calls,
            tool.failures,
            tool.denied,
            told(durations.map(|all| all.p50_us)),
            told(durations.map(|all| all.p95_us)),
            told(durations.map(|all| all.p99_us)),
        ))?;
    }
    for tool in tools {
        if let Some(sample) = tool.durations.and_then(|all| all.sample) {
            let name = &tool.tool;
            print::note(&format!(
                "The durations of {name} are estimated from a sample of {sample} calls."
            ));
        }
    }
    Ok(())
}

fn tell_none(place: &RecordPlace, log: &Log) {
    let root = print::visible_path(place.root());
    let is_choosy = log.tool.is_some()
        || log.source.is_some()
        || log.caller.is_some()
        || log.since.is_some()
        || log.failed
        || log.denied;
    match is_choosy && place.current().exists() {
        true => print::note(&format!("No recorded call of {root} fits.")),
        false => print::note(&format!("No calls of {root} are recorded.")),
    }
}

/// Shows records, as lines or as they are stored.
struct Shown {
    as_json: bool,
    most: usize,
    count: u64,
    width: Option<usize>,
}

impl Shown {
    fn new(cli: &Cli, most: usize) -> Self {
        Self {
            as_json: cli.json,
            most,
            count: 0,
            width: print::width(),
        }
    }

    fn show(&mut self, stored: &Stored) -> io::Result<()> {
        self.count += 1;
        match self.as_json {
            true => print::line(&stored.text),
            false => print::line(&line::of(&stored.record, self.width)),
        }
    }
}

/// The latest records of all that come, or every one at once where all are wanted.
struct Latest {
    most: usize,
    kept: VecDeque<Stored>,
}

impl Latest {
    fn new(most: usize) -> Self {
        let kept = VecDeque::new();
        Self { most, kept }
    }

    /// Takes one; gives it back where there is nothing to wait for.
    fn take(&mut self, stored: Stored) -> Option<Stored> {
        if self.most == 0 {
            return Some(stored);
        }
        if self.kept.len() == self.most {
            self.kept.pop_front();
        }
        self.kept.push_back(stored);
        None
    }

    fn rest(&mut self) -> VecDeque<Stored> {
        std::mem::take(&mut self.kept)
    }
}
