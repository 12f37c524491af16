//! An upstream's resources and prompts, passed through under its name.
//!
//! A resource keeps its address behind `mcp://server/`, a prompt its name behind
//! `server__`. What upstreams send is cleaned and bounded like anything a model
//! gets to see.

use std::time::Duration;

use futures_util::future::join_all;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, GetPromptResponse,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, Reference, Role,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::{Block, ErrorKind, ToolError};
use toolsmith_runtime::shape::clean;

use super::connect::Live;
use super::roster::Roster;
use super::{Upstream, Upstreams, error};
use crate::server::{
    Asking, Completion, Contents, Prompt, PromptMessage, PromptText, Prompts, Resource,
    ResourceTemplate, Resources,
};
use crate::{BoxFuture, wire};

/// How long an upstream may take to list or read something.
const TIME: Duration = Duration::from_secs(10);

/// How many entries one upstream may list, and how many bytes they may have together.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;

/// How many bytes of text a resource or a prompt may have, and how many of others.
const TEXT: usize = 1 << 20;
const BLOB: usize = 8 << 20;

/// The address a resource of an upstream goes by.
pub(super) fn address(server: &str, uri: &str) -> String {
    format!("mcp://{server}/{uri}")
}

/// The resources of upstreams.
#[derive(Clone, Debug)]
pub struct UpstreamResources(Roster);

/// The prompts of upstreams.
#[derive(Clone, Debug)]
pub struct UpstreamPrompts(Roster);

fn named(roster: &Roster, server: &str) -> Option<Upstream> {
    let roster = roster.load();
    roster.iter().find(|each| each.name() == server).cloned()
}

impl UpstreamResources {
    /// The resources of these upstreams.
    pub fn of(upstreams: &Upstreams) -> Self {
        Self(upstreams.roster())
    }

    fn find<'u>(&self, uri: &'u str) -> Option<(Upstream, &'u str)> {
        let (server, inner) = uri.strip_prefix("mcp://")?.split_once('/')?;
        Some((named(&self.0, server)?, inner))
    }
}

impl UpstreamPrompts {
    /// The prompts of these upstreams.
    pub fn of(upstreams: &Upstreams) -> Self {
        Self(upstreams.roster())
    }

    fn find<'n>(&self, name: &'n str) -> Option<(Upstream, &'n str)> {
        let (server, inner) = name.split_once("__")?;
        Some((named(&self.0, server)?, inner))
    }
}

impl Resources for UpstreamResources {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            let roster = self.0.load_full();
            let lists = join_all(roster.iter().map(|each| listed(resources_of(each)))).await;
            Ok(lists.into_iter().flatten().collect())
        })
    }

    fn templates(&self) -> BoxFuture<'_, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async {
            let roster = self.0.load_full();
            let lists = join_all(roster.iter().map(|each| listed(templates_of(each)))).await;
            Ok(lists.into_iter().flatten().collect())
        })
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        Box::pin(async move {
            let Some((upstream, inner)) = self.find(uri) else {
                return Ok(None);
            };
            let live = live(&upstream)?;
            let request = ReadResourceRequestParams::new(inner);
            let read = within(&upstream, live.peer.read_resource_once(request)).await?;
            let ReadResourceResponse::Complete(read) = read else {
                let message = "the server asks before it answers, which cannot be passed on here";
                return Err(ToolError::new(ErrorKind::ApprovalRequired, message));
            };
            let contents = read.contents.into_iter().map(|each| {
                let (uri, mime_type, content) = wire::content::parts(each);
                let uri = address(upstream.name(), &tidy_text(&uri));
                let mut contents = Contents::text(uri, "");
                contents.mime_type = mime_type.map(|mime| tidy_text(&mime));
                contents.content = tidy(content);
                contents
            });
            Ok(Some(contents.collect()))
        })
    }

    fn complete<'a>(
        &'a self,
        template: &'a str,
        variable: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        Box::pin(async move {
            let (upstream, inner) = self.find(template)?;
            complete(&upstream, Reference::for_resource(inner), variable, value).await
        })
    }
}

