//! An API that is described by an OpenAPI document, under `openapi` of `toolsmith.yaml`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use toolsmith_core::rate::Rate;
use toolsmith_core::{Effect, Exposure};
use toolsmith_rest::form::{AuthForm, AuthMethod};

use super::words::Duration;

/// An API whose operations are tools.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct OpenApi {
    /// The document, seen from the folder of this file.
    file: Option<String>,
    /// The address of the document.
    url: Option<String>,
    /// Where the API is, where the document does not say it well.
    api_url: Option<String>,
    /// How requests show who makes them.
    auth_method: Option<AuthMethod>,
    /// What that takes.
    auth: Option<AuthForm>,
    /// Short for `auth: { key: … }`.
    api_key: Option<String>,
    /// Headers of every request.
    headers: Option<BTreeMap<String, String>>,
    /// How many requests may be made of one host in which time.
    rate_limit: Option<Rate>,
    /// How often a call is made again that may succeed then and does no harm twice; two
    /// times unless set.
    retries: Option<u8>,
    /// The time limit of one call.
    timeout: Option<Duration>,
    /// What calls do to the world; `network` unless set, so that they are asked for.
    effect: Option<Effect>,
    /// Whether and how its tools are offered to models.
    exposure: Option<Exposure>,
    /// What the names of its tools begin with; the name of the entry unless set, nothing
    /// where it is empty.
    prefix: Option<String>,
    /// Only these operations.
    include: Option<Operations>,
    /// All but these operations.
    exclude: Option<Operations>,
}

/// Operations of an API; what is set must all hold.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Operations {
    /// With one of these tags.
    tags: Option<Vec<String>>,
    /// Under one of these paths, by glob.
    paths: Option<Vec<String>>,
    /// With one of these methods.
    methods: Option<Vec<String>>,
}
