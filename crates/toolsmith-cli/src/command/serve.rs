//! `toolsmith serve`: the tools for MCP clients, over standard streams or HTTP.
//!
//! On standard output there is nothing but MCP; whatever a person should know goes
//! to stderr.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;
use toolsmith_core::CancellationToken;
use toolsmith_mcp::server::http::{HttpOptions, PATH, Token, TokenError};

use super::offers::Offers;
use super::watch::{self, Changes};
use crate::cli::{Cli, Serve};
use crate::environment;
use crate::failure::Failure;
use crate::lanes::Lanes;
use crate::print;
use crate::session::{Session, Which, interrupts};

/// How old what other commands are told may be.
const BETWEEN_TELLING: Duration = Duration::from_secs(1);

pub(crate) async fn run(session: &Session, cli: &Cli, options: &Serve) -> Result<u8, Failure> {
    session.warn_of_files();
    let reached = session.reach(Which::All);
    let changes = Arc::new(Changes::default());
    let offers = Offers::new(session, cli, options, &reached, &changes);
    reached.upstreams.tell(&offers.whole().notifier());
    let stop = interrupts();
    let served = async {
        match options.stdio {
            true => offers
                .whole()
                .serve_stdio(stop)
                .await
                .map_err(Failure::from),
            false => over_http(&offers, options, stop).await,
        }
    };
    let served = tokio::select! {
        served = served => served,
        // It watches for as long as anybody serves.
        never = watch::watch(session, &offers, &reached, &changes) => match never {},
        never = tell_others(session) => match never {},
    };
    reached.upstreams.stop().await;
    served.map(|()| 0)
}

/// Tells other commands how the sources are doing, for ever.
async fn tell_others(session: &Session) -> Infallible {
    let place = environment::serving(session.manager.root());
    let mut serving = match place {
        Some(place) => spawn_blocking(move || place.begin()).await.ok(),
        None => None,
    };
    let sources = session.toolbox.watch_sources();
    loop {
        serving = match serving {
            Some(Ok(mut telling)) => {
                let status = sources.status();
                let told = spawn_blocking(move || telling.tell(status).map(|()| telling));
                told.await.ok()
            }
            // Tools work all the same; only `toolsmith servers` knows less.
            Some(Err(error)) => {
                tracing::debug!(target: "toolsmith::host", "the state of sources is not told: {error}");
                None
            }
            None => return std::future::pending().await,
        };
        sleep(BETWEEN_TELLING).await;
    }
}

async fn over_http(
    offers: &Offers<'_>,
    options: &Serve,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let (mut http, admission) = match admission(options)? {
        Some((token, is_new, file)) => (HttpOptions::with_token(token), Some((is_new, file))),
        None => (HttpOptions::without_token(), None),
    };
    http.hosts.clone_from(&options.allow_host);
    http.origins.clone_from(&options.allow_origin);
    let listening = offers.whole().listen_http(options.http, http).await;
    let listening = listening.map_err(|error| {
        let address = options.http;
        Failure::usage(format!(
            "cannot listen on {address}: {error}\n  another server may be there; choose a port with --http ADDRESS:PORT"
        ))
    })?;
    let address = listening.address()?;
    print::note(&format!("listening on http://{address}{PATH}"));
    for path in offers.mount(listening.mounts()) {
        print::note(&format!("  and on http://{address}{PATH}/{path}"));
    }
    if options.no_auth {
        print::warning("everybody who can reach this address can use the tools (--no-auth)");
    }
    if !address.ip().is_loopback() {
        print::warning(
            "other machines can reach this address, and nothing on the way is encrypted",
        );
    }
    if let Some((is_new, file)) = admission {
        tell_clients(&file, is_new, &format!("http://{address}{PATH}"));
    }
    let lanes = Lanes::open()?;
    listening.run_on(lanes.handles(), stop).await?;
    Ok(())
}

/// Tells what lets clients in. The token itself is not shown: what is told here is often kept
/// in a log.
fn tell_clients(file: &Path, is_new: bool, url: &str) {
    let file = print::visible(&file.display().to_string());
    print::note(&format!("clients bring the token that is kept in {file}"));
    if !is_new {
        return;
    }
    let quoted = shell_words::quote(&file);
    print::note(&format!(
        "for Claude Code: claude mcp add --transport http toolsmith {url} --header \"Authorization: Bearer $(cat {quoted})\""
    ));
    print::note(&format!(
        "for other clients: toolsmith connect CLIENT --http {url}"
    ));
}

/// The token clients must bring, whether it is new, and the file it is in; none with
/// `--no-auth`.
fn admission(options: &Serve) -> Result<Option<(Token, bool, PathBuf)>, Failure> {
    if options.no_auth {
        return Ok(None);
    }
    let file: Option<PathBuf> = options.token_file.clone().or_else(environment::token_file);
    let Some(file) = file else {
        return Err(Failure::usage(
            "there is no folder to keep a token in; name a file with --token-file FILE",
        ));
    };
    match Token::kept_in(&file) {
        Ok((token, is_new)) => Ok(Some((token, is_new, file))),
        Err(error @ TokenError::File { .. }) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            Err(Failure::usage(format!(
                "{error}: {}",
                cause.unwrap_or_default()
            )))
        }
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}
