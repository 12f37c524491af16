//! Terms and tools that change while a toolbox is in use.

use std::sync::Arc;

use serde_json::json;
use toolsmith_core::{AnyTool, Binding, Outcome, RawCall};
use toolsmith_runtime::permit::{Mode, Policy};
use toolsmith_runtime::registry::Refreshed;
use toolsmith_runtime::{Caller, Reload, Selection, Toolbox};
use toolsmith_testing::tools::definition;

fn saying(name: &str, word: &'static str) -> AnyTool {
    AnyTool::from_fn(definition(name), move |_: serde_json::Value, _| {
        std::future::ready(Outcome::ok(word))
    })
}

fn from_file(file: &str, name: &str, word: &'static str) -> (Arc<str>, AnyTool) {
    (file.into(), saying(name, word))
}

fn auto() -> Reload {
    let mut reload = Reload::default();
    reload.terms.policy = Policy::new(Mode::Auto);
    reload
}

async fn said(toolbox: &Toolbox, name: &str) -> String {
    let call = RawCall::new(name, json!({}));
    let outcome = toolbox.run(call, &Caller::new("test")).await.into_outcome();
    match (&outcome.value, &outcome.error) {
        (_, Some(error)) => error.code().to_owned(),
        (value, None) => value
            .as_ref()
            .and_then(|v| v.as_str())
            .unwrap_or_default()
            .to_owned(),
    }
}

fn shadowed(toolbox: &Toolbox) -> Vec<String> {
    let shadowed = toolbox.registry().shadowed().into_iter();
    shadowed
        .map(|each| format!("{} of {} by {}", each.name, each.origin, each.by))
        .collect()
}

/// What the host registered stays, what the user wrote comes next, then the rest.
#[tokio::test]
async fn files_come_before_sources_and_after_the_host() {
    let toolbox = Toolbox::builder()
        .policy(Policy::new(Mode::Auto))
        .tools([saying("host", "host")])
        .files([
            from_file("1.yaml", "twin", "first"),
            from_file("2.yaml", "twin", "second"),
            from_file("2.yaml", "shipped", "file"),
            from_file("2.yaml", "host", "file"),
        ])
        .load(
            "builtin",
            [saying("shipped", "builtin"), saying("other", "builtin")],
        )
        .build()
        .unwrap();
    for (name, word) in [
        ("host", "host"),
        ("twin", "first"),
        ("shipped", "file"),
        ("other", "builtin"),
    ] {
        assert_eq!(said(&toolbox, name).await, word, "{name}");
    }
    assert_eq!(
        shadowed(&toolbox),
        [
            "twin of 2.yaml by 1.yaml",
            "host of 2.yaml by direct",
            "shipped of builtin by 2.yaml",
        ]
    );
    // The files are gone: what they hid is back.
    let refreshed = toolbox.reload(auto()).unwrap();
    let Refreshed::Replaced { change, .. } = refreshed else {
        panic!("{refreshed:?}");
    };
    assert_eq!(change.removed, ["twin"]);
    assert_eq!(said(&toolbox, "shipped").await, "builtin");
    assert_eq!(said(&toolbox, "twin").await, "unknown_tool");
    assert_eq!(shadowed(&toolbox), [] as [&str; 0]);
}

#[tokio::test]
async fn a_source_of_its_own_stays_through_a_reload() {
    let toolbox = Toolbox::builder()
        .policy(Policy::new(Mode::Auto))
        .build()
        .unwrap();
    let ticket = toolbox.registry().begin_refresh("server");
    toolbox
        .registry()
        .refresh(&ticket, [saying("theirs", "server")]);
    let mut reload = auto();
    reload.files = vec![from_file("a.yaml", "ours", "file")];
    reload.loaded = vec![("builtin".to_owned(), vec![saying("shipped", "builtin")])];
    toolbox.reload(reload.clone()).unwrap();
    for (name, word) in [
        ("theirs", "server"),
        ("ours", "file"),
        ("shipped", "builtin"),
    ] {
        assert_eq!(said(&toolbox, name).await, word);
    }
    let version = toolbox.registry().version();
    let mut changes = toolbox.registry().subscribe();
    // The very same once more is no news to anybody.
    toolbox.reload(reload.clone()).unwrap();
    assert!(changes.try_recv().is_err());
    assert!(toolbox.registry().version() > version);
    reload.files = vec![from_file("a.yaml", "ours", "other")];
    reload.loaded = vec![("builtin".to_owned(), Vec::new())];
    toolbox.reload(reload).unwrap();
    assert_eq!(said(&toolbox, "ours").await, "other");
    assert_eq!(said(&toolbox, "shipped").await, "unknown_tool");
    assert_eq!(said(&toolbox, "theirs").await, "server");
}

