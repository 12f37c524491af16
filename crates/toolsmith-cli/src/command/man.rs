//! `toolsmith man`: the manual pages, made from what the commands say of themselves.

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::print;

pub(crate) fn run(words: &[String]) -> Result<u8, Failure> {
    let mut command = &mut Cli::command();
    // Only then do commands know what they are called in whole.
    command.build();
    for word in words {
        let Some(inner) = command.find_subcommand_mut(word) else {
            let words = print::visible(&words.join(" "));
            let failure = Failure::usage(format!("there is no command `{words}`"));
            return Err(failure.with_advice("see `toolsmith help`"));
        };
        command = inner;
    }
    let mut text = Vec::new();
    // Only the first command knows its version.
    let source = concat!("toolsmith ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).render(&mut text)?;
    // What ends a help text are examples, and in a manual they have a section of that name.
    let text = String::from_utf8_lossy(&text);
    print::line(&text.replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n", 1))?;
    Ok(0)
}
