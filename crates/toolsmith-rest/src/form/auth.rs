//! How a request shows who makes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolsmith_core::reference::Template;

use super::placed::Placed;

/// How a request shows who makes it; what that takes stands under `auth`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthMethod {
    /// Not at all.
    #[default]
    None,
    /// A key in a header or in the query: `key`, `in`, `name`.
    ApiKey,
    /// A token in the `Authorization` header: `token`.
    Bearer,
    /// A user name and a password: `username`, `password`.
    Basic,
    /// A token that is asked for with a secret, and asked for again before it ends:
    /// `token_url`, `client_id`, `client_secret`, `scopes`.
    #[serde(alias = "oauth2", alias = "client_credentials")]
    Oauth,
}

/// What a method of authentication takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AuthForm {
    /// The key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub key: Option<Placed<Template>>,
    /// Where the key stands.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub place: Option<KeyPlace>,
    /// The header or query parameter of the key; `X-API-Key` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Placed<String>>,
    /// The token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub token: Option<Placed<Template>>,
    /// The user name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub username: Option<Placed<Template>>,
    /// The password.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub password: Option<Placed<Template>>,
    /// Where tokens are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub token_url: Option<Placed<Template>>,
    /// Who asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub client_id: Option<Placed<Template>>,
    /// The secret they are asked for with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub client_secret: Option<Placed<Template>>,
    /// What the token is to be good for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// Where a key stands in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// In a header.
    #[default]
    Header,
    /// In the query.
    Query,
}

/// Tells whether what is called so is most likely a secret.
///
/// ```
/// use toolsmith_rest::form::sounds_secret;
///
/// assert!(sounds_secret("X-API-Key"));
/// assert!(!sounds_secret("Accept-Language"));
/// ```
pub fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let sounds = [
        "token",
        "secret",
        "password",
        "api_key",
        "apikey",
        "authorization",
    ];
    sounds.iter().any(|sound| name.contains(sound))
}
