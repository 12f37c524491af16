//! `get_tool_usage_guide`: the guide as a tool, about the tools its caller may see.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Block, Example, Hints, Kind, Outcome, Plan, Schema, ToolDef, ToolError,
};

use super::{Guide, Request};

/// How many bytes its reply may have: the guide whole, as text and once more in the value,
/// and every name that was left out of it.
const REPLY_BYTES: usize = 1 << 20;

/// What it is called with.
#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    tool_names: Option<Vec<String>>,
    #[serde(default)]
    category: Option<String>,
}

/// The tool that shows a guide. It blocks its thread: overlays may have to be read again.
pub fn tool(guide: Arc<Guide>) -> AnyTool {
    FunctionTool::new(definition())
        .with_plan(|_: &Arguments| Ok(Plan::new("Show how tools are used")))
        .into_blocking(move |arguments: Arguments, context| {
            let request = Request::everything()
                .with_tool_names(arguments.tool_names)
                .with_category(arguments.category);
            let response = guide.answer(&context.catalogue(), &request);
            let value = match serde_json::to_value(&response) {
                Ok(value) => value,
                Err(error) => {
                    let why = format!("the guide could not be told: {error}");
                    return Outcome::failure(ToolError::internal(why));
                }
            };
            let shown = response.metadata.tool_count;
            let mut outcome = Outcome::nothing().with_display(format!("Showed {shown} tools"));
            if !response.warnings.is_empty() {
                let warnings = format!("- {}", response.warnings.join("\n- "));
                outcome = outcome.with_block(Block::text(format!("Warnings:\n{warnings}")));
            }
            outcome
                .with_block(Block::text(response.content))
                .with_value(value)
                .with_room(REPLY_BYTES)
        })
}

fn definition() -> ToolDef {
    let mut hints = Hints::default();
    hints.idempotent = Some(true);
    hints.open_world = Some(false);
    let mut definition = ToolDef::new("get_tool_usage_guide")
        .expect("it is a name")
        .with_title("Tool usage guide")
        .with_kind(Kind::Read)
        .with_hints(hints)
        .with_description(
            "Explains the tools there are: what each is for, its parameters, examples, and what \
             it returns.\n\n\
             Without arguments it explains all of them. Ask for single tools or for one category \
             where that is enough; the answer says which names it did not know.",
        )
        .with_input(input())
        .with_output(output())
        .with_returns(
            "The guide as Markdown, warnings about names that are no tools, and how many tools \
             there are, were asked for and are shown.",
        )
        .with_example(example("All tools", json!({})))
        .with_example(example(
            "Two tools",
            json!({ "tool_names": ["read", "write"] }),
        ))
        .with_example(example("One category", json!({ "category": "search" })));
    definition.meta.category = Some("guide".to_owned());
    definition.meta.tags = ["guide", "help", "documentation"].map(str::to_owned).into();
    definition
}

fn example(comment: &str, arguments: Value) -> Example {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Example::new(arguments).with_comment(comment)
}

fn input() -> Schema {
    schema(json!({
        "type": "object",
        "properties": {
            "tool_names": {
                "type": ["array", "null"],
                "description": "The tools to explain, by name; all of them if not given.",
                "items": { "type": "string" },
                "default": null,
            },
            "category": {
                "type": ["string", "null"],
                "description": "The category to explain, such as navigation, search, read or guide; \
                                all of them if not given.",
                "default": null,
            },
        },
    }))
}

fn output() -> Schema {
    let names = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let count = |description: &str| json!({ "type": "integer", "description": description });
    schema(json!({
        "type": "object",
        "properties": {
            "content": { "type": "string", "description": "The guide, as Markdown." },
            "warnings": names("What was asked for in vain, and what is wrong with the files beneath."),
            "metadata": {
                "type": "object",
                "description": "Numbers and names.",
                "properties": {
                    "total_tools": count("How many tools there are."),
                    "tool_count": count("How many of them the guide shows."),
                    "filtered_count": count("How many of them were asked for."),
                    "invalid_names": names("The names that are no tool's."),
                    "generation_time_ms": {
                        "type": "number",
                        "description": "How long it took, in milliseconds.",
                    },
                    "size_bytes": count("How many bytes the guide has."),
                    "omitted": names("The tools that were left out for want of room."),
                },
                "required": [
                    "total_tools", "tool_count", "filtered_count", "invalid_names",
                    "generation_time_ms", "size_bytes", "omitted",
                ],
            },
        },
        "required": ["content", "warnings", "metadata"],
    }))
}

fn schema(value: Value) -> Schema {
    Schema::input(value).expect("a schema is an object")
}
