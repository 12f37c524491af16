//! Resources, prompts and completions: the methods beside the tools.

use std::sync::Arc;

use futures_util::future::join_all;
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Prompt as WirePrompt,
    PromptMessage as WireMessage, ReadResourceRequestParams, ReadResourceResult, Reference,
    Resource as WireResource, ResourceTemplate as WireTemplate, Role,
};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolsmith_core::{ErrorKind, ToolError};

use super::ask::Desk;
use super::client::{Client, Era};
use super::errand::{Attended, Errand, lacking};
use super::handler::Made;
use super::hush::Hush;
use super::page::page;
use super::prompts::{Asking, PromptText, Speaker};
use super::resources::Completion;
use super::{Life, Shared};
use crate::wire;

/// How long a client may keep a list. Changes are told, so this is for those who do
/// not listen.
pub(super) const LIST_TTL_MS: u64 = 60_000;

/// How many characters of a failure are told.
const LONGEST_FAILURE: usize = 2000;

/// The most values a completion may have.
const MOST_VALUES: usize = 100;

impl Shared {
    pub(super) async fn resources(
        &self,
        request: Option<&PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let lists = join_all(self.resources.iter().map(|each| each.list())).await;
        let all: Vec<WireResource> = self.joined(lists);
        let (part, next) = page(&all, request, self.page)?;
        let mut result = ListResourcesResult::with_all_items(part)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    pub(super) async fn templates(
        &self,
        request: Option<&PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let lists = join_all(self.resources.iter().map(|each| each.templates())).await;
        let all: Vec<WireTemplate> = self.joined(lists);
        let (part, next) = page(&all, request, self.page)?;
        let mut result = ListResourceTemplatesResult::with_all_items(part)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    pub(super) async fn read(
        &self,
        request: &ReadResourceRequestParams,
    ) -> Result<ReadResourceResult, ErrorData> {
        let uri = request.uri.as_str();
        for source in &self.resources {
            let read = source.read(uri).await;
            let Some(contents) = read.map_err(|error| self.failed(&error))? else {
                continue;
            };
            let contents = contents
                .into_iter()
                .map(|each| {
                    let uri = self.hush().text(each.uri);
                    let content = self.hush().resource(each.content);
                    wire::content::contents(uri, each.mime_type, content)
                })
                .collect();
            return Ok(ReadResourceResult::new(contents)
                .with_ttl_ms(0)
                .with_cache_scope(CacheScope::Private));
        }
        Err(no_resource(uri))
    }

    pub(super) async fn can_follow(&self, uri: &str) -> bool {
        for source in &self.resources {
            if source.can_follow(uri).await {
                return true;
            }
        }
        false
    }

    pub(super) async fn prompts(
        &self,
        request: Option<&PaginatedRequestParams>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let lists = join_all(self.prompts.iter().map(|each| each.list())).await;
        let all: Vec<WirePrompt> = self.joined(lists);
        let (part, next) = page(&all, request, self.page)?;
        let mut result = ListPromptsResult::with_all_items(part)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
        client: &Arc<Client>,
        life: &Life,
    ) -> Result<GetPromptResponse, ErrorData> {
        let subject = match client.era {
            Era::Stateless => json!([request.name, request.arguments]),
            Era::Handshake => Value::Null,
        };
        let errand = match &request.request_state {
            Some(state) => {
                let unfinished = self.parked_prompts.take(state, &subject)?;
                let responses = request.input_responses.clone().unwrap_or_default();
                match unfinished.answered(responses, &self.parked_prompts) {
                    Ok(errand) => errand,
                    Err(again) => return Ok(again.into()),
                }
            }
            None => self.make_prompt(&request, client, life),
        };
        let desk = errand.desk.clone();
        let parked = &self.parked_prompts;
        let made = match errand
            .attend(context, client, life, parked, &subject, None)
            .await
        {
            Attended::Asks(required) => return Ok(required.into()),
            Attended::Done(made) => made,
            Attended::Slow(errand) => errand.work.await,
        };
        match made {
            Ok(Some(text)) => Ok(self.prompt_result(text).into()),
            Ok(None) => {
                let shown: String = request.name.chars().take(200).collect();
                let message = format!("there is no prompt {shown:?}");
                Err(ErrorData::invalid_params(message, None))
            }
            Err(error) => {
                let lacking = lacking(&desk).filter(|_| client.era == Era::Stateless);
                Err(lacking.unwrap_or_else(|| self.failed(&error)))
            }
        }
    }

    fn make_prompt(
        &self,
        request: &GetPromptRequestParams,
        client: &Arc<Client>,
        life: &Life,
    ) -> Errand<Made> {
        let brought = request.input_responses.clone();
        let (desk, asked) = Desk::new(Arc::clone(client), brought);
        let asking = desk.clone();
        let cancellation = life.closing.child_token();
        let (sources, toolbox) = (self.prompts.clone(), self.toolbox.clone());
        let name = request.name.clone();
        let arguments = request.arguments.clone().unwrap_or_default();
        let ended = cancellation.clone();
        let work = async move {
            for source in sources {
                let asking = Asking::at(asking.clone(), toolbox.clone());
                let made = source.get(&name, arguments.clone(), asking);
                let made = tokio::select! {
                    made = made => made?,
                    () = ended.cancelled() => {
                        return Err(ToolError::new(ErrorKind::Cancelled, "the request was given up"));
                    }
                };
                if made.is_some() {
                    return Ok(made);
                }
            }
            Ok(None)
        };
        Errand {
            work: Box::pin(work),
            asked,
            notes: None,
            desk,
            cancellation,
        }
    }

    pub(super) async fn completion(
        &self,
        request: &CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, value) = (&request.argument.name, &request.argument.value);
        let mut found = None;
        match &request.r#ref {
            Reference::Prompt(prompt) => {
                for source in &self.prompts {
                    found = source.complete(&prompt.name, argument, value).await;
                    if found.is_some() {
                        break;
                    }
                }
            }
            Reference::Resource(template) => {
                for source in &self.resources {
                    found = source.complete(&template.uri, argument, value).await;
                    if found.is_some() {
                        break;
                    }
                }
            }
            _ => {}
        }
        let mut found = completion(found.unwrap_or_default());
        let values = found.values.into_iter();
        found.values = values.map(|value| self.hush().text(value)).collect();
        Ok(CompleteResult::new(found))
    }
}

