//! `toolsmith declare`: the tools in the words of a model's provider.

use serde_json::Value;
use toolsmith_core::Offer;
use toolsmith_provider::client::{Completion, ModelError};
use toolsmith_provider::declare::ToolReport;
use toolsmith_provider::{
    Declared, Formatter as _, ModelClient, Provider, ToolChoice, ToolFormatter, Way, instruct,
};

use crate::cli::{Declare, Words};
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) fn run(session: &Session, options: &Declare, as_json: bool) -> Result<u8, Failure> {
    let offer = session.toolbox.offer(&session.selection());
    let mut formatter = formatter(session, &options.words);
    formatter.options.choice = match options.choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name => ToolChoice::Tool(name.strip_prefix("tool:").unwrap_or(name).to_owned()),
    };
    formatter.options.parallel = options.parallel;
    formatter.options.deferred = options.deferred;
    formatter.options.examples = options.examples;
    let model = model(session, &options.words);
    let declared = declared(&formatter, &options.words, model.as_deref(), &offer)?;
    if options.report {
        return report(&declared.report, as_json);
    }
    if options.request {
        let mut request = declared.request.clone();
        if let Some(structured) = &declared.structured {
            let model = model.as_deref().unwrap_or_default();
            instruct(declared.provider, model, &mut request, &structured.prompt);
        }
        print::json(&request)?;
        return Ok(0);
    }
    match &declared.structured {
        Some(structured) if options.words.provider != Provider::Text => {
            print::note("The model is asked for calls as text; this is its prompt.");
            print::line(structured.prompt.trim_end())?;
        }
        Some(structured) => print::line(structured.prompt.trim_end())?,
        None => print::json(declared.tools())?,
    }
    Ok(0)
}

/// What tells models of the tools, by the files and the command line.
pub(super) fn formatter(session: &Session, words: &Words) -> ToolFormatter {
    let mut formatter = session.manager.formatter(&session.view, words.provider);
    formatter.options.strict = words.strict;
    formatter.options.format = words.format;
    formatter
}

/// The model that is meant: by the command line, or by the files.
pub(super) fn model(session: &Session, words: &Words) -> Option<String> {
    let by_files = || session.manager.model(&session.view, words.provider);
    words.model.clone().or_else(by_files)
}

/// The tools of an offer in somebody's words.
pub(super) fn declared(
    formatter: &ToolFormatter,
    words: &Words,
    model: Option<&str>,
    offer: &Offer,
) -> Result<Declared, Failure> {
    let client = Named {
        provider: words.provider,
        model: model.unwrap_or_default(),
    };
    let way = match model {
        Some(_) => formatter.detect_strategy(&client),
        // There is nothing to find out: the format itself was asked for.
        None => Ok(Way::Native),
    };
    let way = way.map_err(|error| Failure::usage(error.to_string()))?;
    let declared = formatter.format(&client, way, offer);
    declared.map_err(|error| Failure::usage(error.to_string()))
}

/// A model of which nothing is known but its name.
struct Named<'m> {
    provider: Provider,
    model: &'m str,
}

impl ModelClient for Named<'_> {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn model(&self) -> &str {
        self.model
    }

    fn complete(&self, _request: Value) -> Completion<'_> {
        Box::pin(async { Err(ModelError::new("it is only declared to here")) })
    }
}

/// What was changed, tool by tool.
fn report(tools: &[ToolReport], as_json: bool) -> Result<u8, Failure> {
    if as_json {
        print::json(&tools)?;
        return Ok(0);
    }
    for tool in tools {
        let mut words = Vec::new();
        if tool.declared_name != tool.name {
            words.push(format!("as {}", tool.declared_name));
        }
        match (&tool.not_strict_because, tool.strict) {
            (Some(reason), _) => words.push(format!("not strict: {reason}")),
            (None, true) => words.push("strict".to_owned()),
            (None, false) => {}
        }
        if tool.changes.is_empty() {
            words.push("unchanged".to_owned());
        }
        let head = format!("{}: {}", tool.name, words.join(", "));
        print::line(&print::visible(head.trim_end_matches([':', ' '])))?;
        for change in &tool.changes {
            let place = match change.path.as_str() {
                "" => "/",
                path => path,
            };
            print::line(&print::visible(&format!("  {place}: {}", change.what)))?;
        }
    }
    let strict = tools.iter().filter(|tool| tool.strict).count();
    let changed = tools.iter().filter(|tool| !tool.changes.is_empty()).count();
    print::note(&format!(
        "{}, {changed} changed, {strict} strict",
        print::counted(tools.len(), "tool")
    ));
    Ok(0)
}
