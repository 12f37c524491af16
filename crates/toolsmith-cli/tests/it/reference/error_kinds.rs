//! The kinds of failures, from the table in `toolsmith-core`.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;
use toolsmith_core::ErrorKind;
use toolsmith_core::error::Retry;

use super::{check, head, row};

const OPENING: &str = "\
# Error kinds

Whatever goes wrong with a call is of one of these kinds. The code is the same wherever a failure
is told: to a model, in the record of calls, as `code` of an outcome, on the command line.

";

const CLOSING: &str = "
The last column is what a model reads after the message. `toolsmith call` ends with the exit status
of the kind; the statuses of all commands stand with [the command line](command-line.md#exit-status).

## Names in other forms

`toolsmith call --as result` has a coarser word beside the code, for programs that know those:

";

#[test]
fn the_page_of_error_kinds() {
    let (kinds, retries) = (meanings::<ErrorKind>(), meanings::<Retry>());
    let mut page = OPENING.to_owned();
    page += &head([
        "code",
        "what happened",
        "made again",
        "exit status",
        "the model is told",
    ]);
    for kind in ErrorKind::ALL {
        let retry = format!("{:?}", kind.retry());
        page += &row([
            &format!("`{kind}`"),
            &kinds[kind.code()],
            &retries[&retry],
            &kind.exit_status().to_string(),
            kind.advice(),
        ]);
    }
    page += CLOSING;
    page += &head(["word", "codes"]);
    let mut words: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for kind in ErrorKind::ALL {
        let codes = words.entry(kind.result_type()).or_default();
        codes.push(format!("`{kind}`"));
    }
    for (word, codes) in words {
        page += &row([&format!("`{word}`"), &codes.join(", ")]);
    }
    check("error-kinds.md", &page);
}

/// What the documentation of an enumeration says of each of its words.
fn meanings<T: JsonSchema>() -> BTreeMap<String, String> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let choices = schema.get("oneOf").and_then(Value::as_array).unwrap();
    let text = |choice: &Value, key: &str| choice[key].as_str().unwrap().to_owned();
    let meaning = |choice| (text(choice, "const"), text(choice, "description"));
    choices.iter().map(meaning).collect()
}
