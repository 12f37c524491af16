//! A hop through our gateway, and through others: CPU of the gateway alone, per call.

use std::io;
use std::time::Duration;

use toolsmith_testing::bench::{Goal, Verdict, judged, skipped, title, told};

use crate::load::{Load, failed};
use crate::message::Era;
use crate::peer::{BARE_ECHO, BARE_GATEWAY, Peer, Running, TOOLSMITH, Transport, path, serving};
use crate::program::Program;

const ROUNDS: usize = 7;
const ROUNDS_OF_OTHERS: usize = 2;
const ROUND: Duration = Duration::from_millis(300);
const IN_FLIGHT: [u32; 2] = [1, 32];

const GOAL: Goal = Goal::AtMost(1.3);
const CPU: &str = "× CPU";

pub(crate) fn run() -> io::Result<Verdict> {
    title("a gateway before the bare echo server: CPU of the gateway per call");
    let mut verdict = Verdict::Met;
    for transport in Transport::BOTH {
        for era in Era::BOTH {
            verdict = verdict.and(of(transport, era)?);
        }
    }
    Ok(verdict)
}

fn of(transport: Transport, era: Era) -> io::Result<Verdict> {
    let echo = path(BARE_ECHO)?;
    // Over HTTP all gateways share one upstream; over streams each starts its own.
    let shared: Option<(Program, u16)> = match transport {
        Transport::Stdio => None,
        Transport::Http => Some(listening_echo()?),
    };
    let upstream = match &shared {
        None => format!("{echo} stdio"),
        Some((_, port)) => format!("http://127.0.0.1:{port}/mcp"),
    };
    let server = format!("up={upstream}");
    let mut words = vec!["--server", &server, "--mode", "auto"];
    words.extend(serving(transport));
    let ours = Peer::ours("mcp__up__echo", TOOLSMITH, &words)?;
    let bare_words = match transport {
        Transport::Stdio => vec!["stdio", &echo, "stdio"],
        Transport::Http => vec!["http", "PORT", &upstream],
    };
    let bare = Peer::ours("echo", BARE_GATEWAY, &bare_words)?;
    let mut ours = ours.start(transport, era)?;
    let mut bare = bare.start(transport, era)?;
    let mut others = Vec::new();
    let second: Option<(Program, u16)> = match transport {
        Transport::Stdio => Some(listening_echo()?),
        Transport::Http => None,
    };
    let url = second
        .as_ref()
        .map(|(_, port)| format!("http://127.0.0.1:{port}/mcp"));
    for (name, peer) in others_of(transport, &echo, url.as_deref()) {
        let what = format!("{transport:5} {} {name}", era.version());
        match peer.map(|peer| peer.start(transport, era)) {
            None => skipped(&what, "not installed"),
            Some(Ok(running)) => others.push((name, running)),
            Some(Err(error)) => skipped(&what, &failed(&error)),
        }
    }
    let mut verdict = Verdict::Met;
    for in_flight in IN_FLIGHT {
        let label = format!("{transport:5} {} × {in_flight:<2}", era.version());
        for running in [&mut ours, &mut bare] {
            running.round(in_flight, ROUND / 2)?;
            running.load = Load::default();
        }
        for round in 0..ROUNDS {
            let mut pair: [&mut Running; 2] = [&mut ours, &mut bare];
            pair.rotate_left(round % 2);
            for running in pair {
                running.round(in_flight, ROUND)?;
            }
        }
        let ratio = ours.load.cost() / bare.load.cost();
        let what = line(&label, "toolsmith", &ours.load);
        verdict = verdict.and(judged(&what, ratio, CPU, GOAL));
        told(&line(&label, "bare rmcp", &bare.load), 1.0, CPU);
        for (name, running) in &mut others {
            match running.rounds(ROUNDS_OF_OTHERS, in_flight, ROUND) {
                Ok(load) => {
                    told(
                        &line(&label, name, load),
                        load.cost() / bare.load.cost(),
                        CPU,
                    );
                }
                Err(error) => skipped(&format!("{label} {name}"), &failed(&error)),
            }
        }
    }
    Ok(verdict)
}

fn listening_echo() -> io::Result<(Program, u16)> {
    Peer::bare(Transport::Http)?.start_listening()
}

/// What others have built. Some only bridge from one transport to the other, and so
/// have another way to the echo server than ours.
fn others_of(
    transport: Transport,
    echo: &str,
    url: Option<&str>,
) -> [(&'static str, Option<Peer>); 2] {
    let (fastmcp, bridge) = ("FastMCP proxy", "mcp-proxy");
    match transport {
        Transport::Stdio => [
            (
                fastmcp,
                Peer::theirs("BENCH_FASTMCP_PROXY_STDIO", &[echo, "stdio"]),
            ),
            (
                bridge,
                Peer::theirs("BENCH_MCP_PROXY_STDIO", &[url.unwrap_or_default()]),
            ),
        ],
        Transport::Http => [
            (
                fastmcp,
                Peer::theirs("BENCH_FASTMCP_PROXY_HTTP", &["PORT", echo, "stdio"]),
            ),
            (
                bridge,
                Peer::theirs("BENCH_MCP_PROXY_HTTP", &["PORT", "--", echo, "stdio"]),
            ),
        ],
    }
}

fn line(label: &str, name: &str, load: &Load) -> String {
    let (rate, cost) = (load.rate(), load.cost());
    format!("{label} {name:15} {rate:8.0}/s {cost:7.1} µs of CPU")
}
