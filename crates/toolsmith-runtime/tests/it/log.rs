//! The log: the lines operators know at their levels, and one INFO event per call.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use serde_json::json;
use toolsmith_core::RawCall;
use toolsmith_runtime::{Caller, Limits, Toolbox, ToolboxBuilder};
use toolsmith_testing::tools::{blocking_echo, definition, echo, echoing, explode, fail, sleep};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

type Fields = BTreeMap<String, String>;

/// Keeps every event of the target `toolsmith`, with its level and fields.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(String, Fields)>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        let events = self.0.lock().unwrap();
        let line = |(level, fields): &(String, Fields)| format!("{level} {}", fields["message"]);
        events.iter().map(line).collect()
    }

    fn infos(&self) -> Vec<Fields> {
        let events = self.0.lock().unwrap();
        let infos = events.iter().filter(|(level, _)| level == "INFO");
        infos.map(|(_, fields)| fields.clone()).collect()
    }
}

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _context: Context<'_, S>) {
        if !event.metadata().target().starts_with("toolsmith") {
            return;
        }
        let mut fields = Collected(Fields::new());
        event.record(&mut fields);
        let level = event.metadata().level().to_string();
        self.0.lock().unwrap().push((level, fields.0));
    }
}

struct Collected(Fields);

impl tracing::field::Visit for Collected {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

/// Makes calls one after the other and returns what was logged of them.
fn logged(builder: ToolboxBuilder, calls: Vec<RawCall>, paused: bool) -> Log {
    logged_and_told(builder, calls, paused).0
}

/// The same, with the code of the error each caller was told, if any.
fn logged_and_told(
    builder: ToolboxBuilder,
    calls: Vec<RawCall>,
    paused: bool,
) -> (Log, Vec<Option<&'static str>>) {
    let log = Log::default();
    let mut told = Vec::new();
    let subscriber = tracing_subscriber::registry().with(log.clone());
    tracing::subscriber::with_default(subscriber, || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(paused).build().unwrap();
        let toolbox = builder.build().unwrap();
        runtime.block_on(async {
            for call in calls {
                let reply = toolbox.run(call, &Caller::new("me")).await;
                told.push(reply.into_outcome().error.map(|error| error.code()));
            }
        });
    });
    (log, told)
}

fn builder() -> ToolboxBuilder {
    let tools = [echo(), fail(), explode(), sleep(), blocking_echo()];
    Toolbox::builder().tools(tools)
}

#[test]
fn what_is_logged_as_failed_is_told_to_the_caller_too() {
    for (name, arguments, code) in [
        ("echo", json!({"text": "x"}), None),
        ("fail", json!({"message": "no"}), Some("execution_failed")),
        ("explode", json!({}), Some("internal")),
        ("echo", json!({}), Some("invalid_parameters")),
        ("nothing", json!({}), Some("unknown_tool")),
    ] {
        let calls = vec![RawCall::new(name, arguments)];
        let (log, told) = logged_and_told(builder(), calls, false);
        assert_eq!(told, [code], "{name}");
        assert_eq!(log.infos()[0].get("error").map(String::as_str), code);
    }
}

#[test]
fn the_lines_and_their_levels() {
    for (name, arguments, expected) in [
        (
            "echo",
            json!({"text": "x"}),
            &[
                "TRACE Tool called: echo",
                "TRACE Tool echo completed successfully",
                "INFO tool call",
            ][..],
        ),
        (
            "blocking_echo",
            json!({}),
            &[
                "TRACE Tool called: blocking_echo",
                "DEBUG Tool blocking_echo completed successfully",
                "INFO tool call",
            ],
        ),
        (
            "fail",
            json!({"message": "no"}),
            &[
                "TRACE Tool called: fail",
                "ERROR Tool fail failed: execution_failed: no",
                "INFO tool call",
            ],
        ),
        (
            "explode",
            json!({}),
            &[
                "TRACE Tool called: explode",
                "ERROR Tool explode failed: internal: the tool panicked: it exploded",
                "INFO tool call",
            ],
        ),
        ("echo", json!({}), &["INFO tool call"]),
        ("nothing", json!({}), &["INFO tool call"]),
    ] {
        let log = logged(builder(), vec![RawCall::new(name, arguments)], false);
        assert_eq!(log.lines(), expected, "{name}");
    }
    let log = logged(
        builder(),
        vec![RawCall::new("sleep", json!({"ms": 100_000}))],
        true,
    );
    let failed = "ERROR Tool sleep failed: timeout: ran out of time after 30s; it was stopped";
    assert_eq!(
        log.lines(),
        ["TRACE Tool called: sleep", failed, "INFO tool call"]
    );
}

