//! An API that is described by an OpenAPI document, under `openapi` of `toolsmith.yaml`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use toolsmith_rest::form::{AuthForm, AuthMethod};

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
    /// Headers of every request.
    headers: Option<BTreeMap<String, String>>,
    /// What the names of its tools begin with.
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
