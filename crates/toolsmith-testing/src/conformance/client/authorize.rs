//! How the scenarios of authorization are let in.
//!
//! The mock authorization server consents by itself: it answers the address a person
//! would visit with the redirect that would come of it. It listens at another port of
//! this machine, which the product reaches only because it is told to, here.

use std::time::SystemTime;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::authorize::{
    Authorization, Consent, Enterprise, Grant, Proof, Registered,
};

use super::Scenario;

/// The document the suite knows us by.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Where the browser would be sent.
const REDIRECT: &str = "http://localhost:3000/callback";

/// What a scenario needs to be let in; none where it is about something else.
pub(super) fn authorization(scenario: &Scenario) -> Option<Authorization> {
    let scenario_name = scenario.name.strip_prefix("auth/")?;
    let context = &scenario.context;
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let grant = match scenario_name {
        "client-credentials-basic" | "client-credentials-jwt" => Grant::Program,
        "wif-jwt-bearer" => Grant::Workload(text("valid_jwt")?.into()),
        "enterprise-managed-authorization" => {
            let known = Registered::anywhere(text("idp_client_id")?, Proof::None);
            let endpoint = text("idp_token_endpoint")?;
            Grant::Enterprise(Enterprise::new(endpoint, known, text("idp_id_token")?))
        }
        _ => Grant::Person(std::sync::Arc::new(Headless)),
    };
    let mut authorization = Authorization::new(grant, SystemTime::now)
        .with_metadata_url(DOCUMENT)
        .trusting_loopback();
    if let Some(id) = text("client_id") {
        authorization = authorization.with_registered(registered(context, id));
    }
    Some(authorization)
}

fn registered(context: &Value, id: String) -> Registered {
    let secret = |key: &str| context[key].as_str();
    let proof = match (secret("client_secret"), secret("private_key_pem")) {
        (Some(secret), _) => Proof::Secret(secret.into()),
        (None, Some(key)) => Proof::Key(key.into()),
        (None, None) => Proof::None,
    };
    match context["issuer"].as_str() {
        Some(issuer) => Registered::at(issuer, id, proof),
        None => Registered::anywhere(id, proof),
    }
}

/// A person who consents without looking.
struct Headless;

impl Consent for Headless {
    fn redirect_uri(&self) -> &str {
        REDIRECT
    }

    fn visit<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(visit(url))
    }
}

/// Asks for a page and returns where it leads, without going there.
async fn visit(url: &str) -> Result<String, String> {
    let unreadable = || "the page is not at this machine".to_owned();
    let rest = url.strip_prefix("http://").ok_or_else(unreadable)?;
    let (host, path) = rest.split_once('/').ok_or_else(unreadable)?;
    let answer = ask(host, path).await.map_err(|error| error.to_string())?;
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.eq_ignore_ascii_case("location");
        is_it.then(|| value.trim().to_owned())
    });
    let status = answer.lines().next().unwrap_or_default();
    location.ok_or_else(|| format!("the page leads nowhere: {status}"))
}

async fn ask(host: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(64 << 10).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
