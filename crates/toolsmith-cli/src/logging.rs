//! What is told on stderr beside the answers.

use std::io::{self, Write};
use std::sync::OnceLock;

use toolsmith_core::event::Redact as _;
use toolsmith_runtime::Toolbox;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::environment;

/// Starts the log: `TOOLSMITH_LOG` if it is set, else by the number of `-v`.
/// Without either, only what the host must know is told: a call's own end is
/// printed by its command.
pub(crate) fn start(verbose: u8) {
    let default = match verbose {
        0 => "error,toolsmith=off,toolsmith::host=warn",
        1 => "error,toolsmith=info",
        2 => "info,toolsmith=debug",
        _ => "trace",
    };
    let wanted = environment::log_filter();
    // What goes wrong with a server is told in our own words; below warnings it tells
    // arguments, results and authorization codes as they are.
    let rmcp = match verbose == 0 && wanted.is_none() {
        true => LevelFilter::OFF,
        false => LevelFilter::WARN,
    };
    let filter: Targets = wanted
        .as_deref()
        .unwrap_or(default)
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(tracing::Level::WARN));
    // Apart from what was asked for, which may name a part of it: the longer name would win.
    let everything = Targets::new().with_default(LevelFilter::TRACE);
    let filter = filter.and(everything.with_target("rmcp", rmcp));
    let stderr = fmt::layer()
        .with_writer(|| Hushed)
        .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
        .with_filter(filter);
    tracing_subscriber::registry().with(stderr).init();
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
