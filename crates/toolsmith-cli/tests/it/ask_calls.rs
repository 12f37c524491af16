//! The calls a model makes, by each of the clients: which run, which do not, and what the
//! model is told of them.

use std::fs;

use serde_json::json;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, are, call, of_kind};

#[test]
fn calls_of_one_turn_are_answered_in_call_order() {
    for client in CLIENTS {
        let asking = Asking::new(
            client,
            [
                Step::call(
                    "I look.",
                    [
                        call("example_sleep", json!({ "ms": 300 })),
                        call("example_add", json!({ "a": 40, "b": 2 })),
                        call("example_echo", json!({ "text": "third" })),
                    ],
                ),
                Step::say("All three are there."),
            ],
        );
        let events = asking.events(&["Look."]);
        are(&asking.results(1), &["slept", "42", "third"]);
        // The first took the longest and ended last; all were begun before.
        let kinds: Vec<String> = events
            .iter()
            .filter(|event| event.get("index").is_some())
            .map(|event| format!("{} {}", event["event"].as_str().unwrap(), event["index"]))
            .collect();
        assert_eq!(kinds[..3], ["calling 0", "calling 1", "calling 2"]);
        assert_eq!(kinds[5], "called 0", "{client:?} {kinds:?}");
        let ended = events.last().unwrap();
        assert_eq!(ended["text"], "All three are there.", "{client:?}");
        assert_eq!((&ended["turns"], &ended["calls"]), (&json!(2), &json!(3)));
        assert_eq!(asking.server.left(), 0);
    }
}

#[test]
fn wrong_arguments_are_told_and_corrected() {
    for client in CLIENTS {
        let asking = Asking::new(
            client,
            [
                Step::call("", [call("example_add", json!({ "a": 40, "c": "two" }))]),
                Step::call("", [call("example_add", json!({ "a": 40, "b": 2 }))]),
                Step::say("It is 42."),
            ],
        );
        let events = asking.events(&["Add."]);
        are(&asking.results(1), &["invalid_parameters"]);
        let told = &asking.results(2);
        are(told, &["invalid_parameters", "42"]);
        let ended = events.last().unwrap();
        assert_eq!(
            (&ended["end"], &ended["failed"]),
            (&json!("answered"), &json!(1))
        );
    }
}

/// A write, and what is said about it on the command line.
#[test]
fn what_is_not_permitted_does_not_happen() {
    for client in CLIENTS {
        for (words, told, happens) in [
            (&[][..], "approval_required", false),
            (&["--deny", "write", "--yes"], "permission_denied", false),
            (&["--allow", "write"], "new.txt", true),
        ] {
            let write = json!({ "file_path": "new.txt", "content": "written\n" });
            let asking = Asking::new(
                client,
                [Step::call("", [call("write", write)]), Step::say("Well.")],
            );
            let ran = asking.asks(&[&["Write."], words].concat());
            // What came of a call is the model's to answer for.
            ran.ends_with(0).prints("Well.\n");
            are(&asking.results(1), &[told]);
            let file = fs::read_to_string(asking.user.home().join("new.txt"));
            assert_eq!(
                file.ok().as_deref() == Some("written\n"),
                happens,
                "{client:?} {words:?}"
            );
            assert_eq!(asking.user.home().join("new.txt").exists(), happens);
        }
    }
}

#[test]
fn a_call_that_was_cut_off_is_not_run() {
    for client in CLIENTS {
        let write = json!({ "file_path": "new.txt", "content": "a long text that goes on and on" });
        let asking = Asking::new(
            client,
            [
                Step::truncated("I write.", call("write", write)),
                Step::say("I could not."),
            ],
        );
        let events = asking.events(&["Write.", "--yes"]);
        assert!(!asking.user.home().join("new.txt").exists(), "{client:?}");
        let ended = events.last().unwrap();
        // Those whose calls come whole leave out one that does not.
        if matches!(client.provider, Provider::Gemini | Provider::Ollama) {
            assert_eq!(ended["end"], "cut_off", "{client:?} {events:#?}");
            assert_eq!(
                (&ended["text"], &ended["calls"]),
                (&json!("I write."), &json!(0))
            );
            continue;
        }
        assert_eq!(ended["text"], "I could not.", "{client:?} {events:#?}");
        are(&asking.results(1), &["cut off"]);
    }
}

