//! What the bare peers share: serving one `rmcp` handler over standard streams or HTTP.
//!
//! `rmcp`'s defaults, as its own examples have them, but for two things: answers
//! leave at once (TCP_NODELAY), and HTTP is served by hyper with no router before
//! it. Both make the peer faster, so the comparison is against its best.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ServerHandler, ServiceExt};
use tokio::net::TcpListener;

/// Whatever may go wrong.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Serves one client on standard input and output.
pub(crate) async fn over_streams(handler: impl ServerHandler) -> Result<(), Failure> {
    handler
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}

/// Serves everybody at `http://127.0.0.1:PORT`, on any path.
pub(crate) async fn over_http(
    handler: impl ServerHandler + Clone,
    port: u16,
) -> Result<(), Failure> {
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}
