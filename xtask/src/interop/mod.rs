//! `cargo xtask interop [NAME…]`: the checks against programs that nobody here wrote.
//!
//! A check is a row of `CHECKS`, in a file of its own. What it needs beside Rust
//! (Node, the official SDKs, reference servers, documents, SDKs of model providers, `rg`
//! and `fd`) is installed in exact versions into `target/interop/`, and nothing outside of
//! it is touched; nothing here runs as part of `cargo xtask test`.

mod agent;
mod bridge;
mod conformance;
mod conformance_client;
mod conformance_server;
mod formats;
mod inspector;
mod install;
pub(crate) mod mdbook;
pub(crate) mod node;
mod openapi;
mod plan;
mod process;
mod product;
pub(crate) mod python;
mod python_sdk;
mod reference_servers;
mod sdk;
mod search;
pub(crate) mod searchers;
mod tally;
mod typescript_sdk;

use std::path::{Path, PathBuf};

use anyhow::bail;

pub(crate) use install::Home;

use crate::step::timed;

/// A check against somebody else's program.
#[derive(Debug)]
pub(crate) struct Check {
    name: &'static str,
    run: fn(&Context) -> anyhow::Result<()>,
}

/// What every check works with.
#[derive(Debug)]
pub(crate) struct Context {
    root: PathBuf,
    home: Home,
}

const CHECKS: &[Check] = &[
    Check {
        name: "conformance-server",
        run: conformance_server::run,
    },
    Check {
        name: "conformance-client",
        run: conformance_client::run,
    },
    Check {
        name: "python-sdk",
        run: python_sdk::run,
    },
    Check {
        name: "typescript-sdk",
        run: typescript_sdk::run,
    },
    Check {
        name: "reference-servers",
        run: reference_servers::run,
    },
    Check {
        name: "inspector",
        run: inspector::run,
    },
    Check {
        name: "bridge",
        run: bridge::run,
    },
    Check {
        name: "search",
        run: search::run,
    },
    Check {
        name: "openapi",
        run: openapi::run,
    },
    Check {
        name: "formats",
        run: formats::run,
    },
    Check {
        name: "agent",
        run: agent::run,
    },
];

/// Returns the checks of the given names, all of them for no name, or what is wrong with a name.
pub(crate) fn select(names: &[&str]) -> Result<Vec<&'static Check>, String> {
    if names.is_empty() {
        return Ok(CHECKS.iter().collect());
    }
    let find = |name: &&str| {
        let found = CHECKS.iter().find(|check| check.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
            format!("unknown check '{name}'; known: {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// Runs the chosen checks, each to its end, and fails when one of them did.
pub(crate) fn run(root: &Path, chosen: &[&Check]) -> anyhow::Result<()> {
    let context = Context {
        root: root.to_path_buf(),
        home: Home::of(root)?,
    };
    let mut failures = Vec::new();
    for check in chosen {
        let again = format!("cargo xtask interop {}", check.name);
        let outcome = timed(check.name, &again, || (check.run)(&context));
        failures.extend(outcome.err().map(|error| format!("{error:#}")));
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_selects_all_and_a_wrong_name_lists_the_known_ones() {
        assert_eq!(select(&[]).unwrap().len(), CHECKS.len());
        assert_eq!(select(&["bridge"]).unwrap()[0].name, "bridge");
        let message = select(&["brige"]).unwrap_err();
        assert!(
            message.starts_with("unknown check 'brige'; known: conformance-server, "),
            "{message}"
        );
    }
}
