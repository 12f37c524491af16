//! What MCP costs: our server and gateway beside bare `rmcp`, FastMCP and the TypeScript SDK.
//!
//! One and the same raw client speaks to all of them, in turns within one run, so
//! that a busy machine slows all. The programs come as command lines in environment
//! variables; `cargo xtask bench mcp` sets them. Words on the command line choose
//! among servers, start, gateway, crowd and sessions.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

mod crowd;
mod gateway;
mod http;
mod load;
mod message;
mod peer;
mod pipes;
mod program;
mod servers;
mod sessions;
mod start;

use std::io;
use std::process::ExitCode;

use toolsmith_testing::bench::{Run, Verdict};

/// A part of the bench, and the word that chooses it.
type Part = (&'static str, fn() -> io::Result<Verdict>);

const PARTS: &[Part] = &[
    ("servers", servers::run),
    ("start", start::run),
    ("gateway", gateway::run),
    ("crowd", crowd::run),
    ("sessions", sessions::run),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let whole = Run::begin();
    let mut verdict = Verdict::Met;
    for (_, run) in PARTS.iter().filter(|(name, _)| wants(name)) {
        match run() {
            Ok(part) => verdict = verdict.and(part),
            Err(error) => {
                println!("NOT met: {error}");
                verdict = Verdict::NotMet;
            }
        }
        println!();
    }
    whole.end(verdict)
}
