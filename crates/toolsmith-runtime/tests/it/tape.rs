//! What is recorded on a tape is played alike: definitions, plans, outcomes of every sort,
//! and what was said meanwhile. Whatever is wrong with a tape harms nobody.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_core::context::Level;
use toolsmith_core::definition::{Consent, Description, Example, Hints, Meta};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, CommandLine, Commands, ErrorKind, Kind, Outcome, Plan, PlannedCommand,
    Progress, RawCall, Schema, Source, ToolContext, ToolDef, ToolError, Touch,
};
use toolsmith_runtime::permit::{Mode, Policy, Rule, Verdict};
use toolsmith_runtime::tape::{Recording as Tape, Replay, ReplayOrder, TapeError};
use toolsmith_runtime::{Caller, Toolbox, ToolboxBuilder};
use toolsmith_testing::Recording;
use toolsmith_testing::tools::{blocking_echo, echo, explode, fail, sleep};

/// A tape in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    fn tape(&self) -> Arc<Tape> {
        Tape::begin(self.clone(), |_| {}).unwrap()
    }

    fn replay(&self) -> Arc<Replay> {
        Replay::read(&*self.bytes(), ReplayOrder::Next).unwrap()
    }
}

impl Write for Memory {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says all it can say, and answers with what replies do not tell.
fn noisy() -> AnyTool {
    let definition = ToolDef::new("noisy").unwrap().with_kind(Kind::Read);
    AnyTool::from_fn(definition, async |_: Value, context: ToolContext| {
        context.progress(Progress::done(0.5).of(2.0).saying("half"));
        context.output("one\ntwo\n");
        context.log(Level::Warning, json!({ "n": 1 }));
        context.output("three");
        let outcome = Outcome::ok(Value::Null).with_room(100_000);
        outcome.with_message("done").with_metadata("a", 0.1 + 0.2)
    })
}

/// Would write where its argument says.
fn writer() -> AnyTool {
    let schema = json!({"properties": {"path": {"type": "string"}}, "required": ["path"]});
    let definition = ToolDef::new("writer").unwrap().with_kind(Kind::Edit);
    let definition = definition.with_input(Schema::input(schema).unwrap());
    let planned = FunctionTool::new(definition).with_plan(|arguments: &Value| {
        let path = PathBuf::from(arguments["path"].as_str().unwrap());
        Ok(Plan::new(format!("write {}", path.display())).touching(Touch::write(path)))
    });
    planned.into_async(async |_: Value, _| Outcome::text("written"))
}

fn builder() -> ToolboxBuilder {
    let forbidden = Rule::parse(Verdict::Deny, "writer(path: /etc/**)").unwrap();
    let policy = Policy::default().with_mode(Mode::Auto);
    Toolbox::builder()
        .policy(policy.with_rules([forbidden]))
        .without_log()
}

fn calls() -> Vec<RawCall> {
    vec![
        RawCall::new("echo", json!({"text": "a"})),
        RawCall::new("echo", json!({"text": "b"})).with_id("mine"),
        RawCall::new("blocking_echo", json!({"text": "c"})),
        RawCall::new("fail", json!({})),
        RawCall::new("explode", json!({})),
        RawCall::new("sleep", json!({"ms": 3_600_000})),
        RawCall::new("noisy", json!({})),
        RawCall::new("writer", json!({"path": "/tmp/x"})),
        RawCall::new("writer", json!({"path": "/etc/x"})),
        RawCall::new("writer", json!({"way": 1})),
        RawCall::new("nobody", json!({})),
        RawCall::new("echo", json!({"text": "a"})),
    ]
}

/// Makes all calls, one after the other; gives the outcomes and what was heard.
async fn run(toolbox: &Toolbox) -> (Vec<Outcome>, Vec<Value>) {
    let heard = Recording::new();
    let caller = Caller::new("me").with_recorder(heard.clone());
    let caller = caller.with_timeout(Duration::from_secs(5));
    let mut outcomes = Vec::new();
    for call in calls() {
        outcomes.push(toolbox.run(call, &caller).await.into_outcome());
    }
    let said = ["progress", "output", "logged", "planned", "decided"];
    let said = said.iter().flat_map(|name| heard.all(name)).collect();
    (outcomes, said)
}

#[tokio::test(start_paused = true)]
async fn calls_end_as_they_ended() {
    let memory = Memory::default();
    let tools = [
        echo(),
        fail(),
        explode(),
        sleep(),
        blocking_echo(),
        noisy(),
        writer(),
    ];
    let live = builder()
        .tools(tools)
        .recording(memory.tape())
        .build()
        .unwrap();
    let (expected, heard) = run(&live).await;
    let kinds: Vec<_> = expected.iter().filter_map(|it| it.error.as_ref()).collect();
    assert!(kinds.len() >= 6, "{kinds:?}");

    let played = builder().replaying(memory.replay()).build().unwrap();
    let (outcomes, said) = run(&played).await;
    assert_eq!(outcomes, expected);
    assert_eq!(said, heard);
    let names = |toolbox: &Toolbox| -> Vec<Value> {
        let all = toolbox.registry().all();
        all.iter().map(|tool| json!(**tool)).collect()
    };
    assert_eq!(names(&played), names(&live));
    // One call more than was recorded.
    let call = RawCall::new("echo", json!({"text": "a"}));
    let more = played.run(call, &Caller::new("me")).await.into_outcome();
    let message = more.error.unwrap().message;
    assert!(message.contains("was recorded 2 times"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn what_guards_did_to_a_call_is_on_the_tape() {
    let far = |name: &str| {
        let definition = ToolDef::new(name).unwrap().with_kind(Kind::Read);
        definition.with_source(Source::Rest)
    };
    let count = Arc::new(AtomicUsize::new(0));
    let flaky = FunctionTool::new(far("flaky"))
        .with_binding(Binding::default().with_cache(Duration::from_secs(600)))
        .into_async(move |_: Value, _| {
            let before = count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(match before {
                0 => Outcome::failure(ToolError::new(ErrorKind::Network, "no answer")),
                _ => Outcome::ok(before),
            })
        });
    let rare = FunctionTool::new(far("rare"))
        .with_binding(Binding::default().with_rate("1/h".parse().unwrap()))
        .into_async(async |_: Value, _| Outcome::ok("once"));
    let hanging = FunctionTool::new(far("hanging")).into_async(async |_: Value, _| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Outcome::nothing()
    });
    let names = ["flaky", "flaky", "rare", "rare", "hanging", "hanging"];
    let all = async |toolbox: &Toolbox| {
        let mut outcomes = Vec::new();
        for name in names {
            let call = RawCall::new(name, json!({}));
            let reply = toolbox.run(call, &Caller::new("me")).await;
            outcomes.push(reply.into_outcome());
        }
        outcomes
    };
    let memory = Memory::default();
    let live = builder()
        .load("far", [flaky, rare, hanging])
        .recording(memory.tape());
    let expected = all(&live.build().unwrap()).await;
    assert_eq!(expected[0].facts.attempts, Some(2));
    assert!(expected[1].facts.cached.is_some());
    assert_eq!(
        expected[3].error.as_ref().unwrap().kind,
        ErrorKind::Exhausted
    );
    assert_eq!(expected[5].error.as_ref().unwrap().kind, ErrorKind::Timeout);

    let played = builder().replaying(memory.replay()).build().unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(all(&played).await, expected);
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody is waited for");
}

#[tokio::test]
async fn what_stands_under_a_telling_name_is_on_no_tape_and_is_played_all_the_same() {
    let memory = Memory::default();
    let echo = || toolsmith_testing::tools::echoing(toolsmith_testing::tools::definition("echo"));
    let live = builder().tools([echo()]).recording(memory.tape());
    let live = live.build().unwrap();
    let arguments = json!({
        "password": "hunter22secret",
        "more": [{ "api_key": "zx81-plain-value" }],
        "plain": "text",
    });
    let caller = Caller::new("me");
    let call = || RawCall::new("echo", arguments.clone());
    assert!(live.run(call(), &caller).await.into_outcome().is_success());
    let tape = String::from_utf8(memory.bytes()).unwrap();
    let lines = tape.lines().filter(|line| !line.contains("\"outcome\""));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.iter().any(|line| line.contains("\"plain\"")));
    for secret in ["hunter22secret", "zx81-plain-value"] {
        assert!(!lines.iter().any(|line| line.contains(secret)), "{secret}");
        let arguments = tape
            .lines()
            .filter_map(|line| line.split("\"outcome\"").next());
        assert!(
            !arguments.into_iter().any(|it| it.contains(secret)),
            "{secret}"
        );
    }
    let played = builder().replaying(memory.replay()).build().unwrap();
    assert!(
        played
            .run(call(), &caller)
            .await
            .into_outcome()
            .is_success()
    );
}

#[tokio::test]
async fn each_line_is_whole_and_told_once_where_it_is_not() {
    /// Takes so many lines and no more.
    struct Full(Memory, usize);
    impl Write for Full {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            assert!(line.ends_with(b"\n"));
            let Some(left) = self.1.checked_sub(1) else {
                return Err(io::Error::other("no space left"));
            };
            self.1 = left;
            self.0.write(line)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for room in 1..8 {
        let (memory, told) = (Memory::default(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&told);
        let tape = Tape::begin(Full(memory.clone(), room), move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let tape = tape.unwrap();
        let live = builder()
            .tools([echo()])
            .recording(Arc::clone(&tape))
            .build()
            .unwrap();
        for text in ["a", "b", "c"] {
            let call = RawCall::new("echo", json!({ "text": text }));
            let outcome = live.run(call, &Caller::new("me")).await.into_outcome();
            assert!(outcome.is_success());
        }
        assert_eq!(told.load(Ordering::Relaxed), 1);
        assert_eq!(tape.fault().unwrap(), "no space left");
        Replay::read(&*memory.bytes(), ReplayOrder::Next).unwrap();
    }
}

#[tokio::test]
async fn what_is_too_large_or_too_deep_is_left_out_and_said() {
    let deep = (0..98).fold(json!(1), |inner, _| json!([inner]));
    let outcomes = [Outcome::text("x".repeat(17 << 20)), Outcome::ok(deep)];
    for outcome in outcomes {
        let definition = ToolDef::new("large").unwrap().with_kind(Kind::Read);
        let large = AnyTool::from_fn(definition, move |_: Value, _| {
            std::future::ready(outcome.clone())
        });
        let memory = Memory::default();
        let live = builder()
            .tools([large])
            .recording(memory.tape())
            .build()
            .unwrap();
        let call = RawCall::new("large", json!({}));
        assert!(
            live.run(call, &Caller::new("me"))
                .await
                .into_outcome()
                .is_success()
        );
        let replay = memory.replay();
        assert!(replay.is_empty());
        assert!(
            replay.notes()[0].starts_with("the tape is incomplete: "),
            "{:?}",
            replay.notes()
        );
    }
}

#[tokio::test]
async fn what_a_call_says_is_kept_within_a_number_of_bytes() {
    let definition = ToolDef::new("talkative").unwrap().with_kind(Kind::Read);
    let talkative = AnyTool::from_fn(definition, async |_: Value, context: ToolContext| {
        for _ in 0..1000 {
            context.progress(Progress::done(0.5).saying("x".repeat(8 << 10)));
        }
        Outcome::nothing()
    });
    let memory = Memory::default();
    let live = builder().tools([talkative]).recording(memory.tape());
    let call = RawCall::new("talkative", json!({}));
    live.build().unwrap().run(call, &Caller::new("me")).await;
    assert!(memory.bytes().len() < 5 << 20);
    let replay = memory.replay();
    assert_eq!(replay.len(), 1);
    assert!(replay.notes()[0].contains("a call said more than"));
}

#[tokio::test]
async fn secrets_in_plans_are_on_no_tape() {
    let definition = ToolDef::new("run").unwrap().with_kind(Kind::Execute);
    let definition = definition.with_input(Schema::no_arguments());
    let planned = FunctionTool::new(definition).with_plan(|_: &Value| {
        let command = PlannedCommand::new("curl hunter2hunter2");
        let line = CommandLine::new("command", Commands::Known(vec![command]));
        let touch = Touch::read("/tmp/hunter2hunter2");
        Ok(Plan::new("run it").running(line).touching(touch))
    });
    let run = planned.into_async(async |_: Value, _| Outcome::nothing());
    let memory = Memory::default();
    let live = builder().tools([run]).secrets(["hunter2hunter2"]);
    let live = live.recording(memory.tape()).build().unwrap();
    let call = RawCall::new("run", json!({}));
    let reply = live.run(call, &Caller::new("me")).await;
    assert!(reply.into_outcome().is_success());
    let tape = String::from_utf8(memory.bytes()).unwrap();
    assert!(tape.contains("curl [redacted]"), "{tape}");
    assert!(!tape.contains("hunter2"), "{tape}");
}

#[test]
fn a_tape_of_another_time_is_refused() {
    let read = |text: &str| Replay::read(text.as_bytes(), ReplayOrder::Next).unwrap_err();
    assert!(matches!(read(""), TapeError::Empty));
    assert!(matches!(read("[]\n"), TapeError::NoTape));
    assert!(matches!(
        read("{\"toolsmith_tape\":2}\n"),
        TapeError::Newer { found: 2 }
    ));
    assert!(matches!(
        read("{\"toolsmith_tape\":0}\n"),
        TapeError::Older { found: 0 }
    ));
    let bad = read("{\"toolsmith_tape\":1}\n{\"what\":1}\n{}\n").to_string();
    assert!(bad.starts_with("line 2: "), "{bad}");
}

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON", |it| it.is_finite())
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn definition()(
        name in "[a-z][a-z0-9_]{0,20}",
        texts in prop::collection::vec(text(), 8),
        set in prop::collection::vec(any::<bool>(), 8),
        extra in value(),
        kind in prop_oneof![Just(Kind::Read), Just(Kind::Delete), Just(Kind::External)],
    ) -> ToolDef {
        let given = |at: usize| set[at].then(|| texts[at].clone());
        let mut definition = ToolDef::new(name).unwrap().with_kind(kind);
        definition.title = given(0);
        definition.returns = given(1);
        definition.source = match given(2) {
            Some(server) => Source::Mcp { server },
            None => Source::Rest,
        };
        let mut description = Description::from(texts[3].as_str());
        description.long.clone_from(&texts[4]);
        description.important.extend(given(4));
        definition.description = description;
        let mut hints = Hints::default();
        hints.idempotent = Some(set[5]);
        hints.destructive = set[6].then_some(set[7]);
        definition.hints = hints;
        let fields = Map::from_iter([(texts[5].clone(), extra.clone())]);
        definition.input = Schema::as_received(json!({ "type": "object", "x": extra })).unwrap();
        definition.output = set[6].then(|| Schema::as_received(json!({ "y": extra })).unwrap());
        definition.examples = vec![Example::new(fields.clone()).with_comment(texts[6].clone())];
        definition.consent = given(7).map(|it| Consent::new(it).because("so"));
        definition.aliases = given(1).map(|it| (it, "a".to_owned())).into_iter().collect();
        let mut meta = Meta::new(texts[7].clone());
        meta.tags.extend(given(3));
        meta.version = given(0);
        meta.extra = fields;
        definition.with_meta(meta)
    }
}

proptest! {
    #[test]
    fn a_definition_survives_the_way_to_a_tape_and_back(definition in definition()) {
        let line = serde_json::to_string(&definition).unwrap();
        let read = toolsmith_core::json::parse(line.as_bytes(), line.len()).unwrap();
        let back: ToolDef = serde_json::from_value(read).unwrap();
        prop_assert_eq!(&back, &definition);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), line);
    }

    #[test]
    fn a_binding_survives_too(ms in 1_u64..10_000_000, prefix in prop::option::of("[a-z]{0,5}")) {
        let mut binding = Binding::default().with_timeout(Duration::from_millis(ms));
        binding.prefix = prefix;
        let back: Binding = serde_json::from_value(json!(binding)).unwrap();
        prop_assert_eq!(back, binding);
    }

    #[test]
    fn a_tape_somebody_changed_is_read_or_refused(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        static GOOD: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            let memory = Memory::default();
            let live = builder().tools([echo(), noisy()]).recording(memory.tape()).build().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let call = RawCall::new("noisy", json!({}));
            runtime.unwrap().block_on(live.run(call, &Caller::new("me")));
            memory.bytes()
        });
        let mut bytes = GOOD.clone();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        if let Ok(replay) = Replay::read(&*bytes, ReplayOrder::Next) {
            let _ = builder().replaying(replay).build();
        }
    }
}
