//! Who is measured: command lines from the environment, and how each is spoken to.

use std::fmt;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::http::Http;
use crate::load::Load;
use crate::message::{Era, Request};
use crate::pipes::Pipes;
use crate::program::{Program, free_port};

/// Stands in a command line for the port to listen on.
const PORT: &str = "PORT";

/// How a program is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

impl Transport {
    pub(crate) const BOTH: [Self; 2] = [Self::Stdio, Self::Http];
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        })
    }
}

/// A program that can be measured.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// What its echo tool is called.
    pub(crate) tool: &'static str,
    words: Vec<String>,
}

impl Peer {
    /// A program of ours, by the variable that holds its path; it must be there.
    pub(crate) fn ours(tool: &'static str, variable: &str, words: &[&str]) -> io::Result<Self> {
        let mut all = vec![path(variable)?];
        all.extend(words.iter().map(|&word| word.to_owned()));
        Ok(Self { tool, words: all })
    }

    /// Somebody else's program, by the variable that holds its command line; none
    /// where it is not installed.
    pub(crate) fn theirs(variable: &str, words: &[&str]) -> Option<Self> {
        let line = std::env::var(variable).ok()?;
        let own = line.split_whitespace().chain(words.iter().copied());
        Some(Self {
            tool: "echo",
            words: own.map(str::to_owned).collect(),
        })
    }

    /// The product as a server of its example tools.
    pub(crate) fn toolsmith(transport: Transport) -> io::Result<Self> {
        Self::ours("example_echo", TOOLSMITH, serving(transport))
    }

    /// The simplest server on `rmcp`.
    pub(crate) fn bare(transport: Transport) -> io::Result<Self> {
        let words: &[&str] = match transport {
            Transport::Stdio => &["stdio"],
            Transport::Http => &["http", PORT],
        };
        Self::ours("echo", BARE_ECHO, words)
    }

    fn command(&self, port: u16) -> Command {
        let port = port.to_string();
        let mut words = self.words.iter().map(|word| word.replace(PORT, &port));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env("MCP_INCLUDE_EXAMPLE_TOOLS", "true");
        command
    }

    /// Starts the program and nothing more, to be spoken to over its streams.
    pub(crate) fn start_with_pipes(&self) -> io::Result<(Program, Pipes)> {
        Program::with_pipes(self.command(0))
    }

    /// Starts the program as a server over HTTP, and returns its port.
    pub(crate) fn start_listening(&self) -> io::Result<(Program, u16)> {
        let port = free_port()?;
        Ok((Program::apart(self.command(port))?, port))
    }

    /// Starts the program and speaks to it until its tool answers.
    pub(crate) fn start(&self, transport: Transport, era: Era) -> io::Result<Running> {
        let (program, client) = match transport {
            Transport::Stdio => {
                let (program, mut pipes) = self.start_with_pipes()?;
                pipes.begin(era)?;
                (program, Client::Pipes(pipes))
            }
            Transport::Http => {
                let (program, port) = self.start_listening()?;
                let runtime = runtime()?;
                let http = runtime.block_on(async {
                    let mut http = Http::new(port).await?;
                    http.begin(era).await?;
                    Ok::<_, io::Error>(http)
                })?;
                (program, Client::Http(Box::new(http), runtime))
            }
        };
        let mut running = Running {
            program,
            client,
            request: Request::echo(era, self.tool),
            load: Load::default(),
        };
        running.round(1, Duration::ZERO)?;
        running.load = Load::default();
        Ok(running)
    }
}

/// The path of our binary, of the bare server, and of the bare gateway.
pub(crate) const TOOLSMITH: &str = "BENCH_TOOLSMITH";
pub(crate) const BARE_ECHO: &str = "BENCH_BARE_ECHO";
pub(crate) const BARE_GATEWAY: &str = "BENCH_BARE_GATEWAY";

/// What a variable holds that must be set.
pub(crate) fn path(variable: &str) -> io::Result<String> {
    let missing = |_| {
        let text = format!("{variable} is not set; run `cargo xtask bench mcp`");
        io::Error::other(text)
    };
    std::env::var(variable).map_err(missing)
}

/// The words that make the product a server.
pub(crate) fn serving(transport: Transport) -> &'static [&'static str] {
    match transport {
        Transport::Stdio => &["serve", "--stdio"],
        Transport::Http => &["serve", "--http", "127.0.0.1:PORT", "--no-auth"],
    }
}

/// One thread is enough for a client, and leaves the other processor to the server.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

#[derive(Debug)]
enum Client {
    Pipes(Pipes),
    Http(Box<Http>, Runtime),
}

/// A program that answers, and what it did so far.
#[derive(Debug)]
pub(crate) struct Running {
    program: Program,
    client: Client,
    request: Request,
    pub(crate) load: Load,
}

impl Running {
    /// A few rounds from nothing, of a program that may fail at them.
    pub(crate) fn rounds(
        &mut self,
        rounds: usize,
        in_flight: u32,
        during: Duration,
    ) -> io::Result<&Load> {
        self.load = Load::default();
        for _ in 0..rounds {
            self.round(in_flight, during)?;
        }
        Ok(&self.load)
    }

    /// Calls the tool for a while, with so many calls in flight.
    pub(crate) fn round(&mut self, in_flight: u32, during: Duration) -> io::Result<()> {
        if let Client::Http(http, runtime) = &mut self.client {
            runtime.block_on(http.reconnect(in_flight as usize))?;
        }
        let (cpu, start) = (self.program.cpu(), Instant::now());
        let calls = match &mut self.client {
            Client::Pipes(pipes) => pipes.keep_asking(&self.request, in_flight.into(), during)?,
            Client::Http(http, runtime) => {
                runtime.block_on(http.keep_asking(&self.request, during))?
            }
        };
        let (took, cpu) = (start.elapsed(), self.program.cpu() - cpu);
        self.load.add(calls, took, cpu);
        Ok(())
    }
}
