//! The grants that need no person: for programs, workloads and enterprises.
//!
//! Each is one or two questions to a token endpoint. `rmcp` has them too, but signs
//! with a library that needs cmake to build.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;
use url::form_urlencoded;

use super::credentials::Token;
use super::web::Web;
use super::{AuthorizeError, Enterprise, Proof, Registered, Secret, assertion};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What was found out about where a token is granted, and for what.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) web: &'a Web,
    pub(super) issuer: &'a str,
    pub(super) metadata: &'a AuthorizationMetadata,
    pub(super) resource: &'a str,
    pub(super) scopes: &'a [String],
    /// In seconds since 1970.
    pub(super) now: u64,
}

impl Asked<'_> {
    /// A token for ourselves.
    pub(super) async fn program(&self, client: &Registered) -> Result<Token, AuthorizeError> {
        let mut form = self.form("client_credentials");
        let proof = self.prove(client, self.issuer, &mut form)?;
        self.token(form, proof).await
    }

    /// A token for a workload that somebody vouches for.
    pub(super) async fn workload(
        &self,
        client: Option<&Registered>,
        vouched: &Secret,
    ) -> Result<Token, AuthorizeError> {
        let mut form = self.form(JWT_BEARER);
        form.push(("assertion", vouched.expose().to_owned()));
        let proof = match client {
            Some(client) => self.prove(client, self.issuer, &mut form)?,
            None => None,
        };
        self.token(form, proof).await
    }

    /// A token for a person whom an enterprise's provider knows.
    pub(super) async fn enterprise(
        &self,
        client: &Registered,
        enterprise: &Enterprise,
    ) -> Result<Token, AuthorizeError> {
        let mut form = self.form(TOKEN_EXCHANGE);
        form.push(("requested_token_type", ID_JAG.to_owned()));
        form.push(("audience", self.issuer.to_owned()));
        form.push(("subject_token", enterprise.id_token.expose().to_owned()));
        form.push(("subject_token_type", ID_TOKEN.to_owned()));
        let endpoint = &enterprise.token_endpoint;
        let proof = self.prove(&enterprise.client, endpoint, &mut form)?;
        let answer = self.post(endpoint, form, proof).await?;
        let failed = |reason: &str| self.failed(format!("the identity provider {reason}"));
        if answer["issued_token_type"] != ID_JAG {
            return Err(failed("answered with another sort of token"));
        }
        let grant = answer["access_token"].as_str();
        let grant = grant.ok_or_else(|| failed("answered without a token"))?;

        let mut form = self.form(JWT_BEARER);
        form.push(("assertion", grant.to_owned()));
        let proof = self.prove(client, self.issuer, &mut form)?;
        self.token(form, proof).await
    }

    /// What every question says.
    fn form(&self, grant: &str) -> Vec<(&'static str, String)> {
        let mut form = vec![
            ("grant_type", grant.to_owned()),
            ("resource", self.resource.to_owned()),
        ];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        form
    }

    /// Adds who we are to a form, and returns the header that proves it, if one does.
    fn prove(
        &self,
        client: &Registered,
        audience: &str,
        form: &mut Vec<(&'static str, String)>,
    ) -> Result<Option<String>, AuthorizeError> {
        match &client.proof {
            Proof::None => form.push(("client_id", client.id.clone())),
            Proof::Secret(secret) if self.takes_only_post() => {
                form.push(("client_id", client.id.clone()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
            Proof::Secret(secret) => {
                let encode = |text: &str| {
                    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                let pair = format!("{}:{}", encode(&client.id), encode(secret.expose()));
                return Ok(Some(format!("Basic {}", STANDARD.encode(pair))));
            }
            Proof::Key(key) => {
                let signed = assertion::of(&client.id, audience, key.expose(), self.now);
                let signed = signed.map_err(|reason| self.failed(reason))?;
                form.push(("client_assertion_type", CLIENT_ASSERTION.to_owned()));
                form.push(("client_assertion", signed));
            }
        }
        Ok(None)
    }

    fn takes_only_post(&self) -> bool {
        let methods = self
            .metadata
            .additional_fields
            .get("token_endpoint_auth_methods_supported");
        let takes = |method: &str| {
            let methods = methods.and_then(Value::as_array);
            methods.is_some_and(|methods| methods.iter().any(|each| each == method))
        };
        takes("client_secret_post") && !takes("client_secret_basic")
    }

    async fn token(
        &self,
        form: Vec<(&'static str, String)>,
        proof: Option<String>,
    ) -> Result<Token, AuthorizeError> {
        let answer = self
            .post(&self.metadata.token_endpoint, form, proof)
            .await?;
        read_token(answer).ok_or_else(|| self.failed("its answer is no bearer token".to_owned()))
    }

    async fn post(
        &self,
        endpoint: &str,
        form: Vec<(&'static str, String)>,
        proof: Option<String>,
    ) -> Result<Value, AuthorizeError> {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let mut request = http::Request::post(endpoint)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json");
        if let Some(proof) = proof {
            request = request.header(AUTHORIZATION, proof);
        }
        let request = request.body(body.into_bytes());
        let request = request.map_err(|error| self.failed(error.to_string()))?;
        let answer = self.web.send(request).await;
        let answer = answer.map_err(|error| self.failed(error.to_string()))?;
        let value: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        if answer.status().is_success() {
            return Ok(value);
        }
        let said = |key: &str| value[key].as_str().unwrap_or_default();
        let said = format!("{} {}", said("error"), said("error_description"));
        let said: String = said.trim().chars().take(300).collect();
        Err(self.failed(format!("HTTP {}: {said}", answer.status())))
    }

    fn failed(&self, reason: String) -> AuthorizeError {
        AuthorizeError::Token {
            issuer: self.issuer.to_owned(),
            reason,
        }
    }
}

/// A bearer token; others cannot be sent.
pub(super) fn read_token(answer: Value) -> Option<Token> {
    let token: Token = serde_json::from_value(answer).ok()?;
    let sendable = token
        .access_token
        .bytes()
        .all(|byte| byte.is_ascii_graphic());
    let usable = sendable && !token.access_token.is_empty();
    (usable && token.token_type.eq_ignore_ascii_case("bearer")).then_some(token)
}
