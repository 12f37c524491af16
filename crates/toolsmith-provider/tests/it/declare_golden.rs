//! Offers in, requests out: one file per case in `tests/golden/declare`.
//!
//! A case names providers (with `strict` after those that shall enforce), tools, options,
//! and calls in the tools' own terms. What is expected is written by `GOLDEN=write`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolsmith_core::{Detail, Example, Exposure, Offer, Schema, ToolDef};
use toolsmith_provider::{Options, Provider, ToolChoice, declare, declare_as_text, judge};

#[test]
fn declarations_are_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/declare");
    let writes = std::env::var("GOLDEN").is_ok_and(|word| word == "write");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() > 10, "the cases are missing");
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut case: Value = serde_json::from_str(&text).unwrap();
        let found: Map<String, Value> = case["for"]
            .as_array()
            .unwrap()
            .iter()
            .map(|target| {
                let target = target.as_str().unwrap();
                (target.to_owned(), outcome(&case, target))
            })
            .collect();
        let found = Value::Object(found);
        if writes {
            case["expected"] = found;
            let text = serde_json::to_string_pretty(&case).unwrap();
            std::fs::write(&path, text + "\n").unwrap();
            continue;
        }
        for (target, found) in found.as_object().unwrap() {
            // As texts, since the order of fields is part of what is promised.
            let found = serde_json::to_string_pretty(found).unwrap();
            let expected = serde_json::to_string_pretty(&case["expected"][target]).unwrap();
            assert_eq!(found, expected, "{} for {target}", path.display());
        }
    }
}

fn outcome(case: &Value, target: &str) -> Value {
    let (word, strict) = match target.split_once(' ') {
        Some((word, "strict")) => (word, true),
        Some((word, "text")) => (word, false),
        _ => (target, false),
    };
    let provider: Provider = word.parse().unwrap();
    let offer = offer(&case["tools"]);
    let mut options = options(&case["options"]);
    options.strict = strict;
    let declared = if target.ends_with(" text") {
        declare_as_text(provider, &offer, &options)
    } else {
        declare(provider, &offer, &options)
    };
    let declared = match declared {
        Ok(declared) => declared,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let request = Value::Object(declared.request);
    let faults = judge::judge(provider, &request);
    assert!(faults.is_empty(), "{target} {faults:#?}");
    let mut outcome = json!({ "request": request, "report": declared.report });
    if let Some(structured) = declared.structured {
        outcome["prompt"] = structured.prompt.into();
    }
    for call in case["calls"].as_array().into_iter().flatten() {
        let name = call["name"].as_str().unwrap();
        let declared_name = declared.dictionary.declared(name).to_owned();
        let own = call["arguments"].clone();
        let sent = declared.dictionary.declared_arguments(name, own.clone());
        let back = declared.dictionary.arguments(&declared_name, sent.clone());
        assert_eq!(declared.dictionary.name(&declared_name), name);
        assert_eq!(back, own, "{target}");
        let sent = json!({ "name": declared_name, "arguments": sent });
        match &mut outcome["sent"] {
            Value::Array(list) => list.push(sent),
            empty => *empty = json!([sent]),
        }
    }
    outcome
}

fn offer(tools: &Value) -> Offer {
    let mut offer = Offer::new(Detail::Brief);
    for (index, tool) in tools.as_array().unwrap().iter().enumerate() {
        let wire_name = tool["name"].as_str().unwrap();
        let mut definition = ToolDef::new(format!("tool{index}")).unwrap();
        if let Some(description) = tool["description"].as_str() {
            definition = definition.with_description(description);
        }
        if let Some(title) = tool["title"].as_str() {
            definition = definition.with_title(title);
        }
        if let Some(input) = tool.get("input") {
            definition = definition.with_input(Schema::as_received(input.clone()).unwrap());
        }
        for example in tool["examples"].as_array().into_iter().flatten() {
            definition =
                definition.with_example(Example::new(example.as_object().unwrap().clone()));
        }
        let exposure = match tool["deferred"].as_bool() {
            Some(true) => Exposure::Deferred,
            _ => Exposure::Direct,
        };
        assert!(offer.add(wire_name, Arc::new(definition), exposure));
    }
    offer
}

fn options(said: &Value) -> Options {
    let mut options = Options::default();
    options.choice = match &said["choice"] {
        Value::Null => ToolChoice::Auto,
        Value::String(word) if word == "none" => ToolChoice::None,
        Value::String(word) if word == "required" => ToolChoice::Required,
        other => ToolChoice::Tool(other["tool"].as_str().unwrap().to_owned()),
    };
    options.parallel = said["parallel"].as_bool();
    options.deferred = said["deferred"].as_bool().unwrap_or(false);
    options.examples = said["examples"].as_bool().unwrap_or(false);
    options.hosted = said["hosted"].as_array().cloned().unwrap_or_default();
    options
}
