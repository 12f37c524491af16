//! Being let in by OAuth: who is asked, what is sent to whom, and when it stops.

mod mock;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;
use toolsmith_core::{ErrorKind, Outcome};
use toolsmith_mcp::client::State;
use toolsmith_mcp::client::authorize::{
    Authorization, CredentialFile, Credentials, Grant, Proof, Registered,
};
use toolsmith_runtime::Toolbox;
use toolsmith_testing::failure;

use crate::support::{soon, until};
use mock::{Listener, World};

async fn call(toolbox: &Toolbox) -> Outcome {
    soon(toolsmith_testing::call(toolbox, "mcp__up__act", json!({}))).await
}

fn grant_of(body: &str) -> &str {
    let grant = body
        .split('&')
        .find_map(|pair| pair.strip_prefix("grant_type="));
    grant.unwrap_or_default()
}

#[tokio::test]
async fn a_refused_request_is_authorized_and_repeated() {
    let world = World::new().await;
    let (upstreams, toolbox) = world.reach(Some(world.authorization())).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Ready, "{:?}", status.error);
    assert!(call(&toolbox).await.is_success());

    let asked = world.upstream.seen_at("/mcp");
    assert_eq!(asked[0].authorization, None);
    assert!(
        asked[1..]
            .iter()
            .filter(|each| each.method == "POST")
            .all(|each| each.authorization.as_deref() == Some("Bearer token-1"))
    );
    let visits = world.person.visits();
    assert_eq!(visits.len(), 1);
    assert_eq!(visits[0]["resource"], world.url());
    assert_eq!(visits[0]["scope"], "read");
    assert_eq!(visits[0]["code_challenge_method"], "S256");
    assert!(
        world
            .granting
            .seen()
            .iter()
            .all(|each| each.authorization.is_none())
    );
}

#[tokio::test]
async fn without_an_authorization_a_refusal_stays_one() {
    let world = World::new().await;
    let (upstreams, _) = world.reach(None).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Failed);
    assert!(status.unauthorized);
    assert!(world.granting.seen().is_empty());
    assert!(world.upstream.seen().iter().all(|each| each.path == "/mcp"));
}

#[tokio::test]
async fn a_token_is_renewed_without_a_person() {
    let world = World::new().await;
    let (_upstreams, toolbox) = world.reach(Some(world.authorization())).await;

    // The server no longer takes it.
    world.change(|ways| ways.good.clear());
    assert!(call(&toolbox).await.is_success());
    let asked = world.granting.seen_at("/token");
    assert_eq!(grant_of(&asked[1].body), "refresh_token");
    assert!(asked[1].body.contains("refresh_token=refresh-1"));
    assert!(asked[1].body.contains("resource="));

    // It is about to end: the server does not see it again.
    world.passes(3599);
    let before = world.upstream.seen().len();
    assert!(call(&toolbox).await.is_success());
    let asked = world.granting.seen_at("/token");
    assert!(asked[2].body.contains("refresh_token=refresh-2"));
    let later = &world.upstream.seen()[before..];
    assert!(
        later
            .iter()
            .all(|each| each.authorization.as_deref() != Some("Bearer token-2"))
    );
    assert_eq!(world.person.visits().len(), 1);
}

#[tokio::test]
async fn more_permissions_are_asked_for_together_with_those_there_are() {
    let world = World::new().await;
    let (_upstreams, toolbox) = world.reach(Some(world.authorization())).await;
    world.change(|ways| ways.call_needs = Some("write".to_owned()));
    assert!(call(&toolbox).await.is_success());
    let visits = world.person.visits();
    assert_eq!(visits.len(), 2);
    assert_eq!(visits[1]["scope"], "read write");
}

