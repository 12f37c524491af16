//! `toolsmith man`: the manual pages, made from what the commands say of themselves.

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::print;

pub(crate) fn run(command: Option<&str>) -> Result<u8, Failure> {
    let program = Cli::command();
    let page = match command {
        None => Man::new(program),
        Some(name) => {
            let Some(command) = program.find_subcommand(name) else {
                let name = print::visible(name);
                let failure = Failure::usage(format!("there is no command `{name}`"));
                return Err(failure.with_advice("see `toolsmith help`"));
            };
            // Pages of commands are called by both words, as everywhere.
            Man::new(command.clone()).title(format!("toolsmith-{name}"))
        }
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    print::line(&String::from_utf8_lossy(&text))?;
    Ok(0)
}
