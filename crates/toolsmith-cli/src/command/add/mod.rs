//! `toolsmith add`: servers, requests and sets, each written as a file of the project.
//!
//! What each file says is made in [`mcp`], [`rest`] and [`set`]. Before it is written it
//! is loaded ([`Trial`]), and what would not load is not written.

mod mcp;
mod rest;
mod set;

use tokio::runtime::Handle;

use super::project::{self, free, place, schema_line, tell};
use super::trial::Trial;
use super::user_file::Privacy;
use crate::cli::{Add, Cli};
use crate::failure::Failure;

pub(crate) fn run(cli: &Cli, add: &Add, tools: &Handle) -> Result<u8, Failure> {
    match add {
        Add::Mcp(options) => mcp::run(cli, options, tools),
        Add::Rest(options) => rest::run(cli, options, tools),
        Add::Set(options) => set::run(cli, options, tools),
    }
}

/// A file that is to be written whole.
struct Fresh<'a> {
    /// The sort of file, as schemas are called.
    sort: &'a str,
    folder: &'a str,
    name: &'a str,
    /// What it says, without its first line.
    body: String,
    privacy: Privacy,
    force: bool,
    /// What is worth a word beside what loading it shows.
    warnings: Vec<String>,
    /// What to do next.
    next: String,
}

impl Fresh<'_> {
    fn write(self, cli: &Cli, tools: &Handle) -> Result<u8, Failure> {
        let trial = Trial::begin(cli, tools)?;
        let root = trial.root();
        let path = place(root, self.folder, self.name);
        let file = free(&path, self.force)?;
        let line = schema_line(root, &path, self.sort)?;
        let text = format!("{line}\n\n{}", self.body);
        let mut warnings = self.warnings;
        warnings.extend(trial.with(&path, &text)?);
        let mut written = project::write(root, self.sort, file, &text, self.privacy)?;
        written.warnings = warnings;
        tell(cli, &path, &written, &self.next)?;
        Ok(0)
    }
}
