//! Replacing a source's tools: in one step, in place, and only by the newest answer.

use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, Binding, ErrorKind, Outcome, RawCall, ToolError, ToolSource};
use toolsmith_runtime::registry::{Refreshed, Registry};
use toolsmith_runtime::{Caller, Selection, Toolbox};
use toolsmith_testing::tools::{answering, definition, echoing};
use toolsmith_testing::{Recording, call, value};

fn tool(name: &str) -> AnyTool {
    echoing(definition(name))
}

fn tools(names: &[&str]) -> Vec<AnyTool> {
    names.iter().map(|name| tool(name)).collect()
}

fn names(registry: &Registry) -> Vec<String> {
    let tools = registry.all();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

fn change(refreshed: Refreshed) -> Value {
    match refreshed {
        Refreshed::Replaced { change, refused } => {
            assert!(refused.is_empty(), "{refused:?}");
            serde_json::to_value(change).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refresh_replaces_in_one_step_and_keeps_the_place() {
    let toolbox = Toolbox::builder()
        .load("a", tools(&["a1", "a2"]))
        .load("b", tools(&["b1", "b2"]))
        .load("c", tools(&["c1"]))
        .build()
        .unwrap();
    let registry = toolbox.registry();
    let mut changes = registry.subscribe();
    let ticket = registry.begin_refresh("b");
    let changed = echoing(definition("b2").with_title("another"));
    let refreshed = registry.refresh(&ticket, [tool("b3"), changed]);
    let expected = json!({"source": "b", "added": ["b3"], "removed": ["b1"], "changed": ["b2"]});
    assert_eq!(change(refreshed), expected);
    assert_eq!(names(registry), ["a1", "a2", "b3", "b2", "c1"]);
    let told = changes.try_recv().unwrap();
    assert_eq!(serde_json::to_value(told).unwrap(), expected);
    assert!(changes.try_recv().is_err());

    // The same tools again are no change; none at all are one.
    let ticket = registry.begin_refresh("a");
    let refreshed = change(registry.refresh(&ticket, tools(&["a1", "a2"])));
    assert_eq!(
        refreshed,
        json!({"source": "a", "added": [], "removed": [], "changed": []})
    );
    assert!(changes.try_recv().is_err());
    let ticket = registry.begin_refresh("a");
    registry.refresh(&ticket, []);
    assert_eq!(names(registry), ["b3", "b2", "c1"]);
}

#[test]
fn whoever_looks_during_a_refresh_sees_the_old_tools_or_the_new() {
    let toolbox = Toolbox::builder().load("b", tools(&["b1"])).build();
    let toolbox = toolbox.unwrap();
    let registry = toolbox.registry();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    let missed = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut missed = 0;
            while !is_over.load(order) {
                missed += usize::from(!registry.has("b1"));
            }
            missed
        });
        for _ in 0..5_000 {
            let ticket = registry.begin_refresh("b");
            registry.refresh(&ticket, tools(&["b1"]));
        }
        is_over.store(true, order);
        reader.join().unwrap()
    });
    assert_eq!(missed, 0);
}

#[test]
fn sources_stand_in_the_order_they_are_expected_whoever_answers_first() {
    let toolbox = Toolbox::builder().load("own", tools(&["own1"]));
    let toolbox = toolbox.build().unwrap();
    let registry = toolbox.registry();
    for source in ["a", "b", "c", "b"] {
        registry.expect_source(source);
    }
    let tell = |source: &str, told: &[&str]| {
        let ticket = registry.begin_refresh(source);
        registry.refresh(&ticket, tools(told));
    };
    tell("c", &["c1"]);
    tell("unexpected", &["u1"]);
    tell("b", &["b1", "b2"]);
    tell("a", &["a1"]);
    assert_eq!(names(registry), ["own1", "a1", "b1", "b2", "c1", "u1"]);
    // One that had none for a while comes back to its place.
    tell("a", &[]);
    tell("a", &["a2"]);
    assert_eq!(names(registry), ["own1", "a2", "b1", "b2", "c1", "u1"]);
}

