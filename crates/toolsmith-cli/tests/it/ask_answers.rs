//! The answer: where it goes, when it comes, what is said beside it, and the status.

use rustix::process::Signal;
use serde_json::{Value, json};
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, call, of_kind};
use crate::support::{newcomer, user};

#[test]
fn only_the_answer_is_on_stdout_and_a_line_closes_it() {
    for client in CLIENTS {
        let add = call("example_add", json!({ "a": 40, "b": 2 }));
        let asking = Asking::new(
            client,
            [
                Step::call("I add.", [add]),
                Step::say("It is 42.\nNo doubt."),
            ],
        );
        let ran = asking.asks(&["Add 40 and 2."]).ends_with(0);
        assert_eq!(ran.stdout, "It is 42.\nNo doubt.\n", "{client:?}");
        let told: Vec<&str> = ran.stderr.lines().collect();
        assert_eq!(told[0], "→ example_add a=40 b=2", "{client:?}");
        assert!(told[1].starts_with("✓ example_add: "), "{told:?}");
        assert!(told[1].ends_with(" ms"), "{told:?}");
        let closing = told[2];
        assert!(closing.starts_with("2 turns · 1 call · "), "{closing}");
        assert!(closing.contains(" tokens read, "), "{closing}");
        assert!(closing.contains(" s · conversation 2"), "{closing}");
        assert_eq!(told.len(), 3, "{told:?}");
    }
}

