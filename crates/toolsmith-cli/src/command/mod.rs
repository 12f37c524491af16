//! The commands, one file each.

mod add;
mod approvals;
mod ask;
mod batch;
mod call;
mod check;
mod connect;
mod conversations;
mod declare;
mod doctor;
mod guide;
mod import;
mod init;
mod log;
mod login;
mod man;
mod offers;
mod parse;
mod pins;
mod project;
mod prompt;
mod schema;
mod serve;
mod servers;
mod sets;
mod show;
pub(crate) mod start;
mod tools;
mod trial;
mod user_file;
mod watch;

use clap::CommandFactory;
use tokio::runtime::Handle;
use toolsmith_mcp::client::Questions;

use crate::cli::{Cli, Command, PinsCommand};
use crate::failure::Failure;
use crate::print;
use crate::session::{Reached, Session, Which};

/// The tool that explains the others.
const GUIDE: &str = "get_tool_usage_guide";

/// Runs the command, with its tools on the runtime given; gives the exit status.
pub(crate) async fn run(cli: Cli, tools: &Handle) -> Result<u8, Failure> {
    check_tape(&cli)?;
    if let Command::Completions { shell } = &cli.command {
        // Into memory first: the generator panics when a pipe is closed on it.
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "toolsmith", &mut script);
        print::line(&String::from_utf8_lossy(&script))?;
        return Ok(0);
    }
    if let Command::Man { command } = &cli.command {
        return man::run(command);
    }
    if let Command::Schema { file } = &cli.command {
        return schema::run(file.as_deref(), cli.json);
    }
    if let Command::Connect(connect) = &cli.command {
        // A client can be connected before the configuration is in order.
        return connect::run(&cli, connect);
    }
    match &cli.command {
        Command::Init => return init::run(&cli),
        // What was recorded can be read before the configuration is in order.
        Command::Log(log) => return log::run(&cli, log).await,
        Command::Conversations(options) => return conversations::run(&cli, options),
        Command::Add(add) => return add::run(&cli, add, tools),
        Command::Import(import) => return import::run(&cli, import, tools).await,
        _ => {}
    }
    let questions = match &cli.command {
        Command::Serve(_) => Questions::ALL,
        // There is nobody here to ask but for approval.
        _ => Questions::NONE,
    };
    // Before the files are read, so that they are checked as they count from now on.
    if let Command::Check { accept: true, .. } = &cli.command {
        check::accept(&cli)?;
    }
    let session = Session::open(&cli, questions, tools)?;
    let done = run_session(&session, &cli).await;
    session.close().await;
    done
}

/// The commands that need a toolbox.
async fn run_session(session: &Session, cli: &Cli) -> Result<u8, Failure> {
    if let Command::Serve(options) = &cli.command {
        return serve::run(session, cli, options).await;
    }
    if let Command::Doctor = &cli.command {
        return doctor::run(session, cli.json).await;
    }
    if let Command::Servers(servers) = &cli.command
        && let Some(name) = &servers.login
    {
        return login::run(session, name).await;
    }
    if let Command::Pins(pins) = &cli.command
        && let Some(PinsCommand::Forget(chosen)) = &pins.what
    {
        return pins::forget(session, chosen);
    }
    if let Command::Approvals(options) = &cli.command {
        return approvals::run(session, options, cli.json);
    }
    let which = match &cli.command {
        Command::Check { .. } => None,
        Command::Show { name } => Some(Which::Of(name)),
        // The guide speaks of all tools.
        Command::Call(call) if call.name.ends_with(GUIDE) => Some(Which::All),
        Command::Call(call) => Some(Which::Of(&call.name)),
        _ => Some(Which::All),
    };
    let reached = match which {
        Some(which) => Some(session.reached(which).await),
        None => None,
    };
    if let Command::Ask(_) | Command::Call(_) | Command::Batch(_) = &cli.command {
        session.warn_of_rules();
    }
    if !matches!(cli.command, Command::Pins(_)) {
        session.warn_of_withheld();
    }
    let done = run_here(session, cli, reached.as_ref()).await;
    if let Some(reached) = reached {
        reached.upstreams.stop().await;
    }
    done
}

/// Refuses a tape where nothing would be recorded or played.
fn check_tape(cli: &Cli) -> Result<(), Failure> {
    use Command::{
        Ask, Batch, Call, Check, Declare, Guide, Parse, Prompt, Serve, Sets, Show, Tools,
    };
    let makes_calls = matches!(cli.command, Ask(_) | Call(_) | Batch(_) | Serve(_));
    if cli.record.is_some() && !makes_calls {
        return Err(Failure::usage(
            "--record goes with ask, call, batch and serve",
        ));
    }
    let has_tools = matches!(
        cli.command,
        Tools(_) | Show { .. } | Guide(_) | Declare(_) | Parse(_) | Prompt(_) | Sets | Check { .. }
    );
    if cli.replay.is_some() && !makes_calls && !has_tools {
        let message = "--replay goes with ask, call, batch, serve, tools, show, guide, declare, parse, prompt, \
                       sets and check";
        return Err(Failure::usage(message));
    }
    Ok(())
}

/// The commands that need nothing but the toolbox and what was reached.
async fn run_here(session: &Session, cli: &Cli, reached: Option<&Reached>) -> Result<u8, Failure> {
    let upstreams = reached.map(|reached| &reached.upstreams);
    match &cli.command {
        Command::Tools(tools) => tools::run(session, tools, cli.json),
        Command::Servers(_) => servers::run(session, upstreams, cli.json),
        Command::Pins(pins) => match reached {
            Some(reached) => pins::run(session, pins, reached, cli.json),
            None => Ok(0),
        },
        Command::Sets => sets::run(session, cli.json),
        Command::Show { name } => show::run(session, name, cli.json).await,
        Command::Call(call) => call::run(session, cli, call).await,
        Command::Batch(batch) => batch::run(session, cli, batch).await,
        Command::Ask(ask) => ask::run(session, cli, ask).await,
        Command::Guide(guide) => guide::run(session, guide, cli.json).await,
        Command::Declare(declare) => declare::run(session, declare, cli.json),
        Command::Parse(parse) => parse::run(session, parse),
        Command::Prompt(prompt) => prompt::run(session, prompt, cli.json),
        Command::Check { strict, .. } => check::run(session, *strict, cli.json),
        Command::Serve(_)
        | Command::Log(_)
        | Command::Conversations(_)
        | Command::Doctor
        | Command::Init
        | Command::Approvals(_)
        | Command::Add(_)
        | Command::Import(_)
        | Command::Connect(_)
        | Command::Schema { .. }
        | Command::Man { .. }
        | Command::Completions { .. } => Ok(0),
    }
}
