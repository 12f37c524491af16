//! The Inspector's command line, the client that people try a server with first.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::plan::{Era, Target};
use super::process::finish;
use super::product::{Door, Product};
use super::tally::Tally;
use super::{Context, node};

const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Lists and calls over both transports, in both eras, and over HTTP also with a token.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let product = Product::build(context)?;
    let inspector = Inspector::install(context)?;
    let (_open, open) = product.on_http(Door::Open)?;
    let (_guarded, guarded) = product.on_http(Door::Guarded)?;
    let ways = [
        ("stdio", product.on_stdio()),
        ("http", open),
        ("http with a token", guarded.clone()),
    ];
    let mut tally = Tally::default();
    for (name, target) in &ways {
        for era in [Era::Legacy, Era::Modern] {
            let title = format!("{} over {name}", era.word());
            tally.note(&title, inspector.look(target, era));
        }
    }
    let refused = match inspector.ask(&without_token(guarded), Era::Legacy, LIST) {
        Ok(said) => Err(anyhow::anyhow!("it was let in: {said}")),
        Err(_) => Ok(()),
    };
    tally.note("without the token", refused);
    tally.finish()
}

fn without_token(target: Target) -> Target {
    match target {
        Target::Http { url, .. } => Target::Http { url, token: None },
        other @ Target::Stdio { .. } => other,
    }
}

const LIST: &[&str] = &["--method", "tools/list"];

#[derive(Debug)]
struct Inspector {
    node: PathBuf,
    script: PathBuf,
    home: PathBuf,
}

impl Inspector {
    fn install(context: &Context) -> anyhow::Result<Self> {
        let script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        Ok(Self {
            node: node::node(&context.home)?,
            script: node::file(&context.home, &node::INSPECTOR, script)?,
            // It keeps a catalog of servers; the caller's own is not ours to write to.
            home: context.home.fresh_folder("inspector-home")?,
        })
    }

    fn look(&self, target: &Target, era: Era) -> anyhow::Result<()> {
        let listed = self.ask(target, era, LIST)?;
        let tools = listed["tools"].as_array().context("there is no list")?;
        if !tools.iter().any(|tool| tool["name"] == "example_add") {
            bail!("example_add is not among {} tools", tools.len());
        }
        let words = [
            "--method",
            "tools/call",
            "--tool-name",
            "example_add",
            "--tool-args-json",
            r#"{"a":2,"b":3}"#,
        ];
        let result = self.ask(target, era, &words)?;
        if !result["content"].to_string().contains('5') {
            bail!("two and three is {result}");
        }
        Ok(())
    }

    fn ask(&self, target: &Target, era: Era, words: &[&str]) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.node);
        command
            .arg(&self.script)
            .arg("--cli")
            .env("HOME", &self.home);
        match target {
            Target::Stdio {
                command: program,
                arguments,
                environment,
            } => {
                for (name, value) in environment {
                    command.arg("-e").arg(format!("{name}={value}"));
                }
                command.arg(program).args(arguments);
            }
            Target::Http { url, .. } => {
                command.arg(url).args(["--transport", "http"]);
            }
        }
        command.args(["--protocol-era", era.word(), "--format", "json", "--quiet"]);
        command.args(words);
        if let Target::Http {
            token: Some(token), ..
        } = target
        {
            // The option takes all words behind it, so it comes last.
            command
                .arg("--header")
                .arg(format!("Authorization: Bearer {token}"));
        }
        let said = finish(&mut command, COMMAND_LIMIT)?.successful()?;
        let said: Value =
            serde_json::from_str(&said).with_context(|| format!("no JSON: {said}"))?;
        Ok(said["result"].clone())
    }
}
