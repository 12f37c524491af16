//! One request with all that it leads to.

use std::time::Duration;

use toolsmith_net::{
    Fetch, FetchErrorKind, Fetched, Fetcher, HeaderValue, Method, Reach, Redirects,
};

use crate::support::{Listener, ok, redirect};

async fn fetch(request: Fetch) -> Result<Fetched, String> {
    let fetcher = Fetcher::new(Reach::public().and_loopback()).unwrap();
    fetcher.fetch(request).await.map_err(|error| error.message)
}

#[tokio::test]
async fn a_time_limit_without_end_is_none() {
    let listener = Listener::saying("hello").await;
    let mut request = Fetch::new(Method::GET, listener.url("/"));
    request.total = Duration::MAX;
    assert_eq!(fetch(request).await.unwrap().body, b"hello");
}

#[tokio::test]
async fn another_origin_is_told_nothing_that_admits() {
    let second = Listener::saying("moved").await;
    let there = second.url("/there");
    let first = Listener::answering(move |_| redirect(&there)).await;
    let mut request = Fetch::new(Method::GET, first.url("/here"));
    for (name, value) in [
        ("authorization", "Bearer hush"),
        ("x-key", "hush"),
        ("cookie", "hush"),
    ] {
        request.headers.insert(name, value.parse().unwrap());
    }
    let mut hush = HeaderValue::from_static("hush");
    hush.set_sensitive(true);
    request.headers.insert("accept", hush);
    request
        .headers
        .insert("accept-language", "de".parse().unwrap());
    let fetched = fetch(request.clone()).await.unwrap();
    assert_eq!(
        (fetched.body.as_slice(), fetched.facts.hops.len()),
        (&b"moved"[..], 1)
    );
    assert!(first.requests()[0].contains("hush"));
    let told = &second.requests()[0];
    assert!(
        !told.contains("hush") && told.contains("accept-language: de"),
        "{told}"
    );

    request.redirects = Redirects::SameOrigin;
    let refused = fetch(request).await.unwrap_err();
    assert!(refused.contains("another server"), "{refused}");
    assert_eq!(second.connections(), 1);
}

#[tokio::test]
async fn a_body_is_not_repeated_at_another_origin() {
    let second = Listener::saying("moved").await;
    let there = second.url("/");
    let first = Listener::answering(move |_| redirect(&there)).await;
    let mut request = Fetch::new(Method::POST, first.url("/"));
    request.body = Some(Vec::new());
    let refused = fetch(request).await.unwrap_err();
    assert!(refused.contains("repeat a POST"), "{refused}");
    assert_eq!(second.connections(), 0);
}

#[tokio::test]
async fn what_is_too_long_is_cut() {
    let listener = Listener::answering(|_| ok(&"x".repeat(1000))).await;
    let mut request = Fetch::new(Method::GET, listener.url("/"));
    request.max_body = 100;
    let fetched = fetch(request).await.unwrap();
    assert_eq!((fetched.body.len(), fetched.is_cut), (100, true));
}

#[tokio::test]
async fn bodies_share_room_and_short_ones_wait_for_none() {
    let long = ok(&"a".repeat(7 << 20));
    let answer = move |line: &str| match line.contains("/long") {
        true => long.clone(),
        false => ok("short"),
    };
    let server = Listener::answering(answer).await;
    let fetcher = Fetcher::new(Reach::public().and_loopback()).unwrap();
    let get = |path: &str| fetcher.fetch(Fetch::new(Method::GET, server.url(path)));
    let held = [get("/long").await.unwrap(), get("/long").await.unwrap()];
    let mut third = Fetch::new(Method::GET, server.url("/long"));
    third.total = Duration::from_secs(1);
    let error = fetcher.fetch(third).await.unwrap_err();
    assert_eq!(error.kind, FetchErrorKind::NoRoom, "{error}");
    assert_eq!(get("/short").await.unwrap().body, b"short");
    drop(held);
    assert_eq!(get("/long").await.unwrap().body.len(), 7 << 20);
}
