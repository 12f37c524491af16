//! Sessions that come and go, and sessions nobody ends: what they leave behind.

use std::io;

use toolsmith_testing::bench::{Goal, Verdict, judged, title, told};

use crate::http::Http;
use crate::message::{Era, Request};
use crate::peer::{Peer, Transport, runtime};
use crate::program::Program;

const MANY: usize = 2000;

pub(crate) fn run() -> io::Result<Verdict> {
    title("2,000 sessions over HTTP: what they leave behind");
    let peer = Peer::toolsmith(Transport::Http)?;
    let mut verdict = Verdict::Met;

    let (program, port) = peer.start_listening()?;
    runtime()?.block_on(async {
        let mut http = Http::new(port).await?;
        http.begin(Era::Handshake).await?;
        http.end().await?;
        tell(&program, "at first");
        opened_and_closed(&mut http).await?;
        tell(&program, "2,000 opened and closed");
        let before = (program.resident(), program.descriptors());
        opened_and_closed(&mut http).await?;
        tell(&program, "2,000 more");
        let grown = program.resident() - before.0;
        let what = "memory grown by the second 2,000";
        verdict = verdict.and(judged(what, grown, "MB", Goal::AtMost(3.0)));
        let grown = program.descriptors() as f64 - before.1 as f64;
        let what = "descriptors grown by them";
        verdict = verdict.and(judged(what, grown, "", Goal::AtMost(0.0)));
        Ok::<_, io::Error>(())
    })?;

    let (program, port) = peer.start_listening()?;
    runtime()?.block_on(async {
        let mut http = Http::new(port).await?;
        abandoned(&mut http).await?;
        tell(&program, "2,000 abandoned");
        let before = (program.resident(), program.descriptors());
        abandoned(&mut http).await?;
        tell(&program, "2,000 more abandoned");
        // As many live at any time, but what the allocator keeps between them still
        // grows a little; what is never freed would double it.
        let grown = program.resident() / before.0;
        let what = "memory after them, against before";
        verdict = verdict.and(judged(what, grown, "×", Goal::AtMost(1.35)));
        let grown = program.descriptors() as f64 - before.1 as f64;
        let what = "descriptors grown by them";
        verdict = verdict.and(judged(what, grown, "", Goal::AtMost(0.0)));
        // Whoever is there still gets answers.
        http.begin(Era::Handshake).await?;
        http.ask(&Request::echo(Era::Handshake, peer.tool)).await?;
        Ok::<_, io::Error>(())
    })?;
    Ok(verdict)
}

async fn opened_and_closed(http: &mut Http) -> io::Result<()> {
    for _ in 0..MANY {
        http.begin(Era::Handshake).await?;
        let status = http.end().await?;
        if !(200..300).contains(&status) {
            let text = format!("the end of a session was answered with status {status}");
            return Err(io::Error::other(text));
        }
    }
    Ok(())
}

async fn abandoned(http: &mut Http) -> io::Result<()> {
    for _ in 0..MANY {
        http.begin(Era::Handshake).await?;
    }
    Ok(())
}

fn tell(program: &Program, when: &str) {
    told(&format!("{when}: resident"), program.resident(), "MB");
    let descriptors = program.descriptors() as f64;
    told(&format!("{when}: descriptors"), descriptors, "");
}
