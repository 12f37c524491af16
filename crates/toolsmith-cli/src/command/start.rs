//! What a newcomer is told who calls the program by its name alone.

use std::process::ExitCode;

use crate::failure::USAGE;
use crate::print;

const NEXT: &str = "\
toolsmith: one door between a model and every tool it may use

See what there is, and try it:
  toolsmith tools
  toolsmith call read file_path=README.md limit=20
  toolsmith guide grep

Let a model use it:
  toolsmith ask \"What does this project do?\" --model ollama/qwen3
  toolsmith connect claude-code            for this and other agents: toolsmith connect --help
  toolsmith serve                          for any MCP client, over HTTP

Make it yours:
  toolsmith init                           configuration and a first tool of your own
  toolsmith doctor                         what works here, and what to do where it does not

All commands: toolsmith --help. One of them: toolsmith ask --help, or toolsmith man ask.";

/// Tells it. Scripts that forgot the command learn from the status that nothing was done.
pub(crate) fn tell() -> ExitCode {
    print::note(NEXT);
    ExitCode::from(USAGE)
}
