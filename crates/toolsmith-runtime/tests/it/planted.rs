//! Secrets of every sort, planted in every place something can come out of a call: none
//! of them does. Both lists are data; every sort is tried in every place.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use toolsmith_core::context::{Level, LogEntry};
use toolsmith_core::definition::Example;
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::tool::{FunctionTool, SourceError};
use toolsmith_core::{
    AnyTool, Block, CommandLine, Commands, ErrorKind, Kind, Outcome, Plan, PlannedCommand,
    Progress, RawCall, Schema, Source, ToolContext, ToolDef, ToolError, ToolSource, Touch,
};
use toolsmith_runtime::permit::{Policy, Rule, Verdict};
use toolsmith_runtime::{Caller, Limits, Toolbox};
use toolsmith_testing::approver::ScriptedApprover;
use toolsmith_testing::recorder::Recording;
use toolsmith_testing::spill::MemoryStore;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::secrets::{Planted, planted};

/// Where a secret is planted, and what the tool does there.
type Place = (&'static str, fn(&str, &ToolContext) -> Outcome);

/// What a tool may say, and where.
#[rustfmt::skip]
const PLACES: &[Place] = &[
    ("text",               |it, _| Outcome::text(it)),
    ("text among others",  |it, _| Outcome::text(format!("before\n{it}\nafter"))),
    ("value",              |it, _| Outcome::ok(it)),
    ("nested value",       |it, _| Outcome::ok(json!({"a": [{"b": {"c": [1, it]}}]}))),
    ("key of an object",   |it, _| Outcome::ok(json!({ it: 1 }))),
    ("JSON in a text",     |it, _| Outcome::text(json!({ "a": it }).to_string())),
    ("error message",      |it, _| Outcome::failure(format!("no such thing: {it}"))),
    ("error details",      |it, _| ToolError::failed("it failed").with_details(json!({"saw": [it]})).into()),
    ("error cause",        |it, _| ToolError::caused(ErrorKind::Failed, std::io::Error::other(it)).into()),
    ("display",            |it, _| Outcome::nothing().with_display(it)),
    ("message",            |it, _| Outcome::nothing().with_message(it)),
    ("instruction",        |it, _| Outcome::nothing().with_instruction(it)),
    ("metadata",           |it, _| Outcome::nothing().with_metadata("a", json!({ "b": it }))),
    ("resource",           |it, _| Outcome::nothing().with_block(Block::Resource {
        uri: "file:///a".into(), mime_type: None, content: ResourceContent::Text(it.into()),
    })),
    ("link",               |it, _| Outcome::nothing().with_block(Block::Link {
        uri: "file:///a".into(), name: it.into(), description: Some(it.into()), mime_type: None,
    })),
    ("progress",           |it, context| { context.progress(Progress::done(1.0).saying(it)); Outcome::nothing() }),
    ("streamed output",    |it, context| { context.output(format!("a\n{it}\nb\n")); Outcome::nothing() }),
    ("output in pieces",   |it, context| { in_pieces(it, context); Outcome::nothing() }),
    ("log entry",          |it, context| { context.log(Level::Error, it); Outcome::nothing() }),
    ("structured entry",   |it, context| { context.log(Level::Info, json!({ "a": [it] })); Outcome::nothing() }),
    ("entry of another",   |it, context| { context.relay_log(LogEntry::new(Level::Info, "x").by(it)); Outcome::nothing() }),
    ("panic",              |it, _| panic!("{it}")),
    ("spilled output",     |it, _| Outcome::text(format!("{}\n{it}\n{}", "words ".repeat(400), "words ".repeat(400)))),
    ("spilled value",      |it, _| Outcome::ok(json!([it, "words ".repeat(800)]))),
];

#[test]
fn no_planted_secret_comes_out_anywhere() {
    let secrets = planted();
    let mut tried = 0;
    for secret in &secrets {
        for (place, act) in PLACES {
            let told = told(secret, *act);
            assert!(!told.is_empty());
            check(secret, place, &told);
            tried += 1;
        }
        for (place, told) in around(secret) {
            check(secret, place, &told);
            tried += 1;
        }
    }
    assert!(secrets.len() >= 20, "{} sorts", secrets.len());
    assert!(tried >= 200, "{tried} places");
}

fn check(secret: &Planted, place: &str, told: &str) {
    for needle in &secret.needles {
        let found = told.find(needle.as_str());
        let found = found.map(|at| &told[told.floor_char_boundary(at.saturating_sub(80))..]);
        let shown = found.map(|it| &it[..it.floor_char_boundary(200)]);
        assert_eq!(shown, None, "{} in {place}", secret.sort);
    }
}

/// Everything that came out of a call of a tool that does this with a secret.
fn told(secret: &Planted, act: fn(&str, &ToolContext) -> Outcome) -> String {
    let text = secret.text.clone();
    let definition = ToolDef::new("leak").unwrap().with_kind(Kind::Read);
    let leak = AnyTool::from_fn(definition, move |_: Value, context: ToolContext| {
        let text = text.clone();
        async move { act(&text, &context) }
    });
    gather(leak, json!({}), &secret.text)
}

/// The places around a tool: what it is called with, says of itself, and plans.
fn around(secret: &Planted) -> Vec<(&'static str, String)> {
    let text = secret.text.as_str();
    let any = || Schema::input(json!({"additionalProperties": true})).unwrap();
    let definition = || ToolDef::new("leak").unwrap().with_input(any());
    let quiet =
        |definition: ToolDef| AnyTool::from_fn(definition, async |_: Value, _| Outcome::nothing());
    let planning = {
        let text = text.to_owned();
        let planned = FunctionTool::new(definition().with_kind(Kind::Edit));
        let planned = planned.with_plan(move |_: &Value| {
            Ok(Plan::new(format!("would use {text}")).confirmed_because(text.clone()))
        });
        planned.into_async(async |_: Value, _| Outcome::nothing())
    };
    let refusing = {
        let text = text.to_owned();
        let planned = FunctionTool::new(definition().with_kind(Kind::Edit));
        let planned = planned.with_plan(move |_: &Value| Err(ToolError::invalid(text.clone())));
        planned.into_async(async |_: Value, _| Outcome::nothing())
    };
    let running = {
        let text = text.to_owned();
        let planned = FunctionTool::new(definition().with_kind(Kind::Execute));
        let planned = planned.with_plan(move |_: &Value| {
            let command = PlannedCommand::new(format!("curl {text}")).or(text.clone());
            let line = CommandLine::new("a", Commands::Known(vec![command]));
            let plan = Plan::new("would run").running(line);
            Ok(plan.touching(Touch::write(text.clone())))
        });
        planned.into_async(async |_: Value, _| Outcome::nothing())
    };
    let number = json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let strict = definition().with_input(Schema::input(number).unwrap());
    let imported = definition()
        .with_source(Source::Mcp {
            server: "up".to_owned(),
        })
        .with_title(text)
        .with_description(format!("Uses {text}."))
        .with_returns(text)
        .with_example(Example::new(Map::from_iter([(
            "a".to_owned(),
            json!(text),
        )])))
        .with_input(Schema::input(json!({"properties": {"a": {"default": text}}})).unwrap());
    vec![
        (
            "arguments",
            gather(quiet(definition()), json!({ "a": text }), text),
        ),
        (
            "nested arguments",
            gather(quiet(definition()), json!({"a": [{"b": text}]}), text),
        ),
        (
            "arguments that do not fit",
            gather(quiet(strict), json!({ "a": text }), text),
        ),
        ("plan", gather(planning, json!({ "a": text }), text)),
        (
            "plan of commands",
            gather(running, json!({ "a": text }), text),
        ),
        ("refused plan", gather(refusing, json!({}), text)),
        ("definition", offered(quiet(imported))),
        ("what stands beside it", offered(quiet(described(text)))),
        ("listing that failed", failed_listing(text)),
    ]
}

/// A definition without examples that tells something wherever nobody calls it.
fn described(text: &str) -> ToolDef {
    let source = Source::Mcp {
        server: "up".to_owned(),
    };
    let mut definition = ToolDef::new("leak").unwrap().with_source(source);
    definition.meta.version = Some(text.to_owned());
    definition.meta.category = Some(text.to_owned());
    definition.meta.tags = vec![text.to_owned()];
    definition.meta.documentation_url = Some(text.to_owned());
    definition
        .meta
        .extra
        .insert("a".to_owned(), json!([{ "b": text }]));
    definition
}

/// What a toolbox offers of a tool of another program.
fn offered(tool: AnyTool) -> String {
    struct Upstream(AnyTool);
    impl ToolSource for Upstream {
        fn name(&self) -> &str {
            "up"
        }
        async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
            Ok(vec![self.0.clone()])
        }
    }
    let toolbox = Toolbox::builder().without_log().build().unwrap();
    let runtime = runtime();
    runtime
        .block_on(async { toolbox.refresh(&Upstream(tool)).await })
        .unwrap();
    let definition = toolbox.registry().get("leak").unwrap();
    serde_json::to_string(&*definition).unwrap()
}

