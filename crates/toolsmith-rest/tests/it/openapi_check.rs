//! What the tests of OpenAPI share: importing, looking at tools, registering them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{
    AnyTool, Arguments, Kind, Outcome, RawCall, Schema, Source, Tool, ToolContext, ToolDef,
};
use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::openapi::{self, Imported, Options, ReadLimits};
use toolsmith_runtime::{Caller, Toolbox};

/// Imports a document with the usual options.
pub(crate) fn import(document: &str) -> Imported {
    import_with(document, &Options::default())
}

/// Imports a document, and checks what holds for every import.
pub(crate) fn import_with(document: &str, options: &Options) -> Imported {
    let document = openapi::read(document.as_bytes(), &ReadLimits::default()).unwrap();
    let imported = openapi::import(&document, options).unwrap();
    assert_eq!(registered(&imported), imported.entry.tools.len());
    assert_reads_back(&imported);
    imported
}

/// Imports a value as a document.
pub(crate) fn import_value(document: &Value) -> Imported {
    import(&document.to_string())
}

/// A document of the given paths, with components.
pub(crate) fn document(paths: &Value, components: &Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Pets", "version": "1" },
        "servers": [{ "url": "https://pets.example/v1" }],
        "paths": paths,
        "components": components,
    })
}

/// A tool as its file would say it.
pub(crate) fn tool(imported: &Imported, name: &str) -> Value {
    let is_it = |tool: &Value| tool["name"] == name;
    let tools = json!(imported.entry.tools);
    let found = tools
        .as_array()
        .into_iter()
        .flatten()
        .find(|tool| is_it(tool));
    found
        .unwrap_or_else(|| panic!("no {name} among {:?}", names(imported)))
        .clone()
}

/// The names of the tools, in order.
pub(crate) fn names(imported: &Imported) -> Vec<String> {
    let tools = imported.entry.tools.iter();
    tools
        .filter_map(|tool| Some(tool.value.name.as_ref()?.value.clone()))
        .collect()
}

/// What was left out: `METHOD path: reason`.
pub(crate) fn left_out(imported: &Imported) -> Vec<String> {
    let left = imported.left_out.iter();
    left.map(|left| format!("{} {}: {}", left.method, left.path, left.reason))
        .collect()
}

/// Tells whether some note holds a text.
pub(crate) fn is_noted(imported: &Imported, text: &str) -> bool {
    imported.notes.iter().any(|note| note.contains(text))
}

/// What a tool gets of a call's arguments once they are validated, or what is said of
/// those that do not fit.
pub(crate) async fn validated(
    imported: &Imported,
    name: &str,
    arguments: Value,
) -> Result<Value, String> {
    let is_it = |tool: &&Placed<Entry>| {
        tool.value
            .name
            .as_ref()
            .is_some_and(|own| own.value == name)
    };
    let found = imported.entry.tools.iter().find(is_it).unwrap();
    let definition = definition(&found.value).with_kind(Kind::Read);
    let toolbox = Toolbox::new([AnyTool::new(Described(Arc::new(definition)))]).unwrap();
    let reply = toolbox
        .run(RawCall::new(name, arguments), &Caller::new("test"))
        .await;
    let outcome = reply.into_outcome();
    match outcome.is_success() {
        true => Ok(outcome.value.unwrap_or_default()),
        false => Err(format!("{:?}", outcome.error)),
    }
}

/// How many tools a registry takes; fails with what it says of those it does not.
pub(crate) fn registered(imported: &Imported) -> usize {
    let toolbox = Toolbox::builder().build().unwrap();
    let tools = imported.entry.tools.iter().map(|tool| {
        let definition = definition(&tool.value);
        AnyTool::new(Described(Arc::new(definition)))
    });
    let tools: Vec<AnyTool> = tools.collect();
    let count = tools.len();
    let errors = toolbox.registry().load("openapi", tools);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(toolbox.registry().shadowed(), []);
    count
}

/// Writes an import and reads it again.
pub(crate) fn assert_reads_back(imported: &Imported) -> String {
    let yaml = openapi::to_yaml(imported, "Made by a test.").unwrap();
    let mut options = serde_saphyr::Options::default();
    options.budget = None;
    options.strict_booleans = true;
    let again: Entry = match serde_saphyr::from_str_with_options(&yaml, options) {
        Ok(again) => again,
        Err(error) => panic!("{error}\n{yaml}"),
    };
    assert_eq!(json!(again), json!(imported.entry));
    yaml
}

/// How many operations a document has, counted without the importer.
pub(crate) fn count_operations(document: &Value) -> usize {
    let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
    ];
    let Some(paths) = document["paths"].as_object() else {
        return 0;
    };
    let items = paths.iter().filter(|(path, _)| !path.starts_with("x-"));
    let counts = items.map(|(_, item)| match item {
        Value::Object(item) if item.contains_key("$ref") => panic!("not counted here"),
        Value::Object(item) => {
            let own = item
                .keys()
                .filter(|key| methods.contains(&key.as_str()))
                .count();
            let more = item.get("additionalOperations").and_then(Value::as_object);
            own + more.map_or(0, serde_json::Map::len)
        }
        _ => 1,
    });
    counts.sum()
}

/// What an entry is as a tool, as far as a registry looks at it.
pub(crate) fn definition(entry: &Entry) -> ToolDef {
    let name = &entry.name.as_ref().unwrap().value;
    let mut definition = ToolDef::new(name).unwrap().with_source(Source::Rest);
    if let Some(parameters) = &entry.parameters {
        let schema = Value::Object(parameters.value.clone());
        definition = definition.with_input(Schema::input(schema).unwrap());
    }
    if let Some(schema) = entry
        .response
        .as_ref()
        .and_then(|form| form.schema.as_ref())
    {
        definition = definition.with_output(Schema::as_received(schema.value.clone()).unwrap());
    }
    definition
}

/// A tool that returns what it is given.
struct Described(Arc<ToolDef>);

impl Tool for Described {
    fn definition(&self) -> Arc<ToolDef> {
        self.0.clone()
    }

    async fn call(&self, arguments: Arguments, _: ToolContext) -> Outcome {
        Outcome::ok(arguments.as_value().clone())
    }
}
