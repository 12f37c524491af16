//! `get_tool_usage_guide`: the guide as a tool of a toolbox.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{Block, Effect, Outcome, RawCall};
use toolsmith_runtime::guide::{Overlays, tool};
use toolsmith_runtime::validate::fits;
use toolsmith_runtime::{Caller, Selection, Toolbox};
use toolsmith_testing::tools::{definition, echoing};

use crate::guide::guide_over;

const NAME: &str = "get_tool_usage_guide";

fn toolbox(prefix: &str, tools: usize) -> Toolbox {
    let guide = Arc::new(guide_over(Overlays::default()));
    let others = (0..tools).map(|n| {
        let text = format!("The tool of number {n}. {}", "x".repeat(300));
        echoing(definition(&format!("tool_{n}")).with_description(text))
    });
    Toolbox::builder()
        .prefix(prefix)
        .tools(others)
        .tools([tool(guide)])
        .build()
        .unwrap()
}

async fn ask(toolbox: &Toolbox, arguments: Value, caller: &Caller) -> Outcome {
    let reply = toolbox.run(RawCall::new(NAME, arguments), caller).await;
    reply.into_outcome()
}

fn text(outcome: &Outcome) -> String {
    let texts = outcome.content.iter().map(|block| match block {
        Block::Text { text } => text.as_str(),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[tokio::test]
async fn it_explains_the_tools_and_itself() {
    let toolbox = toolbox("", 2);
    let outcome = ask(&toolbox, json!({}), &Caller::new("me")).await;
    assert!(outcome.is_success(), "{outcome:?}");
    let content = text(&outcome);
    for name in ["tool_0", "tool_1", NAME] {
        assert!(content.contains(&format!("### {name}\n")), "{content}");
    }
    let value = outcome.value.unwrap();
    assert_eq!(value["content"], content);
    assert_eq!(value["warnings"], json!([]));
    assert_eq!(value["metadata"]["total_tools"], 3);
    let definition = toolbox.registry().get(NAME).unwrap();
    assert!(fits(definition.output.as_ref().unwrap(), &value));
    assert_eq!(
        (definition.category(), definition.effect),
        ("guide", Effect::Read)
    );
    for example in &definition.examples {
        let arguments = Value::Object(example.arguments.clone());
        assert!(
            ask(&toolbox, arguments, &Caller::new("me"))
                .await
                .is_success()
        );
    }
}

#[tokio::test]
async fn null_is_everything_and_unknown_names_are_warned_of() {
    let toolbox = toolbox("", 2);
    let caller = Caller::new("me");
    let whole = ask(
        &toolbox,
        json!({ "tool_names": null, "category": null }),
        &caller,
    )
    .await;
    assert_eq!(whole.value.unwrap()["metadata"]["tool_count"], 3);
    let outcome = ask(
        &toolbox,
        json!({ "tool_names": ["tool_1", "tool_9"] }),
        &caller,
    )
    .await;
    let told = text(&outcome);
    assert!(
        told.starts_with("Warnings:\n- Tool 'tool_9' not found. Available: tool_"),
        "{told}"
    );
    assert_eq!(outcome.value.unwrap()["metadata"]["tool_count"], 1);
    let guide = ask(&toolbox, json!({ "category": "guide" }), &caller).await;
    assert_eq!(guide.value.unwrap()["metadata"]["filtered_count"], 1);
}

/// A caller is told of what it was offered, and of nothing else.
#[tokio::test]
async fn it_speaks_of_what_the_caller_sees() {
    let toolbox = toolbox("", 3);
    let selection = Selection::everything().with_tools(["tool_1", NAME]);
    let caller = Caller::new("me").with_offer(toolbox.offer(&selection));
    let outcome = ask(
        &toolbox,
        json!({ "tool_names": ["tool_1", "tool_2"] }),
        &caller,
    )
    .await;
    let value = outcome.value.unwrap();
    assert_eq!(value["metadata"]["total_tools"], 2);
    assert_eq!(value["metadata"]["invalid_names"], json!(["tool_2"]));
    assert!(!value["warnings"][0].as_str().unwrap().contains("tool_0"));
}

#[tokio::test]
async fn names_are_bare_with_a_prefix_too() {
    let toolbox = toolbox("acme", 1);
    let outcome = ask(&toolbox, json!({}), &Caller::new("me")).await;
    let content = text(&outcome);
    assert!(content.contains("### tool_0\n") && content.contains(&format!("\n{NAME}(")));
    assert!(!content.contains("acme"));
}

/// The guide is no output to be cut: it has its own limit.
#[tokio::test]
async fn a_full_guide_passes_whole() {
    let toolbox = toolbox("", 1000);
    let outcome = ask(&toolbox, json!({}), &Caller::new("me")).await;
    assert_eq!(
        (&outcome.facts.spill, outcome.facts.omitted_bytes),
        (&None, None)
    );
    let content = text(&outcome);
    assert!(
        (49_000..=50_000).contains(&content.len()),
        "{}",
        content.len()
    );
    let value = outcome.value.unwrap();
    assert_eq!(value["content"], content);
    let omitted = value["metadata"]["omitted"].as_array().unwrap().len();
    assert_eq!(value["metadata"]["tool_count"], 1001 - omitted);
}
