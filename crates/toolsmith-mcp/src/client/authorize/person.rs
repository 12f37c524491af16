//! Authorization by a person, who consents in a browser.
//!
//! Who we are there is settled first; the code the browser brings back is exchanged
//! only where it is of the issuer that was asked.

use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
};
use serde_json::json;
use url::Url;

use super::authorizer::{Authorizer, Found, told};
use super::credentials::{Client, Credential};
use super::{AuthorizeError, Consent, Proof};

impl Authorizer {
    /// Authorizes by a person's consent.
    pub(super) async fn with_person(
        &self,
        found: Found,
        consent: &dyn Consent,
        scopes: &[String],
        old: Option<&Credential>,
    ) -> Result<(), AuthorizeError> {
        let Found {
            mut manager,
            metadata,
            issuer,
        } = found;
        let client = self
            .identify(&mut manager, &metadata, &issuer, consent, scopes, old)
            .await?;
        let unidentified = |error: &AuthError| AuthorizeError::Client {
            issuer: issuer.clone(),
            reason: told(error),
        };
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let configured = manager.configure_client(self.configuration(&client));
        configured.map_err(|error| unidentified(&error))?;
        let page = manager.get_authorization_url(&asked).await;
        let page = page.map_err(|error| unidentified(&error))?;
        let vetted = self.0.web.vet(&page);
        vetted.map_err(|error| AuthorizeError::Metadata(error.to_string()))?;

        let visit = consent.visit(&page);
        let visited = tokio::time::timeout(self.0.options.consent_time, visit).await;
        let visited = visited.unwrap_or_else(|_| Err("nobody did in time".to_owned()));
        let back = visited.map_err(AuthorizeError::Consent)?;
        if let Some(reason) = refusal(&back) {
            return Err(AuthorizeError::Consent(reason));
        }
        let back = AuthorizationCallback::from_redirect_url(&back);
        let back = back.map_err(|error| AuthorizeError::Consent(told(&error)))?;
        let token = manager.exchange_code_for_token_with_issuer(
            &back.code,
            &back.csrf_token,
            back.issuer.as_deref(),
        );
        let token = token.await.map_err(|error| AuthorizeError::Token {
            issuer: issuer.clone(),
            reason: told(&error),
        })?;
        self.keep(&issuer, client, &token, scopes)
    }

    /// Who we are at an issuer: a client it was told of, the one our document
    /// describes, the one we registered before, or a new one.
    async fn identify(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        issuer: &str,
        consent: &dyn Consent,
        scopes: &[String],
        old: Option<&Credential>,
    ) -> Result<Client, AuthorizeError> {
        let redirect_uri = consent.redirect_uri();
        let client = |id: &str, secret: Option<&str>| Client {
            id: id.to_owned(),
            secret: secret.map(str::to_owned),
            redirect_uri: Some(redirect_uri.to_owned()),
        };
        let options = &self.0.options;
        if let Some(known) = options.client_of(issuer) {
            return match &known.proof {
                Proof::None => Ok(client(&known.id, None)),
                Proof::Secret(secret) => Ok(client(&known.id, Some(secret.expose()))),
                Proof::Key(_) => {
                    let message = "a client with a key cannot act for a person yet";
                    Err(AuthorizeError::Settings(message.to_owned()))
                }
            };
        }
        let takes_documents = metadata
            .additional_fields
            .get("client_id_metadata_document_supported");
        if let Some(document) = &options.metadata_url
            && takes_documents.is_some_and(|takes| *takes == json!(true))
        {
            return Ok(client(document, None));
        }
        if let Some(old) = old
            && old.client.redirect_uri.as_deref() == Some(redirect_uri)
        {
            return Ok(old.client.clone());
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered = manager
            .register_client(&options.client_name, redirect_uri, &scopes)
            .await;
        let registered = registered.map_err(|error| AuthorizeError::Client {
            issuer: issuer.to_owned(),
            reason: told(&error),
        })?;
        Ok(client(
            &registered.client_id,
            registered.client_secret.as_deref(),
        ))
    }
}

/// Tells whether an address that a browser was sent to answers the page it was shown: both
/// have the same `state`, which nobody else knows.
///
/// For hosts whose browser comes back to where anybody can come to.
pub fn is_answer_to(page: &str, back: &str) -> bool {
    let state = |url: &str| said(&Url::parse(url).ok()?, "state");
    state(page).is_some_and(|asked| state(back) == Some(asked))
}

/// What the authorization server said instead of a code.
fn refusal(back: &str) -> Option<String> {
    let back = Url::parse(back).ok()?;
    let error = said(&back, "error")?;
    let described = said(&back, "error_description").unwrap_or_default();
    let told = format!("{error} {described}");
    Some(told.trim().chars().take(300).collect())
}

fn said(url: &Url, key: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    let (_, value) = pairs.find(|(each, _)| each == key)?;
    Some(value.into_owned())
}
