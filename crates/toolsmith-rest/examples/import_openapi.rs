//! Imports OpenAPI documents and tells, as one line of JSON for each, what came of it.
//!
//! `cargo run -p toolsmith-rest --example import_openapi -- [--yaml] FILE…`

#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::reference::Lookup;
use toolsmith_rest::Surroundings;
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
    let mut options = Options::default();
    let mut imported = openapi::import(&document, &options).map_err(text)?;
    if imported.entry.api_url.is_none() {
        // Many documents say where they are only by where they lie.
        options.api_url = Some("https://api.example".to_owned());
        imported = openapi::import(&document, &options).map_err(text)?;
    }
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

/// Makes and registers every tool, and says which of them are refused.
fn register(imported: &Imported) -> (usize, Vec<String>) {
    let Ok(toolbox) = Toolbox::builder().build() else {
        return (0, vec!["there is no toolbox".to_owned()]);
    };
    let surroundings = Surroundings::new(Arc::new(Secrets), ".", Arc::new([]));
    let made = toolsmith_rest::make(&imported.entry, &surroundings);
    let mut refused: Vec<String> = made.problems.iter().map(ToString::to_string).collect();
    let count = made.tools.len();
    let errors = toolbox.registry().load("openapi", made.tools);
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

/// Every secret there is: nothing is sent.
struct Secrets;

impl Lookup for Secrets {
    fn variable(&self, _: &str) -> Option<String> {
        Some("secret".to_owned())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        Err(format!("there is no {path}"))
    }
}
