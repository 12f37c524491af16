//! Imports OpenAPI documents and tells, as one line of JSON for each, what came of it.
//!
//! `cargo run -p toolsmith-rest --example import_openapi -- [--yaml] FILE…`

#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Arguments, Outcome, Schema, Source, Tool, ToolContext, ToolDef};
use toolsmith_rest::form::Entry;
use toolsmith_rest::openapi::{self, Imported, Options, ReadLimits};
use toolsmith_runtime::Toolbox;

fn main() -> ExitCode {
    let mut is_well = true;
    let mut wants_yaml = false;
    for argument in std::env::args().skip(1) {
        if argument == "--yaml" {
            wants_yaml = true;
            continue;
        }
        match report(&argument, wants_yaml) {
            Ok(line) => println!("{line}"),
            Err(error) => {
                is_well = false;
                println!("{}", json!({ "file": argument, "error": error }));
            }
        }
    }
    if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn report(file: &str, wants_yaml: bool) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let text = |error: openapi::OpenApiError| error.to_string();
    let document = openapi::read(&bytes, &ReadLimits::default()).map_err(text)?;
    let imported = openapi::import(&document, &Options::default()).map_err(text)?;
    let yaml = openapi::to_yaml(&imported, "Made from an OpenAPI document.").map_err(text)?;
    if wants_yaml {
        return Ok(yaml);
    }
    let again: Entry = read_plainly(&yaml)?;
    let is_same = json!(again) == json!(imported.entry);
    let (registered, refused) = register(&imported);
    let left_out: Vec<Value> = imported
        .left_out
        .iter()
        .map(|left| json!([left.method, left.path, left.reason]))
        .collect();
    let line = json!({
        "file": file,
        "operations": operations(&bytes)?,
        "tools": imported.entry.tools.len(),
        "registered": registered,
        "refused": refused,
        "left_out": left_out,
        "notes": imported.notes,
        "yaml_bytes": yaml.len(),
        "reads_back": is_same,
    });
    Ok(line.to_string())
}

fn read_plainly<T: serde::de::DeserializeOwned>(yaml: &str) -> Result<T, String> {
    // A file of a large API is larger than what a person would write.
    let mut options = serde_saphyr::Options::default();
    options.budget = None;
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| error.to_string())
}

/// How many operations there are, counted without the importer.
fn operations(bytes: &[u8]) -> Result<usize, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(_) => read_plainly(text)?,
    };
    let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
    ];
    let mut count = 0;
    for item in document["paths"].as_object().into_iter().flatten() {
        let (path, mut item) = item;
        if path.starts_with("x-") {
            continue;
        }
        if let Some(reference) = item["$ref"].as_str() {
            let pointer = reference.strip_prefix('#').unwrap_or("none");
            item = document.pointer(pointer).unwrap_or(&Value::Null);
        }
        count += match item {
            Value::Object(fields) => fields
                .keys()
                .filter(|key| methods.contains(&key.as_str()))
                .count(),
            // A path that is none is told of once.
            _ => 1,
        };
    }
    Ok(count)
}

/// Registers every tool, and says which of them are refused.
fn register(imported: &Imported) -> (usize, Vec<String>) {
    let Ok(toolbox) = Toolbox::builder().build() else {
        return (0, vec!["there is no toolbox".to_owned()]);
    };
    let mut refused = Vec::new();
    let mut tools = Vec::new();
    for tool in &imported.entry.tools {
        match define(&tool.value) {
            Ok(definition) => tools.push(AnyTool::new(Described(Arc::new(definition)))),
            Err(error) => refused.push(error),
        }
    }
    let count = tools.len();
    let errors = toolbox.registry().load("openapi", tools);
    let registered = count - errors.len();
    refused.extend(errors.iter().map(ToString::to_string));
    let shadowed = toolbox.registry().shadowed();
    refused.extend(
        shadowed
            .iter()
            .map(|other| format!("`{}` is there twice", other.name)),
    );
    (registered - shadowed.len(), refused)
}

/// A tool that is described and never called.
struct Described(Arc<ToolDef>);

impl Tool for Described {
    fn definition(&self) -> Arc<ToolDef> {
        self.0.clone()
    }

    async fn call(&self, _: Arguments, _: ToolContext) -> Outcome {
        Outcome::default()
    }
}

fn define(entry: &Entry) -> Result<ToolDef, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let name = entry.name.as_ref().ok_or("no name")?;
    let mut definition = ToolDef::new(&name.value)
        .map_err(|error| text(&error))?
        .with_source(Source::Rest);
    if let Some(parameters) = &entry.parameters {
        let schema = Schema::input(Value::Object(parameters.value.clone()));
        definition = definition.with_input(schema.map_err(|error| text(&error))?);
    }
    if let Some(schema) = entry
        .response
        .as_ref()
        .and_then(|form| form.schema.as_ref())
    {
        let schema = Schema::as_received(schema.value.clone());
        definition = definition.with_output(schema.map_err(|error| text(&error))?);
    }
    Ok(definition)
}
