//! What is told on stderr beside the answers.

use std::io::{self, Write};
use std::sync::OnceLock;

use toolsmith_core::event::Redact as _;
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::shape::clean;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{self, FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{Cli, Command};
use crate::environment;
use crate::print;

/// Starts the log: `TOOLSMITH_LOG` if it is set, else by the number of `-v`.
/// Without either, only what the host must know is told, in the words of every other
/// warning: a call's own end is printed by its command.
pub(crate) fn start(cli: &Cli) {
    let verbose = cli.verbose;
    let default = match verbose {
        0 if lists_shadowed(cli) => {
            "error,toolsmith=off,toolsmith::host=warn,toolsmith::host::shadowed=off"
        }
        0 => "error,toolsmith=off,toolsmith::host=warn",
        1 => "error,toolsmith=info",
        2 => "info,toolsmith=debug",
        _ => "trace",
    };
    let wanted = environment::log_filter();
    // What goes wrong with a server is told in our own words; below warnings it tells
    // arguments, results and authorization codes as they are.
    let is_quiet = verbose == 0 && wanted.is_none();
    let rmcp = match is_quiet {
        true => LevelFilter::OFF,
        false => LevelFilter::WARN,
    };
    let filter: Targets = wanted
        .as_deref()
        .unwrap_or(default)
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(Level::WARN));
    // Apart from what was asked for, which may name a part of it: the longer name would win.
    let everything = Targets::new().with_default(LevelFilter::TRACE);
    let filter = filter.and(everything.with_target("rmcp", rmcp));
    let stderr = fmt::layer()
        .with_writer(|| Hushed)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()));
    let stderr = match is_quiet {
        true => stderr.event_format(Plain).with_filter(filter).boxed(),
        false => stderr.with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(stderr).init();
}

/// Whether the command itself tells which tools others hide.
fn lists_shadowed(cli: &Cli) -> bool {
    match &cli.command {
        Command::Check { .. } => true,
        Command::Tools(tools) => tools.shadowed,
        _ => false,
    }
}

/// Events as warnings and errors are printed.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let mut text = String::new();
        context.format_fields(Writer::new(&mut text), event)?;
        let mark = match *event.metadata().level() {
            Level::ERROR => print::ERROR,
            _ => print::WARNING,
        };
        let mark = match writer.has_ansi_escapes() {
            true => mark.into(),
            false => anstream::adapter::strip_str(mark).to_string(),
        };
        writeln!(writer, "{mark} {}", clean(&text))
    }
}

/// What knows the secrets, from when they are known.
static TOOLBOX: OnceLock<Toolbox> = OnceLock::new();

/// Removes the secrets a toolbox knows from whatever is logged from now on: libraries log
/// what servers answer, which may be what they were sent.
pub(crate) fn without_secrets_of(toolbox: &Toolbox) {
    // There is one for each run of the program.
    let _ = TOOLBOX.set(toolbox.clone());
}

/// Standard error for a log, which writes each event at once.
struct Hushed;

impl Write for Hushed {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        match TOOLBOX.get() {
            Some(toolbox) => {
                let text = String::from_utf8_lossy(event);
                let text = toolbox.redactor().redact(&text);
                io::stderr().write_all(text.as_bytes())?;
            }
            None => io::stderr().write_all(event)?,
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
