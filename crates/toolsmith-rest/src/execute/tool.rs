//! A tool of a server that runs its tools at one address.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{
    AnyTool, Arguments, Binding, Description, Hints, Outcome, Plan, Source, Tool, ToolContext,
    ToolDef, ToolError,
};

use super::Server;
use super::listing::Listed;
use crate::http;

/// A tool of a server.
struct Remote {
    server: Arc<Server>,
    /// What the server calls it.
    name: String,
    definition: Arc<ToolDef>,
}

/// Makes a tool of a server ours.
pub(super) fn adopt(server: &Arc<Server>, listed: Listed) -> AnyTool {
    let mut definition = ToolDef::new(&listed.name)
        .expect("the name was cleaned")
        .with_source(Source::Rest)
        .with_kind(server.kind)
        .with_effect(server.effect)
        .with_input(listed.input);
    let mut hints = Hints::default();
    hints.open_world = Some(true);
    definition.hints = hints;
    // All of it counts, also where only brief descriptions are sent.
    let mut description = Description::default();
    description.short = listed.description;
    let belongs = format!("This tool belongs to the server `{}`.", server.name);
    description.important.push(belongs);
    definition.description = description;
    definition.meta.category = Some(server.name.clone());
    // Two names of theirs can come to one of ours; which is meant is part of the definition.
    let remote = listed.remote.clone();
    definition
        .meta
        .extra
        .insert("remote_name".to_owned(), remote.into());
    let tool = AnyTool::new(Remote {
        server: Arc::clone(server),
        name: listed.remote,
        definition: Arc::new(definition),
    });
    tool.marked(Arc::clone(&server.mark))
}

impl Tool for Remote {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }

    fn binding(&self) -> Binding {
        self.server.binding.clone()
    }

    fn plan(&self, _: &Arguments) -> Result<Plan, ToolError> {
        let service = self.server.service()?;
        let line = self.server.execute.line();
        let line = format!("{line}: {}", self.name.escape_debug());
        Ok(Plan::new(service.hush.scrub(&line)))
    }

    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        tokio::select! {
            () = context.cancelled() => http::given_up(),
            answer = self.run(&arguments) => answer.unwrap_or_else(Outcome::failure),
        }
    }
}

impl Remote {
    async fn run(&self, arguments: &Arguments) -> Result<Outcome, ToolError> {
        let mut request = self.server.execute.clone();
        let body = json!({ "name": self.name, "parameters": arguments.as_value() });
        request.body = Some(http::Body::json(&body));
        match self.server.ask(&request).await? {
            Some(answer) => outcome(answer),
            None => Ok(Outcome::nothing().with_message("done; the server said nothing more")),
        }
    }
}

/// What an answer says: an error, an output, or itself.
fn outcome(answer: Value) -> Result<Outcome, ToolError> {
    let Value::Object(mut answer) = answer else {
        return Ok(Outcome::ok(answer));
    };
    if let Some(error) = answer.get("error")
        && !matches!(error, Value::Null | Value::Bool(false))
        && error.as_str() != Some("")
    {
        return Err(ToolError::failed(told(error)));
    }
    for key in ["output", "result", "content"] {
        if let Some(value) = answer.shift_remove(key) {
            return Ok(Outcome::ok(value));
        }
    }
    Ok(Outcome::ok(answer))
}

fn told(error: &Value) -> String {
    let text = match error {
        Value::String(text) => text.clone(),
        Value::Object(object) => match object.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => error.to_string(),
        },
        other => other.to_string(),
    };
    http::excerpt(&text)
}
