//! Tests of the crate from outside, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "documents are written where they are imported"
)]

mod openapi_bodies;
mod openapi_check;
mod openapi_generated;
mod openapi_hostile;
mod openapi_mutated;
mod openapi_names;
mod openapi_operations;
mod openapi_parameters;
mod openapi_read;
mod openapi_request;
mod openapi_schemas;
mod openapi_security;
mod openapi_yaml;
