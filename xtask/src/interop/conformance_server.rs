//! The conformance suite against our server code, with the fixtures it asks for.
//!
//! The fixtures are served by `conformance_server` of the test support crate; the suite
//! speaks HTTP only, so that is all it sees.

use std::process::Command;

use super::Context;
use super::conformance::{self, Requirements};
use super::process::Running;
use super::product::{START_LIMIT, fixture};
use super::tally::Tally;

const SETS: &[Requirements] = &[
    Requirements {
        revision: "2026-07-28",
        required: 37,
        explained: &[],
    },
    Requirements {
        revision: "2025-11-25",
        required: 30,
        explained: &[],
    },
];

/// Starts the fixtures anew for each revision and runs its set.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let program = fixture(context, "conformance_server")?;
    let mut tally = Tally::default();
    for requirements in SETS {
        let mut command = Command::new(&program);
        command.args(["--http", "127.0.0.1:0"]);
        let log = context.home.logs().join("conformance_server.log");
        let mut server = Running::start(&mut command, &log)?;
        let url = server.announced("listening on ", START_LIMIT)?;
        let outcome = conformance::run(context, "server", ["--url", &url], *requirements);
        tally.note(requirements.revision, outcome);
    }
    tally.finish()
}