#[tokio::test]
async fn a_source_that_has_not_told_its_tools_is_no_unknown_tool() {
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .load("a", tools(&["a1"]))
        .build()
        .unwrap();
    let registry = toolbox.registry();
    let down = |why: &str| ToolError::new(ErrorKind::Unavailable, why);
    registry.missing_source("git", "mcp__git__", down("git is down"));
    registry.missing_source("git__x", "mcp__git__x__", down("git__x is down"));
    registry.missing_source("a", "a", down("a is down"));
    let told = async |name: &str, offer: Option<Selection>| {
        let mut caller = Caller::new("model");
        if let Some(selection) = offer {
            caller = caller.with_offer(toolbox.offer(&selection));
        }
        let outcome = toolbox
            .run(RawCall::new(name, json!({})), &caller)
            .await
            .into_outcome();
        outcome.error.map(|error| (error.kind, error.message))
    };
    let unavailable = |why: &str| Some((ErrorKind::Unavailable, why.to_owned()));
    let is_unknown =
        |told: Option<(ErrorKind, String)>| matches!(told, Some((ErrorKind::UnknownTool, _)));

    assert_eq!(
        told("mcp__git__log", None).await,
        unavailable("git is down")
    );
    let prefixed = told("acme_mcp__git__log", None).await;
    assert_eq!(prefixed, unavailable("git is down"));
    let longer = told("mcp__git__x__log", None).await;
    assert_eq!(longer, unavailable("git__x is down"));
    assert!(is_unknown(told("mcp__hub__log", None).await));
    // One that has tools has told what there is.
    assert!(is_unknown(told("a2", None).await));

    // To callers who would not have been offered it, it is unknown as ever.
    let all = Selection::everything;
    for (selection, is_told) in [
        (all(), true),
        (all().with_tools(["mcp__*"]), true),
        (all().with_tools(["mcp__git__*"]), true),
        (all().with_tools(["mcp__git__l*"]), true),
        (all().with_tools(["mcp__git__log"]), true),
        (all().with_tools(["mcp__git__lo"]), false),
        (all().with_tools(["mcp__git__?"]), false),
        (all().with_tools(["a1"]), false),
        (all().with_source(Some("mcp".to_owned())), true),
        (all().with_source(Some("rest".to_owned())), false),
        (all().with_category(Some("vcs".to_owned())), false),
    ] {
        let shown = format!("{selection:?}");
        let told = told("mcp__git__log", Some(selection)).await;
        match is_told {
            true => assert_eq!(told, unavailable("git is down"), "{shown}"),
            false => assert!(is_unknown(told), "{shown}"),
        }
    }

    // Once it has told them, what is not among them is unknown.
    let ticket = registry.begin_refresh("git");
    registry.refresh(&ticket, tools(&["mcp__git__status"]));
    assert_eq!(told("mcp__git__status", None).await, None);
    assert!(is_unknown(told("mcp__git__log", None).await));
}

#[test]
fn what_cannot_be_registered_is_told_and_harms_no_other() {
    let toolbox = Toolbox::new([]).unwrap();
    let ticket = toolbox.registry().begin_refresh("a");
    let refreshed = toolbox
        .registry()
        .refresh(&ticket, tools(&["good", "Bad", "fine"]));
    let Refreshed::Replaced { refused, .. } = refreshed else {
        panic!("{refreshed:?}");
    };
    assert_eq!(refused.len(), 1);
    assert_eq!(names(toolbox.registry()), ["good", "fine"]);
}

#[test]
fn an_older_answer_cannot_overwrite_a_newer_one() {
    let toolbox = Toolbox::new([]).unwrap();
    let registry = toolbox.registry();
    let old = registry.begin_refresh("a");
    let other = registry.begin_refresh("b");
    let new = registry.begin_refresh("a");
    change(registry.refresh(&new, tools(&["new"])));
    assert!(matches!(
        registry.refresh(&old, tools(&["old"])),
        Refreshed::Stale
    ));
    assert_eq!(names(registry), ["new"]);
    // Another source's newer ticket is no obstacle.
    change(registry.refresh(&other, tools(&["other"])));
    assert_eq!(names(registry), ["new", "other"]);
}

#[test]
fn of_many_refreshes_at_once_the_newest_stays() {
    let toolbox = Toolbox::new([]).unwrap();
    let tickets: Vec<_> = (0..64)
        .map(|number| (number, toolbox.registry().begin_refresh("a")))
        .collect();
    let barrier = Arc::new(std::sync::Barrier::new(8));
    std::thread::scope(|scope| {
        let mut shares: Vec<Vec<_>> = (0..8).map(|_| Vec::new()).collect();
        for (number, ticket) in tickets {
            shares[number % 8].push((number, ticket));
        }
        for share in shares {
            let (registry, barrier) = (toolbox.registry(), Arc::clone(&barrier));
            scope.spawn(move || {
                barrier.wait();
                for (number, ticket) in share.into_iter().rev() {
                    registry.refresh(&ticket, [tool(&format!("v{number}")), tool("same")]);
                    assert_eq!(registry.all().len(), 2, "never half a refresh");
                }
            });
        }
    });
    assert_eq!(names(toolbox.registry()), ["v63", "same"]);
}

