//! Models and networks that fail: what is tried again, what is told, and that nothing is
//! done by halves.

use std::fs;
use std::process::Stdio;

use serde_json::json;
use toolsmith_testing::model_server::{Script, Step};

use crate::ask::{Asking, CLIENTS, are, call, of_kind};
use crate::support::{Ran, user};

fn busy(status: u16) -> Step {
    Step::status(status).with_header("retry-after", "0")
}

#[test]
fn what_may_pass_is_tried_again() {
    for client in CLIENTS {
        let asking = Asking::new(
            client,
            [busy(429), busy(500), busy(529), Step::say("Hello.")],
        );
        let ran = asking.asks(&["Hi."]).ends_with(0).prints("Hello.\n");
        assert_eq!(
            ran.stderr.matches("; once more in 0.0 s").count(),
            3,
            "{ran:#?}"
        );
        let requests = asking.server.requests();
        assert!(requests.iter().all(|it| it.body == requests[0].body));
        assert_eq!(asking.entries(), ["head", "user", "answer", "ended"]);
    }
}

/// An answer to everything, what is told of it, the status, and how often it is asked for.
#[test]
fn what_does_not_pass_is_told() {
    let error = |status: u16, message: &str| {
        let body =
            json!({ "error": { "message": message, "type": "invalid_request_error", "code": 1 } });
        Step::Status(status, Vec::new(), body.to_string())
    };
    let cases = [
        (busy(500), "answered 500", 1, 4),
        (busy(529), "answered 529", 1, 4),
        (
            Step::status(429).with_header("retry-after", "3600"),
            "come back in 3600 s",
            1,
            1,
        ),
        (Step::status(401), "answered 401", 3, 1),
        (error(403, "Not you."), "Not you.", 3, 1),
        (error(400, "Too many words."), "Too many words.", 1, 1),
        (Step::status(404), "the right address?", 1, 1),
        (
            Step::status(302).with_header("location", "/x"),
            "redirects are not followed",
            1,
            1,
        ),
        (error(200, "Out of order."), "Out of order.", 1, 1),
        (
            Step::say(""),
            "the model said nothing, although it was asked again",
            1,
            3,
        ),
        (
            Step::say(" \n "),
            "the model said nothing, although it was asked again",
            1,
            3,
        ),
        (
            Step::Raw(b"<html>no model</html>".to_vec()),
            "error: ",
            1,
            3,
        ),
        (Step::Raw(vec![0xff; 4096]), "error: ", 1, 3),
        (Step::Raw(Vec::new()), "error: ", 1, 3),
    ];
    for (at, (step, told, status, times)) in cases.into_iter().enumerate() {
        // What each client makes of a status is told in its own tests; here they take turns.
        let clients = match times {
            1 if status == 3 => &CLIENTS[..],
            _ => &CLIENTS[at % CLIENTS.len()..][..1],
        };
        for client in clients {
            let name = format!("{client:?} {step:?}");
            let asking = Asking::new(*client, Script::default().then_always(step.clone()));
            let ran = asking.asks(&["Hi."]);
            assert_eq!(ran.status, Some(status), "{name} {ran:#?}");
            assert_eq!(ran.stdout, "", "{name}");
            assert!(ran.stderr.contains(told), "{name} {ran:#?}");
            assert_eq!(asking.server.requests().len(), times, "{name} {ran:#?}");
            assert_eq!(asking.entries(), ["head", "user", "ended"], "{name}");
        }
    }
}

#[test]
fn a_connection_that_drops_in_the_middle_of_a_call_runs_nothing() {
    for client in CLIENTS {
        let content = "a long text ".repeat(200);
        let write = call(
            "write",
            json!({ "file_path": "new.txt", "content": content }),
        );
        let asking = Asking::new(
            client,
            [
                Step::drop_after(1200, Step::call("I write.", [write])),
                Step::say("I did not."),
            ],
        );
        let events = asking.events(&["Write.", "--yes"]);
        assert_eq!(of_kind(&events, "again").len(), 1, "{client:?} {events:#?}");
        assert_eq!(of_kind(&events, "calling").len(), 0, "{client:?}");
        assert_eq!(events.last().unwrap()["text"], "I did not.", "{client:?}");
        assert!(!asking.user.home().join("new.txt").exists(), "{client:?}");
        let requests = asking.server.requests();
        assert_eq!(requests[0].body, requests[1].body, "{client:?}");
    }
}

#[test]
fn a_connection_that_drops_before_anything_was_said() {
    for client in CLIENTS {
        let asking = Asking::new(client, [Step::Drop, Step::say("Hello.")]);
        let ran = asking.asks(&["Hi."]).ends_with(0).prints("Hello.\n");
        ran.says("broke before it answered");
    }
}

