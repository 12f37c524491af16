//! What each built-in tool says of itself.

use std::io;
use std::sync::Arc;

use serde_json::Value;
use toolsmith_builtin::{Web, WebSecret, WebSettings};
use toolsmith_core::{Effect, RawCall};
use toolsmith_net::{Lookup, Names};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Caller, Mode, Toolbox};

use super::yard::Yard;

/// Names of a machine without a network.
#[derive(Debug)]
struct NoNames;

impl Names for NoNames {
    fn lookup(&self, _: &str) -> Lookup {
        Box::pin(async { Err(io::Error::other("there is no network")) })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_says_all_there_is_to_say() {
    let yard = Yard::new();
    let mut settings = WebSettings::default();
    let origin = "https://api.example.com".to_owned();
    settings.secrets = vec![WebSecret::new("EXAMPLE_TOKEN", "none", [origin])];
    let web = Web::with_names(settings, Arc::new(NoNames));
    let web = Toolbox::builder()
        .tools(toolsmith_builtin::web_tools(&web))
        .policy(Policy::new(Mode::Auto))
        .build()
        .unwrap();
    assert_eq!(yard.toolbox.registry().all().len(), 25);
    assert_eq!(web.registry().all().len(), 2);
    for toolbox in [&yard.toolbox, &web] {
        check(toolbox).await;
    }
}

/// The list of files is the list of tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_is_in_a_file_of_its_name() {
    let yard = Yard::new();
    let web = Web::with_names(WebSettings::default(), Arc::new(NoNames));
    let web = Toolbox::new(toolsmith_builtin::web_tools(&web)).unwrap();
    let all = [&yard.toolbox, &web].map(|toolbox| toolbox.registry().all());
    let mut tools: Vec<String> = all
        .iter()
        .flatten()
        .map(|tool| format!("tool_{}.rs", tool.name))
        .collect();
    tools.sort();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut files: Vec<String> = std::fs::read_dir(source)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("tool_"))
        .collect();
    files.sort();
    assert_eq!(files, tools);
}

async fn check(toolbox: &Toolbox) {
    for tool in toolbox.registry().all() {
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
            "web_fetch" | "api_call" => Effect::Network,
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
            let outcome = toolbox.run(call, &Caller::new("test")).await.into_outcome();
            let code = outcome.error.map(|error| (error.code(), error.to_string()));
            assert_ne!(
                code.as_ref().map(|code| code.0),
                Some("invalid_parameters"),
                "{name}: {code:?}"
            );
        }
    }
}
