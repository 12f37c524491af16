//! `toolsmith`: every tool from the command line.
//!
//! This crate owns what the libraries must not touch: arguments, environment,
//! terminal, signals and exit statuses. Data goes to stdout, everything else to
//! stderr.

mod arguments;
#[cfg(target_os = "linux")]
mod built_in;
mod cli;
mod command;
mod environment;
mod failure;
mod lanes;
mod logging;
mod login;
mod print;
#[cfg(target_os = "linux")]
mod programs;
mod progress;
mod prompt;
mod session;
mod withheld;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use tokio::runtime::{Builder, Runtime};

use cli::Cli;
use failure::Failure;

// Messages are made by one thread and dropped by another, in many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First of all: each sandboxed child is this program once more, until it is confined.
    toolsmith_process::helper();
    if std::env::args_os().len() <= 1 {
        return command::start::tell();
    }
    let cli = Cli::parse();
    logging::start(&cli);
    quiet_panics();
    let (runtime, tools) = match runtimes() {
        Ok(runtimes) => runtimes,
        Err(error) => return Failure::usage(format!("cannot start: {error}")).report(),
    };
    let run = async {
        let _kept = survive_full_files();
        command::run(cli, tools.handle()).await
    };
    let done = catch_unwind(AssertUnwindSafe(|| runtime.block_on(run)));
    // A tool that cannot be stopped must not keep the program from ending.
    tools.shutdown_background();
    runtime.shutdown_background();
    match done {
        Ok(Ok(status)) => ExitCode::from(status),
        Ok(Err(failure)) => failure.report(),
        // No tool's panic gets this far; with the usual message silenced, somebody
        // must say that it was ours.
        Err(panic) => Failure::internal(&*panic).report(),
    }
}

/// A file that may not grow any further is an error of whoever writes it, and not the end of
/// the program: with somebody listening, the signal for it ends nothing. Programs that are
/// started do not inherit that.
#[cfg(unix)]
fn survive_full_files() -> Option<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};

    const SIGXFSZ: i32 = 25;
    signal(SignalKind::from_raw(SIGXFSZ)).ok()
}

#[cfg(not(unix))]
fn survive_full_files() {}

/// This thread speaks with whoever calls and with upstream servers: what goes back and
/// forth between its tasks need not wake another. Tools have two workers, enough for
/// calls that wait; blocking tools have threads of their own.
fn runtimes() -> io::Result<(Runtime, Runtime)> {
    let here = Builder::new_current_thread().enable_all().build()?;
    let mut tools = Builder::new_multi_thread();
    let tools = tools.worker_threads(2).enable_all().build()?;
    Ok((here, tools))
}

/// A tool's panic is part of its reply; the usual message and backtrace on top of
/// that only confuse. `-v` shows them.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        tracing::debug!(target: "toolsmith::host", "{panic}");
    }));
}
