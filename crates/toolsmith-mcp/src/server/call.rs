//! One `tools/call`: into the toolbox, and its reply back onto the wire.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ErrorData,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, MetaObject,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use toolsmith_core::call::Answers;
use toolsmith_core::reply::{InputRequired, Question};
use toolsmith_core::{ErrorKind, Outcome, RawCall, Reply, Schema, ToolDef};
use toolsmith_runtime::Caller;

use super::ask::Desk;
use super::client::{Client, Era};
use super::errand::{Attended, Errand, lacking};
use super::listing::Listing;
use super::notes::NoteTaker;
use super::parked::Parked;
use super::tasks::{self, Tasks};
use super::{Life, Shared};
use crate::wire;
use crate::wire::structured;

/// What a tool's definition says under this name: `required` makes a call that is not
/// a task an error.
const TASK_SUPPORT: &str = "task_support";

impl Shared {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        client: &Arc<Client>,
        life: &Life,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams {
            name,
            arguments,
            input_responses,
            request_state,
            ..
        } = request;
        let name = name.into_owned();
        let arguments = Value::Object(arguments.unwrap_or_default());
        self.current().await;
        let mut listing = self.listing();
        if listing.definition(&name).is_none() {
            // In a box: it is rare, and every call would have room for it.
            Box::pin(self.ready_for(&name)).await;
            listing = self.listing();
        }
        let definition = listing.definition(&name).cloned();
        self.may_be_answered_at_once(definition.as_deref(), client)?;
        let subject = match client.era {
            Era::Stateless => json!([name, arguments]),
            Era::Handshake => Value::Null,
        };
        let errand = match request_state {
            Some(state) if Parked::<Reply>::is_name(&state) => {
                let unfinished = self.parked_calls.take(&state, &subject)?;
                let responses = input_responses.unwrap_or_default();
                match unfinished.answered(responses, &self.parked_calls) {
                    Ok(errand) => errand,
                    Err(again) => return Ok(again.into()),
                }
            }
            Some(state) => {
                let answers = Answers::new(state, approvals(input_responses));
                let call = RawCall::new(name, arguments).with_answers(answers);
                self.begin(call, &listing, client, None, life)
            }
            None => {
                let call = RawCall::new(name, arguments);
                self.begin(call, &listing, client, input_responses, life)
            }
        };
        drop(listing);
        let finishing = Finishing {
            era: client.era,
            desk: errand.desk.clone(),
            definition,
        };
        let patience = self.tasks_for(client).map(|_| tasks::MOMENT);
        let parked = &self.parked_calls;
        let mut attended = errand
            .attend(context, client, life, parked, &subject, patience)
            .await;
        if let Attended::Slow(errand) = attended {
            attended = match self.tasks_for(client) {
                Some(_) => Attended::Slow(errand),
                // There is no room for it any more, so it is waited for as ever.
                None => {
                    errand
                        .attend(context, client, life, parked, &subject, None)
                        .await
                }
            };
        }
        match attended {
            Attended::Asks(required) => Ok(required.into()),
            Attended::Done(Reply::NeedsInput(required)) => Ok(approval(&required)?.into()),
            Attended::Done(reply) => Ok(finishing.result(reply)?.into()),
            Attended::Slow(errand) => {
                let task = self.tasks_for(client).and_then(|tasks| {
                    let size = toolsmith_core::json::size(&subject);
                    tasks.begin(*errand, size, move |reply| finishing.of_task(reply))
                });
                let failed = || ErrorData::internal_error("the call cannot become a task", None);
                Ok(task.ok_or_else(failed)?.into())
            }
        }
    }

    /// Where tasks go, if this client can take one now.
    fn tasks_for(&self, client: &Client) -> Option<&Tasks> {
        let takes = client.era == Era::Stateless && client.introduced.capabilities.supports_tasks();
        let tasks = self.tasks.as_ref().filter(|_| takes)?;
        tasks.has_room().then_some(tasks)
    }

    /// Refuses a call that only makes sense as a task to a client that takes none.
    fn may_be_answered_at_once(
        &self,
        tool: Option<&ToolDef>,
        client: &Client,
    ) -> Result<(), ErrorData> {
        let support = tool.and_then(|tool| tool.meta.extra.get(TASK_SUPPORT)?.as_str());
        if support != Some("required") || self.tasks_for(client).is_some() {
            return Ok(());
        }
        Err(ErrorData::missing_required_client_capability(
            ClientCapabilities::builder().enable_tasks().build(),
        ))
    }

    /// Begins a call on behalf of a client.
    fn begin(
        &self,
        call: RawCall,
        listing: &Listing,
        client: &Arc<Client>,
        brought: Option<InputResponses>,
        life: &Life,
    ) -> Errand<Reply> {
        let (desk, asked) = Desk::new(Arc::clone(client), brought);
        let cancellation = life.closing.child_token();
        let mut caller = Caller::new(&*client.introduced.name)
            .with_offer(Arc::clone(&listing.offer))
            .with_cancellation(cancellation.clone());
        if let Some(trace) = &client.trace {
            // What is no trace context goes no further.
            caller = caller.with_trace(trace);
        }
        if let Some(state) = &client.trace_state {
            caller = caller.with_trace_state(state);
        }
        if let Some(key) = &client.key {
            caller = caller.with_idempotency_key(key.clone());
        }
        let mut notes = None;
        // A channel nobody listens to costs more than many a call.
        if NoteTaker::is_wanted(client) {
            let (taker, taken) = NoteTaker::new();
            caller = caller.with_recorder(taker);
            notes = Some(taken);
        }
        caller = match (client.can_approve(), client.era) {
            (false, _) => caller,
            (true, Era::Handshake) => caller.with_approver(desk.clone()),
            (true, Era::Stateless) => caller.taking_input_requests(),
        };
        caller = (self.adjust)(caller);
        let caller = caller.with_inquirer(desk.clone());
        let toolbox = self.toolbox.clone();
        Errand {
            work: Box::pin(async move { toolbox.run(call, &caller).await }),
            asked,
            notes,
            desk,
            cancellation,
        }
    }
}

