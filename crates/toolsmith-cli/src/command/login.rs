//! `toolsmith servers --login NAME`: logs in to one upstream server.

use toolsmith_mcp::client::{Reach, State, Upstreams};

use crate::failure::Failure;
use crate::login::{self, Browser};
use crate::print;
use crate::session::Session;

pub(crate) async fn run(session: &Session, name: &str) -> Result<u8, Failure> {
    let known = session.manager.upstreams().upstreams;
    let Some(upstream) = known.iter().find(|each| each.name == name) else {
        let message = format!("--login {name}: there is no such server; see `toolsmith servers`");
        return Err(Failure::usage(message));
    };
    if matches!(upstream.reach, Reach::Child(_)) {
        let message = format!("--login {name}: it is a program of this machine and asks for none");
        return Err(Failure::usage(message));
    }
    let browser = Browser::open().await.map_err(|error| Failure::io(&error))?;
    let upstream = login::with(upstream.clone(), browser);
    let upstreams = Upstreams::start([upstream], &session.toolbox);
    upstreams.settled().await;
    let status = upstreams.all()[0].status();
    upstreams.stop().await;
    if status.state == State::Ready {
        let tools = print::counted(status.tools, "tool");
        print::note(&format!("`{name}` lets you in: {tools}."));
        return Ok(0);
    }
    let error = status.error.unwrap_or_default();
    print::error(&format!("server `{name}`: {}", print::visible(&error)));
    Ok(1)
}
