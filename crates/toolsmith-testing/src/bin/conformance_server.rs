//! The server the official conformance suite is run against.
//!
//! `conformance_server --http 127.0.0.1:PORT` says where it listens and serves the
//! fixtures until it is ended.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use toolsmith_core::CancellationToken;
use toolsmith_mcp::server::http::{HttpOptions, PATH};
use toolsmith_testing::conformance;

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let address: Option<SocketAddr> = match (words.next().as_deref(), words.next()) {
        (Some("--http"), Some(address)) => address.parse().ok(),
        (None, _) => Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        _ => None,
    };
    let Some(address) = address else {
        let _ = writeln!(
            std::io::stderr(),
            "usage: conformance_server --http ADDRESS:PORT"
        );
        return ExitCode::from(2);
    };
    match serve(address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "conformance_server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(address: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let server = conformance::server()?;
    let http = server
        .listen_http(address, HttpOptions::without_token())
        .await?;
    writeln!(
        std::io::stdout(),
        "listening on http://{}{PATH}",
        http.address()?
    )?;
    http.run(CancellationToken::new()).await?;
    Ok(())
}