impl Prompts for UpstreamPrompts {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Prompt>, ToolError>> {
        Box::pin(async {
            let roster = self.0.load_full();
            let lists = join_all(roster.iter().map(|each| listed(prompts_of(each)))).await;
            Ok(lists.into_iter().flatten().collect())
        })
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
        asking: Asking,
    ) -> BoxFuture<'a, Result<Option<PromptText>, ToolError>> {
        Box::pin(async move {
            let Some((upstream, inner)) = self.find(name) else {
                return Ok(None);
            };
            get_prompt(&upstream, inner, arguments, &asking)
                .await
                .map(Some)
        })
    }

    fn complete<'a>(
        &'a self,
        prompt: &'a str,
        argument: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        Box::pin(async move {
            let (upstream, inner) = self.find(prompt)?;
            complete(&upstream, Reference::for_prompt(inner), argument, value).await
        })
    }
}

async fn get_prompt(
    upstream: &Upstream,
    name: &str,
    arguments: Map<String, Value>,
    asking: &Asking,
) -> Result<PromptText, ToolError> {
    let live = live(upstream)?;
    let mut request = GetPromptRequestParams::new(name);
    request.arguments = Some(arguments);
    for _ in 0..10 {
        let got = within(upstream, live.peer.get_prompt_once(request.clone())).await?;
        let required = match got {
            GetPromptResponse::Complete(prompt) => return Ok(prompt_text(prompt)),
            GetPromptResponse::InputRequired(required) => required,
            _ => break,
        };
        let mut answers = std::collections::BTreeMap::new();
        for (key, asked) in required.input_requests.unwrap_or_default() {
            let unanswered = || {
                let message = format!("`{}` asks something nobody answered", upstream.name());
                ToolError::new(ErrorKind::ApprovalRequired, message)
            };
            let question = wire::question::from_wire(asked).ok_or_else(unanswered)?;
            let response = asking.ask(&key, question.clone()).await;
            let answer = wire::question::answer_to_wire(&question, response);
            answers.insert(key, answer.ok_or_else(unanswered)?);
        }
        request.input_responses = Some(answers);
        request.request_state = required.request_state;
    }
    Err(ToolError::failed("the server asks and does not answer"))
}

fn prompt_text(prompt: rmcp::model::GetPromptResult) -> PromptText {
    let messages = prompt.messages.into_iter().map(|message| {
        let content = match wire::content::from_wire(message.content) {
            Block::Text { text } => Block::text(tidy_text(&text)),
            Block::Resource {
                uri,
                mime_type,
                content,
            } => Block::Resource {
                uri: tidy_text(&uri),
                mime_type: mime_type.map(|mime| tidy_text(&mime)),
                content: tidy(content),
            },
            Block::Link {
                uri,
                name,
                description,
                mime_type,
            } => Block::Link {
                uri: tidy_text(&uri),
                name: tidy_text(&name),
                description: description.map(|text| tidy_text(&text)),
                mime_type: mime_type.map(|mime| tidy_text(&mime)),
            },
            Block::Image { data, mime_type } => Block::Image {
                data,
                mime_type: tidy_text(&mime_type),
            },
            Block::Audio { data, mime_type } => Block::Audio {
                data,
                mime_type: tidy_text(&mime_type),
            },
            other => other,
        };
        match message.role {
            Role::Assistant => PromptMessage::assistant(content),
            Role::User => PromptMessage::user(content),
        }
    });
    let mut text = PromptText::new(messages.collect());
    text.description = prompt.description.map(|text| tidy_text(&text));
    text
}

fn live(upstream: &Upstream) -> Result<std::sync::Arc<Live>, ToolError> {
    upstream.live().ok_or_else(|| {
        let message = format!("the MCP server `{}` is not there", upstream.name());
        ToolError::new(ErrorKind::Unavailable, message)
    })
}

