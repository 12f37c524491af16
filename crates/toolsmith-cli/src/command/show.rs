//! `toolsmith show`: all that is known about a tool, under its bare name.

use serde_json::{Value, json};
use toolsmith_core::{RawCall, ToolDef};
use toolsmith_runtime::shape::clean;

use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) async fn run(session: &Session, name: &str, as_json: bool) -> Result<u8, Failure> {
    let offer = session.toolbox.offer(&session.selection());
    let Some(offered) = offer.find(name) else {
        // The resolver knows the nearest names.
        let caller = toolsmith_runtime::Caller::new("cli").with_offer(offer);
        let call = RawCall::new(name, Value::Null);
        let error = session.toolbox.explain(call, &caller).await.error;
        return Err(match error {
            Some(error) => Failure::of_tool(&session.told_of(&error, name), name),
            None => Failure::usage(format!("there is no tool {name:?}")),
        });
    };
    if as_json {
        print::json(&whole(&offered.tool))?;
    } else {
        print::line(&clean(&text(&offered.tool)))?;
    }
    Ok(0)
}

fn whole(tool: &ToolDef) -> Value {
    json!({
        "name": tool.name,
        "title": tool.display_name(),
        "source": tool.source.word(),
        "kind": tool.kind,
        "effect": tool.effect,
        "hints": tool.hints,
        "category": tool.category(),
        "description": tool.brief_description(),
        "full_description": tool.full_description(),
        "id": tool.meta.id,
        "version": tool.meta.version,
        "tags": tool.meta.tags,
        "documentation_url": tool.meta.documentation_url,
        "input_schema": tool.input,
        "output_schema": tool.output,
        "examples": tool.examples,
        "returns": tool.returns,
        "consent": tool.consent,
        "annotations": tool.annotations(),
        "extra": tool.meta.extra,
    })
}

fn text(tool: &ToolDef) -> String {
    let effect = format!("{:?}", tool.effect).to_lowercase();
    format!(
        "# {}\n\n{} · {effect} · {}\n\n{}\n",
        tool.name,
        tool.source.word(),
        tool.category(),
        tool.full_description()
    )
}