/// What is needed to make a result of a reply.
struct Finishing {
    era: Era,
    desk: Desk,
    definition: Option<Arc<ToolDef>>,
}

impl Finishing {
    /// A task that broke for reasons of ours has failed; one whose tool failed has
    /// completed, and says so in its result.
    fn of_task(&self, reply: Reply) -> Result<CallToolResult, ErrorData> {
        if let Some(error) = reply.outcome().and_then(|outcome| outcome.error.as_ref())
            && error.kind == ErrorKind::Internal
        {
            return Err(ErrorData::internal_error(error.to_string(), None));
        }
        self.result(reply)
    }

    fn result(&self, reply: Reply) -> Result<CallToolResult, ErrorData> {
        let outcome = reply.into_outcome();
        if self.era == Era::Stateless
            && !outcome.is_success()
            && let Some(error) = lacking(&self.desk)
        {
            return Err(error);
        }
        let promise = self
            .definition
            .as_ref()
            .and_then(|tool| tool.output.as_ref());
        Ok(result(outcome, self.era, promise))
    }
}

/// The answers to a question for approval, as the toolbox takes them.
fn approvals(responses: Option<InputResponses>) -> Map<String, Value> {
    responses
        .unwrap_or_default()
        .into_iter()
        .map(|(key, sent)| {
            let accepted = sent.get("action").and_then(Value::as_str) == Some("accept");
            let content = sent.get("content").cloned().filter(|_| accepted);
            (key, content.unwrap_or(Value::Bool(false)))
        })
        .collect()
}

/// A question for approval, as a result of the stateless era.
fn approval(required: &InputRequired) -> Result<InputRequiredResult, ErrorData> {
    let requests: Option<InputRequests> = required
        .requests
        .iter()
        .map(|request| {
            let schema = form_schema(request.schema.as_value());
            let question = Question::new(request.message.clone(), schema);
            let asked: InputRequest = wire::question::to_wire(&question, 0)?;
            Some((request.key.clone(), asked))
        })
        .collect();
    let requests = requests.ok_or_else(|| {
        ErrorData::internal_error("the question for approval could not be worded", None)
    })?;
    let state = Some(required.state.clone());
    Ok(InputRequiredResult::new(Some(requests), state))
}

/// Forms know fewer keywords than arguments do.
fn form_schema(schema: &Value) -> Schema {
    let mut schema = schema.clone();
    if let Value::Object(object) = &mut schema {
        object.retain(|key, _| matches!(key.as_str(), "type" | "properties" | "required"));
    }
    Schema::as_received(schema).unwrap_or_else(|_| Schema::no_arguments())
}

/// An outcome as a client gets it. `promise` is what the tool declares its value
/// to look like, on which clients then insist.
pub(super) fn result(mut outcome: Outcome, era: Era, promise: Option<&Schema>) -> CallToolResult {
    let blocks = outcome.to_blocks();
    let meta = outcome.mcp_meta();
    let content = blocks.into_iter().map(wire::content::to_wire).collect();
    let value = outcome.value.take().filter(|_| outcome.is_success());
    // A value too large to send was cut into the text. That is no success of a tool
    // that promised one, and clients would refuse it as such.
    let broken = promise.is_some() && value.is_none();
    let mut result = if broken || !outcome.is_success() {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    let wraps = |value: &Value| match promise {
        Some(schema) => !structured::is_object(schema.as_value()),
        None => !value.is_object(),
    };
    result.structured_content = value.map(|value| match era {
        Era::Handshake if wraps(&value) => structured::wrap(value),
        _ => value,
    });
    if !meta.is_empty() {
        result.meta = Some(MetaObject(meta));
    }
    result
}
