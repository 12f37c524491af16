//! The clients of the official SDKs, and what each must be able to do with the product.

use serde_json::json;

use super::plan::{Driver, Era, Plan, Step};
use super::product::{Door, Product};
use super::tally::Tally;
use super::{Context, install::Set, node, python};

/// Returns a client of the Python SDK.
pub(super) fn python(context: &Context, set: &Set) -> anyhow::Result<Driver> {
    let is_old = set.name == python::OLD_SDK.name;
    Ok(Driver {
        name: set.name,
        program: context.home.venv(set)?,
        script: python::script(&context.root, "client.py"),
        line: None,
        eras: eras(is_old),
    })
}

/// Returns a client of the old line of the TypeScript SDK.
pub(super) fn old_typescript(context: &Context) -> anyhow::Result<Driver> {
    typescript(context, "typescript-old", "old")
}

/// Returns a client of the new line of the TypeScript SDK.
pub(super) fn new_typescript(context: &Context) -> anyhow::Result<Driver> {
    typescript(context, "typescript-new", "new")
}

fn typescript(context: &Context, name: &'static str, line: &'static str) -> anyhow::Result<Driver> {
    Ok(Driver {
        name,
        program: node::node(&context.home)?,
        script: node::script(&context.root, &context.home, "client.mjs")?,
        line: Some(line),
        eras: eras(line == "old"),
    })
}

fn eras(is_old: bool) -> &'static [Era] {
    if is_old {
        &[Era::Legacy]
    } else {
        &[Era::Legacy, Era::Modern, Era::Auto]
    }
}

/// Drives the product with its example tools, over both transports and in every era the clients know.
pub(super) fn drive(context: &Context, drivers: &[Driver]) -> anyhow::Result<()> {
    let product = Product::build(context)?;
    let mut tally = Tally::default();
    for driver in drivers {
        for &era in driver.eras {
            let (_open, open) = product.on_http(Door::Open)?;
            let (_guarded, guarded) = product.on_http(Door::Guarded)?;
            let targets = [
                ("stdio", product.on_stdio()),
                ("http", open),
                ("http with a token", guarded),
            ];
            for (transport, target) in targets {
                let title = format!("{}, {}, over {transport}", driver.name, era.word());
                let plan = Plan {
                    target,
                    era,
                    steps: example_steps(),
                };
                tally.note(&title, plan.run(driver, &context.home.logs()));
            }
        }
    }
    tally.finish()
}

fn example_steps() -> Vec<Step> {
    vec![
        Step::list(&["example_add", "example_echo", "example_sleep"]),
        Step::call("example_add", &json!({ "a": 2, "b": 3 }), "5"),
        Step::refused("example_add", &json!({ "a": "two" })),
        // Many steps, so that it takes a while: a client that has the answer already may drop
        // what came just before it.
        Step::progress("example_progress", &json!({ "steps": 5000 }), 1, "5000"),
        Step::cancel("example_sleep", &json!({ "ms": 60_000 }), None),
        Step::call(
            "example_echo",
            &json!({ "text": "still here" }),
            "still here",
        ),
        Step::resources(),
        Step::prompts(),
    ]
}
