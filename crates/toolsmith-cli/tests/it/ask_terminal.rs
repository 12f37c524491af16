//! A question asked at a terminal: the answer while it comes, the calls, and a person who is
//! asked about one in between.

use serde_json::json;
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, call};
use crate::terminal::Terminal;

fn start(asking: &Asking, words: &[&str]) -> Terminal {
    let words = asking.words(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Terminal::start(&asking.user, &words)
}

#[test]
fn a_person_is_asked_in_place_and_the_answer_follows() {
    for (typed, happens, told) in [
        ("y\n", true, "✓ write: "),
        ("n\n", false, "✗ write: permission_denied: "),
    ] {
        for client in CLIENTS {
            let write = json!({ "file_path": "new.txt", "content": "written\n" });
            let asking = Asking::new(
                client,
                [
                    Step::call("I write it.", [call("write", write)]),
                    Step::say("That is all."),
                ],
            );
            let mut terminal = start(&asking, &["Write."]);
            terminal.shows("Allow it? [y]es, [n]o");
            assert!(!asking.user.home().join("new.txt").exists());
            terminal.types(typed);
            let (status, seen) = terminal.ends();
            assert_eq!(status, Some(0), "{seen}");
            assert_eq!(
                asking.user.home().join("new.txt").exists(),
                happens,
                "{seen}"
            );
            // In the order in which it happened, and each once.
            let mut rest = seen.as_str();
            for part in [
                "I write it.\n",
                "→ write file_path=new.txt",
                "Allow it?",
                told,
                "That is all.\n",
                "2 turns · 1 call",
            ] {
                assert_eq!(seen.matches(part).count(), 1, "{part:?} in {seen}");
                let at = rest.find(part);
                rest = &rest[at.unwrap_or_else(|| panic!("{part:?} in {seen}"))..];
            }
        }
    }
}

#[test]
fn the_answer_is_seen_while_it_comes_and_ctrl_c_ends_it() {
    for client in CLIENTS {
        let text = format!("The beginning. {}", "word ".repeat(2000));
        let asking = Asking::new(client, [Step::hang_after(6000, Step::say(text))]);
        let mut terminal = start(&asking, &["Talk."]);
        terminal.shows("The beginning.");
        terminal.types("\u{3}");
        let (status, seen) = terminal.ends();
        assert_eq!(status, Some(130), "{seen}");
        assert!(seen.contains("it was given up"), "{seen}");
        assert!(seen.contains("0 turns · 0 calls"), "{seen}");
    }
}

#[test]
fn ctrl_c_at_a_question_is_no_yes() {
    let write = json!({ "file_path": "new.txt", "content": "x" });
    let asking = Asking::any([Step::call("", [call("write", write)]), Step::say("Done.")]);
    let mut terminal = start(&asking, &["Write."]);
    terminal.shows("Allow it? [y]es, [n]o");
    terminal.types("\u{3}");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(130), "{seen}");
    assert!(!asking.user.home().join("new.txt").exists(), "{seen}");
    assert_eq!(
        asking.entries(),
        ["head", "user", "answer", "result 0", "ended"]
    );
}

/// Two calls of one turn that must be asked about are asked about one after the other.
#[test]
fn each_call_has_its_own_question() {
    let write = |name: &str| call("write", json!({ "file_path": name, "content": "x" }));
    let asking = Asking::any([
        Step::call("", [write("one.txt"), write("two.txt")]),
        Step::say("Done."),
    ]);
    let mut terminal = start(&asking, &["Write."]);
    let question = "Allow it? [y]es, [n]o";
    terminal.shows(question);
    terminal.types("y\n");
    terminal.shows_times(question, 2);
    terminal.types("n\n");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(0), "{seen}");
    let written = ["one.txt", "two.txt"].map(|name| asking.user.home().join(name).exists());
    assert_eq!(written.iter().filter(|is| **is).count(), 1, "{seen}");
    let results = asking.results(1).join("\n");
    assert!(results.contains("permission_denied"), "{results}");
}

/// What a model says is shown, and steers nothing.
#[test]
fn a_model_cannot_steer_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}text";
    let asking = Asking::any([
        Step::call(evil, [call("example_echo", json!({ "text": evil }))]),
        Step::say(format!("{evil} at the end")),
    ]);
    let (status, seen) = start(&asking, &["Talk."]).ends();
    assert_eq!(status, Some(0), "{seen:?}");
    assert!(seen.contains("text at the end"), "{seen:?}");
    for steering in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{202e}"] {
        assert!(!seen.contains(steering), "{seen:?}");
    }
}
