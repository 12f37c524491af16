//! From nothing to the first list of tools, and what is resident then.

use std::io;
use std::time::Instant;

use toolsmith_testing::bench::{Goal, Verdict, judged, median, title, told};

use crate::message::{Era, Request};
use crate::peer::{Peer, Transport};

const STARTS: usize = 21;

/// Milliseconds and megabytes, start by start.
#[derive(Default)]
struct Starts {
    times: Vec<f64>,
    resident: Vec<f64>,
}

pub(crate) fn run() -> io::Result<Verdict> {
    title("start to the first tools/list over stdio, and memory then");
    let (ours, bare) = (
        Peer::toolsmith(Transport::Stdio)?,
        Peer::bare(Transport::Stdio)?,
    );
    let mut verdict = Verdict::Met;
    for era in Era::BOTH {
        let version = era.version();
        let (mut of_ours, mut of_bare) = (Starts::default(), Starts::default());
        for _ in 0..STARTS {
            start(&ours, era, &mut of_ours)?;
            start(&bare, era, &mut of_bare)?;
        }
        let time = median(of_ours.times);
        let what = format!("{version} toolsmith: time");
        verdict = verdict.and(judged(&what, time, "ms", Goal::AtMost(25.0)));
        let memory = median(of_ours.resident);
        let what = format!("{version} toolsmith: resident");
        verdict = verdict.and(judged(&what, memory, "MB", Goal::AtMost(25.0)));
        told(
            &format!("{version} bare rmcp: time"),
            median(of_bare.times),
            "ms",
        );
        told(
            &format!("{version} bare rmcp: resident"),
            median(of_bare.resident),
            "MB",
        );
    }
    Ok(verdict)
}

fn start(peer: &Peer, era: Era, starts: &mut Starts) -> io::Result<()> {
    let start = Instant::now();
    let (program, mut pipes) = peer.start_with_pipes()?;
    pipes.begin(era)?;
    pipes.ask(&Request::list(era))?;
    starts.times.push(start.elapsed().as_secs_f64() * 1e3);
    starts.resident.push(program.resident());
    Ok(())
}