fn completion(completion: Completion) -> CompletionInfo {
    let Completion { mut values, total } = completion;
    let more =
        values.len() > MOST_VALUES || total.is_some_and(|total| total as usize > values.len());
    values.truncate(MOST_VALUES);
    let mut info = CompletionInfo::default();
    info.values = values;
    info.total = total;
    info.has_more = Some(more);
    info
}

fn no_resource(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(
        format!("there is no resource {shown:?}"),
        Some(json!({ "uri": shown })),
    )
}

/// What is beside the tools passes no shaping, and an upstream may repeat what it was
/// started with.
impl Shared {
    fn hush(&self) -> Hush<'_> {
        Hush(self.toolbox.redactor())
    }

    /// All sources' entries; a source that fails has none today.
    fn joined<T: Serialize, W: DeserializeOwned>(
        &self,
        lists: Vec<Result<Vec<T>, ToolError>>,
    ) -> Vec<W> {
        let mut all = Vec::new();
        for list in lists {
            match list {
                Ok(entries) => all.extend(entries.iter().filter_map(|entry| self.to_wire(entry))),
                Err(error) => {
                    tracing::warn!(target: "toolsmith::mcp", "a list is incomplete: {error}");
                }
            }
        }
        all
    }

    /// Our types are the wire's in the fields they share.
    fn to_wire<T: Serialize, W: DeserializeOwned>(&self, entry: &T) -> Option<W> {
        let mut entry = serde_json::to_value(entry).ok()?;
        self.hush().value(&mut entry);
        serde_json::from_value(entry).ok()
    }

    /// A failure beside the tools, as the protocol tells it.
    fn failed(&self, error: &ToolError) -> ErrorData {
        let message = self.hush().text(error.to_string());
        let message: String = message.chars().take(LONGEST_FAILURE).collect();
        match error.kind {
            ErrorKind::InvalidParameters => ErrorData::invalid_params(message, None),
            _ => ErrorData::internal_error(message, None),
        }
    }

    fn prompt_result(&self, text: PromptText) -> GetPromptResult {
        let messages = text.messages.into_iter().map(|message| {
            let role = match message.speaker {
                Speaker::User => Role::User,
                Speaker::Assistant => Role::Assistant,
            };
            let content = self.hush().block(message.content);
            WireMessage::new(role, wire::content::to_wire(content))
        });
        let mut result = GetPromptResult::new(messages.collect());
        result.description = text.description.map(|text| self.hush().text(text));
        result
    }
}
