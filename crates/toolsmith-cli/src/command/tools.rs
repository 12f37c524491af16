//! `toolsmith tools`: what there is.

use serde_json::{Value, json};
use toolsmith_core::offer::Offered;
use toolsmith_core::{Detail, Source};
use toolsmith_runtime::shape::clean;

use crate::cli::Tools;
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

/// How wide the list may get.
const WIDTH: usize = 100;

pub(crate) fn run(session: &Session, options: &Tools, as_json: bool) -> Result<u8, Failure> {
    if options.shadowed {
        return shadowed(session, as_json);
    }
    let selection = session
        .selection()
        .with_source(options.source.clone())
        .with_category(options.category.clone());
    let offer = session.toolbox.offer(&selection);
    if as_json {
        let detail = offer.detail();
        let list: Vec<Value> = offer.tools().iter().map(|tool| row(tool, detail)).collect();
        print::json(&list)?;
        return Ok(0);
    }
    if offer.tools().is_empty() {
        print::note(&nothing(session, options));
        return Ok(0);
    }
    let widest = offer.tools().iter().map(|t| t.wire_name.len()).max();
    for offered in offer.tools() {
        let effect = format!("{:?}", offered.tool.effect).to_lowercase();
        let mut text = format!(
            "{:width$}  {effect:7}  {}",
            offered.wire_name,
            offered.tool.description.short,
            width = widest.unwrap_or_default(),
        );
        if let Some((end, _)) = text.char_indices().nth(WIDTH) {
            text.truncate(end);
            text.push('…');
        }
        print::line(&clean(&text))?;
    }
    Ok(0)
}

/// Why the list is empty.
fn nothing(session: &Session, options: &Tools) -> String {
    if options.source.is_some() || options.category.is_some() {
        return "No tool is of that source and category; see `toolsmith tools`.".to_owned();
    }
    match session.offerer() {
        Some(offerer) => format!("No tool is offered by {offerer}."),
        None => "There are no tools.".to_owned(),
    }
}

/// A tool in a list: under the name it is offered by.
fn row(offered: &Offered, detail: Detail) -> Value {
    let tool = &offered.tool;
    let mut row = json!({
        "name": offered.wire_name,
        "title": tool.display_name(),
        "source": tool.source.word(),
        "kind": tool.kind,
        "effect": tool.effect,
        "category": tool.category(),
        "tags": tool.meta.tags,
        "description": tool.description_for_models(detail),
    });
    if offered.wire_name != tool.name.as_str() {
        row["bare_name"] = tool.name.as_str().into();
    }
    if let Source::Mcp { server } = &tool.source {
        row["server"] = server.as_str().into();
    }
    row
}

fn shadowed(session: &Session, as_json: bool) -> Result<u8, Failure> {
    let list = session.toolbox.registry().shadowed();
    if as_json {
        print::json(&list)?;
        return Ok(0);
    }
    for one in &list {
        print::line(&format!(
            "{} of {} is not used: {} has that name first",
            one.name, one.origin, one.by
        ))?;
    }
    Ok(0)
}
