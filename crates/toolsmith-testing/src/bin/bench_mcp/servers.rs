//! Calls per second and CPU per call, of our server and of others.

use std::io;
use std::time::Duration;

use toolsmith_testing::bench::{self, Goal, Verdict, skipped, title};

use crate::load::{Load, failed};
use crate::message::Era;
use crate::peer::{Peer, Running, Transport};

const ROUNDS: usize = 25;
/// Others are told for orientation only.
const ROUNDS_OF_OTHERS: usize = 2;
const ROUND: Duration = Duration::from_millis(150);
const IN_FLIGHT: [u32; 2] = [1, 32];

const GOAL: Goal = Goal::AtLeast(0.9);
const RATE: &str = "× calls/s";

pub(crate) fn run() -> io::Result<Verdict> {
    title("an echo tool: calls per second, and CPU of the server per call");
    let mut verdict = Verdict::Met;
    for transport in Transport::BOTH {
        for era in Era::BOTH {
            verdict = verdict.and(of(transport, era)?);
        }
    }
    Ok(verdict)
}

fn of(transport: Transport, era: Era) -> io::Result<Verdict> {
    let label = |in_flight: u32| format!("{transport:5} {} × {in_flight:<2}", era.version());
    let mut ours = Peer::toolsmith(transport)?.start(transport, era)?;
    let mut bare = Peer::bare(transport)?.start(transport, era)?;
    let mut others = Vec::new();
    for (name, variable) in others_of(transport) {
        let Some(peer) = Peer::theirs(variable, words(transport)) else {
            skipped(&format!("{} {name}", label(1)), "not installed");
            continue;
        };
        match peer.start(transport, era) {
            Ok(running) => others.push((name, running)),
            Err(error) => {
                let what = format!("{transport:5} {} {name}", era.version());
                skipped(&what, &failed(&error));
            }
        }
    }
    let mut verdict = Verdict::Met;
    for in_flight in IN_FLIGHT {
        for running in [&mut ours, &mut bare] {
            running.round(in_flight, ROUND / 2)?;
            running.load = Load::default();
        }
        for round in 0..ROUNDS {
            // Who is first changes, so that nobody always follows the same.
            let mut pair: [&mut Running; 2] = [&mut ours, &mut bare];
            pair.rotate_left(round % 2);
            for running in pair {
                running.round(in_flight, ROUND)?;
            }
        }
        verdict = verdict.and(judged(&label(in_flight), &ours.load, &bare.load));
        told(&label(in_flight), "bare rmcp", &bare.load, &bare.load);
        for (name, running) in &mut others {
            match running.rounds(ROUNDS_OF_OTHERS, in_flight, ROUND) {
                Ok(load) => told(&label(in_flight), name, load, &bare.load),
                Err(error) => skipped(&format!("{} {name}", label(in_flight)), &failed(&error)),
            }
        }
    }
    Ok(verdict)
}

fn judged(label: &str, ours: &Load, bare: &Load) -> Verdict {
    let ratio = ours.rate_against(bare);
    bench::judged(&line(label, "toolsmith", ours, bare), ratio, RATE, GOAL)
}

fn told(label: &str, name: &str, load: &Load, bare: &Load) {
    let ratio = load.rate() / bare.rate();
    bench::told(&line(label, name, load, bare), ratio, RATE);
}

fn line(label: &str, name: &str, load: &Load, bare: &Load) -> String {
    let (rate, cost) = (load.rate(), load.cost());
    let ratio = cost / bare.cost();
    format!("{label} {name:15} {rate:8.0}/s {cost:7.1} µs of CPU ({ratio:.2} ×)")
}

/// Names and variables of what others have built.
fn others_of(transport: Transport) -> [(&'static str, &'static str); 2] {
    match transport {
        Transport::Stdio => [
            ("FastMCP", "BENCH_FASTMCP_STDIO"),
            ("TypeScript SDK", "BENCH_TYPESCRIPT_STDIO"),
        ],
        Transport::Http => [
            ("FastMCP", "BENCH_FASTMCP_HTTP"),
            ("TypeScript SDK", "BENCH_TYPESCRIPT_HTTP"),
        ],
    }
}

/// What is appended to their command lines.
fn words(transport: Transport) -> &'static [&'static str] {
    match transport {
        Transport::Stdio => &[],
        Transport::Http => &["PORT"],
    }
}
