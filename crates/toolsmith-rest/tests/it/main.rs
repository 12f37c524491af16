//! Tests of tools that come from files.

#![expect(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod execute;
mod http_answers;
mod http_auth;
mod http_making;
mod http_pages;
mod http_requests;
mod http_retries;
mod http_server;
mod injection;
