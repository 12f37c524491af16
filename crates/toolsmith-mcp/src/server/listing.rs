//! The tools as clients list them, kept until the registry changes.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use toolsmith_core::offer::Offered;
use toolsmith_core::{Exposure, Offer, ToolDef};
use toolsmith_runtime::{Selection, Toolbox};

use super::client::Era;
use crate::wire::readable::reveal;
use crate::wire::structured;

/// The tools one server offers, at one version of the registry.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) version: u64,
    pub(super) selection: Arc<Selection>,
    pub(super) offer: Arc<Offer>,
    /// For clients that take any value as structured content.
    stateless: Vec<Tool>,
    /// For those that only take objects.
    handshake: Vec<Tool>,
    places: HashMap<String, usize>,
}

impl Listing {
    pub(super) fn new(toolbox: &Toolbox, selection: Arc<Selection>) -> Self {
        // Read first: a change that comes meanwhile makes the listing old, not wrong.
        let version = toolbox.registry().version();
        let offer = toolbox.offer(&selection);
        let listed = |offered: &&Offered| offered.exposure == Exposure::Direct;
        let stateless: Vec<Tool> = offer
            .tools()
            .iter()
            .filter(listed)
            .map(|offered| tool(offered, &offer))
            .collect();
        let handshake = stateless.iter().map(wrapped).collect();
        let places = stateless.iter().enumerate();
        let places = places
            .map(|(place, tool)| (tool.name.to_string(), place))
            .collect();
        Self {
            version,
            selection,
            offer: Arc::new(offer),
            stateless,
            handshake,
            places,
        }
    }

    pub(super) fn tools(&self, era: Era) -> &[Tool] {
        match era {
            Era::Stateless => &self.stateless,
            Era::Handshake => &self.handshake,
        }
    }

    /// The tool of a name a client lists, as far as headers are checked against it.
    pub(super) fn head(&self, name: &str) -> Option<Tool> {
        let tool = &self.stateless[*self.places.get(name)?];
        let schema = Arc::clone(&tool.input_schema);
        Some(Tool::new(tool.name.clone(), "", schema))
    }

    /// The definition behind a name, offered or bare.
    pub(super) fn definition(&self, name: &str) -> Option<&Arc<ToolDef>> {
        self.offer.find(name).map(|offered| &offered.tool)
    }
}

fn tool(offered: &Offered, offer: &Offer) -> Tool {
    let definition = &offered.tool;
    let description = definition.description_for_models(offer.detail());
    let mut tool = Tool::new(
        offered.wire_name.clone(),
        description,
        input(definition.input.as_value()),
    );
    tool.title.clone_from(&definition.title);
    tool.output_schema = (definition.output.as_ref())
        .filter(|schema| schema.as_value().is_object())
        .map(|schema| Arc::new(readable(schema.as_value())));
    tool.annotations = serde_json::from_value::<ToolAnnotations>(definition.annotations()).ok();
    if let Some(imported) = definition.meta.extra.get("mcp") {
        tool.annotations = part(imported, "annotations");
        tool.icons = part(imported, "icons");
        tool.meta = part(imported, "_meta");
    }
    tool
}

fn part<T: serde::de::DeserializeOwned>(value: &Value, key: &str) -> Option<T> {
    serde_json::from_value(value.get(key)?.clone()).ok()
}

/// Arguments are an object, and the protocol wants to read that in every schema.
fn input(schema: &Value) -> Arc<JsonObject> {
    let mut schema = readable(schema);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        schema.insert("type".to_owned(), "object".into());
    }
    Arc::new(schema)
}

fn readable(schema: &Value) -> JsonObject {
    let mut schema = schema.clone();
    reveal(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// The tool for clients whose structured content must be an object.
fn wrapped(tool: &Tool) -> Tool {
    let mut tool = tool.clone();
    if let Some(schema) = &tool.output_schema {
        let schema = Value::Object((**schema).clone());
        if !structured::is_object(&schema) {
            tool.output_schema = structured::wrap_schema(&schema).map(Arc::new);
        }
    }
    tool
}
