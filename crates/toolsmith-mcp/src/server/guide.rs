//! The usage guide as a resource and as a prompt.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolsmith_core::{Block, ToolDef, ToolError};
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::guide::{Budget, Guide, Request, Response, USUAL_BYTES};

use super::prompts::{Asking, Prompt, PromptArgument, PromptMessage, PromptText, Prompts};
use super::resources::{Contents, Resource, Resources};
use super::selected::Selected;
use crate::BoxFuture;

/// The address of the guide.
const URI: &str = "toolsmith://guide";

/// What it is called, as a resource and as a prompt.
const NAME: &str = "tool_usage_guide";

/// The guide to the tools a server offers.
#[derive(Clone, Debug)]
pub struct ToolGuide {
    guide: Arc<Guide>,
    toolbox: Toolbox,
    selection: Selected,
}

impl ToolGuide {
    /// The guide to the tools of this selection.
    pub fn new(guide: Arc<Guide>, toolbox: Toolbox, selection: impl Into<Selected>) -> Self {
        Self {
            guide,
            toolbox,
            selection: selection.into(),
        }
    }

    /// Asks the guide beside the protocol: overlays may have to be read again.
    async fn beside<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Guide, &[Arc<ToolDef>]) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let (guide, offer) = (
            Arc::clone(&self.guide),
            self.toolbox.offer(&self.selection.now()),
        );
        tokio::task::spawn_blocking(move || {
            let tools: Vec<_> = offer.tools().iter().map(|t| Arc::clone(&t.tool)).collect();
            ask(&guide, &tools)
        })
        .await
        .map_err(|error| ToolError::internal(format!("the guide could not be made: {error}")))
    }

    async fn answer(&self, request: Request) -> Result<Response, ToolError> {
        self.beside(move |guide, tools| guide.answer(tools, &request))
            .await
    }

    /// The guide as one text: what there is to be warned of first, all within the usual
    /// room.
    async fn told(&self, request: Request) -> Result<String, ToolError> {
        let response = self.answer(request.clone()).await?;
        if response.warnings.is_empty() {
            return Ok(response.content);
        }
        let warnings = format!("- {}\n\n", response.warnings.join("\n- "));
        let room = Budget::Bytes(USUAL_BYTES.saturating_sub(warnings.len()));
        let response = self.answer(request.with_budget(room)).await?;
        Ok(warnings + &response.content)
    }
}

impl Resources for ToolGuide {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        let guide = Resource::new(URI, NAME)
            .with_description("What the tools are for, how they are called, what they return.")
            .with_mime_type("text/markdown");
        Box::pin(std::future::ready(Ok(vec![guide])))
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        Box::pin(async move {
            if uri != URI {
                return Ok(None);
            }
            let text = self.told(Request::everything()).await?;
            let contents = Contents::text(uri, text).with_mime_type("text/markdown");
            Ok(Some(vec![contents]))
        })
    }
}

impl Prompts for ToolGuide {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>> {
        Box::pin(async {
            let covered = self.beside(Guide::coverage).await?.into_iter();
            // What only overlays speak of has no category, and cannot be explained.
            let covered = covered.filter_map(|tool| Some((tool.name, tool.category?)));
            let (tools, mut categories): (Vec<String>, Vec<String>) = covered.unzip();
            categories.sort_unstable();
            categories.dedup();
            let names = "The tools to explain, by name, with commas between; all if not given.";
            let names = PromptArgument::optional("tool_names", names);
            let category = "The category to explain; all if not given.";
            let category = PromptArgument::optional("category", category).with_choices(categories);
            let prompt = Prompt::new(NAME, "Explains the tools there are, or some of them.")
                .with_argument(names.with_choices(tools).as_list())
                .with_argument(category);
            Ok(vec![prompt])
        })
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        _: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>> {
        Box::pin(async move {
            if name != NAME {
                return Ok(None);
            }
            let given = |name: &str| {
                let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
                text.filter(|text| !text.is_empty())
            };
            let names = given("tool_names").map(|names| {
                let names = names.split(',').map(|name| name.trim().to_owned());
                names.filter(|name| !name.is_empty()).collect()
            });
            let request = Request::everything()
                .with_tool_names(names)
                .with_category(given("category").map(str::to_owned));
            let message = PromptMessage::user(Block::text(self.told(request).await?));
            Ok(Some(PromptText::new(vec![message])))
        })
    }
}
