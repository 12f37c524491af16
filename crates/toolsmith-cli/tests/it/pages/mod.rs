//! Pages of the documentation that are done as they are written: what a page tells its reader
//! to write is written, what it tells them to run is run on a terminal, and what it shows must
//! be what is seen. `UPDATE_DOCS=1` writes what is seen into the page.
//!
//! A page begins in a fresh folder, `/home/me/project`, in one shell that lasts to its end, so
//! `cd` and variables last too. Its blocks are taken in order:
//!
//! - ```` ```console ```` is run. A line `$ command` is a command, directly following lines
//!   `> more` go on with it, and all lines up to the next command are what it shows. A status is
//!   shown by `$ echo $?`. A command that ends in ` &` is left to run until the page ends; of it
//!   the first lines are compared, as many as are shown.
//! - A block of any other language is text, unless `<!-- file: PATH -->` stands before it: then it
//!   is written to that file, whose path begins in the folder in which the page begins.
//! - `<!-- after "TEXT" type "ANSWER" -->` before a `console` block types an answer, and Enter, as
//!   soon as the text is seen; several answers are given one after the other.
//! - `<!-- not run -->` before a `console` block leaves it out. The page should say why.
//!
//! What is seen is compared whole. In what is shown, `…` stands for anything within its line, and
//! alone on a line for any lines, or none. Times such as `12 ms` or `0.3 s` fit each other.
//! The user's home is `/home/me`, and the folder of the program `/home/me/toolsmith/target/release`,
//! where a reader of the README has it; programs of `examples/` that the manifest names stand there
//! too. A port that [`Page::port`] names stands for another one.
//!
//! A new page is a new test: `page("docs/records.md").check()`, with whatever must be there
//! beforehand in between. This file puts the pieces together: `blocks` reads a page, `shell`
//! runs it, `compare` judges what is seen.

mod blocks;
mod compare;
mod runner;
mod shell;
mod tutorials;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use self::blocks::{Command, Step};
use self::compare::Judged;
use self::shell::{Beginning, Shell};

/// What stands for the user's home, and for the folder of the program.
const HOME: &str = "/home/me";
const PROGRAMS: &str = "/home/me/toolsmith/target/release";

/// Where the project is.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A page, and what its reader has before they begin.
pub(crate) struct Page {
    /// From the root of the project.
    name: String,
    home: TempDir,
    variables: Vec<(String, String)>,
    /// The port in the page, and the real one.
    ports: Vec<(u16, u16)>,
}

/// A page of this name, from the root of the project, and a reader who has nothing.
pub(crate) fn page(name: &str) -> Page {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("project")).unwrap();
    Page {
        name: name.to_owned(),
        home,
        variables: Vec::new(),
        ports: Vec::new(),
    }
}

impl Page {
    /// Sets a variable for all commands.
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Puts a file into the folder in which the page begins.
    pub(crate) fn having(self, file: &str, content: impl AsRef<[u8]>) -> Self {
        put(&self.project(), file, content.as_ref());
        self
    }

    /// Puts a program of `examples/` where the page has it built. The manifest must name it.
    pub(crate) fn having_program(self, file: &str, name: &str) -> Self {
        let program = programs().join("examples").join(name);
        assert!(program.is_file(), "cargo test --examples builds {name}");
        let link = self.project().join(file);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(program, link).unwrap();
        self
    }

    /// Lets `:PORT` in commands, files and outputs of the page stand for another port, such as
    /// that of a server of the test, or one that is [free](free_port).
    pub(crate) fn port(mut self, shown: u16, real: u16) -> Self {
        self.ports.push((shown, real));
        self
    }

    /// The page as it stands.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Does all that the page says, and compares.
    #[track_caller]
    pub(crate) fn check(self) {
        let run = self.run(&self.text());
        if is_update() {
            fs::write(self.file(), run.page).unwrap();
        } else {
            let wrong = run.wrong.join("\n");
            assert!(
                wrong.is_empty(),
                "{wrong}\nUPDATE_DOCS=1 writes what is seen."
            );
        }
    }

