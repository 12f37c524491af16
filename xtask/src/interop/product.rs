//! The product itself: built once, started in the ways a person would start it.
//!
//! Owns the words of its command line, so that no check knows them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::Context;
use super::plan::Target;
use super::process::{Running, finish, free_address};
use crate::step::{Step, locked};

/// How long a server may take until it listens.
pub(super) const START_LIMIT: Duration = Duration::from_secs(30);

/// How long one command of the product may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Builds a program of the test support crate with optimisations and returns where it lies.
pub(super) fn fixture(context: &Context, binary: &str) -> anyhow::Result<PathBuf> {
    build(context, binary, &["toolsmith-testing", "--features", "mcp"])
}

/// The same, for a program that needs the built-in tools.
pub(super) fn built_in_fixture(context: &Context, binary: &str) -> anyhow::Result<PathBuf> {
    let package = ["toolsmith-testing", "--features", "builtin"];
    build(context, binary, &package)
}

/// The same, for the scripted model.
pub(super) fn model_server(context: &Context) -> anyhow::Result<PathBuf> {
    let package = ["toolsmith-testing", "--features", "model-server"];
    build(context, "model_server", &package)
}

fn build(context: &Context, binary: &str, package: &[&str]) -> anyhow::Result<PathBuf> {
    let words = ["build", "--release", "--bin", binary, "--package"];
    let words = words.into_iter().chain(package.iter().copied());
    Step::cargo("build", words.chain(locked(&context.root))).run(&context.root)?;
    Ok(context.home.target().join("release").join(binary))
}

/// Whom a server over HTTP lets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// Every caller of this machine.
    Open,
    /// Callers with the token.
    Guarded,
}

const TOKEN: &str = "a-token-for-the-checks-and-nobody-else";

/// The product's program, with the upstream servers it is started with.
#[derive(Debug)]
pub(super) struct Product {
    program: PathBuf,
    root: PathBuf,
    logs: PathBuf,
    upstreams: Vec<String>,
}

impl Product {
    /// Builds the product.
    pub(super) fn build(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            program: build(context, "toolsmith", &["toolsmith-cli"])?,
            // A folder of its own keeps the project's configuration out of the checks.
            root: context.home.fresh_folder("root")?,
            logs: context.home.logs(),
            upstreams: Vec::new(),
        })
    }

    /// Returns the same product with one upstream server, a command line or a URL.
    pub(super) fn with_upstream(&self, name: &str, server: &str) -> Self {
        Self {
            program: self.program.clone(),
            root: self.root.clone(),
            logs: self.logs.clone(),
            upstreams: vec![format!("{name}={server}")],
        }
    }

    /// Runs one command and returns what it wrote.
    pub(super) fn command<S: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        command
            .args(self.global_words())
            .args(words)
            .envs(self.environment());
        finish(&mut command, COMMAND_LIMIT)?.successful()
    }

    /// Returns how a client starts the product and speaks to it over standard streams.
    pub(super) fn on_stdio(&self) -> Target {
        let words = self.global_words().into_iter();
        Target::Stdio {
            command: self.program.to_string_lossy().into_owned(),
            arguments: words
                .chain(["serve".to_owned(), "--stdio".to_owned()])
                .collect(),
            environment: self.environment(),
        }
    }

    /// Starts the product as a server over HTTP.
    pub(super) fn on_http(&self, door: Door) -> anyhow::Result<(Running, Target)> {
        let address = free_address()?;
        let mut command = Command::new(&self.program);
        command
            .args(self.global_words())
            .args(["serve", "--http", &address.to_string()])
            .envs(self.environment());
        let token = match door {
            Door::Open => {
                command.arg("--no-auth");
                None
            }
            Door::Guarded => {
                let file = self.logs.join("token.txt");
                write_secret(&file, TOKEN)?;
                command.arg("--token-file").arg(file);
                Some(TOKEN.to_owned())
            }
        };
        let mut running = Running::start(&mut command, &self.logs.join("serve.log"))?;
        running.listens(address, START_LIMIT)?;
        let url = format!("http://{address}/mcp");
        Ok((running, Target::Http { url, token }))
    }

    /// Returns the folder the product works in.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn global_words(&self) -> Vec<String> {
        let mut words = vec![
            "--root".to_owned(),
            self.root.to_string_lossy().into_owned(),
        ];
        for upstream in &self.upstreams {
            words.extend(["--server".to_owned(), upstream.clone()]);
        }
        if !self.upstreams.is_empty() {
            words.extend(["--allow".to_owned(), "source:mcp".to_owned()]);
        }
        words
    }

    fn environment(&self) -> BTreeMap<String, String> {
        // The examples are in the way where an upstream's tools are looked at.
        let examples = self.upstreams.is_empty().to_string();
        // Records and conversations of checks are not the user's.
        let state = self.root.with_file_name("state");
        BTreeMap::from([
            ("MCP_INCLUDE_EXAMPLE_TOOLS".to_owned(), examples),
            (
                "XDG_STATE_HOME".to_owned(),
                state.to_string_lossy().into_owned(),
            ),
        ])
    }
}

/// Writes a file that only its owner may read.
fn write_secret(file: &Path, secret: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options
        .open(file)
        .with_context(|| format!("failed to write {file:?}"))?;
    Ok(opened.write_all(secret.as_bytes())?)
}
