//! The tests of `toolsmith-manager`, in one binary.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod accepted;
mod appeared;
mod approvals;
mod conversations;
mod documented;
mod edit;
#[cfg(target_os = "linux")]
mod gates;
mod hostile;
mod loader;
mod manager;
mod overlays;
mod overlays_hostile;
mod overlays_refresh;
mod own_files;
mod pins;
mod points;
mod records;
mod records_kill;
mod records_summary;
mod reload;
mod remotes;
mod sandbox;
mod schemas;
mod servers;
mod servers_hostile;
mod serving;
mod sets;
#[cfg(target_os = "linux")]
mod shipped;
mod spill;
mod telemetry;
mod web;
mod workers;
