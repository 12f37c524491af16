//! One shell on a real terminal, as a reader has it before them.
//!
//! It must have the terminal for its controlling one, which takes a session of its own: the
//! test runs itself once more as [`child`], which opens the terminal as the first of its
//! session and then becomes the shell. Commands come to the shell through a pipe, and each
//! has the terminal; a mark on the terminal tells that one has ended.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

use super::blocks::Answer;
use crate::client::LONG;

/// Where [`child`] finds the terminal.
const TERMINAL: &str = "TOOLSMITH_PAGE_TERMINAL";

/// No program writes this character.
const MARK: char = '\u{1e}';

/// How long a program that goes on may be silent before it is taken to have said all that it
/// says first. It counts only where a page is written anew.
const SILENCE: Duration = Duration::from_secs(5);

/// How much of a program that goes on is wanted.
#[derive(Clone, Copy)]
pub(super) enum Beginning {
    Lines(usize),
    UntilSilent,
}

/// No test by itself: what becomes the shell.
#[test]
fn child() {
    let Some(terminal) = std::env::var_os(TERMINAL) else {
        return;
    };
    rustix::process::setsid().unwrap();
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let stdout = options.open(&terminal).unwrap();
    let stderr = stdout.try_clone().unwrap();
    rustix::process::ioctl_tiocsctty(&stdout).unwrap();
    let error = Command::new("/bin/sh")
        .env_remove(TERMINAL)
        .stdout(stdout)
        .stderr(stderr)
        .exec();
    panic!("{error}");
}

/// A shell that runs.
pub(super) struct Shell {
    child: Child,
    script: ChildStdin,
    screen: File,
    /// Pieces of what is written to the terminal.
    written: Receiver<Vec<u8>>,
    /// What programs that go on have written, a file each.
    logs: TempDir,
    commands: usize,
    // Keeps the terminal alive until the child has opened it.
    _line: File,
}

impl Shell {
    pub(super) fn start(folder: &Path, environment: Vec<(String, String)>) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let size = Winsize {
            ws_row: 40,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&screen, size).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let line = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OpenptFlags::NOCTTY.bits().cast_signed())
            .open(&name)
            .unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pages::shell::child", "--nocapture", "--quiet"])
            .env_clear()
            .envs(environment)
            .env(TERMINAL, name)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let script = child.stdin.take().unwrap();
        let screen = File::from(screen);
        let mut reader = screen.try_clone().unwrap();
        let (tell, written) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error says that nobody has the terminal any more.
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if tell.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            script,
            screen,
            written,
            logs: tempfile::tempdir().unwrap(),
            commands: 0,
            _line: line,
        }
    }

    /// Runs a command to its end; gives what was seen.
    pub(super) fn run(&mut self, command: &str, answers: &[Answer]) -> Result<String, String> {
        // The status of one command is there for the next.
        self.feed(&format!(
            "(exit $page_status)\n{{ {command}\n}} </dev/tty\npage_status=$?\n"
        ));
        let mark = self.mark();
        let (mut bytes, mut answered) = (Vec::new(), 0);
        let mut answers = answers.iter().peekable();
        while !bytes.ends_with(mark.as_bytes()) {
            bytes.extend(self.next(&bytes)?);
            let seen = String::from_utf8_lossy(&bytes[answered..]);
            if let Some(answer) = answers.next_if(|answer| seen.contains(&answer.after)) {
                answered = bytes.len();
                let typed = format!("{}\n", answer.typed);
                self.screen.write_all(typed.as_bytes()).unwrap();
            }
        }
        let seen = String::from_utf8_lossy(&bytes[..bytes.len() - mark.len()]);
        Ok(seen.replace("\r\n", "\n"))
    }

    /// Starts a command that goes on; gives what it says first.
    pub(super) fn begin(&mut self, command: &str, wanted: Beginning) -> Result<String, String> {
        let log = self.logs.path().join(self.commands.to_string());
        let file = log.display();
        self.feed(&format!(
            "{command} >{file} 2>&1 &\npage_jobs=\"$page_jobs $!\" page_status=0\n"
        ));
        let mark = self.mark();
        let mut bytes = Vec::new();
        while !bytes.ends_with(mark.as_bytes()) {
            bytes.extend(self.next(&bytes)?);
        }
        Ok(first_lines(&log, wanted))
    }

    /// Ends all that goes on, and the shell.
    pub(super) fn end(mut self) {
        self.feed("[ -z \"$page_jobs\" ] || kill $page_jobs\nwait\n");
        let mark = self.mark();
        let mut bytes = Vec::new();
        while !bytes.ends_with(mark.as_bytes()) {
            match self.next(&bytes) {
                Ok(more) => bytes.extend(more),
                Err(problem) => panic!("what the page started {problem}"),
            }
        }
    }

    fn feed(&mut self, script: &str) {
        // A shell that has ended is noticed by what is not seen.
        let _ = self.script.write_all(script.as_bytes());
    }

    /// Has the end of what was fed marked on the terminal.
    fn mark(&mut self) -> String {
        self.commands += 1;
        let number = self.commands;
        self.feed(&format!("printf '\\036%s\\036' {number}\n"));
        format!("{MARK}{number}{MARK}")
    }

    /// The next that is written.
    fn next(&self, seen: &[u8]) -> Result<Vec<u8>, String> {
        self.written.recv_timeout(LONG).map_err(|error| {
            let seen = String::from_utf8_lossy(seen);
            match error {
                RecvTimeoutError::Timeout => format!("does not end; seen: {seen}"),
                RecvTimeoutError::Disconnected => format!("ended the shell; seen: {seen}"),
            }
        })
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // The session and all that is left in it.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program that goes on says first; less of it where it does not say as much for long.
fn first_lines(log: &Path, wanted: Beginning) -> String {
    let (lines, patience) = match wanted {
        Beginning::Lines(lines) => (lines, LONG),
        Beginning::UntilSilent => (usize::MAX, SILENCE),
    };
    let (mut seen, mut since) = (String::new(), Instant::now());
    while seen.matches('\n').count() < lines && since.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(10));
        let now = fs::read_to_string(log).unwrap_or_default();
        if now.len() > seen.len() {
            (seen, since) = (now, Instant::now());
        }
    }
    seen.split_inclusive('\n').take(lines).collect()
}
