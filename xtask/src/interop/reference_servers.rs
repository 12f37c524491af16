//! The protocol's own reference servers as upstreams of the product.
//!
//! Used from the command line first, then through the product as a gateway, by a client
//! of each era. The server "everything" is the one that does what few servers do: it
//! adds tools after the handshake, asks the user, reports progress and returns images.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::plan::{Driver, Era, Plan, Step};
use super::process::{Running, free_address};
use super::product::{Product, START_LIMIT};
use super::tally::Tally;
use super::{Context, node, sdk};

/// Uses the filesystem server once and "everything" over both transports.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let product = Product::build(context)?;
    let mut tally = Tally::default();
    let clients = [
        (sdk::old_typescript(context)?, Era::Legacy),
        (sdk::new_typescript(context)?, Era::Modern),
    ];
    let shared = Shared::make(context)?;
    let line = command_line(context, FILESYSTEM, &[&shared.folder.to_string_lossy()])?;
    let with_files = product.with_upstream("fs", &line);
    tally.note(
        "filesystem, from the command line",
        filesystem(&with_files, &shared),
    );
    for (client, era) in &clients {
        let title = format!("filesystem, through the gateway by {}", client.name);
        let steps = filesystem_steps(&with_files, &shared);
        tally.note(&title, gateway(context, &with_files, client, *era, steps));
    }

    let (_running, url) = everything_on_http(context)?;
    let line = command_line(context, EVERYTHING, &["stdio"])?;
    for (transport, server) in [("stdio", &line), ("http", &url)] {
        let product = product.with_upstream("every", server);
        let title = format!("everything over {transport}");
        tally.note(
            &format!("{title}, from the command line"),
            everything(&product),
        );
        for (client, era) in &clients {
            let title = format!("{title}, through the gateway by {}", client.name);
            tally.note(
                &title,
                gateway(context, &product, client, *era, everything_steps()),
            );
        }
    }
    tally.finish()
}

const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

fn program(context: &Context, path: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let file = node::file(&context.home, &node::REFERENCE, path)?;
    Ok((node::node(&context.home)?, file))
}

fn command_line(context: &Context, path: &str, words: &[&str]) -> anyhow::Result<String> {
    let (node, file) = program(context, path)?;
    let words = words.join(" ");
    Ok(format!("{} {} {words}", node.display(), file.display()))
}

fn everything_on_http(context: &Context) -> anyhow::Result<(Running, String)> {
    let (node, file) = program(context, EVERYTHING)?;
    let address = free_address()?;
    let mut command = Command::new(node);
    command
        .arg(file)
        .arg("streamableHttp")
        .env("PORT", address.port().to_string());
    let mut running = Running::start(&mut command, &context.home.logs().join("everything.log"))?;
    running.listens(address, START_LIMIT)?;
    Ok((running, format!("http://{address}/mcp")))
}

/// A folder with a file in it that the filesystem server may read.
#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    file: PathBuf,
}

const CONTENT: &str = "read through two servers";

impl Shared {
    fn make(context: &Context) -> anyhow::Result<Self> {
        let folder = context.home.fresh_folder("shared")?;
        let file = folder.join("note.txt");
        std::fs::write(&file, CONTENT)?;
        Ok(Self { folder, file })
    }
}

fn filesystem(product: &Product, shared: &Shared) -> anyhow::Result<()> {
    offers(product, &["mcp__fs__read_file", "mcp__fs__list_directory"])?;
    let path = format!("path={}", shared.file.display());
    let said = product.command(["call", "mcp__fs__read_file", &path, "--yes"])?;
    holds(&said, CONTENT)?;
    let outside = format!("path={}", product.root().display());
    if let Ok(said) = product.command(["call", "mcp__fs__read_file", &outside, "--yes"]) {
        bail!("a file outside of the shared folder was read: {said}");
    }
    Ok(())
}

/// The server narrows what it shares to the folders its client names, if it names any.
fn filesystem_steps(product: &Product, shared: &Shared) -> Vec<Step> {
    let read = "mcp__fs__read_text_file";
    vec![
        Step::list(&[read, "mcp__fs__write_file"]),
        Step::call(read, &json!({ "path": shared.file }), CONTENT),
        Step::refused(read, &json!({ "path": product.root() })),
        Step::call(read, &json!({ "path": shared.file }), CONTENT),
    ]
}

fn everything(product: &Product) -> anyhow::Result<()> {
    offers(product, &["mcp__every__echo", "mcp__every__get-sum"])?;
    let calls: [(&[&str], &str); 4] = [
        (&["mcp__every__echo", "message=hello"], "hello"),
        (&["mcp__every__get-sum", "a=2", "b=3"], "5"),
        (
            &[
                "mcp__every__trigger-long-running-operation",
                "duration=1",
                "steps=4",
            ],
            "completed",
        ),
        (&["mcp__every__get-tiny-image"], "image"),
    ];
    for (words, expected) in calls {
        let all = ["call"].iter().chain(words).chain(&["--yes"]);
        let said = product.command(all).with_context(|| words.join(" "))?;
        holds(&said, expected).with_context(|| words.join(" "))?;
    }
    Ok(())
}

fn everything_steps() -> Vec<Step> {
    let tool = |name: &str| format!("mcp__every__{name}");
    let slow = tool("trigger-long-running-operation");
    let still_here = json!({ "message": "still here" });
    vec![
        Step::list(&[&tool("echo"), &tool("get-sum"), &slow]),
        Step::call(&tool("get-sum"), &json!({ "a": 2, "b": 3 }), "5"),
        Step::refused(&tool("get-sum"), &json!({ "a": "two" })),
        Step::content(&tool("get-tiny-image"), &json!({}), "image"),
        Step::progress(&slow, &json!({ "duration": 1, "steps": 4 }), 2, "completed"),
        Step::cancel(&slow, &json!({ "duration": 60, "steps": 60 }), None),
        Step::call(&tool("echo"), &still_here, "still here"),
        Step::elicit(
            &tool("trigger-elicitation-request"),
            &json!({ "name": "Ada" }),
            "Ada",
        ),
        Step::resources(),
        Step::prompts(),
    ]
}

fn gateway(
    context: &Context,
    product: &Product,
    client: &Driver,
    era: Era,
    steps: Vec<Step>,
) -> anyhow::Result<()> {
    let plan = Plan {
        target: product.on_stdio(),
        era,
        steps,
    };
    plan.run(client, &context.home.logs())
}

/// Fails unless the product lists the tools.
fn offers(product: &Product, names: &[&str]) -> anyhow::Result<()> {
    let listed = product.command(["tools", "--json"])?;
    let listed: Vec<Value> =
        serde_json::from_str(&listed).context("the list of tools is no JSON")?;
    let is_listed = |name: &str| listed.iter().any(|tool| tool["name"] == name);
    let missing: Vec<&&str> = names.iter().filter(|name| !is_listed(name)).collect();
    if !missing.is_empty() {
        bail!("{missing:?} not among {} tools", listed.len());
    }
    Ok(())
}

fn holds(said: &str, expected: &str) -> anyhow::Result<()> {
    if !said.contains(expected) {
        bail!("expected '{expected}' in: {said}");
    }
    Ok(())
}
