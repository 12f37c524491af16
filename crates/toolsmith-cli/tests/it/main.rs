//! The tests of the binary `toolsmith`: the real program, run as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod add;
#[cfg(target_os = "linux")]
mod appeared;
mod approvals;
mod arguments;
#[cfg(target_os = "linux")]
mod ask;
#[cfg(target_os = "linux")]
mod ask_answers;
#[cfg(target_os = "linux")]
mod ask_calls;
#[cfg(target_os = "linux")]
mod ask_conversations;
#[cfg(target_os = "linux")]
mod ask_endings;
#[cfg(target_os = "linux")]
mod ask_keys;
#[cfg(target_os = "linux")]
mod ask_killed;
#[cfg(target_os = "linux")]
mod ask_shown;
#[cfg(target_os = "linux")]
mod ask_tasks;
#[cfg(target_os = "linux")]
mod ask_terminal;
#[cfg(target_os = "linux")]
mod ask_trouble;
mod batch;
#[cfg(target_os = "linux")]
mod builtin;
mod call;
mod check;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod configuration;
#[cfg(target_os = "linux")]
mod connect;
#[cfg(target_os = "linux")]
mod connect_file;
mod doctor;
#[cfg(target_os = "linux")]
mod files;
mod guide;
mod help;
#[cfg(unix)]
mod hostile;
mod import;
mod init;
#[cfg(unix)]
mod kill;
mod log;
#[cfg(unix)]
mod login;
#[cfg(target_os = "linux")]
mod mock;
mod models;
#[cfg(target_os = "linux")]
mod pages;
mod permission;
#[cfg(target_os = "linux")]
mod pins;
mod pipes;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod reference;
mod schema;
#[cfg(target_os = "linux")]
mod secrets;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
mod snippets;
#[cfg(target_os = "linux")]
mod snippets_done;
#[cfg(unix)]
mod spill;
mod support;
#[cfg(target_os = "linux")]
mod tape;
#[cfg(target_os = "linux")]
mod terminal;
mod tools;
#[cfg(target_os = "linux")]
mod web;
#[cfg(target_os = "linux")]
mod web_hostile;
