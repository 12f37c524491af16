//! A file in `tools/native`, from the types that read it.

use serde_json::{Map, Value};
use toolsmith_rest::form::Entry;

/// The schema of the entry, with the other names its reader takes.
pub(super) fn schema() -> Value {
    let mut schema = super::of::<Entry>();
    if let Some(properties) = object(&mut schema, &["properties"]) {
        let same = properties.get("api_url").cloned();
        properties.extend(same.map(|same| ("base_url".to_owned(), same)));
    }
    if let Some(method) = object(&mut schema, &["$defs", "HttpMethod"]) {
        also(method, |word| vec![word.to_ascii_lowercase()]);
    }
    if let Some(method) = object(&mut schema, &["$defs", "AuthMethod"]) {
        also(method, |word| match word {
            "oauth" => vec!["oauth2".to_owned(), "client_credentials".to_owned()],
            _ => Vec::new(),
        });
    }
    schema
}

fn object<'a>(schema: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let mut value = schema;
    for key in path {
        value = value.get_mut(*key)?;
    }
    value.as_object_mut()
}

/// Lets an enumeration take further spellings of its words.
fn also(schema: &mut Map<String, Value>, spellings: impl Fn(&str) -> Vec<String>) {
    let more = |word: &Value| -> Vec<Value> {
        let spellings = word.as_str().map(&spellings).unwrap_or_default();
        spellings.into_iter().map(Value::from).collect()
    };
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        let further: Vec<Value> = words.iter().flat_map(more).collect();
        words.extend(further);
    }
    let Some(Value::Array(choices)) = schema.get_mut("oneOf") else {
        return;
    };
    for choice in choices {
        let Some(choice) = choice.as_object_mut() else {
            continue;
        };
        let further = choice.get("const").map(&more).unwrap_or_default();
        if !further.is_empty()
            && let Some(word) = choice.remove("const")
        {
            let mut words = vec![word];
            words.extend(further);
            choice.insert("enum".to_owned(), words.into());
        }
    }
}
