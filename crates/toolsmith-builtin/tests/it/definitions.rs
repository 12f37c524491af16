//! What each built-in tool says of itself.

use serde_json::Value;
use toolsmith_core::{Effect, RawCall};
use toolsmith_runtime::Caller;

use super::yard::Yard;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_says_all_there_is_to_say() {
    let yard = Yard::new();
    let tools = yard.toolbox.registry().all();
    assert_eq!(tools.len(), 25, "{tools:?}");
    for tool in tools {
        let name = &tool.name;
        let short = tool.description.short.chars().count();
        assert!((20..=500).contains(&short), "{name}: {short}");
        assert!(
            !tool.description.usage_notes.is_empty(),
            "{name} has no notes"
        );
        assert!(tool.returns.is_some(), "{name} says not what it returns");
        assert!(tool.title.is_some() && tool.output.is_some(), "{name}");
        assert!(
            tool.meta.category.is_some() && !tool.meta.tags.is_empty(),
            "{name}"
        );
        let effect = match name.as_str() {
            "write" | "edit" | "multi_edit" => Effect::Write,
            "bash" | "shell" | "script" | "shell_input" | "shell_kill" => Effect::Execute,
            _ => Effect::Read,
        };
        assert_eq!(tool.effect, effect, "{name}");
        let properties = tool.input.as_value()["properties"].as_object().unwrap();
        for (argument, schema) in properties {
            assert!(schema["description"].is_string(), "{name}: {argument}");
        }
        assert!(!tool.examples.is_empty(), "{name} has no example");
        for example in &tool.examples {
            let call = RawCall::new(name.as_str(), Value::Object(example.arguments.clone()));
            let outcome = yard
                .toolbox
                .run(call, &Caller::new("test"))
                .await
                .into_outcome();
            let code = outcome.error.map(|error| (error.code(), error.to_string()));
            assert_ne!(
                code.as_ref().map(|code| code.0),
                Some("invalid_parameters"),
                "{name}: {code:?}"
            );
        }
    }
}
