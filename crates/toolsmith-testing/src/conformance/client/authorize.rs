//! How the scenarios of authorization are let in.
//!
//! The mock authorization server consents by itself: it answers the address a person
//! would visit with the redirect that would come of it. It listens at another port of
//! this machine, which the product reaches only because it is told to, here.

use serde_json::Value;
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::authorize::{
    Authorization, Consent, Enterprise, Grant, Proof, Registered,
};
use toolsmith_net::{Client, ClientLimits, Method, Reach};

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
    let mut authorization = Authorization::new(grant)
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

async fn visit(url: &str) -> Result<String, String> {
    let limits = ClientLimits {
        max_redirects: 0,
        ..ClientLimits::default()
    };
    let client = Client::new(Reach::public().and_loopback(), limits);
    let client = client.map_err(|error| error.to_string())?;
    let request = client.request(Method::GET, url);
    let request = request.map_err(|error| error.to_string())?;
    let answer = request.send().await.map_err(|error| error.to_string())?;
    let location = answer.headers().get("location");
    let location = location.and_then(|value| value.to_str().ok());
    let nowhere = || format!("the page answered {} and leads nowhere", answer.status());
    location.map(str::to_owned).ok_or_else(nowhere)
}
