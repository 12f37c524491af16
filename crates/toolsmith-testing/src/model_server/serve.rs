//! Connections: each request is noted, and answered by the next step.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use toolsmith_core::CancellationToken;

use super::Shared;
use super::body::Pieces;
use super::reply::{Reply, reply};
use super::request::Seen;

/// Answers until it is told to stop; connections end with it.
pub(super) fn run(listener: TcpListener, shared: &Arc<Shared>, stop: &CancellationToken) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        tokio::select! {
            () = stop.cancelled() => {}
            done = accept(listener, shared) => done.expect("the listener works"),
        }
    });
    runtime.shutdown_background();
}

async fn accept(listener: TcpListener, shared: &Arc<Shared>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let shared = shared.clone();
        let service = service_fn(move |request| {
            let shared = shared.clone();
            async move { answer(request, &shared).await }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // What goes wrong with a connection is what the script wants to go wrong.
        tokio::spawn(connection);
    }
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> io::Result<Response<Pieces>> {
    let (head, body) = request.into_parts();
    let body: Bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path_and_query().map_or("", |path| path.as_str());
    let seen = Seen::new(path, &head.headers, &body);
    let (number, step) = shared.take(seen.clone());
    let answer = match reply(&seen, number, step) {
        Reply::Answer(answer) => answer,
        Reply::Drop => return Err(io::Error::other("the script drops it")),
        Reply::Hang => std::future::pending().await,
    };
    let mut response = Response::builder().status(answer.status);
    let is_typed =
        { answer.headers.iter() }.any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !is_typed {
        response = response.header("content-type", "application/json");
    }
    for (name, value) in &answer.headers {
        response = response.header(name, value);
    }
    let pieces = answer.pieces.into_iter().filter(|piece| !piece.is_empty());
    let body = Pieces::new(pieces.collect(), answer.end);
    response.body(body).map_err(io::Error::other)
}
