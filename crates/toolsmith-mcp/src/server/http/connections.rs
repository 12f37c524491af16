//! Connections: how many, how slow, and how they end.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use toolsmith_core::CancellationToken;

use super::Service;

/// How long connections may take to close after their last answer.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long cancelled calls have to be answered as such.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// How often draining looks whether it is done.
const LOOK: Duration = Duration::from_millis(10);

/// Takes connections in until told to stop, and drains them. They are shared out among
/// the service's lanes; without any, all are here.
pub(super) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    stop: CancellationToken,
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(service.limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            _ = connections.join_next(), if !connections.is_empty() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Mostly no descriptors are left; those in use come back.
                tracing::warn!(target: "toolsmith::mcp", "a connection was not taken in: {error}");
                tokio::time::sleep(LOOK).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            refuse(&stream);
            continue;
        };
        // Whoever converses waits for it, which may be another runtime.
        let stream = stream.into_std();
        let (service, stop) = (Arc::clone(&service), stop.clone());
        let lanes = service.ground.lanes.clone();
        let (lane, seat) = lanes.next().unzip();
        let conversation = async move {
            let (_counted, _seat) = (Counted::new(&service), seat);
            if let Ok(stream) = stream.and_then(TcpStream::from_std) {
                converse(stream, &service, stop).await;
            }
            drop(place);
        };
        match lane {
            Some(lane) => connections.spawn_on(conversation, lane),
            None => connections.spawn(conversation),
        };
    }
    drop(listener);
    drain(&service).await;
    let _ = tokio::time::timeout(LAST_WORDS, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    connections.shutdown().await;
    Ok(())
}

/// A connection that is counted, however it ends.
struct Counted<'s>(&'s Service);

impl<'s> Counted<'s> {
    fn new(service: &'s Service) -> Self {
        service.counts.connections.fetch_add(1, Ordering::Relaxed);
        Self(service)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.counts.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One connection, from its first request to its last.
async fn converse(stream: TcpStream, service: &Arc<Service>, stop: CancellationToken) {
    let limits = &service.limits;
    // Small answers must not wait for acknowledgements of earlier ones.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        // A client that takes nothing is dropped by the kernel.
        let stall = u32::try_from(limits.stall.as_millis()).unwrap_or(u32::MAX);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, stall);
    }
    let answering = Arc::clone(service);
    let answer = service_fn(move |request| {
        let service = Arc::clone(&answering);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(8 << 10))
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(target: "toolsmith::mcp", "a connection ended early: {error}");
    }
}

/// Tells a client that there is no room, if it hears it.
fn refuse(stream: &TcpStream) {
    let answer = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let _ = stream.try_write(answer);
}

/// Lets calls finish; when time is up they are cancelled, and answered as such.
async fn drain(service: &Service) {
    service.ground.life.draining.cancel();
    let flights = || service.counts.in_flight.load(Ordering::Acquire);
    let end = Instant::now() + service.limits.drain;
    while flights() > 0 && Instant::now() < end {
        tokio::time::sleep(LOOK).await;
    }
    service.ground.life.closing.cancel();
    let end = Instant::now() + LAST_ANSWERS;
    while flights() > 0 && Instant::now() < end {
        tokio::time::sleep(LOOK).await;
    }
    service.streams.cancel();
}
