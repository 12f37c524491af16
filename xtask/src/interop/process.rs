//! Foreign programs: every one has a deadline, and none outlives its check.
//!
//! A program runs in a process group of its own, so that ending it also ends what it
//! has started. Owns running, waiting and killing; what is run is said by the checks.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// How often a running program is looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// How long a program may take to end by itself when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// A program that came to its end.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Finished {
    /// Returns what the program wrote, or why it failed with the end of what it said about it.
    pub(super) fn successful(self) -> anyhow::Result<String> {
        if !self.status.success() {
            bail!("it ended with {}: {}", self.status, self.last_words());
        }
        Ok(self.stdout)
    }

    /// Returns the end of what the program said about itself.
    pub(super) fn last_words(&self) -> String {
        let is_silent = self.stderr.trim().is_empty();
        last_lines(if is_silent {
            &self.stdout
        } else {
            &self.stderr
        })
    }
}

/// Runs a program to its end, or kills it with all it has started when the time is up.
pub(super) fn finish(command: &mut Command, limit: Duration) -> anyhow::Result<Finished> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            end(&mut child);
            let said = stderr.recv_timeout(GRACE).unwrap_or_default();
            bail!(
                "{} was not done after {} s and was ended: {}",
                name_of(command),
                limit.as_secs(),
                last_lines(&said)
            );
        }
        thread::sleep(GLANCE);
    };
    // A grandchild may still hold the pipes; what it would say later is nobody's answer.
    Ok(Finished {
        status,
        stdout: stdout.recv_timeout(GRACE).unwrap_or_default(),
        stderr: stderr.recv_timeout(GRACE).unwrap_or_default(),
    })
}

/// A server in the background, ended when it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts a server; what it says on standard error goes to a file.
    pub(super) fn start(command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let file = File::create(log).with_context(|| format!("failed to write {log:?}"))?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file);
        let child = spawn(command)?;
        Ok(Self {
            child,
            log: log.to_path_buf(),
        })
    }

    /// Waits for a line on standard output that begins with `prefix` and returns the rest of it.
    pub(super) fn announced(&mut self, prefix: &str, limit: Duration) -> anyhow::Result<String> {
        let stdout = self
            .child
            .stdout
            .take()
            .context("standard output is taken")?;
        let (sender, lines) = mpsc::sync_channel(16);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Reading goes on when nobody listens any more, so that the pipe never fills.
                let _ = sender.send(line);
            }
        });
        let deadline = Instant::now() + limit;
        while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            if let Some(rest) = line.strip_prefix(prefix) {
                return Ok(rest.trim().to_owned());
            }
        }
        bail!("no line '{prefix}…' came: {}", self.said())
    }

    /// Waits until the address takes connections.
    pub(super) fn listens(&mut self, address: SocketAddr, limit: Duration) -> anyhow::Result<()> {
        drop(drain(self.child.stdout.take()));
        let deadline = Instant::now() + limit;
        while TcpStream::connect_timeout(&address, GLANCE).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended with {status}: {}", self.said());
            }
            if Instant::now() > deadline {
                bail!("nothing listens on {address}: {}", self.said());
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Returns the end of what the server said on standard error.
    fn said(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        last_lines(&text)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Returns a loopback address that was free a moment ago.
pub(super) fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no loopback port is free")?;
    Ok(listener.local_addr()?)
}

fn spawn(command: &mut Command) -> anyhow::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
        .spawn()
        .with_context(|| format!("failed to start {}", name_of(command)))
}

fn name_of(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Asks a program's group to end, then ends it, and collects the program.
fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(Some(_))) {
        // The leader is gone; whoever is left of its group goes too.
        signal(child, "-KILL");
        return;
    }
    signal(child, "-TERM");
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(GLANCE);
    }
    signal(child, "-KILL");
    // Where there is no `kill` program the leader is ended all the same.
    let _ = child.kill();
    let _ = child.wait();
}

fn signal(child: &Child, signal: &str) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill")
        .args([signal, "--", &group])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

fn drain(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    if let Some(mut stream) = stream {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        });
    }
    receiver
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(15);
    lines[from..].join("\n")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended_with_what_it_started() {
        let start = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "echo waiting >&2; sleep 600 & wait"]);
        let error = finish(&mut command, Duration::from_millis(300)).unwrap_err();
        assert!(error.to_string().contains("waiting"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_failure_tells_what_the_program_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo because >&2; exit 3"]);
        let finished = finish(&mut command, Duration::from_secs(30)).unwrap();
        let error = finished.successful().unwrap_err().to_string();
        assert!(
            error.contains("because") && error.contains("exit status: 3"),
            "{error}"
        );
    }

    #[test]
    fn a_server_is_known_by_the_line_it_prints() {
        let log = std::env::temp_dir().join(format!("xtask-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "echo hello; echo listening on here; sleep 600"]);
        let mut running = Running::start(&mut command, &log).unwrap();
        let line = running.announced("listening on ", Duration::from_secs(30));
        assert_eq!(line.unwrap(), "here");
        drop(running);
        std::fs::remove_file(log).unwrap();
    }
}
