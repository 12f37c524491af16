//! Answers that are kept: for whom, how long, and what takes them out.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::advance;
use toolsmith_core::plan::Touch;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, CancellationToken, ErrorKind, Hints, Kind, Outcome, Plan, RawCall, ToolDef,
};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Limits, Mode, Policy, Toolbox};
use toolsmith_testing::tools::definition;
use toolsmith_testing::{Gate, failure, value};

use crate::shield::{Count, SECOND, call, call_as, fails, remote, scripted};

const MINUTE: Duration = Duration::from_secs(60);

fn cached() -> Binding {
    Binding::default().with_cache(MINUTE)
}

fn toolbox(tools: impl IntoIterator<Item = AnyTool>) -> Toolbox {
    let policy = Policy::default().with_mode(Mode::Auto);
    let builder = Toolbox::builder().load("built-in tools", tools);
    builder.policy(policy).build().unwrap()
}

/// A tool that touches the path it is given.
fn touching(
    definition: ToolDef,
    binding: Binding,
    count: &Count,
    touch: fn(PathBuf) -> Touch,
) -> AnyTool {
    let count = count.clone();
    FunctionTool::new(definition)
        .with_binding(binding)
        .with_plan(move |arguments: &Value| {
            let plan = Plan::new("touch");
            Ok(match arguments["path"].as_str() {
                Some(path) => plan.touching(touch(PathBuf::from(path))),
                None => plan,
            })
        })
        .into_async(move |_: Value, _| std::future::ready(Outcome::ok(count.one())))
}

