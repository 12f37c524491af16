//! One era on one side, the other era on the other: a gateway must carry everything across.
//!
//! A client that only knows the handshake uses a server that only speaks 2026-07-28, and
//! the other way round; progress, cancellation and questions to the user included.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::plan::{Driver, Era, Plan, Step};
use super::process::{Running, free_address};
use super::product::{Door, Product, START_LIMIT};
use super::tally::Tally;
use super::{Context, node, python, sdk};

/// An upstream server, and the clients of the other era.
#[derive(Debug)]
struct Side {
    script: &'static str,
    era: Era,
    clients: Vec<Driver>,
}

/// Crosses the eras both ways, over every pair of transports.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let product = Product::build(context)?;
    let sides = [
        Side {
            script: "upstream_new.mjs",
            era: Era::Legacy,
            clients: vec![
                sdk::old_typescript(context)?,
                sdk::python(context, &python::OLD_SDK)?,
            ],
        },
        Side {
            script: "upstream_old.mjs",
            era: Era::Modern,
            clients: vec![
                sdk::new_typescript(context)?,
                sdk::python(context, &python::NEW_SDK)?,
            ],
        },
    ];
    let mut tally = Tally::default();
    for side in &sides {
        for upstream_transport in ["stdio", "http"] {
            for client_transport in ["stdio", "http"] {
                for client in &side.clients {
                    let title = format!(
                        "{} over {client_transport} to {} over {upstream_transport}",
                        client.name, side.script
                    );
                    let way = Way {
                        side,
                        client,
                        upstream_transport,
                        client_transport,
                    };
                    tally.note(&title, cross(context, &product, &way));
                }
            }
        }
    }
    tally.finish()
}

/// One way from a client to an upstream server.
#[derive(Debug)]
struct Way<'a> {
    side: &'a Side,
    client: &'a Driver,
    upstream_transport: &'static str,
    client_transport: &'static str,
}

fn cross(context: &Context, product: &Product, way: &Way<'_>) -> anyhow::Result<()> {
    let marker = context.home.logs().join("cancelled.txt");
    if marker.exists() {
        std::fs::remove_file(&marker)?;
    }
    let (_upstream, server) = upstream(context, way, &marker)?;
    let product = product.with_upstream("up", &server);
    let (_running, target) = match way.client_transport {
        "stdio" => (None, product.on_stdio()),
        _ => {
            let (running, target) = product.on_http(Door::Open)?;
            (Some(running), target)
        }
    };
    let plan = Plan {
        target,
        era: way.side.era,
        steps: steps(&marker),
    };
    plan.run(way.client, &context.home.logs())
}

/// Returns how the product reaches the upstream server, and the server where it runs by itself.
fn upstream(
    context: &Context,
    way: &Way<'_>,
    marker: &Path,
) -> anyhow::Result<(Option<Running>, String)> {
    let node = node::node(&context.home)?;
    let script = node::script(&context.root, &context.home, way.side.script)?;
    if way.upstream_transport == "stdio" {
        // The product hands its children a bare environment, so the marker is set by `env`.
        let line = format!(
            "env INTEROP_CANCELLED={} {} {}",
            marker.display(),
            node.display(),
            script.display()
        );
        return Ok((None, line));
    }
    let address = free_address()?;
    let mut command = Command::new(node);
    command
        .arg(script)
        .args(["--http", &address.port().to_string()])
        .env("INTEROP_CANCELLED", marker);
    let mut running = Running::start(&mut command, &context.home.logs().join("upstream.log"))?;
    running.listens(address, START_LIMIT)?;
    Ok((Some(running), format!("http://{address}/mcp")))
}

fn steps(marker: &Path) -> Vec<Step> {
    vec![
        Step::list(&[
            "mcp__up__echo",
            "mcp__up__add",
            "mcp__up__slow",
            "mcp__up__ask",
        ]),
        Step::call("mcp__up__add", &json!({ "a": 2, "b": 3 }), "5"),
        Step::refused("mcp__up__add", &json!({ "a": "two" })),
        Step::progress("mcp__up__slow", &json!({ "steps": 5 }), 2, "took 5 steps"),
        Step::cancel("mcp__up__slow", &json!({ "steps": 600 }), Some(marker)),
        Step::call(
            "mcp__up__echo",
            &json!({ "text": "still here" }),
            "still here",
        ),
        Step::elicit("mcp__up__ask", &json!({ "name": "Ada" }), "Hello, Ada!"),
    ]
}