/// What the clock or the port decides, taken out.
fn steady(mut event: Value, home: &str) -> Value {
    for field in ["duration_ms", "conversation"] {
        if let Some(value) = event.get_mut(field) {
            assert!(!value.is_null(), "{field}");
            *value = json!("[…]");
        }
    }
    if let Some(facts) = event.pointer_mut("/outcome/facts") {
        facts["duration_ms"] = json!("[…]");
    }
    let text = event.to_string().replace(home, "[home]");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_events_of_a_run() {
    let asking = Asking::any([
        Step::call(
            "I look.",
            [
                call("example_add", json!({ "a": 40, "b": 2 })).with_id("c1"),
                call("write", json!({ "file_path": "x", "content": "y" })).with_id("c2"),
            ],
        ),
        Step::say("It is 42."),
    ]);
    let mut events = asking.events(&["Add."]);
    // The two end in any order.
    let at = |events: &[Value], kind: &str| events.iter().position(|e| e["event"] == kind);
    let called = at(&events, "called").unwrap();
    events[called..called + 2].sort_by_key(|event| event["index"].as_u64());
    let home = asking.user.home().to_str().unwrap();
    let mut shown: Vec<Value> = events
        .into_iter()
        .map(|event| steady(event, home))
        .collect();
    // What the tools weigh is no part of the form.
    let read = &mut shown.last_mut().unwrap()["usage"]["input_tokens"];
    assert!(read.as_u64().unwrap() > 1000, "{read}");
    *read = json!("[…]");
    let shown: Vec<String> = shown.iter().map(Value::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// A model that has begun to speak and does not go on: what it said is there already.
#[test]
fn the_answer_is_told_while_it_comes() {
    for client in CLIENTS {
        let text = "word ".repeat(2000);
        let asking = Asking::new(client, [Step::hang_after(6000, Step::say(&text))]);
        let mut asked = asking.begins(&["Talk."]);
        let first = asked.until("text");
        let said = first["text"].as_str().unwrap();
        assert!(!said.is_empty() && text.contains(said), "{client:?} {said}");
        assert!(asked.child.try_wait().unwrap().is_none());
        asked.signal(Signal::INT);
        let ran = asked.ends();
        assert_eq!(ran.status, Some(130), "{client:?} {ran:?}");
        assert_eq!(ran.lines().last().unwrap()["end"], "cancelled");
    }
}

#[test]
fn what_was_told_piece_by_piece_is_the_answer() {
    for client in CLIENTS {
        let text = "Wörter, \"quoted\"\nand 🛠 more. ".repeat(40);
        let asking = Asking::new(client, [Step::say(&text)]);
        let events = asking.events(&["Talk."]);
        let pieces = of_kind(&events, "text");
        assert!(pieces.len() > 1, "{client:?}: {} pieces", pieces.len());
        let whole: String = pieces
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        assert_eq!(whole, text, "{client:?}");
        assert_eq!(events.last().unwrap()["text"], text, "{client:?}");
    }
}

#[test]
fn what_steers_a_terminal_is_not_in_the_answer() {
    let asking = Asking::any([Step::say("\u{1b}[31mred\u{1b}[0m \u{202e}back\u{7}.")]);
    asking.asks(&["Talk."]).ends_with(0).prints("red back.\n");
}

/// What is wrong before a model is asked is wrong usage, and nobody is asked.
#[test]
fn wrong_usage_is_told_before_anybody_is_asked() {
    for (words, told) in [
        (
            &["ask", "Hi."][..],
            "no model is named: give --model PROVIDER/MODEL",
        ),
        (&["ask", "Hi.", "--model", "gpt-5"], "PROVIDER/MODEL"),
        (&["ask", "Hi.", "--model", "nobody/gpt-5"], "nobody"),
        (&["ask", "Hi.", "--model", "openai/"], "openai/"),
        (
            &["ask", "Hi.", "--model", "openai/gpt-5"],
            "models of openai need a key: set OPENAI_API_KEY",
        ),
        (
            &["ask", "Hi.", "--model", "anthropic/x"],
            "set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
        ),
        (
            &["ask", "Hi.", "--model", "gemini/x"],
            "set GEMINI_API_KEY or GOOGLE_API_KEY",
        ),
        (&["ask", "Hi.", "--model", "mcp/x"], "mcp"),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--url", "file:///x"],
            "neither http nor https",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--url", "http://u:p@x"],
            "a password",
        ),
        (&["ask", "", "--model", "ollama/x"], "the question is empty"),
        (
            &["ask", " \n", "--model", "ollama/x"],
            "the question is empty",
        ),
        (
            &["ask", "-", "--model", "ollama/x"],
            "the question is empty",
        ),
        (&["ask", "--model", "ollama/x"], "the question is empty"),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--max-turns", "0"],
            "--max-turns",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--max-cost=-1"],
            "--max-cost",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--max-cost", "1"],
            "a limit of cost needs a price",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--agent", "nobody"],
            "nobody",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--continue"],
            "there is no conversation of this project",
        ),
        (
            &[
                "ask",
                "Hi.",
                "--model",
                "ollama/x",
                "--continue=20200101-000000",
            ],
            "there is no conversation \"20200101-000000\"",
        ),
        (
            &["ask", "Hi.", "--model", "ollama/x", "--continue=../../x"],
            "there is no conversation \"../../x\"",
        ),
    ] {
        let user = newcomer();
        let ran = user.runs(words).ends_with(2).says(told);
        assert_eq!(ran.stdout, "", "{words:?}");
        // And nothing is kept of what was not begun.
        assert!(
            !user.home().join("state/toolsmith/conversations").exists(),
            "{words:?}"
        );
    }
}

#[test]
fn the_question_may_come_in() {
    for words in [&["-"][..], &[]] {
        let user = user().typing("What is this?\n");
        let asking = Asking::by(user, CLIENTS[0], [Step::say("A question.")]);
        asking.asks(words).ends_with(0).prints("A question.\n");
        let told = &asking.server.requests()[0].body["messages"];
        let last = told.as_array().unwrap().last().unwrap();
        assert_eq!(last["content"], "What is this?\n");
    }
    let user = newcomer().typing(b"\xff\xfe".to_vec());
    user.runs(["ask", "--model", "ollama/x"])
        .ends_with(2)
        .says("the question is not UTF-8");
}

/// Whoever reads only the beginning of the events has not ended the run: a write that was
/// agreed to is still made.
#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let write = call("write", json!({ "file_path": "new.txt", "content": "x" }));
    let asking = Asking::any([Step::call("", [write]), Step::say("Done.")]);
    let mut child = asking
        .command(&["Write.", "--yes", "--json"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait().unwrap();
    assert!(asking.user.home().join("new.txt").exists());
    assert_eq!(asking.server.left(), 0);
}