#[tokio::test]
async fn a_source_cannot_take_over_the_name_of_another() {
    let mine = answering(definition("mine"), || Outcome::ok("mine"));
    let theirs = answering(definition("mine"), || Outcome::ok("theirs"));
    let toolbox = Toolbox::builder()
        .load("early", tools(&["early"]))
        .tools([])
        .load("me", [mine])
        .build()
        .unwrap();
    // `early` stands before `me`, and still does not get the name.
    let ticket = toolbox.registry().begin_refresh("early");
    let refreshed = change(toolbox.registry().refresh(&ticket, [theirs, tool("fresh")]));
    assert_eq!(refreshed["added"], json!(["fresh"]));
    assert_eq!(names(toolbox.registry()), ["fresh", "mine"]);
    let shadowed = serde_json::to_value(toolbox.registry().shadowed()).unwrap();
    assert_eq!(
        shadowed,
        json!([{"name": "mine", "origin": "early", "by": "me"}])
    );
    assert_eq!(
        value(&call(&toolbox, "mine", json!({})).await),
        json!("mine")
    );

    // Once it stops claiming the name, it is no longer listed.
    let ticket = toolbox.registry().begin_refresh("early");
    toolbox.registry().refresh(&ticket, tools(&["fresh"]));
    assert_eq!(toolbox.registry().shadowed(), []);
}

#[tokio::test]
async fn a_source_cannot_take_over_the_offered_name_of_another() {
    let mine = answering(definition("log"), || Outcome::ok("mine"));
    let theirs = answering(definition("git_log"), || Outcome::ok("theirs"));
    let toolbox = Toolbox::builder()
        .load("early", tools(&["early"]))
        .load("me", [mine])
        .binding("log", Binding::default().with_prefix("git"))
        .build()
        .unwrap();
    let ticket = toolbox.registry().begin_refresh("early");
    toolbox.registry().refresh(&ticket, [theirs]);
    assert_eq!(names(toolbox.registry()), ["log"]);
    assert_eq!(
        value(&call(&toolbox, "git_log", json!({})).await),
        json!("mine")
    );
}

struct List(&'static [&'static str]);

impl ToolSource for List {
    fn name(&self) -> &str {
        "list"
    }
    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        match self.0 {
            [] => Err(SourceError::new("list", "it is down")),
            names => Ok(tools(names)),
        }
    }
}

#[tokio::test]
async fn a_toolbox_asks_a_source_and_keeps_what_it_had_when_that_fails() {
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .recorder(recording.clone())
        .tools(tools(&["own"]))
        .load("other", tools(&["another"]))
        .build()
        .unwrap();
    toolbox.refresh(&List(&["one", "two"])).await.unwrap();
    let error = toolbox.refresh(&List(&[])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "source `list` could not list its tools: it is down"
    );
    // Those that are there from elsewhere are none of its business.
    let all = ["own", "another", "one", "two"];
    assert_eq!(names(toolbox.registry()), all);
    let registered = recording.all("registered");
    let of_list: Vec<_> = { registered.iter() }
        .filter(|event| event["source"] == "list")
        .collect();
    assert_eq!(of_list.len(), 1, "{registered:?}");
    assert_eq!(of_list[0]["tools"], 2);
}

/// Overtakes itself: while it answers, a newer answer arrives.
struct Slow(Toolbox);

impl ToolSource for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let ticket = self.0.registry().begin_refresh("slow");
        self.0.registry().refresh(&ticket, tools(&["new"]));
        Ok(tools(&["old"]))
    }
}

#[tokio::test]
async fn an_answer_that_was_overtaken_is_dropped_and_not_recorded() {
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .recorder(recording.clone())
        .build()
        .unwrap();
    let refreshed = toolbox.refresh(&Slow(toolbox.clone())).await.unwrap();
    assert!(matches!(refreshed, Refreshed::Stale));
    assert_eq!(names(toolbox.registry()), ["new"]);
    let of_slow = recording
        .all("registered")
        .iter()
        .filter(|e| e["source"] == "slow")
        .count();
    assert_eq!(of_slow, 0);
}