#[tokio::test]
async fn terms_change_all_or_none() {
    let toolbox = Toolbox::builder()
        .policy(Policy::new(Mode::Auto))
        .load("builtin", [saying("a", "word-of-some-length")])
        .build()
        .unwrap();
    let mut wrong = Reload::default();
    wrong.terms.prefix = "no prefix!".to_owned();
    wrong.terms.policy = Policy::new(Mode::Plan);
    wrong.files = vec![from_file("a.yaml", "b", "file")];
    assert!(toolbox.reload(wrong).is_err());
    assert_eq!(said(&toolbox, "a").await, "word-of-some-length");
    assert_eq!(said(&toolbox, "b").await, "unknown_tool");

    let mut reload = Reload::default();
    reload.terms.policy = Policy::new(Mode::Auto).denying(["b"]).unwrap();
    reload.terms.prefix = "x".to_owned();
    reload.terms.bindings = vec![("a".to_owned(), Binding::default().with_prefix("y"))];
    reload.terms.secrets = vec!["word-of-some-length".to_owned()];
    reload.terms.limits.parallel = 7;
    reload.files = vec![from_file("a.yaml", "b", "file")];
    toolbox.reload(reload).unwrap();
    let offer = toolbox.offer(&Selection::everything());
    let offered: Vec<&str> = offer
        .tools()
        .iter()
        .map(|tool| tool.wire_name.as_str())
        .collect();
    assert_eq!(offered, ["x_b", "y_a"]);
    assert_eq!(toolbox.limits().parallel, 7);
    assert_eq!(said(&toolbox, "b").await, "permission_denied");
    assert_eq!(said(&toolbox, "a").await, "[redacted]");
    // What was secret once stays secret.
    toolbox.reload(auto()).unwrap();
    assert_eq!(said(&toolbox, "a").await, "[redacted]");
}

/// A call that runs keeps the tool it began with.
#[tokio::test]
async fn calls_in_flight_finish_on_the_old_definition() {
    let (go, wait) = tokio::sync::watch::channel(false);
    let slow = AnyTool::from_fn(definition("slow"), move |_: serde_json::Value, _| {
        let mut wait = wait.clone();
        async move {
            let _ = wait.wait_for(|go| *go).await;
            Outcome::ok("old")
        }
    });
    let toolbox = Toolbox::builder()
        .policy(Policy::new(Mode::Auto))
        .files([("a.yaml".into(), slow)])
        .build()
        .unwrap();
    let running = tokio::spawn({
        let toolbox = toolbox.clone();
        async move { said(&toolbox, "slow").await }
    });
    while toolbox.metrics().unwrap().snapshot().running == 0 {
        tokio::task::yield_now().await;
    }
    let mut reload = auto();
    reload.files = vec![from_file("a.yaml", "slow", "new")];
    toolbox.reload(reload).unwrap();
    assert_eq!(said(&toolbox, "slow").await, "new");
    toolbox.reload(auto()).unwrap();
    go.send(true).unwrap();
    assert_eq!(running.await.unwrap(), "old");
    assert_eq!(said(&toolbox, "slow").await, "unknown_tool");
}

#[test]
fn a_tool_that_cannot_be_registered_is_told_with_its_file() {
    let mut bad = definition("bad");
    bad.input = toolsmith_core::Schema::as_received(json!({ "type": 7 })).unwrap();
    let bad = AnyTool::from_fn(bad, async |_: serde_json::Value, _| Outcome::ok(1));
    let builder =
        Toolbox::builder().files([("x.yaml".into(), bad), from_file("y.yaml", "good", "")]);
    let (toolbox, refused) = builder.build_noting().unwrap();
    assert_eq!(toolbox.registry().len(), 1);
    assert!(
        refused[0].to_string().starts_with("x.yaml: "),
        "{refused:?}"
    );
}
