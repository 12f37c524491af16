//! What an upstream says by itself: questions, progress, logs, changes.

#![expect(
    deprecated,
    reason = "the protocol keeps sampling, roots and logging for another year"
)]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::de::DeserializeOwned;
use serde_json::json;
use toolsmith_core::Progress;
use toolsmith_core::context::LogEntry;
use toolsmith_core::reply::{Question, Response};

use super::calls::Calls;
use super::news::News;
use super::options::Questions;
use crate::wire;

/// Hears one upstream.
#[derive(Debug)]
pub(super) struct Ear {
    pub(super) calls: Calls,
    pub(super) questions: Questions,
    pub(super) news: Arc<News>,
}

impl Ear {
    /// Puts a question to the caller it belongs to.
    async fn ask<T: DeserializeOwned>(
        &self,
        question: Question,
        context: &RequestContext<RoleClient>,
    ) -> Result<T, ErrorData> {
        let stream = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let nobody = || ErrorData::internal_error("there is nobody to ask this", None);
        let asker = self.calls.asker(stream).await.ok_or_else(nobody)?;
        let response = tokio::select! {
            response = asker.ask(question.clone()) => response,
            // The upstream no longer wants to know.
            () = context.ct.cancelled() => Response::Unavailable,
        };
        let answer = wire::question::answer_to_wire(&question, response).ok_or_else(nobody)?;
        serde_json::from_value(answer).map_err(|_| nobody())
    }
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = json!({});
        if self.questions.forms {
            capabilities["elicitation"] = json!({ "form": {}, "url": {} });
        }
        if self.questions.sampling {
            capabilities["sampling"] = json!({});
        }
        if self.questions.roots {
            capabilities["roots"] = json!({});
        }
        let capabilities: ClientCapabilities =
            serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(
            capabilities,
            Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(question) = wire::question::from_elicitation(request) else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        match self.ask(question, &context).await {
            Ok(result) => Ok(result),
            // Nobody can be asked, which is not the same as a no.
            Err(_) => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let unreadable = || ErrorData::invalid_params("the request cannot be passed on", None);
        let question = wire::question::from_sampling(&params).ok_or_else(unreadable)?;
        self.ask(question, &context).await
    }

    async fn list_roots(
        &self,
        context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.ask(Question::Roots, &context).await
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Some(call) = self.calls.by_token(&params.progress_token) {
            let mut progress = Progress::done(params.progress);
            progress.total = params.total;
            progress.message = params.message;
            call.progress(progress);
        }
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Some(call) = self.calls.asker_now(None) {
            let entry = LogEntry::new(wire::log::from_wire(params.level), params.data);
            call.relay_log(match params.logger {
                Some(logger) => entry.by(logger),
                None => entry,
            });
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.news.tell(|told| told.tools = true);
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.news.tell(|told| told.prompts = true);
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.news.tell(|told| told.resources = true);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.news.tell(|told| told.updated(params.uri));
    }
}
