//! A tool of an upstream: a call goes there and its answer comes back.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputRequiredResult, InputResponses,
    RequestMetaObject, ServerResult, Tool as WireTool,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_core::{
    AnyTool, Arguments, Binding, ErrorKind, Outcome, Tool, ToolContext, ToolDef, ToolError,
};

use super::connect::Live;
use super::{Upstream, error};
use crate::wire;

/// How often an upstream may ask before it must answer.
const ROUNDS: usize = 10;

/// A tool of an upstream.
struct Adopted {
    upstream: Upstream,
    name: String,
    definition: Arc<ToolDef>,
}

/// Makes a tool of an upstream ours; none where it cannot be one.
pub(super) fn adopt(upstream: &Upstream, tool: WireTool) -> Option<AnyTool> {
    match wire::tool::definition(upstream.name(), &tool) {
        Ok(definition) => {
            let adopted = AnyTool::new(Adopted {
                upstream: upstream.clone(),
                name: tool.name.into_owned(),
                definition: Arc::new(definition),
            });
            Some(adopted.marked(upstream.mark()))
        }
        Err(error) => {
            let (server, name) = (
                upstream.name(),
                tool.name.chars().take(100).collect::<String>(),
            );
            tracing::warn!(target: "toolsmith::mcp", "the tool {name:?} of {server} was left out: {error}");
            None
        }
    }
}

impl Tool for Adopted {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }

    fn binding(&self) -> Binding {
        match self.upstream.inner.options.call_time {
            Some(time) => Binding::default().with_timeout(time),
            None => Binding::default(),
        }
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        match self.carry(&arguments, &context).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failure(error),
        }
    }
}

impl Adopted {
    async fn carry(
        &self,
        arguments: &Arguments,
        context: &ToolContext,
    ) -> Result<Outcome, ToolError> {
        let live = match self.upstream.live_for(context.caller()).await {
            Some(Ok(live)) => live,
            Some(Err(error)) => return Err(self.unavailable(&error.to_string())),
            None => {
                let error = self.upstream.status().error;
                let why = error.unwrap_or_else(|| "it is being started".to_owned());
                return Err(self.unavailable(&why));
            }
        };
        let mut params = CallToolRequestParams::new(self.name.clone());
        params.arguments = Some((**arguments).clone());
        for _ in 0..ROUNDS {
            match self.send(&live, params.clone(), context).await? {
                ServerResult::CallToolResult(result) => {
                    return Ok(wire::outcome::from_wire(result));
                }
                ServerResult::InputRequiredResult(required) => {
                    params.request_state.clone_from(&required.request_state);
                    params.input_responses = self.answers(required, context).await?;
                }
                _ => return Err(ToolError::failed("the server answered something else")),
            }
        }
        let message = format!("the server asked {ROUNDS} times and did not answer");
        Err(ToolError::failed(message))
    }

    /// Sends the call once; gives it up where the caller does.
    async fn send(
        &self,
        live: &Live,
        params: CallToolRequestParams,
        context: &ToolContext,
    ) -> Result<ServerResult, ToolError> {
        let fail = |failure: &ServiceError| error::of_call(self.upstream.name(), failure);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut options = PeerRequestOptions::no_options();
        let mut meta = RequestMetaObject::new();
        if let Some(trace) = context.trace() {
            meta.set_traceparent(trace);
            if let Some(state) = context.trace_state() {
                meta.set_tracestate(state);
            }
        }
        if let Some(key) = context.callers_key() {
            meta.insert(wire::IDEMPOTENCY_KEY.to_owned(), key.into_owned().into());
        }
        if !meta.is_empty() {
            options = options.with_meta(meta);
        }
        let sent = live.peer.send_cancellable_request(request, options).await;
        let mut sent = sent.map_err(|error| fail(&error))?;
        let _flying = live.calls.sent(
            sent.id.clone(),
            sent.progress_token.clone(),
            context.clone(),
        );
        tokio::select! {
            answer = &mut sent.rx => {
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                answer.map_err(|error| fail(&error))
            }
            () = context.cancelled() => {
                let _ = sent.cancel(Some("the caller gave up".to_owned())).await;
                Err(ToolError::new(ErrorKind::Cancelled, "the call was given up"))
            }
        }
    }

    /// Puts what the upstream asks to the caller.
    async fn answers(
        &self,
        required: InputRequiredResult,
        context: &ToolContext,
    ) -> Result<Option<InputResponses>, ToolError> {
        let Some(requests) = required.input_requests else {
            return Ok(None);
        };
        let inquiries: Option<Vec<Inquiry>> = requests
            .into_iter()
            .map(|(key, request)| Some(Inquiry::new(key, wire::question::from_wire(request)?)))
            .collect();
        let unknown = || ToolError::failed("the server asks something nobody here understands");
        let inquiries = inquiries.ok_or_else(unknown)?;
        let asked: Vec<(String, Question)> = inquiries
            .iter()
            .map(|inquiry| (inquiry.key.clone(), inquiry.question.clone()))
            .collect();
        let responses = context.ask_all(inquiries).await;
        let answers = asked
            .into_iter()
            .zip(responses)
            .map(|((key, question), response)| {
                let unanswered = || self.unanswered(&question, &response);
                let answer = wire::question::answer_to_wire(&question, response.clone());
                Ok((key, answer.ok_or_else(unanswered)?))
            });
        answers
            .collect::<Result<InputResponses, ToolError>>()
            .map(Some)
    }

    fn unanswered(&self, question: &Question, response: &Response) -> ToolError {
        let why = match response {
            Response::Unavailable => "nobody could be asked",
            _ => "the answer was no",
        };
        let message = format!(
            "`{}` asks: {}; {why}",
            self.upstream.name(),
            question.message()
        );
        ToolError::new(ErrorKind::ApprovalRequired, message)
    }

    fn unavailable(&self, why: &str) -> ToolError {
        let message = format!(
            "the MCP server `{}` is not there: {why}",
            self.upstream.name()
        );
        ToolError::new(ErrorKind::Unavailable, message)
    }
}
