//! Redirects stay at their origin, and there are few of them.

use toolsmith_net::{Method, Reach, Refused, RefusedKind};

use crate::support::{Listener, client, ok, redirect};

fn reach(listener: &Listener) -> Reach {
    Reach::public().and_origin(&listener.url("/")).unwrap()
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    let listener = Listener::answering(|line| match line.contains(" /old ") {
        true => redirect("/new"),
        false => ok("found"),
    })
    .await;
    let request = client(reach(&listener)).request(Method::GET, &listener.url("/old"));
    let request = request.unwrap().header("authorization", "Bearer token");
    let response = request.send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "found");
    let requests = listener.requests();
    assert!(requests[1].starts_with("GET /new "), "{requests:?}");
    assert!(requests[1].contains("Bearer token"), "{requests:?}");
    assert!(!requests[1].contains("referer"), "{requests:?}");
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_refused() {
    let forbidden = Listener::saying("reached").await;
    let port = forbidden.address.port();
    let targets = [
        format!("http://127.0.0.1:{port}/inside?token=hush"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        "http://169.254.169.254/".to_owned(),
        "https://example.com/".to_owned(),
        format!("http://user:hush@127.0.0.1:{port}/"),
    ];
    for target in targets {
        let to = target.clone();
        let listener = Listener::answering(move |_| redirect(&to)).await;
        // The target is within reach by itself; the redirect is still refused.
        let reach = reach(&listener).and_origin(&forbidden.url("/")).unwrap();
        let request = client(reach).request(Method::POST, &listener.url("/"));
        let error = request.unwrap().body("secret").send().await.unwrap_err();
        let refused = Refused::find(&error).unwrap();
        assert_eq!(refused.kind(), RefusedKind::Redirect, "{target}");
        assert!(!refused.to_string().contains("hush"), "{refused}");
    }
    assert_eq!(forbidden.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_another_scheme_is_no_answer() {
    for target in [
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "ftp://example.com/",
    ] {
        let listener = Listener::answering(move |_| redirect(target)).await;
        let request = client(reach(&listener)).request(Method::GET, &listener.url("/"));
        // What is no address of the web is an error or, unfollowed, the redirect itself.
        if let Ok(response) = request.unwrap().send().await {
            assert!(response.status().is_redirection(), "{target}");
        }
    }
}

#[tokio::test]
async fn six_redirects_are_too_many() {
    let listener = Listener::answering(|_| redirect("/again")).await;
    let request = client(reach(&listener)).request(Method::GET, &listener.url("/"));
    let error = request.unwrap().send().await.unwrap_err();
    let refused = Refused::find(&error).unwrap();
    assert!(
        refused.to_string().contains("more than 5 in a row"),
        "{refused}"
    );
    assert_eq!(listener.requests().len(), 6);
}
