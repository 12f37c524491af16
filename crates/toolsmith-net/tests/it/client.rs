//! What else a client does and does not do.

use std::time::{Duration, Instant};

use toolsmith_net::{BodyError, Client, ClientLimits, Method, Reach, Refused, read_body};

use crate::support::{Listener, client, get_unvetted, ok};

#[tokio::test]
async fn a_configured_address_is_reached_with_our_name() {
    let listener = Listener::saying("hello").await;
    let reach = Reach::public().and_origin(&listener.url("/")).unwrap();
    let request = client(reach).request(Method::GET, &listener.url("/path"));
    let response = request.unwrap().send().await.unwrap();
    assert_eq!(read_body(response, 5).await.unwrap(), b"hello");
    let request = listener.requests().remove(0);
    assert!(request.contains("user-agent: toolsmith/"), "{request}");
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let endless = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned() + &"x".repeat(100_000);
    for answer in [ok(&"x".repeat(100_000)), endless] {
        let listener = Listener::answering(move |_| answer.clone()).await;
        let reach = Reach::public().and_origin(&listener.url("/")).unwrap();
        let request = client(reach).request(Method::GET, &listener.url("/"));
        let response = request.unwrap().send().await.unwrap();
        let error = read_body(response, 99_999).await.unwrap_err();
        assert!(matches!(error, BodyError::TooLong { limit: 99_999 }));
    }
}

#[tokio::test]
async fn headers_without_end_are_an_error() {
    let many: String = (0..500).map(|n| format!("x-{n}: y\r\n")).collect();
    let long = format!("x-long: {}\r\n", "y".repeat(2 << 20));
    for headers in [many, long] {
        let listener =
            Listener::answering(move |_| format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).await;
        let reach = Reach::public().and_origin(&listener.url("/")).unwrap();
        let request = client(reach).request(Method::GET, &listener.url("/"));
        assert!(request.unwrap().send().await.is_err());
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let limits = ClientLimits {
        total: Some(Duration::from_millis(100)),
        ..ClientLimits::default()
    };
    let client = Client::new(Reach::public().and_origin(&url).unwrap(), limits).unwrap();
    let error = client.request(Method::GET, &url).unwrap().send().await;
    assert!(error.unwrap_err().is_timeout());
}

/// Not a test by itself: runs below with proxies in its environment.
#[tokio::test]
async fn behind_a_proxy() {
    let Some(port) = std::env::var_os("TOOLSMITH_TEST_PORT") else {
        return;
    };
    let url = format!("http://127.0.0.1:{}/", port.into_string().unwrap());
    let reach = Reach::public().and_origin(&url).unwrap();
    assert_eq!(get_unvetted(client(reach), &url).await.unwrap(), "direct");
}

#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    let direct = Listener::saying("direct").await;
    let proxy = Listener::saying("proxy").await;
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "client::behind_a_proxy"])
        .env("TOOLSMITH_TEST_PORT", direct.address.port().to_string());
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        command.env(name, proxy.url("/"));
    }
    assert!(command.output().await.unwrap().status.success());
    assert_eq!((direct.connections(), proxy.connections()), (1, 0));
}

#[test]
fn a_client_is_made_without_reading_certificates() {
    let make = || client(Reach::public());
    make();
    let begun = Instant::now();
    for _ in 0..100 {
        make();
    }
    let each = begun.elapsed() / 100;
    // Reading the roots takes ten times as long.
    assert!(each < Duration::from_millis(5), "{each:?}");
}

#[test]
fn what_a_refusal_says() {
    let client = client(Reach::public());
    let told: Vec<String> = [
        "http://0x7f.1:8080/mcp?key=hush",
        "ftp://example.com/",
        "https://user:hush@example.com/",
        "example.com",
    ]
    .iter()
    .map(|url| client.vet(url).unwrap_err().to_string())
    .collect();
    assert_eq!(
        told,
        [
            "reach 127.0.0.1: 127.0.0.1 is loopback, not public; if it is meant, name this \
             server's URL in the configuration",
            "reach a URL with the scheme \"ftp\"; only http and https are supported",
            "reach https://example.com: the URL holds a user name or a password; send \
             credentials as a header",
            "read \"example.com\" as a URL: relative URL without a base; write it as \
             http://host/path or https://host/path",
        ]
    );
    assert!(Refused::find(&std::fmt::Error).is_none());
}
