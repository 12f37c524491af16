//! Fixtures that answer by themselves.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::context::Level;
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::{AnyTool, Block, Outcome, Progress, ToolContext, ToolError};

use super::{Changing, PNG, WAV, fixture, nothing};

/// The pause the suite expects between notes.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn tools() -> Vec<AnyTool> {
    vec![
        fixture(
            "test_simple_text",
            "Answers with a text.",
            nothing(),
            async |_, _| Outcome::text("This is a simple text response for testing."),
        ),
        fixture(
            "test_image_content",
            "Answers with an image.",
            nothing(),
            async |_, _| Outcome::default().with_block(image()),
        ),
        fixture(
            "test_audio_content",
            "Answers with a sound.",
            nothing(),
            async |_, _| {
                Outcome::default().with_block(Block::Audio {
                    data: WAV.to_owned(),
                    mime_type: "audio/wav".to_owned(),
                })
            },
        ),
        fixture(
            "test_embedded_resource",
            "Answers with a resource.",
            nothing(),
            async |_, _| {
                Outcome::default().with_block(Block::Resource {
                    uri: "test://embedded-resource".to_owned(),
                    mime_type: Some("text/plain".to_owned()),
                    content: ResourceContent::Text(
                        "This is an embedded resource content.".to_owned(),
                    ),
                })
            },
        ),
        fixture(
            "test_multiple_content_types",
            "Answers with several blocks.",
            nothing(),
            async |_, _| {
                Outcome::text("Multiple content types test:")
                    .with_block(image())
                    .with_block(Block::Resource {
                        uri: "test://mixed-content-resource".to_owned(),
                        mime_type: Some("application/json".to_owned()),
                        content: ResourceContent::Text(r#"{"test":"data","value":123}"#.to_owned()),
                    })
            },
        ),
        fixture("test_error_handling", "Fails.", nothing(), async |_, _| {
            Outcome::failure(ToolError::failed(
                "This tool intentionally returns an error for testing",
            ))
        }),
        fixture(
            "test_tool_with_progress",
            "Tells its progress.",
            nothing(),
            with_progress,
        ),
        fixture(
            "test_tool_with_logging",
            "Writes into the log.",
            nothing(),
            with_logging,
        ),
        fixture(
            "test_logging_tool",
            "Writes into the log.",
            nothing(),
            with_logging,
        ),
        fixture(
            "test_reconnection",
            "Answers a client that may have to reconnect.",
            nothing(),
            async |_, _| {
                tokio::time::sleep(PAUSE).await;
                Outcome::text("Reconnection test completed successfully.")
            },
        ),
        fixture(
            "json_schema_2020_12_tool",
            "Has a schema of many keywords.",
            schema(),
            async |_, _| Outcome::text("The schema was kept."),
        ),
        fixture(
            "test_custom_header",
            "Has an argument that headers repeat.",
            header(),
            async |arguments: Value, _| {
                Outcome::text(format!("The header said {}.", arguments["region"]))
            },
        ),
    ]
}

/// Fixtures that change what is listed.
pub(super) fn changing(changing: &Changing) -> Vec<AnyTool> {
    let (tools, prompts) = (changing.clone(), changing.clone());
    vec![
        fixture(
            "test_trigger_tool_change",
            "Changes the list of tools.",
            nothing(),
            move |_, _| {
                let changing = tools.clone();
                async move {
                    if let Some(toolbox) = changing.toolbox.get() {
                        let short_lived = fixture(
                            "test_short_lived",
                            "Is gone soon.",
                            nothing(),
                            async |_, _| Outcome::nothing(),
                        );
                        // Both changes are told; the list is as it was.
                        let _ = toolbox.register([short_lived]);
                        toolbox.registry().unregister("test_short_lived");
                    }
                    Outcome::text("The list of tools changed.")
                }
            },
        ),
        fixture(
            "test_trigger_prompt_change",
            "Changes the list of prompts.",
            nothing(),
            move |_, _| {
                let changing = prompts.clone();
                async move {
                    if let Some(notifier) = changing.notifier.get() {
                        notifier.prompts_changed();
                    }
                    Outcome::text("The list of prompts changed.")
                }
            },
        ),
    ]
}

fn image() -> Block {
    Block::Image {
        data: PNG.to_owned(),
        mime_type: "image/png".to_owned(),
    }
}

async fn with_progress(_: Value, context: ToolContext) -> Outcome {
    for done in [0.0, 50.0, 100.0] {
        context.progress(Progress::done(done).of(100.0));
        tokio::time::sleep(PAUSE).await;
    }
    Outcome::text("The progress was told.")
}

async fn with_logging(_: Value, context: ToolContext) -> Outcome {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        context.log(Level::Info, line);
        tokio::time::sleep(PAUSE).await;
    }
    Outcome::text("The log was written.")
}

fn header() -> Value {
    json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "description": "Where.", "x-mcp-header": "Region" },
        },
        "required": ["region"],
    })
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
