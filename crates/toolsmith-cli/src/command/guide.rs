//! `toolsmith guide`: what the tools are for and how they are used, to read.

use std::sync::Arc;

use serde_json::Value;
use toolsmith_core::{ErrorKind, Offer, RawCall, ToolDef};
use toolsmith_runtime::Caller;
use toolsmith_runtime::guide::{Budget, Coverage, Request};

use crate::cli::{Guide, GuideForm};
use crate::failure::Failure;
use crate::print;
use crate::session::{Session, with_template};

pub(crate) async fn run(session: &Session, options: &Guide, as_json: bool) -> Result<u8, Failure> {
    let offer = session.toolbox.offer(&session.selection());
    tell_absent(session, &offer, &options.names).await;
    let tools: Vec<Arc<ToolDef>> = offer.tools().iter().map(|t| Arc::clone(&t.tool)).collect();
    if options.coverage {
        return coverage(&session.guide.coverage(&tools), as_json);
    }
    let guide = match &options.template {
        Some(file) => Arc::new(with_template((*session.guide).clone(), file)?),
        None => Arc::clone(&session.guide),
    };
    let budget = match (options.bytes, options.tokens) {
        (Some(bytes), _) => Budget::Bytes(bytes),
        (None, Some(tokens)) => Budget::Tokens(tokens),
        (None, None) => Budget::default(),
    };
    let names = Some(options.names.clone()).filter(|names| !names.is_empty());
    let request = Request::everything()
        .with_tool_names(names)
        .with_category(options.category.clone())
        .with_budget(budget)
        .with_examples(options.examples.into());
    let form = match as_json {
        true => GuideForm::Json,
        false => options.format,
    };
    match form {
        GuideForm::Json => print::json(&guide.answer(&tools, &request))?,
        GuideForm::Html => {
            let page = guide.html(&tools, &request);
            print::line(
                page.map_err(|error| Failure::usage(error.to_string()))?
                    .trim_end(),
            )?;
        }
        GuideForm::Markdown => {
            let response = guide.answer(&tools, &request);
            for warning in &response.warnings {
                print::warning(warning);
            }
            print::line(response.content.trim_end())?;
        }
    }
    Ok(0)
}

/// Tells of names that may be tools of a source which could not be asked: that they are not
/// found, as the guide says, is not all there is to know of them.
async fn tell_absent(session: &Session, offer: &Offer, names: &[String]) {
    for name in names.iter().filter(|name| offer.find(name).is_none()) {
        let caller = Caller::new("cli").with_offer(offer.clone());
        let call = RawCall::new(name, Value::Null);
        let error = session.toolbox.explain(call, &caller).await.error;
        if let Some(error) = error.filter(|error| error.kind != ErrorKind::UnknownTool) {
            print::warning(&format!("{}: {error}", print::visible(name)));
        }
    }
}

/// Each tool's state, as a table.
fn coverage(tools: &[Coverage], as_json: bool) -> Result<u8, Failure> {
    if as_json {
        print::json(&tools)?;
        return Ok(0);
    }
    let widest = tools.iter().map(|tool| tool.name.chars().count()).max();
    let width = widest.unwrap_or_default().clamp(4, 60);
    let head = ("TOOL", "STATE", "DESCRIBED BY", "EXAMPLES", "CATEGORY");
    print::line(&format!(
        "{:width$}  {:12}  {:12}  {:8}  {}",
        head.0, head.1, head.2, head.3, head.4
    ))?;
    for tool in tools {
        print::line(&print::visible(&format!(
            "{:width$}  {:12}  {:12}  {:8}  {}",
            tool.name,
            tool.state,
            tool.described_by.unwrap_or("-"),
            tool.examples,
            tool.category.as_deref().unwrap_or("-")
        )))?;
    }
    Ok(0)
}
