//! From files to a toolbox.
//!
//! Reads `toolsmith.yaml`, strictly ([`config`], [`yaml`]), adds the tools the host
//! asked for, and builds a [`Toolbox`](toolsmith_runtime::Toolbox) with a store for
//! large outputs ([`spill`]). Calls are recorded in files ([`records`]) and told to a
//! collector ([`telemetry`]). Upstream servers are read ([`servers`]) and made ready
//! to be reached ([`upstreams`]). What is written about tools by hand is kept up to date
//! ([`overlays`]). What other people's servers say of their tools is pinned ([`pins`]).
//! What a person approved for longer than one call is kept ([`approvals`]), and so is what
//! was said between a person and a model ([`conversations`]). A program that
//! serves tells others how its sources are doing ([`serving`]). It reads the files it is
//! pointed at and nothing else: the environment and the terminal are the binary's.

extern crate toolsmith_core as toolsmith;

pub mod appeared;
pub mod approvals;
pub mod config;
pub mod conversations;
pub mod edit;
mod files;
mod lint;
pub mod loader;
mod manager;
mod native;
pub mod overlays;
mod overrides;
mod own_files;
pub mod pins;
pub mod records;
mod references;
mod remotes;
mod root;
pub mod sandbox;
pub mod schemas;
pub mod servers;
pub mod serving;
pub mod sets;
mod setup;
mod shared_file;
pub mod spill;
pub mod tape;
pub mod telemetry;
pub mod tool_example;
pub mod upstreams;
pub mod yaml;

pub use config::{Config, WebTerms};
pub use files::Stamp;
pub use loader::{ConfigLoader, FileLoader};
pub use manager::{AgentError, AskTerms, Manager, ProjectWorkers, Reloaded, View};
pub use native::NATIVE_FOLDER;
pub use references::References;
pub use remotes::{Remote, RemoteStatus, Remotes, Waiting, source_name};
pub use root::find_root;
pub use setup::{CONFIG_FILE, IfMissing, ManagerError, Setup};
