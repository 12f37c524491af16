//! The commands, one file each.

mod batch;
mod call;
mod check;
mod connect;
mod show;
mod tools;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// Runs the command; gives the exit status.
pub(crate) async fn run(cli: Cli) -> Result<u8, Failure> {
    if let Command::Completions { shell } = &cli.command {
        // Into memory first: the generator panics when a pipe is closed on it.
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "toolsmith", &mut script);
        print::line(&String::from_utf8_lossy(&script))?;
        return Ok(0);
    }
    if let Command::Connect(connect) = &cli.command {
        // A client can be connected before the configuration is in order.
        return connect::run(&cli, connect);
    }
    let session = Session::open(&cli)?;
    if let Command::Call(_) | Command::Batch(_) = &cli.command {
        session.warn_of_rules();
    }
    match &cli.command {
        Command::Tools(tools) => tools::run(&session, tools, cli.json),
        Command::Show { name } => show::run(&session, name, cli.json).await,
        Command::Call(call) => call::run(&session, &cli, call).await,
        Command::Batch(batch) => batch::run(&session, &cli, batch).await,
        Command::Check { strict } => check::run(&session, *strict, cli.json),
        Command::Connect(_) | Command::Completions { .. } => Ok(0),
    }
}