    /// Does what a text says.
    fn run(&self, text: &str) -> Run {
        let steps = match blocks::read(text) {
            Ok(steps) => steps,
            Err((line, problem)) => panic!("{}:{line}: {problem}", self.name),
        };
        let mut shell = Shell::start(&self.project(), self.environment());
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut wrong = Vec::new();
        // Where lines were exchanged, those that follow have another place.
        let (mut more, mut fewer) = (0, 0);
        for step in steps {
            match step {
                Step::File { path, content } => {
                    put(&self.project(), &path, self.real(&content).as_bytes());
                }
                Step::Run(command) => {
                    let seen = self.seen(&mut shell, &command);
                    let Judged::Other { update, difference } =
                        compare::judge(&command.shown, &seen)
                    else {
                        continue;
                    };
                    let Command { line, text, .. } = &command;
                    wrong.push(format!(
                        "{}:{line}: `{text}` shows\n{difference}",
                        self.name
                    ));
                    let begin = command.output.start + more - fewer;
                    let end = command.output.end + more - fewer;
                    more += update.len();
                    fewer += command.output.len();
                    lines.splice(begin..end, update);
                }
            }
        }
        shell.end();
        let page = lines.join("\n") + "\n";
        Run { wrong, page }
    }

    /// The lines a command shows, in the words of the page.
    fn seen(&self, shell: &mut Shell, command: &Command) -> Vec<String> {
        let text = self.real(&command.text);
        let beginning = match is_update() {
            true => Beginning::UntilSilent,
            false => Beginning::Lines(command.shown.len()),
        };
        let seen = match text.strip_suffix(" &") {
            Some(text) => shell.begin(text, beginning),
            None => shell.run(&text, &command.answers),
        };
        let seen = seen.unwrap_or_else(|problem| {
            panic!("{}:{}: `{text}` {problem}", self.name, command.line);
        });
        let seen = self.neutral(&seen);
        seen.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    fn file(&self) -> PathBuf {
        Path::new(CHECKOUT).join(&self.name)
    }

    /// The folder in which the page begins.
    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// All variables of the shell.
    fn environment(&self) -> Vec<(String, String)> {
        let programs = programs();
        let examples = programs.join("examples");
        let path = format!(
            "{}:{}:/usr/local/bin:/usr/bin:/bin",
            programs.display(),
            examples.display()
        );
        let own = [
            ("HOME", self.home.path().display().to_string()),
            ("PATH", path),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("NO_COLOR", "1".to_owned()),
            ("TERM", "xterm".to_owned()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        own.into_iter().chain(self.variables.clone()).collect()
    }

    /// What the page says, as it is done here.
    fn real(&self, text: &str) -> String {
        self.ports
            .iter()
            .fold(text.to_owned(), |text, (shown, real)| {
                text.replace(&format!(":{shown}"), &format!(":{real}"))
            })
    }

    /// What is seen here, as the page says it.
    fn neutral(&self, text: &str) -> String {
        let programs = programs();
        let text = text
            .replace(&programs.join("examples").display().to_string(), PROGRAMS)
            .replace(&programs.display().to_string(), PROGRAMS)
            .replace(&self.home.path().display().to_string(), HOME);
        self.ports.iter().fold(text, |text, (shown, real)| {
            text.replace(&format!(":{real}"), &format!(":{shown}"))
        })
    }
}

/// What came of a page.
struct Run {
    /// What is not as it is shown, each with its place.
    wrong: Vec<String>,
    /// The page with what was seen.
    page: String,
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// The folder of the program.
fn programs() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_toolsmith"));
    program.parent().unwrap().to_owned()
}

/// Writes a file, with the folders it is in.
fn put(folder: &Path, file: &str, content: &[u8]) {
    let file = folder.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, content).unwrap();
}

/// A port that nobody listens on. It is none of those that systems give to whoever asks for
/// any, so that no other test comes by it meanwhile.
pub(crate) fn free_port() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 6_000).unwrap();
    let free = (first..32_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("a port is free")
}
