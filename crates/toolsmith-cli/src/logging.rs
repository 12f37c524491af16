//! What is told on stderr beside the answers.

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
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
    let filter: Targets = wanted
        .as_deref()
        .unwrap_or(default)
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(tracing::Level::WARN))
        // Below this it tells arguments, results and authorization codes as they are.
        .with_target("rmcp", tracing::Level::WARN);
    let stderr = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_filter(filter);
    tracing_subscriber::registry().with(stderr).init();
}
