//! Conversations that are kept: gone on with, listed, shown, forgotten, and what can be wrong
//! with their files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, call};
use crate::support::user;

#[test]
fn a_conversation_is_gone_on_with_by_every_client() {
    for client in CLIENTS {
        let add = call("example_add", json!({ "a": 40, "b": 2 }));
        let asking = Asking::new(
            client,
            [
                Step::call("I add.", [add]),
                Step::say("It is 42."),
                Step::say("It was 42."),
            ],
        );
        asking.asks(&["Add."]).ends_with(0);
        // The model is the one it was begun with, and so is the place where that is.
        let words = ["ask", "--continue", "What was it?"];
        asking.user.runs(words).ends_with(0).prints("It was 42.\n");
        let requests = asking.server.requests();
        let told = |at: usize| requests[at].body.to_string();
        for part in ["Add.", "I add.", "42", "It is 42.", "What was it?"] {
            assert!(told(2).contains(part), "{client:?} {part:?} {}", told(2));
        }
        assert_eq!(asking.results(2), asking.results(1));
        assert_eq!(asking.all_kept().len(), 1);
    }
}

#[test]
fn one_client_goes_on_with_what_another_began() {
    for (first, second) in CLIENTS.iter().zip(CLIENTS.iter().cycle().skip(1)) {
        let add = call("example_add", json!({ "a": 40, "b": 2 }));
        let asking = Asking::new(
            *first,
            [Step::call("I add.", [add]), Step::say("It is 42.")],
        );
        asking.asks(&["Add."]).ends_with(0);
        let Asking { user, .. } = asking;
        let next = Asking::by(user, *second, [Step::say("It was 42.")]);
        let ran = next.asks(&["--continue", "What was it?"]).ends_with(0);
        assert_eq!(ran.stdout, "It was 42.\n", "{first:?} {second:?}");
        assert!(next.results(0)[0].contains("42"), "{first:?} {second:?}");
    }
}

/// Otherwise it could do, gone on with, what it could not when it was begun.
#[test]
fn a_conversation_goes_on_with_the_agent_it_was_begun_with() {
    let write = |file: &str| call("write", json!({ "file_path": file, "content": "x" }));
    let asking = Asking::any([
        Step::say("Hello."),
        Step::call("", [write("one.txt")]),
        Step::say("I may not."),
        Step::call("", [write("two.txt")]),
        Step::say("I may."),
    ]);
    let agents = asking.user.home().join("agents");
    fs::create_dir(&agents).unwrap();
    let yaml = "tools: [write]\npolicy: { deny: [write] }\nask: { instructions: Be careful. }\n";
    fs::write(agents.join("careful.yaml"), yaml).unwrap();
    fs::write(agents.join("free.yaml"), "tools: [write]\n").unwrap();
    asking.asks(&["Hi.", "--agent", "careful"]).ends_with(0);
    let ran = asking.asks(&["--continue", "Write.", "--yes"]).ends_with(0);
    ran.prints("I may not.\n");
    assert!(!asking.user.home().join("one.txt").exists());
    let requests = asking.server.requests();
    assert_eq!(requests[1].tools(), ["write"]);
    assert_eq!(
        requests[1].body["messages"][0],
        requests[0].body["messages"][0]
    );
    assert!(requests[1].body.to_string().contains("Be careful."));
    // Who names another agent means it.
    let words = ["--continue", "Write.", "--yes", "--agent", "free"];
    asking.asks(&words).ends_with(0).prints("I may.\n");
    assert!(asking.user.home().join("two.txt").exists());
    fs::remove_file(agents.join("careful.yaml")).unwrap();
    let ran = asking.asks(&["--continue", "Write.", "--yes"]).ends_with(2);
    ran.says("the conversation was begun with the agent \"careful\"");
    assert_eq!(asking.server.requests().len(), 5);
}

/// What was answered before is no answer to a question that failed.
#[test]
fn an_earlier_answer_is_not_given_again() {
    let asking = Asking::any([Step::say("Hello."), Step::status(401), Step::status(401)]);
    asking.asks(&["Hi."]).ends_with(0).prints("Hello.\n");
    asking.asks(&["--continue", "And?"]).ends_with(3).prints("");
    let events = asking.events(&["--continue"]);
    assert_eq!(events.last().unwrap()["text"], "");
}

#[test]
fn conversations_are_listed_shown_and_forgotten() {
    let add = call("example_add", json!({ "a": 40, "b": 2 }));
    let asking = Asking::any([
        Step::call("I add.", [add]),
        Step::say("It is 42."),
        Step::say("Hello."),
    ]);
    let list = || {
        asking
            .user
            .runs(["conversations", "--json"])
            .ends_with(0)
            .json()
    };
    let none = asking.user.runs(["conversations"]).ends_with(0);
    none.prints("")
        .says("There are no conversations of this project yet");
    assert_eq!(list(), json!([]));
    asking.asks(&["Add 40\nand 2."]).ends_with(0);
    asking.asks(&["Hi."]).ends_with(0);
    let listed = list();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2);
    let questions: Vec<_> = listed.iter().map(|row| &row["question"]).collect();
    assert!(questions.contains(&&json!("Add 40 and 2.")), "{listed:?}");
    let add = listed.iter().find(|row| row["turns"] == 2).unwrap();
    assert_eq!(add["model"], CLIENTS[0].model);
    let id = add["id"].as_str().unwrap();
    let table = asking.user.runs(["conversations"]).ends_with(0).stdout;
    assert!(table.contains(id) && table.lines().count() == 2, "{table}");
    let shown = asking.user.runs(["conversations", "show", id]).ends_with(0);
    let shown = shown.stdout;
    assert!(
        shown.starts_with("## You\n\nAdd 40\nand 2.\n\n## local-model\n\nI add.\n"),
        "{shown}"
    );
    assert!(shown.contains("**example_add** · done · "), "{shown}");
    assert!(shown.trim_end().ends_with("It is 42."), "{shown}");
    // Others may not read what was said.
    for file in asking.all_kept() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
    let forgotten = asking.user.runs(["conversations", "forget", id]);
    forgotten.ends_with(0).prints(&format!("forgotten: {id}\n"));
    assert_eq!(asking.all_kept().len(), 1);
    for words in [
        ["conversations", "forget", id],
        ["conversations", "show", id],
    ] {
        asking
            .user
            .runs(words)
            .ends_with(2)
            .says("there is no conversation");
    }
}

