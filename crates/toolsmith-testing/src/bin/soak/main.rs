//! The product under a mixed load for minutes, with upstreams that misbehave behind it: what is left when all is quiet again?
//!
//! `toolsmith serve` runs over standard streams and over HTTP with a token. After a
//! warm-up and again at the end, when nothing is in flight, memory and descriptors are
//! looked at. Every request must have been answered, and no process may outlive the
//! servers. `cargo xtask soak [MINUTES]` builds what is started here and says where it is.
#![expect(clippy::print_stdout, reason = "a soak prints its figures")]

mod call;
mod http;
mod orphans;
mod place;
mod server;
mod stdio;
mod tally;
mod upstream;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use place::Place;
use server::{Figures, Server};
use tally::Tally;

/// The product, by the variable that holds its path.
const TOOLSMITH: &str = "SOAK_TOOLSMITH";
/// How many clients speak HTTP at the same time.
const CLIENTS: u64 = 4;
/// How many sessions are opened at once, and left: more than a server keeps.
const ABANDONED: usize = 1100;
/// How long what is in flight may take to end, and how long servers are left alone before they are
/// looked at: longer than any call may run.
const PATIENCE: Duration = Duration::from_secs(60);
const QUIET: Duration = Duration::from_secs(8);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, habit, ..] = &words[..]
        && word == upstream::WORD
    {
        upstream::run(habit);
        return ExitCode::SUCCESS;
    }
    let minutes = match words.first().map(|word| word.parse::<f64>()) {
        None => 2.0,
        Some(Ok(minutes)) if minutes > 0.0 => minutes,
        Some(_) => {
            println!("how many minutes? {words:?}");
            return ExitCode::from(2);
        }
    };
    match soak(Duration::from_secs_f64(minutes * 60.0)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("NOT flat: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak(during: Duration) -> io::Result<bool> {
    let program = std::env::var(TOOLSMITH)
        .map_err(|_| io::Error::other(format!("{TOOLSMITH} is not set; run `cargo xtask soak`")))?;
    let place = Place::make()?;
    let (over_stdio, pipes) = Server::with_pipes(&program, &place)?;
    let over_http = Server::listening(&program, &place)?;
    let tally = Arc::new(Tally::default());
    let mut stdio = stdio::Client::begin(pipes, &tally)?;
    let mut sessions = http::Client::begin(&over_http.door()?, &tally, 0)?;

    // What is kept for a while is kept now already: what grows later is more than that.
    let warm_up = (during / 4).clamp(Duration::from_secs(20), Duration::from_secs(120));
    println!(
        "warm-up for {} s, load for {} s",
        warm_up.as_secs(),
        during.as_secs()
    );
    sessions.abandon(ABANDONED)?;
    load(warm_up, &mut stdio, &over_http, &tally)?;
    let before = quiet(&tally, [&over_stdio, &over_http])?;
    let warmed = tally.told();
    load(during, &mut stdio, &over_http, &tally)?;
    let after = quiet(&tally, [&over_stdio, &over_http])?;

    let mut is_well = tally.report(&warmed);
    for ((server, before), after) in ["stdio", "http"].iter().zip(before).zip(after) {
        is_well &= after.judged(server, before);
    }
    stdio.end();
    drop(sessions);
    for server in [over_stdio, over_http] {
        is_well &= server.end();
    }
    is_well &= orphans::none(&place);
    println!("{}", if is_well { "flat" } else { "NOT flat" });
    Ok(is_well)
}

/// Asks for all sorts of things, over both transports.
fn load(
    during: Duration,
    stdio: &mut stdio::Client,
    over_http: &Server,
    tally: &Arc<Tally>,
) -> io::Result<()> {
    let end = Instant::now() + during;
    let door = over_http.door()?;
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients: Vec<_> = (1..=CLIENTS)
            .map(|number| {
                let (door, failed) = (&door, &failed);
                scope.spawn(move || {
                    let mut client = http::Client::begin(door, tally, number)?;
                    while Instant::now() < end && !failed.load(Ordering::Relaxed) {
                        client
                            .step()
                            .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                    }
                    Ok::<(), io::Error>(())
                })
            })
            .collect();
        while Instant::now() < end && !failed.load(Ordering::Relaxed) {
            stdio.step()?;
        }
        for client in clients {
            let done = client.join();
            done.map_err(|_| io::Error::other("a client failed"))??;
        }
        stdio.settle(PATIENCE)
    })
}

/// Waits until nothing is under way, and looks at the servers.
fn quiet(tally: &Tally, servers: [&Server; 2]) -> io::Result<[Figures; 2]> {
    let open = tally.open();
    if open != 0 {
        let text = format!("{open} requests were not answered within {PATIENCE:?}");
        return Err(io::Error::other(text));
    }
    thread::sleep(QUIET);
    Ok(servers.map(Server::figures))
}
