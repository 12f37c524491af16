//! Conversations that are kept, read again and gone on with.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_agent::conversation::{Entry, ReadError};
use toolsmith_agent::{Conversation, End};
use toolsmith_core::{Effect, ErrorKind};
use toolsmith_provider::Provider;
use toolsmith_runtime::{Caller, Toolbox};
use toolsmith_testing::{Gate, ScriptedModel, tools};

use crate::support::{Memory, agent, body, body_of, call, model};

fn toolbox() -> Toolbox {
    Toolbox::new([tools::echo(), tools::add()]).unwrap()
}

fn me() -> Caller {
    Caller::new("me")
}

/// A conversation of two turns, as it was kept.
async fn kept() -> String {
    let memory = Arc::new(Memory::default());
    let mut conversation = Conversation::new().kept_by(memory.clone());
    let calls = [
        call("a", "add", json!({"a": 2, "b": 3})),
        call("b", "add", json!({"a": "two"})),
    ];
    let model = model([body("Let me see.", &calls), body("It is 5.", &[])]);
    let report = agent(&toolbox(), model)
        .answer(&mut conversation, "2 + 3?", &me())
        .await;
    assert_eq!(report.end, End::Answered);
    memory.text()
}

#[tokio::test]
async fn what_was_kept_is_read_again_and_gone_on_with() {
    let (head, mut conversation) = Conversation::read(&kept().await).unwrap();
    assert_eq!((head.id.as_str(), conversation.turns()), ("test", 2));
    assert_eq!(conversation.last_text(), Some("It is 5."));
    assert_eq!(conversation.first_question(), Some("2 + 3?"));
    let next = model([body("Yes.", &[])]);
    agent(&toolbox(), next.clone())
        .answer(&mut conversation, "Sure?", &me())
        .await;
    let request = next.requests().remove(0);
    let roles: Vec<&str> = { request["messages"].as_array().unwrap().iter() }
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "tool", "tool", "assistant", "user"]
    );
}

#[tokio::test]
async fn a_person_can_read_it() {
    let (_, conversation) = Conversation::read(&kept().await).unwrap();
    let told = conversation.to_markdown();
    let told = regex_free_times(&told);
    insta::assert_snapshot!(told);
}