#[test]
fn an_endless_answer_ends_at_the_time_limit() {
    for client in CLIENTS {
        let asking = Asking::new(client, [Step::Endless]);
        let ran = asking.asks(&["Talk.", "--max-time", "1s"]).ends_with(124);
        let ran = ran.says("the time limit was reached");
        assert_eq!(ran.stdout, "", "{client:?}");
        assert_eq!(asking.entries(), ["head", "user", "ended"]);
    }
}

#[test]
fn nobody_listens() {
    let user = user();
    let url = "http://127.0.0.1:1/v1";
    let ran = user.runs(["ask", "Hi.", "--model", "openai-compatible/x", "--url", url]);
    ran.ends_with(1).says("is the server running there?");
}

/// Runs it where no file may grow beyond so many blocks of 512 bytes, which is what a full
/// disk is to a program.
fn on_a_full_disk(asking: &Asking, blocks: u32, words: &[&str]) -> Ran {
    let plain = asking.command(words);
    let mut command = std::process::Command::new("sh");
    command
        .arg("-c")
        .arg(format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""
        ))
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(asking.user.home())
        .stdin(Stdio::null());
    Ran::from(command.output().unwrap())
}

#[test]
fn what_cannot_begin_leaves_nothing_to_go_on_with() {
    let asking = Asking::any([Step::say("Hello."), Step::say("Here.")]);
    asking.asks(&["Hi."]).ends_with(0);
    let kept = asking.all_kept();
    let ran = on_a_full_disk(&asking, 0, &["Me too."]).ends_with(2);
    let ran = ran.says("the conversation that would begin: File too large");
    assert_eq!(ran.stdout, "");
    assert_eq!(asking.all_kept(), kept);
    assert_eq!(asking.server.requests().len(), 1);
    // Nor does a program that was killed before it wrote anything.
    fs::write(kept[0].with_file_name("29991231-235959.jsonl"), "").unwrap();
    asking
        .asks(&["--continue"])
        .ends_with(1)
        .says("there is nothing to answer");
    asking
        .asks(&["--continue", "Go on."])
        .ends_with(0)
        .prints("Here.\n");
}

#[test]
fn files_that_leave_no_way_to_call_tools_are_wrong_before_anything_is_asked() {
    let none =
        "output_strategy: { function_calling: false, fallback_to_structured_output: false }\n";
    let user = user().having("toolsmith.yaml", none);
    let asking = Asking::by(user, CLIENTS[0], [Step::say("Hello.")]);
    let ran = asking.asks(&["Hi."]).ends_with(2).prints("");
    ran.says("error: output_strategy allows neither function_calling nor");
    assert_eq!(asking.server.requests().len(), 0);
    assert_eq!(asking.all_kept().len(), 0);
}

#[test]
fn a_call_that_cannot_be_kept_is_not_made() {
    let write = json!({ "file_path": "new.txt", "content": "x", "create_dirs": true });
    let long = format!("I write. {}", "And so on. ".repeat(1000));
    let asking = Asking::any([Step::call(long, [call("write", write)]), Step::say("Here.")]);
    let ran = on_a_full_disk(&asking, 8, &["Write.", "--yes"]).ends_with(1);
    let ran = ran.says("could not keep the conversation: File too large");
    assert!(!asking.user.home().join("new.txt").exists(), "{ran:#?}");
    assert_eq!(asking.server.requests().len(), 1);
    // What was kept is whole, and with room it goes on.
    assert_eq!(asking.entries()[..2], ["head", "user"]);
    asking.asks(&["--continue"]).ends_with(0).prints("Here.\n");
}

#[test]
fn a_result_that_cannot_be_kept_ends_the_run() {
    let append = "echo ran >> runs; head -c 20000 /dev/zero | tr '\\0' x";
    let asking = Asking::any([
        Step::call("", [call("bash", json!({ "command": append }))]),
        Step::say("It may have run."),
    ]);
    let ran = on_a_full_disk(&asking, 16, &["Run.", "--yes"]).ends_with(1);
    ran.says("could not keep the conversation: File too large");
    assert_eq!(asking.server.requests().len(), 1);
    let ran = asking.asks(&["--continue", "--yes"]).ends_with(0);
    ran.prints("It may have run.\n");
    are(&asking.results(1), &["was not run again"]);
    let runs = fs::read_to_string(asking.user.home().join("runs")).unwrap();
    assert_eq!(runs, "ran\n");
}

/// Half a question is none.
#[test]
fn a_question_that_is_too_long_is_refused_and_not_cut() {
    crate::support::newcomer()
        .typing("x".repeat((16 << 20) + 1))
        .runs(["ask", "--model", "ollama/m"])
        .ends_with(2)
        .says("the question is larger than 16777216 bytes");
}