#[test]
fn one_structured_event_per_call() {
    let calls = vec![
        RawCall::new("sleep", json!({"ms": 5})).with_id("c1"),
        RawCall::new("fail", json!({"message": "no"})).with_id("c2"),
        RawCall::new("nothing", json!({})).with_id("c3"),
    ];
    let infos = logged(builder(), calls, true).infos();
    let fields = |pairs: &[(&str, &str)]| -> Fields {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let expected = fields(&[
        ("message", "tool call"),
        ("tool", "sleep"),
        ("call_id", "c1"),
        ("caller", "me"),
        ("duration_us", "5000"),
        ("success", "true"),
        ("arguments", r#"{"ms":5}"#),
        ("result", "5"),
    ]);
    assert_eq!(infos[0], expected);
    assert_eq!(infos.len(), 3);
    assert_eq!(
        (infos[1]["success"].as_str(), infos[1]["error"].as_str()),
        ("false", "execution_failed")
    );
    assert_eq!(
        (infos[2]["called_as"].as_str(), infos[2]["error"].as_str()),
        ("nothing", "unknown_tool")
    );
}

#[test]
fn arguments_and_results_are_bounded_and_without_secrets() {
    let mut limits = Limits::default();
    limits.log_bytes = 100;
    let builder = Toolbox::builder()
        .tools([echoing(definition("tool"))])
        .limits(limits)
        .secrets(["hunter2hunter2"]);
    let arguments = json!({
        "a": "hunter2hunter2",
        "password": "swordfish",
        "header": "Authorization: Bearer abcdefghijkl",
        "long": "x".repeat(10_000),
    });
    let infos = logged(builder, vec![RawCall::new("tool", arguments)], false).infos();
    for field in ["arguments", "result"] {
        let text = &infos[0][field];
        assert!(text.len() <= 100 + '…'.len_utf8(), "{text}");
        assert!(text.ends_with('…'), "{text}");
        assert!(
            !text.contains("hunter2") && !text.contains("abcdefghijkl"),
            "{text}"
        );
    }
    assert!(
        !infos[0]["arguments"].contains("swordfish"),
        "{}",
        infos[0]["arguments"]
    );
}

#[test]
fn a_host_can_leave_the_log_out() {
    let log = logged(
        builder().without_log(),
        vec![RawCall::new("fail", json!({"message": ""}))],
        false,
    );
    assert_eq!(log.lines(), [""; 0]);
}

#[test]
fn a_tool_that_is_left_out_on_load_is_said_to_be() {
    let log = logged(
        builder().load("files", [echoing(definition("Bad"))]),
        vec![],
        false,
    );
    assert_eq!(
        log.lines(),
        [
            "WARN a tool of files was left out: tool name `Bad` must be lower case with underscores and begin with a letter, such as `bad`"
        ]
    );
}

#[test]
fn a_tool_that_is_shadowed_on_load_is_said_to_be() {
    let twin = || [echoing(definition("twin"))];
    let log = logged(
        builder().load("first", twin()).load("second", twin()),
        vec![],
        false,
    );
    assert_eq!(
        log.lines(),
        ["WARN tool `twin` of second is not used: first has that name first"]
    );
}

#[test]
fn a_refused_call_is_logged_with_its_arguments_and_without_their_secrets() {
    let calls = vec![
        RawCall::new("fail", json!({"message": 1, "password": "hunter2secret"})),
        RawCall::new("nothing", json!({"x": 1, "api_key": "hunter2secret"})),
    ];
    let infos = logged(builder(), calls, false).infos();
    assert_eq!(infos.len(), 2);
    for info in &infos {
        let text = format!("{info:?}");
        assert!(!text.contains("hunter2secret"), "{text}");
        assert!(text.contains("[redacted]"), "{text}");
    }
}
