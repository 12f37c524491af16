//! A thousand calls at once: on one stream, and on as many connections.

use std::collections::BTreeSet;
use std::io;
use std::time::Instant;

use serde_json::Value;
use toolsmith_testing::bench::{Goal, Verdict, judged, title, told};

use crate::http::Http;
use crate::message::{Era, Request};
use crate::peer::{Peer, Transport, runtime};

const MANY: usize = 1000;
const ALL: Goal = Goal::AtLeast(MANY as f64);

pub(crate) fn run() -> io::Result<Verdict> {
    title("1,000 calls at once: how many are answered");
    let mut verdict = Verdict::Met;
    for era in Era::BOTH {
        verdict = verdict.and(on_a_stream(era)?).and(on_connections(era)?);
    }
    Ok(verdict)
}

fn on_a_stream(era: Era) -> io::Result<Verdict> {
    let peer = Peer::toolsmith(Transport::Stdio)?;
    let (program, mut pipes) = peer.start_with_pipes()?;
    pipes.begin(era)?;
    let start = Instant::now();
    let answers = pipes.ask_at_once(&Request::echo(era, peer.tool), MANY as u64)?;
    let took = start.elapsed();
    let ids: BTreeSet<String> = answers
        .iter()
        .filter_map(|answer| serde_json::from_slice::<Value>(answer).ok())
        .map(|answer| answer["id"].to_string())
        .collect();
    let what = format!("stdio {}", era.version());
    let verdict = judged(&what, ids.len() as f64, "", ALL);
    told(&format!("{what}: took"), took.as_secs_f64() * 1e3, "ms");
    told(&format!("{what}: resident"), program.resident(), "MB");
    Ok(verdict)
}

fn on_connections(era: Era) -> io::Result<Verdict> {
    let peer = Peer::toolsmith(Transport::Http)?;
    let (program, port) = peer.start_listening()?;
    let (answered, took) = runtime()?.block_on(async {
        let mut http = Http::new(port).await?;
        http.begin(era).await?;
        let request = Request::echo(era, peer.tool);
        http.have(MANY).await?;
        let start = Instant::now();
        let answered = http.ask_at_once(&request, MANY).await?;
        Ok::<_, io::Error>((answered, start.elapsed()))
    })?;
    let what = format!("http  {}", era.version());
    let verdict = judged(&what, answered as f64, "", ALL);
    told(&format!("{what}: took"), took.as_secs_f64() * 1e3, "ms");
    told(&format!("{what}: resident"), program.resident(), "MB");
    Ok(verdict)
}
