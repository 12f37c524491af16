//! A program under measurement: started, watched through `/proc`, and ended.

use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::pipes::Pipes;

/// A running program; it ends with this value.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
}

impl Program {
    /// Starts a program that is spoken to over its standard streams.
    pub(crate) fn with_pipes(mut command: Command) -> io::Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = spawn(command)?;
        let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the program has no streams"));
        };
        Ok((Self { child }, Pipes::new(write, read)))
    }

    /// Starts a program that is spoken to over a socket.
    pub(crate) fn apart(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        spawn(command).map(|child| Self { child })
    }

    /// CPU time it took so far, all its threads together but not its children.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = self.proc_file("stat");
        // The name, in brackets, may hold anything; what follows it does not.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let ticks: u64 = after
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
    }

    /// Resident memory in megabytes.
    pub(crate) fn resident(&self) -> f64 {
        let status = self.proc_file("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    }

    /// How many descriptors it has open.
    pub(crate) fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    }

    fn proc_file(&self, name: &str) -> String {
        let file = format!("/proc/{}/{name}", self.child.id());
        std::fs::read_to_string(file).unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(mut command: Command) -> io::Result<Child> {
    let folder = empty_folder()?;
    let child = command
        // No configuration of the person who measures.
        .current_dir(&folder)
        .env("HOME", &folder)
        .env("XDG_CONFIG_HOME", &folder)
        .stderr(Stdio::null())
        .spawn();
    child.map_err(|error| {
        let program = command.get_program().display();
        io::Error::other(format!("cannot start {program}: {error}"))
    })
}

/// A folder without anything in it.
fn empty_folder() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("toolsmith-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A port nobody listens on now.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
