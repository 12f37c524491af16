//! What a person at a terminal sees, on a real pseudo-terminal.
//!
//! The binary must have it for its controlling terminal, which takes a session of its
//! own: the test runs itself once more as [`child`], which opens the terminal as the
//! first of its session and then becomes the binary.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{User, user};

/// Where [`child`] finds the terminal, and the words of the command line.
const TERMINAL: &str = "TOOLSMITH_TEST_TERMINAL";
const WORDS: &str = "TOOLSMITH_TEST_WORDS";

/// No test by itself: what the tests of this file run to give the binary a terminal.
#[test]
fn child() {
    let (Some(terminal), Ok(words)) = (std::env::var_os(TERMINAL), std::env::var(WORDS)) else {
        return;
    };
    rustix::process::setsid().unwrap();
    let open = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(&terminal)
            .unwrap()
    };
    let stdin = open();
    rustix::process::ioctl_tiocsctty(&stdin).unwrap();
    let error = Command::new(env!("CARGO_BIN_EXE_toolsmith"))
        .args(words.split('\n'))
        .env_remove(TERMINAL)
        .env_remove(WORDS)
        .env("TERM", "xterm")
        .stdin(stdin)
        .stdout(open())
        .stderr(open())
        .exec();
    panic!("{error}");
}

pub(crate) struct Terminal {
    screen: File,
    seen: String,
    child: Child,
    // Keeps the terminal alive until the child has opened it.
    _line: File,
}

impl Terminal {
    pub(crate) fn start(user: &User, words: &[&str]) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            OpenptFlags::NOCTTY.bits().cast_signed(),
        );
        let line = options.open(&name).unwrap();
        // The environment is the one the binary gets; the test's own options apart.
        let plain = user.command(words);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "terminal::child", "--nocapture", "--quiet"])
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env(TERMINAL, name)
            .env(WORDS, words.join("\n"))
            .current_dir(user.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        Self {
            screen: File::from(screen),
            seen: String::new(),
            child,
            _line: line,
        }
    }

    /// Reads until the screen shows a text.
    pub(crate) fn shows(&mut self, text: &str) {
        self.shows_times(text, 1);
    }

    /// Reads until the screen has shown a text so often.
    pub(crate) fn shows_times(&mut self, text: &str, times: usize) {
        let mut buffer = [0; 4096];
        while self.seen.matches(text).count() < times {
            let read = match self.screen.read(&mut buffer) {
                Ok(read) => read,
                // The other side is closed.
                Err(error) if error.raw_os_error() == Some(5) => 0,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => panic!("{error}"),
            };
            assert_ne!(read, 0, "{text:?} never came; seen: {}", self.seen);
            self.seen
                .push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }

    /// Lets it end; gives the status and all that was seen.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap().code();
        let mark = "\u{0}end";
        // What is still in the line is read up to a mark of our own.
        self._line.write_all(mark.as_bytes()).unwrap();
        self.shows(mark);
        (status, self.seen.replace(mark, "").replace("\r\n", "\n"))
    }
}

const DELETE: [&str; 4] = ["call", "example_delete", "name=x", "consent=DELETE_EXAMPLE"];

#[test]
fn a_person_is_asked_with_all_they_must_know() {
    let somebody = user();
    let mut terminal = Terminal::start(&somebody, &DELETE);
    terminal.shows("Allow it? [y]es, [n]o, always in this [r]un or [p]roject: ");
    assert_eq!(
        terminal.seen.replace("\r\n", "\n"),
        "\nexample_delete (write): example_delete(name=\"x\", consent=\"DELETE_EXAMPLE\")\n\
         {\n  \"name\": \"x\",\n  \"consent\": \"DELETE_EXAMPLE\"\n}\n\
         Asked because it writes, which must be asked for.\n\
         Allow it? [y]es, [n]o, always in this [r]un or [p]roject: "
    );
    terminal.types("y\n");
    terminal.shows("deleted x");
    let (status, _) = terminal.ends();
    assert_eq!(status, Some(0));
}

