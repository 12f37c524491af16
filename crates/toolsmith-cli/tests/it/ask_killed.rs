//! Killed without a word, in the middle of things: what was done is not done again, and the
//! conversation goes on where it was.

use std::fs;

use serde_json::json;
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, are, call};
use crate::client::until;
use crate::programs::living;

#[test]
fn no_call_is_made_twice() {
    for client in CLIENTS {
        let mark = format!("{}-killed-{}", std::process::id(), client.provider);
        let command = json!({ "command": "echo ran >> runs; sleep 1000", "env": { "MARK": mark } });
        let asking = Asking::new(
            client,
            [
                Step::call(
                    "I run two.",
                    [
                        call("bash", command),
                        call("example_add", json!({ "a": 40, "b": 2 })),
                    ],
                ),
                Step::say("One may have run."),
                Step::say("Nothing more."),
            ],
        );
        let runs = asking.user.home().join("runs");
        let asked = asking.begins(&["Run.", "--allow", "bash"]);
        until("one runs and the other has ended", || {
            runs.exists() && asking.entries().contains(&"result 1".to_owned())
        });
        asked.is_killed();
        until("nothing of it runs", || living(&mark).is_empty());
        assert_eq!(asking.entries(), ["head", "user", "answer", "result 1"]);

        let ran = asking.asks(&["--continue", "--allow", "bash"]);
        ran.ends_with(0).prints("One may have run.\n");
        assert_eq!(fs::read_to_string(&runs).unwrap(), "ran\n", "{client:?}");
        are(
            &asking.results(1),
            &[
                "it may have run, wholly or in part, and was not run again",
                "42",
            ],
        );
        assert_eq!(
            asking.entries(),
            [
                "head", "user", "answer", "result 1", "result 0", "answer", "ended"
            ]
        );
        // Nor is it the next time.
        let ran = asking.asks(&["--continue", "And now?", "--allow", "bash"]);
        ran.ends_with(0).prints("Nothing more.\n");
        assert_eq!(fs::read_to_string(&runs).unwrap(), "ran\n", "{client:?}");
        assert_eq!(asking.results(2), asking.results(1));
        let shown = asking.user.runs(["conversations", "show"]).ends_with(0);
        assert_eq!(
            shown.stdout.matches("## You").count(),
            2,
            "{}",
            shown.stdout
        );
    }
}

#[test]
fn an_answer_that_was_coming_is_asked_for_again() {
    for client in CLIENTS {
        let text = "word ".repeat(2000);
        let asking = Asking::new(
            client,
            [Step::hang_after(6000, Step::say(&text)), Step::say("Here.")],
        );
        let mut asked = asking.begins(&["Talk."]);
        asked.until("text");
        asked.is_killed();
        assert_eq!(asking.entries(), ["head", "user"]);
        asking.asks(&["--continue"]).ends_with(0).prints("Here.\n");
        let requests = asking.server.requests();
        assert_eq!(requests[0].body, requests[1].body, "{client:?}");
    }
}

/// The line that was being written is torn; what is before it counts.
#[test]
fn a_line_that_was_not_written_to_its_end_is_left_out() {
    let add = call("example_add", json!({ "a": 40, "b": 2 }));
    let asking = Asking::any([
        Step::call("", [add]),
        Step::say("It is 42."),
        Step::say("It may be 42."),
    ]);
    asking.asks(&["Add."]).ends_with(0);
    let whole = fs::read_to_string(asking.kept()).unwrap();
    let result = whole.find("{\"entry\":\"result\"").unwrap();
    fs::write(asking.kept(), &whole[..result + 20]).unwrap();
    let ran = asking.asks(&["--continue"]).ends_with(0);
    let ran = ran.prints("It may be 42.\n");
    ran.says("warning: line 4 was not written to its end, and is left out");
    assert_eq!(
        asking.entries(),
        ["head", "user", "answer", "result 0", "answer", "ended"]
    );
    are(&asking.results(2), &["was not run again"]);
}
