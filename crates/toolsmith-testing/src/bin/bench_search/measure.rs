//! One process from its start to its end: what it cost and what it wrote.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use wait4::Wait4 as _;

/// What a process cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Milliseconds of CPU, in the process and in the kernel for it.
    pub(crate) cpu: f64,
    /// Megabytes it held at most, and no less than this process held when it started the
    /// other: until the new program is loaded, the child is a copy of its parent.
    pub(crate) memory: f64,
}

/// Runs a command in a folder and returns what it cost and wrote.
pub(crate) fn run(mut command: Command, home: &Path) -> io::Result<(Cost, String)> {
    // Into a file: a pipe would make it wait for whoever reads.
    let path = home.join("output.txt");
    let empty = home.join("empty");
    std::fs::create_dir_all(&empty)?;
    let program = command.get_program().display().to_string();
    let child = command
        // No configuration of the person who measures.
        .env("HOME", &empty)
        .env("XDG_CONFIG_HOME", &empty)
        .stdin(Stdio::null())
        .stdout(File::create(&path)?)
        .stderr(Stdio::null())
        .spawn();
    let mut child =
        child.map_err(|error| io::Error::other(format!("cannot start {program}: {error}")))?;
    let end = child.wait4()?;
    if !end.status.success() {
        let said: String = std::fs::read_to_string(&path)?.chars().take(300).collect();
        return Err(io::Error::other(format!(
            "{program} ended with {}: {said}",
            end.status
        )));
    }
    let cost = Cost {
        cpu: (end.rusage.utime + end.rusage.stime).as_secs_f64() * 1e3,
        memory: end.rusage.maxrss as f64 / (1024.0 * 1024.0),
    };
    Ok((cost, std::fs::read_to_string(&path)?))
}

/// The command by which this program makes one call of a tool.
pub(crate) fn call(folder: &Path, tool: &str, arguments: &Value) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("call")
        .arg(folder)
        .args([tool, &arguments.to_string()]);
    Ok(command)
}