#[test]
fn anything_but_yes_is_no() {
    for answer in ["n\n", "\n", "maybe\n", "yess\n", "\u{4}"] {
        let somebody = user();
        let mut terminal = Terminal::start(&somebody, &DELETE);
        terminal.shows("Allow it? [y]es, [n]o, always in this [r]un or [p]roject: ");
        terminal.types(answer);
        let (status, seen) = terminal.ends();
        assert_eq!(status, Some(3), "{answer:?} {seen}");
        assert!(
            seen.contains("not allowed by user: the user said no"),
            "{answer:?} {seen}"
        );
        assert!(!seen.contains("deleted"), "{answer:?} {seen}");
    }
}

#[test]
fn a_batch_is_asked_once_and_all_means_all_of_them() {
    let line = "{\"name\":\"example_delete\",\"arguments\":{\"name\":\"x\",\"consent\":\"DELETE_EXAMPLE\"}}\n";
    let user = user().having("calls", line.repeat(3));
    let mut terminal = Terminal::start(&user, &["batch", "calls", "--as", "envelope"]);
    terminal.shows("Allow it? [y]es, [n]o, [a]ll of them, always in this [r]un or [p]roject: ");
    terminal.types("n\n");
    terminal.shows_times(
        "Allow it? [y]es, [n]o, [a]ll of them, always in this [r]un or [p]roject: ",
        2,
    );
    terminal.types("a\n");
    terminal.shows("3 calls, 1 failed, ");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(1), "{seen}");
    assert_eq!(seen.matches("\"value\":\"deleted x\"").count(), 2, "{seen}");
}

/// What a model wrote must not rewrite the question about it.
#[test]
fn arguments_cannot_steer_the_terminal_they_are_judged_on() {
    let name = "name=x\u{1b}[2J\u{1b}[31m\u{202e}evil\u{9b}5m\u{7}";
    let somebody = user();
    let mut terminal = Terminal::start(
        &somebody,
        &["call", "example_delete", name, "consent=DELETE_EXAMPLE"],
    );
    terminal.shows("Allow it? [y]es, [n]o, always in this [r]un or [p]roject: ");
    let seen = terminal.seen.clone();
    for steering in ['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}'] {
        assert!(!seen.contains(steering), "{seen:?}");
    }
    // Removed, it would still be in what runs.
    let shown = r#""name": "x\u001b[2J\u001b[31m\u{202e}evil\u{9b}5m\u0007""#;
    assert!(seen.contains(shown), "{seen:?}");
    assert_eq!(seen.matches(r"\u{202e}evil").count(), 2, "{seen:?}");
    terminal.types("n\n");
    assert_eq!(terminal.ends().0, Some(3));
}

#[test]
fn nobody_is_asked_where_the_answer_is_known() {
    for (option, status) in [
        ("--yes", 0),
        ("--mode=auto", 0),
        ("--deny=*", 3),
        ("--mode=plan", 3),
    ] {
        let user = user();
        let terminal = Terminal::start(&user, &[&DELETE[..], &[option]].concat());
        let (ended, seen) = terminal.ends();
        assert_eq!(ended, Some(status), "{option} {seen}");
        assert!(!seen.contains("Allow it?"), "{option} {seen}");
    }
}

#[test]
fn a_terminal_gets_colour_indented_json_and_a_bar() {
    let somebody = user();
    let terminal = Terminal::start(&somebody, &["call", "example_fail", "message=x"]);
    let (_, seen) = terminal.ends();
    assert!(
        seen.contains("\u{1b}[1;31merror:\u{1b}[0m execution_failed: x"),
        "{seen:?}"
    );
    let terminal = Terminal::start(
        &somebody,
        &["call", "example_add", "a=1", "b=2", "--as", "envelope"],
    );
    let (_, seen) = terminal.ends();
    assert_eq!(seen, "{\n  \"success\": true,\n  \"value\": 3\n}\n");
    let terminal = Terminal::start(&somebody, &["call", "example_progress", "steps=5"]);
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(0));
    assert!(seen.contains(" % step "), "{seen:?}");
    assert!(seen.ends_with("took 5 steps\n"), "{seen:?}");
}

/// Without a terminal colours are taken out of messages anyway; on one they are not.
#[test]
fn names_in_messages_cannot_steer_the_terminal() {
    let somebody = user();
    let terminal = Terminal::start(&somebody, &["--root", "\u{1b}[2Jred", "tools"]);
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(2));
    assert_eq!(
        seen,
        "\u{1b}[1;31merror:\u{1b}[0m --root red: there is no such folder\n"
    );
}
