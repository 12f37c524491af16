//! From files to a toolbox.
//!
//! Reads `toolsmith.yaml`, strictly ([`config`], [`yaml`]), adds the tools the host
//! asked for, and builds a [`Toolbox`](toolsmith_runtime::Toolbox) with a store for
//! large outputs ([`spill`]). Upstream servers are read ([`servers`]) and made ready
//! to be reached ([`upstreams`]). What is written about tools by hand is kept up to date
//! ([`overlays`]). It reads the files it is pointed at and nothing
//! else: the environment and the terminal are the binary's.

extern crate toolsmith_core as toolsmith;

pub mod config;
pub mod edit;
pub mod lint;
pub mod loader;
mod manager;
pub mod overlays;
mod references;
pub mod schemas;
pub mod servers;
pub mod spill;
pub mod tool_example;
pub mod upstreams;
pub mod yaml;

pub use config::Config;
pub use loader::{ConfigLoader, FileLoader};
pub use manager::{CONFIG_FILE, IfMissing, Manager, ManagerError};
pub use references::References;
