//! The conformance suite against our client code: it starts mock servers and watches the client.
//!
//! The client is `conformance_client` of the test support crate; it picks what to do by the
//! scenario's name. The verdict comes from the traffic the mock servers have seen.

use super::Context;
use super::conformance::{self, Requirements};
use super::product::fixture;
use super::tally::Tally;

const SETS: &[Requirements] = &[
    Requirements {
        revision: "2026-07-28",
        required: 32,
        explained: DPOP,
    },
    Requirements {
        revision: "2025-11-25",
        required: 18,
        explained: DPOP,
    },
];

/// Proof of possession binds a token to a key of the client's. It is an optional
/// extension that we do not have, and `rmcp` cannot send its scheme.
const DPOP: &[(&str, &str)] = &[
    ("auth/dpop", "tokens are sent as bearer tokens only"),
    ("auth/dpop-nonce", "tokens are sent as bearer tokens only"),
];

/// Runs the set of each revision.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let program = fixture(context, "conformance_client")?;
    let program = program.to_string_lossy();
    let mut tally = Tally::default();
    for requirements in SETS {
        let subject = ["--command", &*program];
        let outcome = conformance::run(context, "client", subject, *requirements);
        tally.note(requirements.revision, outcome);
    }
    tally.finish()
}
