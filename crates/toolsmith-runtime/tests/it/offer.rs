//! What a caller gets to see, under which names, and what it can reach with them.

use serde_json::json;
use toolsmith_core::{AnyTool, Binding, Exposure, Outcome, RawCall, Source, ToolName};
use toolsmith_runtime::{BuildError, Caller, Selection, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::{answering, definition, echoing};
use toolsmith_testing::{call, failure, value};

fn named(name: &'static str) -> AnyTool {
    answering(definition(name), move || Outcome::ok(name))
}

fn wire_names(toolbox: &Toolbox) -> Vec<String> {
    let offer = toolbox.offer(&Selection::everything());
    let tools = offer.tools().iter();
    tools.map(|offered| offered.wire_name.clone()).collect()
}

#[test]
fn the_prefix_stands_before_every_offered_name() {
    for (prefix, expected) in [
        ("", "one"),
        ("acme", "acme_one"),
        ("acme_", "acme_one"),
        ("acme__", "acme__one"),
        ("a.b-c", "a.b-c_one"),
    ] {
        let toolbox = Toolbox::builder()
            .prefix(prefix)
            .tools([named("one")])
            .build()
            .unwrap();
        assert_eq!(wire_names(&toolbox), [expected], "{prefix:?}");
        let offer = toolbox.offer(&Selection::everything());
        assert_eq!(offer.declarations()[0].name, expected);
        assert_eq!(offer.tools()[0].tool.name, "one");
    }
}

#[test]
fn a_prefix_no_name_can_hold_is_refused() {
    for prefix in ["a b", "a/b", "ä", "123456789012345678901234567890123"] {
        let built = Toolbox::builder().prefix(prefix).build();
        assert!(matches!(built, Err(BuildError::Prefix { .. })), "{prefix}");
        let binding = Binding::default().with_prefix(prefix);
        let built = Toolbox::builder().binding("*", binding).build();
        assert!(matches!(built, Err(BuildError::Prefix { .. })), "{prefix}");
    }
    let built = Toolbox::builder().binding("[", Binding::default()).build();
    assert!(matches!(built, Err(BuildError::Pattern { .. })));
}

#[test]
fn a_binding_overrides_the_prefix_and_an_empty_one_disables_it() {
    let own = toolsmith_core::tool::FunctionTool::new(definition("three"))
        .with_binding(Binding::default().with_prefix("own"))
        .into_async(async |_: serde_json::Value, _| Outcome::nothing());
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .tools([named("one"), named("two"), own, named("four")])
        .binding("one", Binding::default().with_prefix("other"))
        .binding("two", Binding::default().with_prefix(""))
        .binding("f*", Binding::default().with_prefix("x"))
        .binding("four", Binding::default().with_prefix("y"))
        .build()
        .unwrap();
    assert_eq!(
        wire_names(&toolbox),
        ["other_one", "two", "own_three", "y_four"]
    );
}

#[test]
fn long_names_are_cut_to_64_characters_and_stay_apart() {
    let server = "s".to_owned();
    let long = |end: &str| {
        let name = format!("{}{end}", "x".repeat(60));
        echoing(definition(&name).with_source(Source::Mcp {
            server: server.clone(),
        }))
    };
    let toolbox = Toolbox::builder()
        .prefix("a_rather_long_prefix")
        .tools(["aaaa", "aaab", "b"].map(long))
        .build()
        .unwrap();
    let names = wire_names(&toolbox);
    assert_eq!(names.len(), 3, "{names:?}");
    for name in &names {
        assert!(name.starts_with("a_rather_long_prefix_xxx"), "{name}");
        assert_eq!(name.len(), 64);
        ToolName::new(name).unwrap();
    }
    // The same every time: prompt caches depend on it.
    assert_eq!(names, wire_names(&toolbox));
}

#[tokio::test]
async fn calls_are_taken_under_both_names_and_answers_keep_the_bare_one() {
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .tools([named("one")])
        .build()
        .unwrap();
    let offer = std::sync::Arc::new(toolbox.offer(&Selection::everything()));
    for caller in [Caller::new("all"), Caller::new("offered").with_offer(offer)] {
        for name in ["one", "acme_one"] {
            let reply = toolbox.run(RawCall::new(name, json!({})), &caller).await;
            let outcome = reply.into_outcome();
            assert_eq!(value(&outcome), json!("one"));
            assert_eq!(outcome.facts.tool.unwrap(), "one");
            let called_as = (name != "one").then(|| name.to_owned());
            assert_eq!(outcome.facts.called_as, called_as);
        }
    }
    let outcome = call(&toolbox, "acme_acme_one", json!({})).await;
    assert_eq!(failure(&outcome).code(), "unknown_tool");
}

#[tokio::test]
async fn an_offered_name_beats_a_bare_one() {
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .tools([named("acme_one"), named("one")])
        .build()
        .unwrap();
    assert_eq!(wire_names(&toolbox), ["acme_acme_one", "acme_one"]);
    assert_eq!(
        value(&call(&toolbox, "acme_one", json!({})).await),
        json!("one")
    );
    assert_eq!(
        value(&call(&toolbox, "acme_acme_one", json!({})).await),
        json!("acme_one")
    );
    let offer = toolbox.offer(&Selection::everything());
    let caller = Caller::new("offered").with_offer(offer);
    let reply = toolbox
        .run(RawCall::new("acme_one", json!({})), &caller)
        .await;
    assert_eq!(value(&reply.into_outcome()), json!("one"));
}

#[tokio::test]
async fn hidden_tools_are_not_offered_and_deferred_ones_not_declared() {
    let toolbox = Toolbox::builder()
        .tools(["direct", "deferred", "hidden"].map(named))
        .binding(
            "deferred",
            Binding::default().with_exposure(Exposure::Deferred),
        )
        .binding("hidden", Binding::default().with_exposure(Exposure::Hidden))
        .build()
        .unwrap();
    let offer = toolbox.offer(&Selection::everything());
    assert_eq!(wire_names(&toolbox), ["direct", "deferred"]);
    let declared: Vec<String> = offer.declarations().into_iter().map(|d| d.name).collect();
    assert_eq!(declared, ["direct"]);
    // The host can call it, a caller with an offer cannot, not even by asking for it.
    assert!(call(&toolbox, "hidden", json!({})).await.is_success());
    let asked = toolbox.offer(&Selection::everything().with_tools(["hidden", "*"]));
    for offer in [offer, asked] {
        let caller = Caller::new("model").with_offer(offer);
        let reply = toolbox
            .run(RawCall::new("hidden", json!({})), &caller)
            .await;
        assert_eq!(failure(&reply.into_outcome()).code(), "unknown_tool");
        let reply = toolbox
            .run(RawCall::new("deferred", json!({})), &caller)
            .await;
        assert!(reply.into_outcome().is_success());
    }
}

#[test]
fn a_selection_keeps_its_order_and_leaves_the_rest_out() {
    let rest = echoing(definition("fetch").with_source(Source::Rest));
    let tools = [named("read_a"), named("write_a"), named("read_b"), rest];
    let toolbox = Toolbox::new(tools).unwrap();
    let offered = |selection: Selection| -> Vec<String> {
        let offer = toolbox.offer(&selection);
        offer
            .tools()
            .iter()
            .map(|t| t.tool.name.to_string())
            .collect()
    };
    let all = Selection::everything;
    assert_eq!(offered(all()), ["read_a", "write_a", "read_b", "fetch"]);
    assert_eq!(
        offered(all().with_tools(["write_a", "read_*"])),
        ["write_a", "read_a", "read_b"]
    );
    assert_eq!(
        offered(all().with_tools(["*_b", "*"])),
        ["read_b", "read_a", "write_a", "fetch"]
    );
    assert_eq!(offered(all().with_tools(["nothing", "["])), [""; 0]);
    assert_eq!(
        offered(all().with_source(Some("rest".to_owned()))),
        ["fetch"]
    );
    assert_eq!(
        offered(all().with_category(Some("read".to_owned()))).len(),
        4
    );
}

#[tokio::test]
async fn a_caller_with_an_offer_cannot_reach_or_learn_of_anything_else() {
    let toolbox = Toolbox::new(["echo_one", "secret_one"].map(named)).unwrap();
    let offer = toolbox.offer(&Selection::everything().with_tools(["echo_*"]));
    let caller = Caller::new("model").with_offer(offer);
    let reply = toolbox
        .run(RawCall::new("secret_one", json!({})), &caller)
        .await;
    let outcome = reply.into_outcome();
    let error = failure(&outcome);
    assert_eq!(error.code(), "unknown_tool");
    assert!(!error.message.contains("nearest are secret_one"), "{error}");
    let reply = toolbox
        .run(RawCall::new("secret_on", json!({})), &caller)
        .await;
    assert_eq!(
        failure(&reply.into_outcome()).message,
        "there is no tool \"secret_on\""
    );
    let explained = explain(&toolbox, RawCall::new("secret_one", json!({})), &caller);
    assert!(explained.tool.is_none());
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_names() {
    let tools = ["example_add", "example_echo", "other"].map(named);
    let toolbox = Toolbox::builder()
        .tools(tools)
        .prefix("acme")
        .build()
        .unwrap();
    let outcome = call(&toolbox, "acme_exmple_add", json!({})).await;
    let error = failure(&outcome);
    assert_eq!(
        error.message,
        "there is no tool \"acme_exmple_add\"; the nearest are acme_example_add, acme_example_echo"
    );
    let nearest = json!({"nearest": ["acme_example_add", "acme_example_echo"]});
    assert_eq!(error.details, Some(nearest));
    let outcome = call(&toolbox, "zzzzzz", json!({})).await;
    assert_eq!(failure(&outcome).message, "there is no tool \"zzzzzz\"");
    let outcome = call(&toolbox, &"x".repeat(1 << 20), json!({})).await;
    assert!(failure(&outcome).message.len() < 200);
    let outcome = call(&toolbox, "", json!({})).await;
    assert_eq!(failure(&outcome).code(), "unknown_tool");
}