/// The text with how long things took replaced.
fn regex_free_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" · ") {
        Some((before, time)) if time.ends_with(" ms") => format!("{before} · … ms"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn every_provider_can_go_on_with_what_another_began() {
    let text = kept().await;
    for provider in Provider::ALL {
        if matches!(provider, Provider::Mcp | Provider::Text) {
            continue;
        }
        let (_, mut conversation) = Conversation::read(&text).unwrap();
        let model =
            ScriptedModel::new(provider, "some-model").saying(body_of(provider, "Yes.", &[]));
        let model = Arc::new(model);
        let asking = agent(&toolbox(), model.clone());
        let report = asking.answer(&mut conversation, "Sure?", &me()).await;
        assert_eq!(
            (report.end, report.text.as_str()),
            (End::Answered, "Yes."),
            "{provider}"
        );
        let request = model.requests().remove(0).to_string();
        assert!(
            request.contains("Let me see.") && request.contains("5.0"),
            "{provider}: {request}"
        );
    }
}

#[tokio::test]
async fn a_program_that_was_killed_goes_on_where_it_was_and_runs_nothing_twice() {
    let whole = kept().await;
    let mut lines: Vec<&str> = whole.lines().collect();
    // It was killed when one of the two calls had ended.
    let is_result = |line: &&str| line.contains(r#""entry":"result""#);
    let second = lines.iter().rposition(is_result).unwrap();
    lines.truncate(second);
    let text = lines.join("\n") + "\n";
    let gate = Gate::new();
    let add = gate.tool(tools::taking("add", json!({})).with_effect(Effect::Read));
    let toolbox = Toolbox::new([add]).unwrap();
    let (_, mut conversation) = Conversation::read(&text).unwrap();
    let memory = Arc::new(Memory::default());
    conversation = conversation.kept_by(memory.clone());
    let next = model([body("It is 5.", &[])]);
    let report = agent(&toolbox, next.clone())
        .resume(&mut conversation, &me())
        .await;
    assert_eq!(report.end, End::Answered);
    assert_eq!(gate.total(), 0, "a call was made again");
    let request = next.requests().remove(0);
    let results: Vec<&Value> = { request["messages"].as_array().unwrap().iter() }
        .filter(|message| message["role"] == "tool")
        .collect();
    assert_eq!(results.len(), 2);
    let interrupted = |message: &&&Value| message.to_string().contains("may have run");
    assert_eq!(results.iter().filter(interrupted).count(), 1);
    // What was settled is kept, so that it is not settled again.
    assert!(memory.text().contains(r#""entry":"result""#));
}

#[tokio::test]
async fn a_torn_last_line_is_left_out_and_told() {
    let whole = kept().await;
    // A line that only lacks its end is torn too: going on behind it would be in its middle.
    for cut in 0..whole.lines().last().unwrap().len() {
        let text = &whole[..whole.len() - 1 - cut];
        let (_, conversation) = Conversation::read(text).unwrap();
        assert_eq!(conversation.notes().len(), 1, "{text}");
        assert_eq!(conversation.turns(), 2);
    }
}

#[tokio::test]
async fn what_is_no_conversation_is_refused_with_its_line() {
    let whole = kept().await;
    let lines: Vec<&str> = whole.lines().collect();
    let mut broken = lines.clone();
    broken[2] = "{\"entry\": \"answer\", oops";
    let line = match Conversation::read(&(broken.join("\n") + "\n")).unwrap_err() {
        ReadError::Line { line, .. } => line,
        other => panic!("{other}"),
    };
    assert_eq!(line, 3);
    let unknown = format!("{}\n{}\n", lines[0], r#"{"entry": "song", "text": "la"}"#);
    let stray = format!(
        "{}\n{}\n",
        lines[0], r#"{"entry": "result", "index": 0, "outcome": {}}"#
    );
    for text in [unknown, stray] {
        let error = Conversation::read(&text).unwrap_err();
        assert!(matches!(error, ReadError::Line { line: 2, .. }), "{error}");
    }
    assert_eq!(Conversation::read("").unwrap_err(), ReadError::Empty);
    for text in [
        "\u{0}\u{1}",
        "[]",
        "{}",
        "hello\n",
        r#"{"conversation": 0, "id": "x"}"#,
    ] {
        let error = Conversation::read(text).unwrap_err();
        assert!(
            matches!(error, ReadError::NoConversation(_)),
            "{text}: {error}"
        );
    }
    let newer = Conversation::read(r#"{"conversation": 2, "id": "x"}"#).unwrap_err();
    assert_eq!(newer, ReadError::Newer(2));
}

#[tokio::test]
async fn no_call_is_made_that_could_not_be_kept_first() {
    let gate = Gate::new();
    gate.open();
    let slow = gate.tool(tools::taking("slow", json!({})).with_effect(Effect::Read));
    let toolbox = Toolbox::new([slow]).unwrap();
    for (room, made) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
        let before = gate.total();
        let memory = Memory {
            room: Some(room),
            ..Memory::default()
        };
        let mut conversation = Conversation::new().kept_by(Arc::new(memory));
        let model = model([
            body("", &[call("a", "slow", json!({}))]),
            body("Done.", &[]),
        ]);
        let report = agent(&toolbox, model)
            .answer(&mut conversation, "Go on.", &me())
            .await;
        let End::Failed { kind, message } = report.end else {
            panic!("{:?}", report.end);
        };
        assert_eq!(kind, ErrorKind::Internal);
        assert!(message.contains("the disk is full"), "{message}");
        assert_eq!(gate.total() - before, made, "with room for {room} lines");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_after_its_run_was_dropped_comes_into_no_later_turn() {
    let gate = Gate::new();
    let slow = gate.tool(tools::taking("slow", json!({})).with_effect(Effect::Read));
    let toolbox = Toolbox::new([slow]).unwrap();
    let memory = Arc::new(Memory::default());
    let mut conversation = Conversation::new().kept_by(memory.clone());
    let waiting = agent(&toolbox, model([body("", &[call("a", "slow", json!({}))])]));
    let caller = me();
    let waiting = waiting.answer(&mut conversation, "Go on.", &caller);
    let dropped = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    assert!(dropped.is_err());
    let next = agent(&toolbox, model([body("Well.", &[])]));
    let report = next.answer(&mut conversation, "And now?", &me()).await;
    assert_eq!(report.end, End::Answered);
    // The call ends within its grace, which is over now.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let (_, read) = Conversation::read(&memory.text()).unwrap();
    assert_eq!((read.turns(), read.notes().len()), (2, 0));
}

#[tokio::test]
async fn an_answer_is_of_its_own_run() {
    let toolbox = toolbox();
    let mut conversation = Conversation::new();
    let first = agent(&toolbox, model([body("One.", &[])]));
    let report = first.answer(&mut conversation, "Count.", &me()).await;
    assert_eq!(report.text, "One.");
    let broken = agent(
        &toolbox,
        model([b"{\"error\": {\"message\": \"no\"}}".to_vec()]),
    );
    let report = broken.answer(&mut conversation, "Go on.", &me()).await;
    assert!(matches!(report.end, End::Failed { .. }), "{:?}", report.end);
    assert_eq!(report.text, "", "the answer to another question was told");
}

#[test]
fn entries_say_what_they_are() {
    let entry = Entry::User {
        text: "Hi".to_owned(),
    };
    let written = serde_json::to_value(&entry).unwrap();
    assert_eq!(written, json!({"entry": "user", "text": "Hi"}));
}