#[tokio::test]
async fn the_same_permission_is_asked_for_once() {
    let world = World::new().await;
    let (_upstreams, toolbox) = world.reach(Some(world.authorization())).await;
    // No token has it: it is two words for the person, and one for the server.
    world.change(|ways| ways.call_needs = Some("a b".to_owned()));
    for _ in 0..3 {
        let outcome = call(&toolbox).await;
        assert_eq!(failure(&outcome).kind, ErrorKind::PermissionDenied);
    }
    assert_eq!(world.person.visits().len(), 2);
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_does_not_have_people_asked_for_ever() {
    let world = World::new().await;
    world.change(|ways| ways.lets_in = false);
    let (upstreams, _) = world.reach(Some(world.authorization())).await;
    until(|| {
        let error = upstreams.all()[0].status().error;
        error.is_some_and(|error| error.contains("in vain"))
    })
    .await;
    assert_eq!(world.person.visits().len(), 3);
}

#[tokio::test]
async fn a_wrong_issuer_stops_before_the_token() {
    for wrong in ["https://evil.example", "", "URL/"] {
        let world = World::new().await;
        let wrong = wrong.replace("URL", &world.granting.url());
        world.change(|ways| ways.iss = Some(wrong.clone()));
        let (upstreams, _) = world.reach(Some(world.authorization())).await;
        assert_eq!(upstreams.all()[0].status().state, State::Failed, "{wrong}");
        assert!(!world.person.visits().is_empty());
        assert!(world.granting.seen_at("/token").is_empty(), "{wrong}");
    }
}

#[tokio::test]
async fn metadata_of_another_resource_stops_before_everything() {
    let wrong = [
        "https://evil.example/mcp",
        "URL/other",
        "no address",
        "URL/mcp#part",
    ];
    for wrong in wrong {
        let world = World::new().await;
        let wrong = wrong.replace("URL", &world.upstream.url());
        world.change(|ways| ways.resource = Some(wrong.clone()));
        let (upstreams, _) = world.reach(Some(world.authorization())).await;
        let status = upstreams.all()[0].status();
        assert_eq!(status.state, State::Failed, "{wrong}");
        assert!(status.unauthorized, "{wrong}");
        assert!(world.granting.seen().is_empty(), "{wrong}");
        assert!(world.person.visits().is_empty(), "{wrong}");
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_stops_before_the_client() {
    let world = World::new().await;
    world.change(|ways| {
        let evil = "https://evil.example".to_owned();
        ways.endpoints.insert("issuer".to_owned(), evil);
    });
    let (upstreams, _) = world.reach(Some(world.authorization())).await;
    assert_eq!(upstreams.all()[0].status().state, State::Failed);
    assert!(world.granting.seen_at("/register").is_empty());
    assert!(world.person.visits().is_empty());
}

#[tokio::test]
async fn a_forbidden_address_is_not_reached_whoever_names_it() {
    let spellings = [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f000001",
        "[::ffff:127.0.0.1]",
    ];
    let endpoints = ["registration_endpoint", "token_endpoint"];
    for spelling in spellings {
        let forbidden = Listener::forbidden().await;
        let address = format!("http://{spelling}:{}", forbidden.address.port());

        let world = World::new().await;
        world.change(|ways| ways.granted_at = Some(address.clone()));
        let (upstreams, _) = world.reach(Some(world.authorization())).await;
        assert_eq!(upstreams.all()[0].status().state, State::Failed);

        let world = World::new().await;
        world.change(|ways| ways.metadata_at = Some(format!("{address}/metadata")));
        world.reach(Some(world.authorization())).await;

        for endpoint in endpoints {
            let world = World::new().await;
            world.change(|ways| {
                ways.endpoints.insert(endpoint.to_owned(), address.clone());
            });
            let (upstreams, _) = world.reach(Some(world.authorization())).await;
            assert_eq!(upstreams.all()[0].status().state, State::Failed);
        }
        assert!(
            forbidden.seen().is_empty(),
            "{spelling}: {:?}",
            forbidden.seen()
        );
    }
}

#[tokio::test]
async fn a_person_is_shown_no_page_that_is_not_vetted() {
    let pages = [
        "http://127.0.0.1:9/authorize",
        "http://public.example/authorize",
        "javascript:alert(1)//",
        "file:///etc/passwd",
        "https://user:word@public.example/authorize",
    ];
    for page in pages {
        let world = World::new().await;
        world.change(|ways| {
            let name = "authorization_endpoint".to_owned();
            ways.endpoints.insert(name, page.to_owned());
        });
        let (upstreams, _) = world.reach(Some(world.authorization())).await;
        assert_eq!(upstreams.all()[0].status().state, State::Failed, "{page}");
        assert!(world.person.visits().is_empty(), "{page}");
    }
}

#[tokio::test]
async fn a_token_goes_to_no_other_origin() {
    let world = World::new().await;
    let (_upstreams, toolbox) = world.reach(Some(world.authorization())).await;
    let elsewhere = Listener::forbidden().await;
    world.change(|ways| ways.moved_to = Some(format!("{}/mcp", elsewhere.url())));
    assert!(!call(&toolbox).await.is_success());
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn what_one_issuer_granted_is_not_shown_to_the_next() {
    let (old, new) = (World::new().await, World::new().await);
    let authorization = old.authorization().trusting(new.granting.url());
    let (_upstreams, toolbox) = old.reach(Some(authorization)).await;
    old.change(|ways| {
        ways.good.clear();
        ways.granted_at = Some(new.granting.url());
    });
    // The new one's tokens are none of the upstream's.
    assert!(!call(&toolbox).await.is_success());
    assert_eq!(new.granting.seen_at("/register").len(), 1);
    let asked = new.granting.seen_at("/token");
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|each| !each.body.contains("refresh-1")));
}

#[tokio::test]
async fn a_registered_client_is_shown_to_its_issuer_only() {
    let world = World::new().await;
    let client =
        |issuer: &str| Registered::at(issuer, "known", Proof::Secret("very secret".into()));
    let elsewhere = client("https://elsewhere.example");
    let authorization = world.authorization().with_registered(elsewhere);
    world.reach(Some(authorization)).await;
    let asked = world.granting.seen();
    assert!(asked.iter().all(|each| each.authorization.is_none()));
    assert!(asked.iter().all(|each| !each.body.contains("known")));

    let world = World::new().await;
    let here = client(&world.granting.url());
    let authorization = world.authorization().with_registered(here);
    world.reach(Some(authorization)).await;
    assert!(world.granting.seen_at("/register").is_empty());
    let proof = world.granting.seen_at("/token")[0].authorization.clone();
    // "known:very+secret"
    assert_eq!(proof.as_deref(), Some("Basic a25vd246dmVyeStzZWNyZXQ="));
}

#[tokio::test]
async fn a_program_is_let_in_without_a_person() {
    let world = World::new().await;
    let client = Registered::at(world.granting.url(), "known", Proof::Secret("word".into()));
    let mut authorization = world.authorization().with_registered(client);
    authorization.grant = Grant::Program;
    let (_upstreams, toolbox) = world.reach(Some(authorization)).await;
    assert!(call(&toolbox).await.is_success());
    let asked = world.granting.seen_at("/token");
    assert_eq!(grant_of(&asked[0].body), "client_credentials");
    assert!(world.person.visits().is_empty());
}

#[tokio::test]
async fn nothing_shows_a_token() {
    let world = World::new().await;
    let client = Registered::at(
        world.granting.url(),
        "known",
        Proof::Secret("very secret".into()),
    );
    let folder = tempfile::tempdir().unwrap();
    let file = CredentialFile::at(folder.path().join("up.json"));
    let authorization = world
        .authorization()
        .with_registered(client)
        .with_credentials(file.clone());
    let shown = format!("{authorization:?}");
    let (upstreams, _) = world.reach(Some(authorization)).await;
    let kept = file.load(&world.url()).unwrap().unwrap();
    assert_eq!(kept.issuer(), world.granting.url());
    let shown = format!("{shown}{upstreams:?}{kept:?}");
    for secret in ["token-1", "refresh-1", "very secret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn credentials_last_in_a_file_that_only_its_owner_reads() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("up.json");
    let authorization = || -> Authorization {
        let file = CredentialFile::at(&path);
        world.authorization().with_credentials(file)
    };
    let (upstreams, _) = world.reach(Some(authorization())).await;
    soon(upstreams.stop()).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    assert_eq!(entries.count(), 1, "something was left beside the file");

    // The next start needs nobody, also where the token ended meanwhile.
    let (upstreams, toolbox) = world.reach(Some(authorization())).await;
    assert!(call(&toolbox).await.is_success());
    soon(upstreams.stop()).await;
    world.passes(7200);
    let (upstreams, toolbox) = world.reach(Some(authorization())).await;
    assert!(call(&toolbox).await.is_success());
    soon(upstreams.stop()).await;
    assert_eq!(world.person.visits().len(), 1);
    assert_eq!(mode(&path), 0o600);

    // A file that others may read is not believed, and is replaced.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(CredentialFile::at(&path).load(&world.url()).is_err());
    let (upstreams, _) = world.reach(Some(authorization())).await;
    assert_eq!(upstreams.all()[0].status().state, State::Ready);
    assert_eq!(world.person.visits().len(), 2);
    assert_eq!(mode(&path), 0o600);

    // It is of no use to another upstream.
    let other = CredentialFile::at(&path).load("http://127.0.0.1:1/mcp");
    assert!(other.unwrap().is_none());

    // What nobody writes to is not waited for.
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    assert!(CredentialFile::at(&pipe).load(&world.url()).is_err());
}

#[tokio::test]
async fn many_refused_at_once_ask_one_person_once() {
    let world = World::new().await;
    let (_upstreams, toolbox) = world.reach(Some(world.authorization())).await;
    world.change(|ways| ways.call_needs = Some("write".to_owned()));
    let calls = (0..20).map(|_| call(&toolbox));
    let outcomes = futures_util::future::join_all(calls).await;
    assert!(outcomes.iter().all(Outcome::is_success));
    assert_eq!(world.person.visits().len(), 2);
}

#[tokio::test]
async fn a_person_who_does_not_come_is_not_waited_for() {
    let world = World::new().await;
    let mut authorization = world.authorization();
    authorization.grant = Grant::Person(std::sync::Arc::new(Nobody));
    authorization.consent_time = Duration::from_millis(50);
    let (upstreams, _) = world.reach(Some(authorization)).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Failed);
    assert!(status.error.unwrap().contains("in time"));
}

/// Somebody who never comes back.
struct Nobody;

impl toolsmith_mcp::client::authorize::Consent for Nobody {
    fn redirect_uri(&self) -> &str {
        "http://127.0.0.1:1/back"
    }

    fn visit<'a>(&'a self, _: &'a str) -> toolsmith_mcp::BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::pending())
    }
}