async fn run(toolbox: &Toolbox, tool: &str, arguments: Value) -> Outcome {
    let call = RawCall::new(tool, arguments);
    toolbox.run(call, &Caller::new("test")).await.into_outcome()
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_given_again_and_says_so_until_its_time_is_over() {
    let count = Count::default();
    let toolbox = toolbox([scripted(definition("t"), cached(), &count, |n| {
        Outcome::ok(n)
    })]);
    let first = call(&toolbox, "t").await;
    assert_eq!((value(&first), first.facts.cached), (json!(0), None));
    advance(59 * SECOND).await;
    let second = call(&toolbox, "t").await;
    assert_eq!(
        (value(&second), second.facts.cached),
        (json!(0), Some(59 * SECOND))
    );
    assert_eq!(
        serde_json::to_value(&second.facts).unwrap()["cached_ms"],
        59_000.0
    );
    advance(SECOND).await;
    let third = call(&toolbox, "t").await;
    assert_eq!((value(&third), third.facts.cached), (json!(1), None));
    assert_eq!(toolbox.metrics().unwrap().snapshot().tools["t"].cached, 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_unless_the_binding_says_so() {
    let count = Count::default();
    let toolbox = toolbox([scripted(definition("t"), Binding::default(), &count, |n| {
        Outcome::ok(n)
    })]);
    call(&toolbox, "t").await;
    call(&toolbox, "t").await;
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_answers_of_tools_that_change_nothing_are_kept() {
    let hints = |read_only| {
        let mut hints = Hints::default();
        (hints.read_only, hints.idempotent) = (read_only, Some(true));
        hints
    };
    for (definition, runs) in [
        (definition("t"), 1),
        (definition("t").with_kind(Kind::Edit), 2),
        (definition("t").with_kind(Kind::Execute), 2),
        (definition("t").with_kind(Kind::Network), 2),
        (
            remote("t").with_kind(Kind::Network).with_hints(hints(None)),
            2,
        ),
        (
            remote("t")
                .with_kind(Kind::Network)
                .with_hints(hints(Some(true))),
            1,
        ),
        (
            remote("t")
                .with_kind(Kind::Edit)
                .with_hints(hints(Some(true))),
            2,
        ),
    ] {
        let count = Count::default();
        let toolbox = toolbox([scripted(definition, cached(), &count, Outcome::ok)]);
        call(&toolbox, "t").await;
        call(&toolbox, "t").await;
        assert_eq!(count.get(), runs);
    }
}

#[tokio::test(start_paused = true)]
async fn another_argument_caller_agent_or_definition_is_another_call() {
    let count = Count::default();
    let make = |text: &str| {
        let definition = definition("t").with_description(text);
        scripted(definition, cached(), &count, Outcome::ok)
    };
    let toolbox = toolbox([make("A tool of a test.")]);
    run(&toolbox, "t", json!({"a": 1, "b": 2})).await;
    run(&toolbox, "t", json!({"b": 2, "a": 1})).await;
    assert_eq!(count.get(), 1, "the order of keys makes no difference");
    run(&toolbox, "t", json!({"a": 2, "b": 2})).await;
    assert_eq!(count.get(), 2);
    let arguments = json!({"a": 1, "b": 2});
    let other = Caller::new("other");
    toolbox
        .run(RawCall::new("t", arguments.clone()), &other)
        .await;
    assert_eq!(count.get(), 3);
    let agent = Caller::new("test").with_agent("a");
    toolbox
        .run(RawCall::new("t", arguments.clone()), &agent)
        .await;
    assert_eq!(count.get(), 4);
    toolbox.registry().unregister("t");
    toolbox.register([make("Another tool of a test.")]).unwrap();
    run(&toolbox, "t", arguments).await;
    assert_eq!(count.get(), 5);
}

#[tokio::test(start_paused = true)]
async fn what_stands_behind_a_tool_is_a_part_of_it() {
    let (old, new) = (Count::default(), Count::default());
    let make = |mark: &str, count: &Count| {
        scripted(definition("t"), cached(), count, Outcome::ok).marked(mark)
    };
    let toolbox = toolbox([make("echo old", &old)]);
    call(&toolbox, "t").await;
    toolbox.registry().unregister("t");
    toolbox.register([make("echo new", &new)]).unwrap();
    assert_eq!(call(&toolbox, "t").await.facts.cached, None);
    assert_eq!((old.get(), new.get()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn failures_are_not_kept() {
    let count = Count::default();
    let toolbox = toolbox([scripted(definition("t"), cached(), &count, |n| match n {
        0 => fails(ErrorKind::Failed),
        _ => Outcome::ok(n),
    })]);
    failure(&call(&toolbox, "t").await);
    assert_eq!(value(&call(&toolbox, "t").await), json!(1));
}

#[tokio::test(start_paused = true)]
async fn a_write_takes_out_what_tells_of_its_paths() {
    for (read, written, runs) in [
        ("/w/a", "/w/a", 2),
        ("/w", "/w/a", 2),
        ("/w/a", "/w", 2),
        ("/w/a", "/w/b", 1),
        ("/w/a", "/w/ab", 1),
    ] {
        let (reads, writes) = (Count::default(), Count::default());
        let toolbox = toolbox([
            touching(definition("look"), cached(), &reads, Touch::read),
            touching(
                definition("put").with_kind(Kind::Edit),
                Binding::default(),
                &writes,
                Touch::write,
            ),
        ]);
        run(&toolbox, "look", json!({"path": read})).await;
        run(&toolbox, "put", json!({"path": written})).await;
        run(&toolbox, "look", json!({"path": read})).await;
        assert_eq!((reads.get(), writes.get()), (runs, 1), "{read} {written}");
    }
}

#[tokio::test(start_paused = true)]
async fn programs_and_tools_that_do_not_say_where_take_out_everything_here() {
    for (kind, runs) in [
        (Kind::Execute, 2),
        (Kind::Edit, 2),
        (Kind::Read, 1),
        (Kind::Network, 1),
    ] {
        let (reads, others) = (Count::default(), Count::default());
        let acting = touching(
            definition("act").with_kind(kind),
            Binding::default(),
            &others,
            Touch::write,
        );
        let looking = touching(definition("look"), cached(), &reads, Touch::read);
        let policy = Policy::default().with_mode(Mode::Auto);
        let toolbox = Toolbox::builder()
            .policy(policy)
            .load("a", [looking])
            .load("b", [acting]);
        let toolbox = toolbox.build().unwrap();
        run(&toolbox, "look", json!({"path": "/w/a"})).await;
        run(&toolbox, "act", json!({})).await;
        run(&toolbox, "look", json!({"path": "/w/a"})).await;
        assert_eq!(reads.get(), runs, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_changes_something_at_a_source_takes_out_its_answers_and_no_others() {
    let mut read_only = Hints::default();
    read_only.read_only = Some(true);
    let looking = |name: &str, count: &Count| {
        let definition = remote(name).with_kind(Kind::Network).with_hints(read_only);
        scripted(definition, cached(), count, Outcome::ok)
    };
    let (here, there, acts) = (Count::default(), Count::default(), Count::default());
    let acting = scripted(
        remote("act").with_kind(Kind::Network),
        Binding::default(),
        &acts,
        |_| Outcome::ok(1),
    );
    let toolbox = Toolbox::builder()
        .policy(Policy::default().with_mode(Mode::Auto))
        .load("one", [looking("look", &here), acting])
        .load("two", [looking("see", &there)])
        .build()
        .unwrap();
    for _ in 0..2 {
        call(&toolbox, "look").await;
        call(&toolbox, "see").await;
        call(&toolbox, "act").await;
    }
    assert_eq!((here.get(), there.get()), (2, 1));
}

/// A tool that reads `/w/a`, held up by a gate.
fn gated_look(gate: &Gate) -> AnyTool {
    let gate = gate.clone();
    FunctionTool::new(definition("look"))
        .with_binding(cached())
        .with_plan(|_: &Value| Ok(Plan::new("look").touching(Touch::read("/w/a"))))
        .into_async(move |_: Value, _| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Outcome::ok(gate.total())
            }
        })
}

#[tokio::test(start_paused = true)]
async fn equal_calls_at_one_time_run_once() {
    let gate = Gate::new();
    let toolbox = toolbox([gated_look(&gate)]);
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let toolbox = toolbox.clone();
            tokio::spawn(async move { call(&toolbox, "look").await })
        })
        .collect();
    gate.inside(1).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(gate.now(), 1);
    gate.open();
    let mut shared = 0;
    for call in calls {
        let outcome = call.await.unwrap();
        assert_eq!(value(&outcome), json!(1));
        shared += usize::from(outcome.facts.cached == Some(Duration::ZERO));
    }
    assert_eq!((gate.total(), shared), (1, 49));
}

#[tokio::test(start_paused = true)]
async fn when_the_one_that_runs_is_given_up_another_takes_over() {
    let gate = Gate::new();
    let toolbox = toolbox([gated_look(&gate)]);
    let token = CancellationToken::new();
    let first = {
        let (toolbox, token) = (toolbox.clone(), token.clone());
        tokio::spawn(async move {
            let caller = Caller::new("test").with_cancellation(token);
            toolbox
                .run(RawCall::new("look", json!({})), &caller)
                .await
                .into_outcome()
        })
    };
    gate.inside(1).await;
    let second = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "look").await })
    };
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    assert_eq!(failure(&first.await.unwrap()).kind, ErrorKind::Cancelled);
    gate.open();
    assert!(second.await.unwrap().is_success());
    assert_eq!(gate.total(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_on_its_way_during_a_write_is_not_kept() {
    let gate = Gate::new();
    let writes = Count::default();
    let put = touching(
        definition("put").with_kind(Kind::Edit),
        Binding::default(),
        &writes,
        Touch::write,
    );
    let toolbox = toolbox([gated_look(&gate), put]);
    let early = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "look").await })
    };
    gate.inside(1).await;
    run(&toolbox, "put", json!({"path": "/w/a"})).await;
    // Whoever comes after the write does not get what was read before it.
    let late = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "look").await })
    };
    gate.inside(2).await;
    gate.open();
    early.await.unwrap();
    late.await.unwrap();
    assert_eq!(gate.total(), 2);
    let kept = call(&toolbox, "look").await;
    assert!(kept.facts.cached.is_some(), "the later one is kept");
    assert_eq!(gate.total(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_read_while_something_is_written_is_not_kept_beyond_it() {
    let (gate, reads) = (Gate::new(), Count::default());
    let writing = {
        let gate = gate.clone();
        FunctionTool::new(definition("put").with_kind(Kind::Edit))
            .with_plan(|_: &Value| Ok(Plan::new("put").touching(Touch::write("/w/a"))))
            .into_async(move |_: Value, _| {
                let gate = gate.clone();
                async move {
                    gate.pass().await;
                    Outcome::nothing()
                }
            })
    };
    let toolbox = toolbox([
        touching(definition("look"), cached(), &reads, Touch::read),
        writing,
    ]);
    // Something was kept once, so that anybody looks.
    run(&toolbox, "look", json!({"path": "/w/b"})).await;
    let write = {
        let toolbox = toolbox.clone();
        tokio::spawn(async move { call(&toolbox, "put").await })
    };
    gate.inside(1).await;
    run(&toolbox, "look", json!({"path": "/w/a"})).await;
    gate.open();
    write.await.unwrap();
    run(&toolbox, "look", json!({"path": "/w/a"})).await;
    assert_eq!(reads.get(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_bounded_in_number_and_in_bytes() {
    let count = Count::default();
    let large = scripted(definition("t"), cached(), &count, |_| {
        Outcome::text("x".repeat(1000))
    });
    let mut limits = Limits::default();
    limits.cache_entries = 10;
    let build = |limits: Limits| {
        let builder = Toolbox::builder().load("far", [large.clone()]);
        builder.limits(limits).build().unwrap()
    };
    let toolbox = build(limits.clone());
    let hits = async |toolbox: &Toolbox| {
        let mut hits = 0;
        for n in 0..100 {
            run(toolbox, "t", json!({ "n": n })).await;
        }
        for n in (0..100).rev() {
            let outcome = run(toolbox, "t", json!({ "n": n })).await;
            hits += usize::from(outcome.facts.cached.is_some());
        }
        hits
    };
    assert_eq!(hits(&toolbox).await, 10);
    limits.cache_entries = 1000;
    limits.cache_bytes = 20_000;
    let few = hits(&build(limits.clone())).await;
    assert!((10..20).contains(&few), "{few}");
    // One that would push out everything else is not kept at all.
    limits.cache_bytes = 5000;
    assert_eq!(hits(&build(limits)).await, 0);
}

#[tokio::test(start_paused = true)]
async fn values_too_deep_to_copy_are_not_kept_and_harm_nobody() {
    let count = Count::default();
    let deep = scripted(definition("t"), cached(), &count, |_| {
        let mut value = json!(1);
        for _ in 0..100_000 {
            value = Value::Array(vec![value]);
        }
        Outcome::ok(value)
    });
    let toolbox = toolbox([deep]);
    call(&toolbox, "t").await;
    call(&toolbox, "t").await;
    assert_eq!(count.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_kept_answer_counts_against_no_rate() {
    let count = Count::default();
    let binding = cached().with_rate("1/h".parse().unwrap());
    let toolbox = toolbox([scripted(definition("t"), binding, &count, |n| {
        Outcome::ok(n)
    })]);
    for _ in 0..5 {
        assert!(call(&toolbox, "t").await.is_success());
    }
    assert!(!call_as(&toolbox, "other", "t").await.is_success());
}

#[tokio::test(start_paused = true)]
async fn permission_is_asked_for_kept_answers_too() {
    let count = Count::default();
    let tool = scripted(definition("t"), cached(), &count, Outcome::ok);
    let toolbox = Toolbox::builder().load("far", [tool]);
    let toolbox = toolbox.build().unwrap();
    assert!(call(&toolbox, "t").await.is_success());
    let mut reload = toolsmith_runtime::Reload::default();
    let deny = Rule::parse(Verdict::Deny, "t").unwrap();
    reload.terms.policy = Policy::default().with_rules([deny]);
    toolbox.reload(reload).unwrap();
    assert_eq!(
        failure(&call(&toolbox, "t").await).kind,
        ErrorKind::PermissionDenied
    );
}
