//! How a run ends that brings no answer: by a limit, by a signal. Each says why, and leaves
//! a conversation that can be gone on with.

use rustix::process::Signal;
use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_testing::model_server::{Script, Step};

use crate::ask::{Asking, CLIENTS, Client, are, call};
use crate::client::until;
use crate::programs::living;
use crate::support::user;

fn add(a: u64) -> RawCall {
    call("example_add", json!({ "a": a, "b": 0 }))
}

/// A model that makes another call each turn.
fn restless() -> Script {
    let number = std::sync::atomic::AtomicU64::new(0);
    let next = move |_: &Value| {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Step::call("On and on.", [add(number)])
    };
    Script::default().then_always(Step::answer(next))
}

/// A limit, how it is set, and what is told of it.
struct Reached {
    limit: &'static str,
    words: &'static [&'static str],
    script: fn() -> Script,
    status: i32,
    told: &'static str,
}

const REACHED: [Reached; 7] = [
    Reached {
        limit: "turns",
        words: &["--max-turns", "3"],
        script: restless,
        status: 1,
        told: "the limit of turns was reached",
    },
    Reached {
        limit: "tokens",
        words: &["--max-tokens", "1"],
        script: restless,
        status: 1,
        told: "the limit of tokens was reached",
    },
    Reached {
        limit: "cost",
        words: &["--max-cost", "0.000001"],
        script: restless,
        status: 1,
        told: "the limit of cost was reached",
    },
    Reached {
        limit: "time",
        words: &["--max-time", "1s"],
        script: || Script::new([Step::call("", [add(1)]), Step::Hang]),
        status: 124,
        told: "the time limit was reached",
    },
    Reached {
        limit: "time",
        words: &["--max-time", "1s"],
        script: || {
            let sleep = call("example_sleep", json!({ "ms": 3_600_000 }));
            Script::new([Step::call("", [sleep])])
        },
        status: 124,
        told: "the time limit was reached",
    },
    Reached {
        limit: "corrections",
        words: &[],
        script: || {
            let wrong = call("example_add", json!({ "a": "x" }));
            Script::default().then_always(Step::call("", [wrong]))
        },
        status: 1,
        told: "the model kept making calls that do not fit their tools",
    },
    Reached {
        limit: "repeats",
        words: &[],
        script: || Script::default().then_always(Step::call("", [add(1)])),
        status: 1,
        told: "the model kept making the same call",
    },
];

#[test]
fn every_limit_says_which_it_is_and_the_conversation_can_be_gone_on_with() {
    for Reached {
        limit,
        words,
        script,
        status,
        told,
    } in REACHED
    {
        let client = CLIENTS[0];
        let user = user().having(
            "toolsmith.yaml",
            format!(
                "models: {{ \"{}\": {{ price: {{ input: 1, output: 1 }} }} }}\n",
                client.model
            ),
        );
        let asking = Asking::by(user, client, script());
        let ran = asking.asks(&[&["Go.", "--json"], words].concat());
        assert_eq!(ran.status, Some(status), "{limit} {ran:#?}");
        let ended = ran.lines().pop().unwrap();
        assert_eq!(
            (&ended["end"], &ended["limit"]),
            (&json!("limit"), &json!(limit))
        );
        assert!(ended["message"].as_str().unwrap().contains(told), "{ended}");
        goes_on(asking, client);
    }
}

/// Asks another model to go on: every call has its result, each once.
fn goes_on(asking: Asking, client: Client) {
    let Asking { user, .. } = asking;
    let next = Asking::by(user, client, [Step::say("Here I am.")]);
    next.asks(&["--continue", "Go on."])
        .ends_with(0)
        .prints("Here I am.\n");
    let body = &next.server.requests()[0].body;
    let messages = body["messages"].as_array().unwrap();
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        match message["role"].as_str().unwrap() {
            "assistant" => {
                assert_eq!(open, [] as [&Value; 0], "{body}");
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open.extend(calls.map(|call| &call["id"]));
            }
            "tool" => assert_eq!(open.remove(0), &message["tool_call_id"], "{body}"),
            _ => assert_eq!(open, [] as [&Value; 0], "{body}"),
        }
    }
    assert_eq!(messages.last().unwrap()["content"], "Go on.");
    let entries = next.entries();
    assert_eq!(entries[entries.len() - 3..], ["user", "answer", "ended"]);
}

#[test]
fn too_large_a_question_is_not_sent() {
    let user = user().typing("x".repeat(10 << 20));
    let asking = Asking::by(user, CLIENTS[0], [Step::say("Well.")]);
    let ran = asking.asks(&["-"]).ends_with(1);
    let ran = ran.says("larger than a prompt may be; put it into a file and name that");
    assert_eq!(ran.stdout, "");
    assert_eq!(asking.server.requests().len(), 0);
    // As much as a question may have is sent.
    let user = self::user().typing("x".repeat(300 << 10));
    let asking = Asking::by(user, CLIENTS[0], [Step::say("Well.")]);
    asking.asks(&["-"]).ends_with(0).prints("Well.\n");
    // And so much that it does not fit beside the tools is told as that.
    let user = self::user().typing("x".repeat(900 << 10));
    let asking = Asking::by(user, CLIENTS[0], [Step::say("Well.")]);
    let ran = asking.asks(&["-"]).ends_with(1);
    ran.says("the conversation is larger than the context");
}

#[test]
fn a_signal_ends_it_cleanly_while_the_model_thinks() {
    for signal in [Signal::INT, Signal::TERM] {
        let asking = Asking::any([Step::Hang]);
        let asked = asking.begins(&["Think."]);
        asking.is_asked(1);
        asked.signal(signal);
        let ran = asked.ends();
        assert_eq!(ran.status, Some(130), "{signal:?} {ran:#?}");
        assert_eq!(ran.lines().last().unwrap()["end"], "cancelled");
        assert_eq!(asking.entries(), ["head", "user", "ended"]);
        goes_on(asking, CLIENTS[0]);
    }
}

#[test]
fn a_signal_ends_the_calls_too_and_each_is_answered() {
    for client in CLIENTS {
        let mark = format!("{}-{}", std::process::id(), client.provider);
        let command = json!({ "command": "touch begun; sleep 1000", "env": { "MARK": mark } });
        let asking = Asking::new(client, [Step::call("", [call("bash", command), add(1)])]);
        let asked = asking.begins(&["Wait.", "--allow", "bash"]);
        until("it runs", || asking.user.home().join("begun").exists());
        asked.signal(Signal::INT);
        let ran = asked.ends();
        assert_eq!(ran.status, Some(130), "{ran:#?}");
        until("it does not run", || living(&mark).is_empty());
        let mut entries = asking.entries();
        entries[3..5].sort();
        assert_eq!(
            entries,
            ["head", "user", "answer", "result 0", "result 1", "ended"]
        );
        let Asking { user, .. } = asking;
        let next = Asking::by(user, client, [Step::say("Here I am.")]);
        next.asks(&["--continue"])
            .ends_with(0)
            .prints("Here I am.\n");
        are(&next.results(0), &["cancelled", "1"]);
    }
}