/// What is told of a source that could not list its tools.
fn failed_listing(text: &str) -> String {
    let toolbox = Toolbox::builder().without_log().build().unwrap();
    let error = SourceError::new("up", text).to_string();
    toolbox.redactor().clean(&error).into_owned()
}

/// Everything that comes out of one call: the reply in each of its forms, what recorders
/// and the log got, what was kept, and what a person was asked.
fn gather(tool: AnyTool, arguments: Value, spoken: &str) -> String {
    let (log, recording) = (Log::default(), Recording::new());
    let (store, person) = (MemoryStore::new(), ScriptedApprover::yes());
    let subscriber = tracing_subscriber::registry().with(log.clone());
    let mut limits = Limits::default();
    limits.output_bytes = 1000;
    let mut told = String::new();
    tracing::subscriber::with_default(subscriber, || {
        let toolbox = Toolbox::builder()
            .tools([tool])
            .policy(Policy::default().with_rules([Rule::parse(Verdict::Ask, "leak").unwrap()]))
            .recorder(recording.clone())
            .spill_store(store.clone())
            .limits(limits)
            .build()
            .unwrap();
        let caller = Caller::new("me").with_approver(person.clone());
        let caller = caller.with_recorder(recording.clone());
        let call = RawCall::new("leak", arguments);
        let explained = runtime().block_on(toolbox.explain(call.clone(), &caller));
        let outcome = runtime()
            .block_on(toolbox.run(call, &caller))
            .into_outcome();
        // The host may look at the cause as well.
        told = format!(
            "{outcome:?}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
            json!(outcome),
            outcome.to_result(),
            outcome.to_envelope(),
            outcome.to_message(),
            outcome.to_mcp(),
            outcome.model_text(),
            outcome.display_text(),
        );
        // Called by a name that is none.
        let call = RawCall::new(format!("leak {spoken}"), json!({}));
        let outcome = runtime()
            .block_on(toolbox.run(call, &caller))
            .into_outcome();
        told.push_str(&json!(outcome).to_string());
        told.push_str(&json!(explained).to_string());
    });
    let events = recording.events();
    let streamed = recording.output();
    let log = log.0.lock().unwrap().join("\n");
    format!(
        "{told}\n{}\n{streamed}\n{log}\n{:?}\n{:?}",
        json!(events),
        store.kept(),
        person.asked()
    )
}

fn in_pieces(text: &str, context: &ToolContext) {
    for piece in text.as_bytes().chunks(7) {
        context.output(String::from_utf8_lossy(piece));
    }
    context.output("\n");
}

fn runtime() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().build().unwrap()
}

/// Keeps every event of the log, with all its fields.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _context: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
}

#[derive(Default)]
struct Line(String);

impl tracing::field::Visit for Line {
    fn record_str(&mut self, _field: &tracing::field::Field, value: &str) {
        self.0.push_str(value);
    }
    fn record_debug(&mut self, _field: &tracing::field::Field, value: &dyn Debug) {
        self.0.push_str(&format!("{value:?}"));
    }
}
