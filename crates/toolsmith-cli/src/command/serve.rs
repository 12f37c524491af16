//! `toolsmith serve`: the tools for MCP clients, over standard streams or HTTP.
//!
//! On standard output there is nothing but MCP; whatever a person should know goes
//! to stderr.

use std::path::PathBuf;
use std::sync::Arc;

use toolsmith_core::CancellationToken;
use toolsmith_mcp::client::{Upstream, UpstreamPrompts, UpstreamResources, Upstreams};
use toolsmith_mcp::server::http::{HttpOptions, PATH, Token, TokenError};
use toolsmith_mcp::server::{Server, ToolDocumentation, ToolGuide};
use toolsmith_runtime::permit::YesToAll;

use crate::cli::{Cli, Serve};
use crate::environment;
use crate::failure::Failure;
use crate::lanes::Lanes;
use crate::print;
use crate::session::{Session, Which, interrupts};

pub(crate) async fn run(session: &Session, cli: &Cli, options: &Serve) -> Result<u8, Failure> {
    for error in &session.manager.servers().errors {
        print::warning(&error.to_string());
    }
    for unready in &session.manager.upstreams().unready {
        print::warning(&unready.error);
    }
    let upstreams = session.reach(Which::All);
    let server = server(session, cli, options, &upstreams);
    upstreams.tell(&server.notifier());
    let stop = interrupts();
    let served = if options.stdio {
        server.serve_stdio(stop).await.map_err(Failure::from)
    } else {
        over_http(&server, options, stop).await
    };
    upstreams.stop().await;
    served.map(|()| 0)
}

fn server(session: &Session, cli: &Cli, options: &Serve, upstreams: &Upstreams) -> Server {
    let mut selection = session.selection();
    if let Some(detail) = options.descriptions {
        selection = selection.with_detail(detail);
    }
    let toolbox = || session.toolbox.clone();
    let guide = ToolGuide::new(Arc::clone(&session.guide), toolbox(), selection.clone());
    let (yes, timeout) = (cli.yes, cli.timeout);
    let mut builder = Server::builder(toolbox())
        .title("Toolsmith")
        .tasks(std::time::SystemTime::now)
        .selection(selection.clone())
        .resources(guide.clone())
        .prompts(guide)
        .resources(ToolDocumentation::new(toolbox(), selection))
        .caller(move |mut caller| {
            if let Some(timeout) = timeout {
                caller = caller.with_timeout(timeout);
            }
            if yes {
                let by = "--yes".to_owned();
                caller = caller.with_approver(YesToAll { by });
            }
            caller
        });
    if !upstreams.all().is_empty() {
        let starting: Arc<[Upstream]> = upstreams.all().into();
        builder = builder
            .resources(UpstreamResources::of(upstreams))
            .prompts(UpstreamPrompts::of(upstreams))
            .ready(move || {
                let starting = Arc::clone(&starting);
                Box::pin(async move {
                    for upstream in &*starting {
                        upstream.settled().await;
                    }
                })
            });
    }
    builder.build()
}

async fn over_http(
    server: &Server,
    options: &Serve,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let (mut http, token) = match admission(options)? {
        Some((token, is_new)) => {
            let shown = is_new.then(|| token.reveal().to_owned());
            (HttpOptions::with_token(token), shown)
        }
        None => (HttpOptions::without_token(), None),
    };
    http.hosts.clone_from(&options.allow_host);
    http.origins.clone_from(&options.allow_origin);
    let listening = server.listen_http(options.http, http).await;
    let listening = listening.map_err(|error| {
        let address = options.http;
        Failure::usage(format!(
            "cannot listen on {address}: {error}\n  another server may be there; choose a port with --http ADDRESS:PORT"
        ))
    })?;
    let address = listening.address()?;
    print::note(&format!("listening on http://{address}{PATH}"));
    if options.no_auth {
        print::warning("everybody who can reach this address can use the tools (--no-auth)");
    }
    if !address.ip().is_loopback() {
        print::warning(
            "other machines can reach this address, and nothing on the way is encrypted",
        );
    }
    if let Some(token) = token {
        print::note("this token lets clients in; it is shown this once:");
        print::note(&format!("  Authorization: Bearer {token}"));
        print::note(&format!(
            "for Claude Code: claude mcp add --transport http toolsmith http://{address}{PATH} --header \"Authorization: Bearer {token}\""
        ));
        print::note("for other clients: toolsmith connect CLIENT --http");
    }
    let lanes = Lanes::open()?;
    listening.run_on(lanes.handles(), stop).await?;
    Ok(())
}

/// The token clients must bring, and whether it is new; none with `--no-auth`.
fn admission(options: &Serve) -> Result<Option<(Token, bool)>, Failure> {
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
        Ok(kept) => Ok(Some(kept)),
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
