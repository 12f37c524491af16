//! What is known of providers before any is reached.

use toolsmith_provider::Provider;

use super::table::{ANTHROPIC_TOKEN, ROWS};

/// The providers there is a client for.
pub fn providers() -> impl Iterator<Item = Provider> {
    ROWS.iter().map(|row| row.provider)
}

/// The variables of the ecosystem that hold keys: what is in them must be shown to nobody.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    let keys = ROWS
        .iter()
        .flat_map(|row| row.key_variables.iter().copied());
    keys.chain([ANTHROPIC_TOKEN])
}
