//! The suite's prompts.

use serde_json::{Map, Value, json};
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::reply::Response;
use toolsmith_core::{Block, ErrorKind, ToolError};
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::server::{Asking, Prompt, PromptArgument, PromptMessage, PromptText, Prompts};

use super::PNG;
use super::asking::form;

pub(super) struct Fixtures;

impl Prompts for Fixtures {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>> {
        let argument = PromptArgument::required;
        let prompts = vec![
            Prompt::new("test_simple_prompt", "A prompt."),
            Prompt::new("test_prompt_with_arguments", "A prompt of two arguments.")
                .with_argument(argument("arg1", "The first.").with_choices(["test1", "test2"]))
                .with_argument(argument("arg2", "The second.")),
            Prompt::new(
                "test_prompt_with_embedded_resource",
                "A prompt with a resource.",
            )
            .with_argument(argument("resourceUri", "The resource.")),
            Prompt::new("test_prompt_with_image", "A prompt with an image."),
            Prompt::new(
                "test_input_required_result_prompt",
                "A prompt that asks first.",
            ),
        ];
        Box::pin(std::future::ready(Ok(prompts)))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>> {
        Box::pin(async move {
            let told = |key: &str| {
                arguments
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let blocks = match name {
                "test_simple_prompt" => vec![Block::text("This is a simple prompt for testing.")],
                "test_prompt_with_arguments" => {
                    let (one, two) = (told("arg1"), told("arg2"));
                    vec![Block::text(format!(
                        "Prompt with arguments: arg1='{one}', arg2='{two}'"
                    ))]
                }
                "test_prompt_with_embedded_resource" => vec![
                    Block::Resource {
                        uri: told("resourceUri").to_owned(),
                        mime_type: Some("text/plain".to_owned()),
                        content: ResourceContent::Text(
                            "Embedded resource content for testing.".to_owned(),
                        ),
                    },
                    Block::text("Please process the embedded resource above."),
                ],
                "test_prompt_with_image" => vec![
                    Block::Image {
                        data: PNG.to_owned(),
                        mime_type: "image/png".to_owned(),
                    },
                    Block::text("Please analyze the image above."),
                ],
                "test_input_required_result_prompt" => {
                    let question = form(
                        "What context should the prompt use?",
                        json!({ "context": { "type": "string" } }),
                        &["context"],
                    );
                    match asking.ask("user_context", question).await {
                        Response::Given(answer) => vec![Block::text(format!(
                            "Use this context: {}",
                            answer["context"]
                        ))],
                        _ => {
                            return Err(ToolError::new(
                                ErrorKind::ApprovalRequired,
                                "nobody answered",
                            ));
                        }
                    }
                }
                _ => return Ok(None),
            };
            let messages = blocks.into_iter().map(PromptMessage::user).collect();
            Ok(Some(PromptText::new(messages)))
        })
    }
}