#[test]
fn two_cannot_go_on_with_one_conversation_at_once() {
    let asking = Asking::any([Step::say("Hello."), Step::Hang]);
    asking.asks(&["Hi."]).ends_with(0);
    let asked = asking.begins(&["--continue", "Think."]);
    asking.is_asked(2);
    let before = fs::read(asking.kept()).unwrap();
    let ran = asking.asks(&["--continue", "Me too."]).ends_with(2);
    let ran = ran.says("is being gone on with by another program");
    assert_eq!(ran.stdout, "");
    assert_eq!(fs::read(asking.kept()).unwrap(), before);
    assert_eq!(asking.server.requests().len(), 2);
    // It can be read meanwhile.
    asking.user.runs(["conversations", "show"]).ends_with(0);
    asked.is_killed();
    // Whoever held it is gone, and so is the lock.
    let Asking { user, .. } = asking;
    let next = Asking::by(user, CLIENTS[0], [Step::say("Here.")]);
    next.asks(&["--continue"]).ends_with(0).prints("Here.\n");
}

#[test]
fn what_is_no_conversation_is_told_and_left_alone() {
    let asking = Asking::any([Step::say("Hello.")]);
    asking.asks(&["Hi."]).ends_with(0);
    let file = asking.kept();
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let newer = whole.replacen("\"conversation\":1", "\"conversation\":99", 1);
    let hole = format!("{}\n{{\"entry\":\"us\n{}\n", lines[0], lines[2]);
    let unknown = format!("{}\n{{\"entry\":\"shout\"}}\n", lines[0]);
    let result = format!(
        "{}\n{{\"entry\":\"result\",\"index\":0,\"outcome\":{{}}}}\n",
        lines[0]
    );
    for (content, told) in [
        (b"".to_vec(), "it is empty"),
        (b"\n\n".to_vec(), "it is no conversation"),
        (b"{}\n".to_vec(), "it is no conversation"),
        (b"\x00\xff\xfe\n".to_vec(), "UTF-8"),
        (newer.into_bytes(), "version 99"),
        (hole.into_bytes(), "line 2"),
        (unknown.into_bytes(), "line 2"),
        (result.into_bytes(), "a result without a call before it"),
        (b"[".repeat(1 << 20), "it is no conversation"),
    ] {
        fs::write(&file, &content).unwrap();
        for words in [&["--continue", "Go on."][..], &["--continue"]] {
            let ran = asking.asks(words).ends_with(2).says(told);
            assert_eq!(ran.stdout, "", "{told}");
        }
        asking
            .user
            .runs(["conversations", "show"])
            .ends_with(2)
            .says(told);
        asking.user.runs(["conversations"]).ends_with(0);
        assert_eq!(fs::read(&file).unwrap(), content, "{told}");
    }
    assert_eq!(asking.server.requests().len(), 1);
}

#[test]
fn a_folder_or_a_link_in_the_place_of_a_conversation() {
    let asking = Asking::any([Step::say("Hello."), Step::say("Here.")]);
    asking.asks(&["Hi."]).ends_with(0);
    let file = asking.kept();
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let named = format!("--continue={id}");
    asking.asks(&[&named, "Go on."]).ends_with(2).says(&id);
    asking
        .asks(&["--continue", "Go on."])
        .ends_with(2)
        .says("there is no conversation");
    asking
        .user
        .runs(["conversations", "show", &id])
        .ends_with(2)
        .says(&id);
    fs::remove_dir(&file).unwrap();
    // Another begins as if nothing had been there.
    asking.asks(&["Hi."]).ends_with(0).prints("Here.\n");
}

#[test]
fn where_nothing_can_be_kept_nothing_is_asked() {
    for place in ["state", "state/toolsmith", "state/toolsmith/conversations"] {
        let user = user();
        let path = user.home().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "a file").unwrap();
        let asking = Asking::by(user, CLIENTS[0], [Step::say("Hello.")]);
        let ran = asking.asks(&["Hi."]);
        assert!(
            ran.status.is_some_and(|status| status != 0),
            "{place} {ran:#?}"
        );
        assert!(ran.stderr.contains("conversation"), "{place} {ran:#?}");
        assert_eq!(asking.server.requests().len(), 0, "{place}");
    }
}

/// With no place for it at all, it is said that nothing is kept.
#[test]
fn without_a_home_a_question_is_answered_and_forgotten() {
    let asking = Asking::any([Step::say("Hello.")]);
    let mut command = asking.command(&["Hi."]);
    let output = command
        .env_remove("HOME")
        .env_remove("XDG_STATE_HOME")
        .output();
    let ran = crate::support::Ran::from(output.unwrap());
    let ran = ran.ends_with(0).prints("Hello.\n");
    ran.says("warning: the conversation is not kept: set HOME or XDG_STATE_HOME");
    assert_eq!(asking.all_kept().len(), 0);
}
