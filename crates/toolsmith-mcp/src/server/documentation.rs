//! Each tool's documentation as a resource.

use std::fmt::Write;

use serde_json::Value;
use toolsmith_core::{ToolDef, ToolError};
use toolsmith_runtime::Toolbox;

use super::resources::{Completion, Contents, Resource, ResourceTemplate, Resources};
use super::selected::Selected;
use crate::BoxFuture;

/// What the addresses begin with.
const BASE: &str = "toolsmith://tools/";
const TEMPLATE: &str = "toolsmith://tools/{name}";

/// The documentation of the tools a server offers: everything models are told of a
/// tool in full, with its examples.
#[derive(Debug)]
pub struct ToolDocumentation {
    toolbox: Toolbox,
    selection: Selected,
}

impl ToolDocumentation {
    /// The documentation of the tools of this selection.
    pub fn new(toolbox: Toolbox, selection: impl Into<Selected>) -> Self {
        Self {
            toolbox,
            selection: selection.into(),
        }
    }
}

impl Resources for ToolDocumentation {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        let offer = self.toolbox.offer(&self.selection.now());
        let resources = offer.tools().iter().map(|offered| {
            let name = &offered.wire_name;
            Resource::new(format!("{BASE}{name}"), format!("tool_{name}"))
                .with_description(format!("How to use the tool `{name}`."))
                .with_mime_type("text/markdown")
        });
        Box::pin(std::future::ready(Ok(resources.collect())))
    }

    fn templates(&self) -> BoxFuture<'_, Result<Vec<ResourceTemplate>, ToolError>> {
        let template = ResourceTemplate::new(TEMPLATE, "tool")
            .with_description("How to use a tool.")
            .with_mime_type("text/markdown");
        Box::pin(std::future::ready(Ok(vec![template])))
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        let page = uri.strip_prefix(BASE).and_then(|name| {
            let offer = self.toolbox.offer(&self.selection.now());
            let offered = offer.find(name)?;
            Some(page(&offered.wire_name, &offered.tool))
        });
        let contents =
            page.map(|page| vec![Contents::text(uri, page).with_mime_type("text/markdown")]);
        Box::pin(std::future::ready(Ok(contents)))
    }

    /// Completes the name of a tool; and, given a tool's own address, an argument of
    /// that tool which has a closed list of values.
    fn complete<'a>(
        &'a self,
        template: &'a str,
        variable: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        let offer = self.toolbox.offer(&self.selection.now());
        let completion = if template == TEMPLATE {
            let names = offer.tools().iter();
            let names = names.map(|offered| offered.wire_name.as_str());
            (variable == "name").then(|| Completion::among(names, value))
        } else {
            let tool = template
                .strip_prefix(BASE)
                .and_then(|name| offer.find(name));
            tool.map(|offered| {
                let choices = choices(offered.tool.input.as_value(), variable);
                Completion::among(choices.iter().map(String::as_str), value)
            })
        };
        Box::pin(std::future::ready(completion))
    }
}

/// What an argument can be, where its schema lists it.
fn choices(schema: &Value, argument: &str) -> Vec<String> {
    let property = &schema["properties"][argument];
    let listed = match (&property["enum"], &property["items"]["enum"]) {
        (Value::Array(listed), _) | (_, Value::Array(listed)) => listed.clone(),
        _ if property["type"] == "boolean" => vec![true.into(), false.into()],
        _ => property.get("const").cloned().into_iter().collect(),
    };
    let told = listed.into_iter().map(|choice| match choice {
        Value::String(text) => text,
        other => other.to_string(),
    });
    told.collect()
}

fn page(name: &str, tool: &ToolDef) -> String {
    let mut page = format!("# {}\n\n", tool.title.as_deref().unwrap_or(name));
    let _ = writeln!(page, "`{name}`\n\n{}", tool.full_description());
    for example in &tool.examples {
        let arguments = Value::Object(example.arguments.clone());
        let _ = write!(page, "\n```json\n{arguments:#}\n```\n");
        if let Some(comment) = &example.comment {
            let _ = writeln!(page, "\n{comment}");
        }
    }
    page
}