async fn within<T>(
    upstream: &Upstream,
    work: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ToolError> {
    match tokio::time::timeout(TIME, work).await {
        Ok(done) => done.map_err(|error| error::of_call(upstream.name(), &error)),
        Err(_) => Err(ToolError::new(
            ErrorKind::Timeout,
            format!("`{}` did not answer in time", upstream.name()),
        )),
    }
}

async fn complete(
    upstream: &Upstream,
    reference: Reference,
    argument: &str,
    value: &str,
) -> Option<Completion> {
    let live = upstream.live()?;
    live.capabilities.completions.as_ref()?;
    let argument = ArgumentInfo::new(argument, value);
    let request = CompleteRequestParams::new(reference, argument);
    let completed = within(upstream, live.peer.complete(request)).await.ok()?;
    let values = completed.completion.values.iter().take(100);
    let values = values.map(|value| tidy_text(value)).collect();
    Some(Completion::of(values, completed.completion.total))
}

/// Everything an upstream lists by pages, within bounds.
macro_rules! pages {
    ($upstream:expr, $list:ident, $entries:ident) => {{
        let mut all = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        while let Some(live) = $upstream.live() {
            let mut request = PaginatedRequestParams::default();
            request.cursor = cursor.take();
            let Ok(page) = within($upstream, live.peer.$list(Some(request))).await else {
                break;
            };
            let grew = !page.$entries.is_empty();
            bytes += serde_json::to_vec(&page.$entries).map_or(0, |bytes| bytes.len());
            if bytes > MOST_BYTES {
                let server = $upstream.name();
                tracing::warn!(target: "toolsmith::mcp", "{server} lists more than {MOST_BYTES} bytes; the rest is left out");
                break;
            }
            all.extend(page.$entries);
            cursor = page.next_cursor;
            if cursor.is_none() || !grew || all.len() > MOST {
                break;
            }
        }
        all.truncate(MOST);
        all
    }};
}

/// A whole list, within one time limit: an upstream that takes longer has none today.
async fn listed<T>(list: impl Future<Output = Vec<T>>) -> Vec<T> {
    tokio::time::timeout(TIME, list).await.unwrap_or_default()
}

async fn resources_of(upstream: &Upstream) -> Vec<Resource> {
    if !upstream.serves_beside().1 {
        return Vec::new();
    }
    let listed = pages!(upstream, list_resources, resources);
    let ours = listed.iter().filter_map(to_ours::<_, Resource>);
    ours.map(|mut resource| {
        resource.uri = address(upstream.name(), &resource.uri);
        resource
    })
    .collect()
}

async fn templates_of(upstream: &Upstream) -> Vec<ResourceTemplate> {
    if !upstream.serves_beside().1 {
        return Vec::new();
    }
    let listed = pages!(upstream, list_resource_templates, resource_templates);
    let ours = listed.iter().filter_map(to_ours::<_, ResourceTemplate>);
    ours.map(|mut template| {
        template.uri_template = address(upstream.name(), &template.uri_template);
        template
    })
    .collect()
}

async fn prompts_of(upstream: &Upstream) -> Vec<Prompt> {
    if !upstream.serves_beside().0 {
        return Vec::new();
    }
    let listed = pages!(upstream, list_prompts, prompts);
    let ours = listed.iter().filter_map(to_ours::<_, Prompt>);
    ours.map(|mut prompt| {
        prompt.name = format!("{}__{}", upstream.name(), prompt.name);
        prompt
    })
    .collect()
}

/// Our type of what an upstream lists, with every text of it cleaned.
fn to_ours<W: Serialize, T: DeserializeOwned>(listed: &W) -> Option<T> {
    let mut value = serde_json::to_value(listed).ok()?;
    tidy_value(&mut value);
    serde_json::from_value(value).ok()
}

fn tidy_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = tidy_text(text),
        Value::Array(items) => items.iter_mut().for_each(tidy_value),
        Value::Object(object) => object.values_mut().for_each(tidy_value),
        _ => {}
    }
}

fn tidy(content: ResourceContent) -> ResourceContent {
    match content {
        ResourceContent::Text(text) => ResourceContent::Text(tidy_text(&text)),
        ResourceContent::Blob(data) if data.len() > BLOB => {
            ResourceContent::Text(format!("[more than {BLOB} bytes were left out]"))
        }
        blob @ ResourceContent::Blob(_) => blob,
    }
}

fn tidy_text(text: &str) -> String {
    let mut tidy = clean(text).into_owned();
    if tidy.len() > TEXT {
        tidy.truncate(tidy.floor_char_boundary(TEXT));
        tidy.push_str("\n[… the rest was left out]");
    }
    tidy
}
