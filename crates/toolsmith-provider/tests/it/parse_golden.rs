//! Answers as providers send them, from files: `tests/golden/parse/<provider>/<case>.json`.
//!
//! A case has `about`, a `body` (or the `text` of one) and what is `expected` of it. With
//! `GOLDEN=write` in the environment the expected part is written; look at it before you
//! believe it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolsmith_core::call::RawArguments;
use toolsmith_provider::parse::{ParseError, parse};
use toolsmith_provider::{Answer, Dictionary, Provider};

#[test]
fn answers_are_read_as_the_files_say() {
    walk("parse", |provider, case| {
        let body = match case.get("text") {
            Some(text) => text.as_str().expect("text is a text").to_owned(),
            None => case["body"].to_string(),
        };
        tell(parse(provider, body.as_bytes(), &Dictionary::default()))
    });
}

/// Runs every case of a folder, and compares or writes what is expected.
pub(crate) fn walk(folder: &str, run: impl Fn(Provider, &Value) -> Value) {
    let write = writes();
    let mut wrong = Vec::new();
    visit(folder, |path, provider, mut case| {
        let found = run(provider, &case);
        if write {
            case["expected"] = found;
            fs::write(path, format!("{case:#}\n")).expect("cases can be written");
        } else if case["expected"] != found {
            wrong.push(format!("{}:\n{found:#}", path.display()));
        }
    });
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Whether the files are being written, and are not to be read meanwhile.
pub(crate) fn writes() -> bool {
    std::env::var_os("GOLDEN").is_some_and(|word| word == "write")
}

/// Shows every case of a folder.
pub(crate) fn visit(folder: &str, mut show: impl FnMut(&Path, Provider, Value)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let mut cases = 0;
    for provider_folder in entries(&root) {
        let word = (provider_folder.file_name().and_then(|name| name.to_str()))
            .expect("folders have plain names");
        let provider: Provider = word.parse().expect("folders are named after providers");
        for path in entries(&provider_folder) {
            cases += 1;
            let text = fs::read_to_string(&path).expect("cases can be read");
            let case = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            show(&path, provider, case);
        }
    }
    assert!(cases > 0, "there are no cases in {}", root.display());
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("folders can be listed").path())
        .collect();
    paths.sort();
    paths
}

/// An answer in few words: what is empty is left out.
pub(crate) fn tell(answer: Result<Answer, ParseError>) -> Value {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let mut told = json!({"error": error.to_string()});
            if let ParseError::Provider(error) = &error {
                told["kind"] = json!(error.kind);
                told["code"] = json!(error.code);
                told["refuses_tools"] = error.refuses_tools.into();
            }
            return told;
        }
    };
    let calls = answer.calls.iter().map(|each| {
        let mut told = Map::new();
        told.insert("id".into(), each.id().as_str().into());
        told.insert("name".into(), each.call.name.clone().into());
        if each.declared_name != each.call.name {
            told.insert("declared_name".into(), each.declared_name.clone().into());
        }
        match &each.call.arguments {
            RawArguments::Json(value) => told.insert("arguments".into(), value.clone()),
            RawArguments::Malformed(reason) => {
                told.insert("malformed".into(), reason.clone().into())
            }
            _ => None,
        };
        if !each.call.repairs.is_empty() {
            told.insert("repairs".into(), each.call.repairs.clone().into());
        }
        if !each.complete {
            told.insert("complete".into(), false.into());
        }
        Value::Object(told)
    });
    let mut told = Map::new();
    let calls: Vec<Value> = calls.collect();
    told.insert("calls".into(), calls.into());
    for (key, text) in [("text", &answer.text), ("reasoning", &answer.reasoning)] {
        if !text.is_empty() {
            told.insert(key.into(), text.clone().into());
        }
    }
    told.insert("stop".into(), format!("{:?}", answer.stop).into());
    told.insert("turn".into(), answer.turn.clone().into());
    if !answer.notes.is_empty() {
        told.insert("notes".into(), answer.notes.clone().into());
    }
    Value::Object(told)
}