#[test]
fn a_model_that_takes_no_tools_is_asked_for_calls_as_text() {
    for client in CLIENTS {
        let asking = Asking::new(
            client,
            [
                Step::RefuseTools,
                Step::write("I add.", [call("example_add", json!({ "a": 40, "b": 2 }))]),
                Step::say("It is 42."),
            ],
        );
        let events = asking.events(&["Add."]);
        assert_eq!(
            of_kind(&events, "fell_back").len(),
            1,
            "{client:?} {events:#?}"
        );
        let ways: Vec<&str> = of_kind(&events, "turn")
            .iter()
            .map(|event| event["way"].as_str().unwrap())
            .collect();
        assert_eq!(
            ways,
            ["function_calling", "structured_output", "structured_output"],
            "{client:?}"
        );
        let requests = asking.server.requests();
        assert!(requests[0].tools().contains(&"example_add"), "{client:?}");
        assert_eq!(requests[1].tools(), [] as [&str; 0], "{client:?}");
        // The tools are in the words, and so is the result.
        assert!(requests[1].body.to_string().contains("example_add"));
        assert!(requests[2].body.to_string().contains("42"), "{client:?}");
        assert_eq!(events.last().unwrap()["text"], "It is 42.", "{client:?}");
    }
}

#[test]
fn a_tool_that_was_not_offered_is_not_run() {
    for client in CLIENTS {
        let write = json!({ "file_path": "new.txt", "content": "x" });
        let asking = Asking::new(
            client,
            [
                Step::call(
                    "",
                    [
                        call("write", write),
                        call("no_such_tool", json!({})),
                        call("example_add", json!({ "a": 40, "b": 2 })),
                    ],
                ),
                Step::say("Well."),
            ],
        );
        fs::create_dir(asking.user.home().join("agents")).unwrap();
        let adder = asking.user.home().join("agents/adder.yaml");
        fs::write(adder, "tools: [example_add]\n").unwrap();
        asking
            .asks(&["Add.", "--agent", "adder", "--yes"])
            .ends_with(0)
            .prints("Well.\n");
        assert_eq!(asking.server.requests()[0].tools(), ["example_add"]);
        are(&asking.results(1), &["unknown_tool", "unknown_tool", "42"]);
        assert!(!asking.user.home().join("new.txt").exists(), "{client:?}");
    }
}

/// Numbers of calls are the provider's to give, and some give the same twice.
#[test]
fn calls_with_the_same_number_are_told_apart() {
    for client in CLIENTS {
        let same = |text: &str| call("example_echo", json!({ "text": text })).with_id("same");
        let asking = Asking::new(
            client,
            [
                Step::call("", [same("one"), same("two")]),
                Step::say("Well."),
            ],
        );
        let events = asking.events(&["Say."]);
        are(&asking.results(1), &["one", "two"]);
        assert_eq!(
            of_kind(&events, "called").len(),
            2,
            "{client:?} {events:#?}"
        );
        let mut entries = asking.entries();
        entries[3..5].sort();
        assert_eq!(entries[3..5], ["result 0", "result 1"], "{client:?}");
    }
}

#[test]
fn of_many_calls_some_are_made_and_the_model_is_told() {
    let calls: Vec<_> = (0..500)
        .map(|a| call("example_add", json!({ "a": a, "b": 0 })))
        .collect();
    let asking = Asking::any([Step::call("", calls), Step::say("Enough.")]);
    let events = asking.events(&["Add."]);
    let ended = events.last().unwrap();
    assert_eq!(
        (&ended["calls"], &ended["text"]),
        (&json!(64), &json!("Enough."))
    );
    assert_eq!(asking.results(1).len(), 64);
    let told = asking.server.requests()[1].body.to_string();
    assert!(
        told.contains("Of the 500 calls of your last turn only the first 64"),
        "{told}"
    );
}

/// As many calls as nobody makes are no answer.
#[test]
fn of_ten_thousand_calls_none_is_made() {
    let call = |index: usize| {
        let arguments = r#"{"file_path": "new.txt", "content": "x"}"#;
        let function = json!({ "name": "write", "arguments": arguments });
        json!({ "index": index, "id": format!("c{index}"), "type": "function", "function": function })
    };
    let calls: Vec<_> = (0..10_000).map(call).collect();
    let event = |delta: serde_json::Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let stream = [
        event(json!({ "role": "assistant", "tool_calls": calls }), None),
        event(json!({}), Some("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ];
    let asking = Asking::any([Step::Raw(stream.concat().into()), Step::say("Enough.")]);
    let events = asking.events(&["Write.", "--yes"]);
    assert_eq!(of_kind(&events, "calling").len(), 0);
    assert_eq!(of_kind(&events, "again").len(), 1);
    assert_eq!(events.last().unwrap()["text"], "Enough.");
    assert!(!asking.user.home().join("new.txt").exists());
}
