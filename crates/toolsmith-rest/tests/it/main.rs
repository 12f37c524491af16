//! Tests of tools that come from files, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "documents are written where they are imported"
)]

mod command;
mod command_end;
mod command_injection;
mod command_sandbox;
mod execute;
mod http_answers;
mod http_auth;
mod http_hostile;
mod http_making;
mod http_pages;
mod http_requests;
mod http_retries;
mod http_server;
mod injection;
mod openapi_bodies;
mod openapi_called;
mod openapi_check;
mod openapi_generated;
mod openapi_hostile;
mod openapi_live;
mod openapi_mutated;
mod openapi_names;
mod openapi_operations;
mod openapi_parameters;
mod openapi_read;
mod openapi_request;
mod openapi_schemas;
mod openapi_security;
mod openapi_yaml;
mod script;
