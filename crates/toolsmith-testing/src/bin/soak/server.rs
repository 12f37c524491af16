//! A server under load: started, looked at through `/proc`, and ended as a terminal would.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// How long a server may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server; it ends with this value.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    port: u16,
    token: PathBuf,
}

/// Where a server over HTTP is reached, and with what.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What a server takes while nothing is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Megabytes of resident memory.
    resident: f64,
    descriptors: usize,
    threads: usize,
}

impl Server {
    /// Starts a server on standard streams.
    pub(crate) fn with_pipes(
        program: &str,
        place: &Place,
    ) -> io::Result<(Self, (ChildStdin, ChildStdout))> {
        let mut command = command(program, place);
        command.args(["serve", "--stdio"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the server has no streams"));
        };
        let token = place.token();
        let server = Self {
            child,
            port: 0,
            token,
        };
        Ok((server, (write, read)))
    }

    /// Starts a server over HTTP.
    pub(crate) fn listening(program: &str, place: &Place) -> io::Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut command = command(program, place);
        command.args([
            "serve",
            "--http",
            &format!("127.0.0.1:{port}"),
            "--token-file",
        ]);
        command.arg(place.token());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn()?;
        let token = place.token();
        Ok(Self { child, port, token })
    }

    /// Where it is reached, once it has written its token.
    pub(crate) fn door(&self) -> io::Result<Door> {
        let start = Instant::now();
        loop {
            match fs::read_to_string(&self.token) {
                Ok(token) if !token.trim().is_empty() => {
                    let token = token.trim().to_owned();
                    return Ok(Door {
                        port: self.port,
                        token,
                    });
                }
                Err(error) if start.elapsed() > PATIENCE => return Err(error),
                Ok(_) if start.elapsed() > PATIENCE => {
                    return Err(io::Error::other("the server's token stays empty"));
                }
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// What it takes now.
    pub(crate) fn figures(&self) -> Figures {
        let process = PathBuf::from(format!("/proc/{}", self.child.id()));
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let kilobytes = status.lines().find_map(|line| {
            let figure = line.strip_prefix("VmRSS:")?.split_whitespace().next()?;
            figure.parse::<f64>().ok()
        });
        let count = |folder: &str| fs::read_dir(process.join(folder)).map_or(0, Iterator::count);
        Figures {
            resident: kilobytes.unwrap_or(f64::NAN) / 1024.0,
            descriptors: count("fd"),
            threads: count("task"),
        }
    }

    /// Asks it to end, and tells whether it did so well.
    pub(crate) fn end(mut self) -> bool {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Ok(Some(status)) = self.child.try_wait() {
                let is_well = status.code() == Some(0) || status.code() == Some(130);
                println!("a server ended with {status}");
                return is_well || status.code() == Some(143);
            }
            thread::sleep(Duration::from_millis(20));
        }
        println!("NOT flat: a server did not end within {PATIENCE:?}");
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Figures {
    /// Prints what it takes beside what it took, and tells whether that is no more.
    pub(crate) fn judged(self, server: &str, before: Self) -> bool {
        let ratio = self.resident / before.resident;
        let most = before.resident.mul_add(1.3, 8.0);
        let is_flat = self.resident <= most && self.descriptors <= before.descriptors + 8;
        println!(
            "{server:5}  memory {:.1} MB, before {:.1} MB: {ratio:.2} × (at most {most:.1} MB)  \
             descriptors {}, before {}  threads {}, before {}: {}",
            self.resident,
            before.resident,
            self.descriptors,
            before.descriptors,
            self.threads,
            before.threads,
            if is_flat { "flat" } else { "NOT flat" },
        );
        is_flat
    }
}

fn command(program: &str, place: &Place) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(place.work())
        .env("HOME", place.home())
        .env("XDG_CONFIG_HOME", place.home())
        .env("XDG_STATE_HOME", place.home())
        .env("MCP_INCLUDE_EXAMPLE_TOOLS", "true")
        .env("TOOLSMITH_SOAK", place.mark())
        .stderr(Stdio::null());
    command
}
