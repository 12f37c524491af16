//! A tool that is one request to an API.

use std::sync::Arc;

use serde_json::Value;
use toolsmith_core::{
    Arguments, Binding, Block, ErrorKind, Outcome, Plan, Tool, ToolContext, ToolDef, ToolError,
};

use super::answer::{self, Content, MAX_BYTES};
use super::pages::Pages;
use super::request::{Pattern, Prepared};
use super::service::{Answer, Service};
use super::shape::{self, Shape};
use crate::form::HttpMethod;

/// The longest key an API is sent.
const LONGEST_KEY: usize = 255;

/// One request to an API.
pub(crate) struct HttpTool {
    pub(crate) definition: Arc<ToolDef>,
    pub(crate) binding: Binding,
    pub(crate) pattern: Pattern,
    pub(crate) shape: Shape,
    pub(crate) pages: Option<Pages>,
    /// The API, or which reference is not there.
    pub(crate) service: Result<Service, String>,
}

impl Tool for HttpTool {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }

    fn binding(&self) -> Binding {
        self.binding.clone()
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        let service = self.service()?;
        let request = self.pattern.build(&service.address, arguments)?;
        Ok(Plan::new(service.hush.scrub(&request.line())))
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        tokio::select! {
            // What is dropped here takes its connection with it.
            () = context.cancelled() => given_up(),
            answer = self.ask(&arguments, &context) => answer.unwrap_or_else(Outcome::failure),
        }
    }
}

impl HttpTool {
    fn service(&self) -> Result<&Service, ToolError> {
        self.service
            .as_ref()
            .map_err(|missing| unavailable(missing))
    }

    async fn ask(
        &self,
        arguments: &Arguments,
        context: &ToolContext,
    ) -> Result<Outcome, ToolError> {
        let service = self.service()?;
        let mut request = self.pattern.build(&service.address, arguments)?;
        if let Some(header) = &service.key_header {
            request.headers.push((header.clone(), key(context)?));
        }
        match &self.pages {
            Some(pages) => self.gather(pages, service, request, context).await,
            None => {
                let answer = service.ask(&request).await?;
                self.outcome(answer).await
            }
        }
    }

    async fn gather(
        &self,
        pages: &Pages,
        service: &Service,
        request: Prepared,
        context: &ToolContext,
    ) -> Result<Outcome, ToolError> {
        let gathered = pages.gather(service, &self.shape, request, context).await?;
        let count = gathered.items.len();
        let mut outcome = self.shaped(Value::Array(gathered.items), gathered.status)?;
        outcome = outcome
            .with_display(format!("{count} entries of {} pages", gathered.pages))
            .with_metadata("pages", gathered.pages)
            .with_metadata("complete", gathered.stopped.is_none());
        if let Some(why) = gathered.stopped {
            let message =
                format!("There are more entries than these: {why}. Ask for less at once.");
            outcome = outcome.with_instruction(message);
        }
        Ok(outcome)
    }

    async fn outcome(&self, answer: Answer) -> Result<Outcome, ToolError> {
        if self.pattern.method == HttpMethod::Head {
            let status = answer.response.status().as_u16();
            return self.shaped(answer::headers(&answer), status);
        }
        let line = answer.line.clone();
        let mut read = answer::read(answer, self.shape.kind, MAX_BYTES).await?;
        read.content.scrub(&read.hush);
        let mut outcome = match read.content {
            Content::Nothing => {
                let message = format!("{line} answered {} with nothing more to say", read.status);
                Outcome::nothing()
                    .with_message(message)
                    .with_metadata("status", read.status)
            }
            Content::Json(mut value) => {
                if let Some(pointer) = &self.shape.select {
                    value = shape::take(&mut value, pointer)?;
                }
                self.shaped(value, read.status)?
            }
            Content::Text(_) | Content::Media(_) if self.shape.select.is_some() => {
                let message = format!("{line}: the answer is no JSON, so nothing can be selected");
                return Err(ToolError::failed(message));
            }
            Content::Text(text) => self.shaped(Value::String(text), read.status)?,
            Content::Media(block) => Outcome::default()
                .with_block(block)
                .with_metadata("status", read.status),
        };
        if let Some(note) = read.note {
            outcome = outcome.with_message(note);
        }
        Ok(outcome)
    }

    /// A value, and the text the file's template makes of it.
    fn shaped(&self, value: Value, status: u16) -> Result<Outcome, ToolError> {
        let text = self.shape.render(&value, status)?;
        let mut outcome = Outcome::ok(value).with_metadata("status", status);
        if let Some(text) = text {
            outcome = outcome.with_block(Block::text(text));
        }
        Ok(outcome)
    }
}

/// The key that names a call, as a header can carry it.
fn key(context: &ToolContext) -> Result<String, ToolError> {
    let key = context.idempotency_key();
    let key = key.ok_or_else(|| ToolError::internal("there is no key to name the call by"))?;
    let is_plain = key.bytes().all(|byte| byte.is_ascii_graphic());
    if key.is_empty() || key.len() > LONGEST_KEY || !is_plain {
        let message = format!(
            "the caller's idempotency key cannot stand in a header; use at most {LONGEST_KEY} \
             letters, digits and signs"
        );
        return Err(ToolError::invalid(message));
    }
    Ok(key.into_owned())
}

/// What whoever gave a call up is told.
pub(crate) fn given_up() -> Outcome {
    Outcome::failure(ToolError::new(
        ErrorKind::Cancelled,
        "the call was given up",
    ))
}

/// What a tool says that lacks what it refers to.
pub(crate) fn unavailable(missing: &str) -> ToolError {
    let message = format!("the tool cannot be used: {missing}");
    ToolError::new(ErrorKind::Unavailable, message).for_good()
}
