//! Arguments that are let through fit their tool's schema, and are let through again unchanged.
//!
//! The first line of the input is a schema, the rest are the arguments, as a model sends
//! them.

use futures_util::FutureExt;
use jsonschema::PatternOptions;
use serde_json::{Value, json};
use toolsmith_core::{Arguments, RawCall, Schema, json as strict};
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::tools;

const LIMIT: usize = 1 << 20;

/// Checks one schema with arguments.
pub fn check(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (schema, arguments) = bytes.split_at(end.unwrap_or(bytes.len()));
    let Ok(schema) = strict::parse(schema, LIMIT) else {
        return;
    };
    let Ok(schema) = Schema::input(schema) else {
        return;
    };
    let definition = tools::definition("take").with_input(schema.clone());
    let Ok(toolbox) = Toolbox::builder()
        .tools([tools::echoing(definition)])
        .without_log()
        .build()
    else {
        return;
    };
    let text = String::from_utf8_lossy(arguments);
    let Ok(call) = call(&text) else { return };
    let Some((accepted, _)) = accepted(&toolbox, call) else {
        return;
    };
    let value = accepted.as_value().clone();
    assert!(
        fits(schema.as_value(), &value),
        "{value} does not fit {}",
        schema.as_value()
    );
    let call = RawCall::new("take", value.clone());
    let (again, repairs) = self::accepted(&toolbox, call).expect("what fits is let through");
    assert_eq!(*again.as_value(), value, "it is let through as it is");
    assert_eq!(repairs, [""; 0], "there is nothing left to mend");
}

/// A call with arguments as text, which a provider may hand over so.
fn call(text: &str) -> Result<RawCall, strict::JsonError> {
    strict::parse(text.trim().as_bytes(), LIMIT).map(|value| RawCall::new("take", value))
}

/// The arguments the tool would get, and what was mended; none for a call that is refused.
fn accepted(toolbox: &Toolbox, call: RawCall) -> Option<(Arguments, Vec<String>)> {
    let caller = Caller::new("fuzz");
    let explained = toolbox.explain(call, &caller).now_or_never();
    let explained = explained.expect("nobody is waited for");
    explained.error.is_none().then_some(())?;
    Some((explained.arguments?, explained.repairs))
}

/// Whether a value fits a schema, by the library alone: nothing of ours between.
fn fits(schema: &Value, value: &Value) -> bool {
    let mut schema = schema.clone();
    if schema["$schema"].is_string()
        && schema["$schema"] != json!("http://json-schema.org/draft-07/schema#")
    {
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    }
    let built = jsonschema::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .offline()
        .build(&schema);
    // What cannot be compiled here was not compiled there.
    built.is_ok_and(|compiled| compiled.is_valid(value))
}
