//! Agents of `agents/*.yaml`, and the tasks they give each other.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Script, Step};

use crate::ask::{Asking, CLIENTS, are, call, of_kind, results};
use crate::client::until;
use crate::programs::living;
use crate::support::{User, user};

fn with_agents(user: User, agents: &[(&str, &str)]) -> User {
    fs::create_dir(user.home().join("agents")).unwrap();
    for (name, yaml) in agents {
        fs::write(user.home().join(format!("agents/{name}.yaml")), yaml).unwrap();
    }
    user
}

fn task(more: &Value) -> RawCall {
    let mut arguments = json!({
        "description": "Do some work",
        "prompt": "Do what is to be done, and say how it went.",
    });
    for (key, value) in more.as_object().unwrap() {
        arguments[key] = value.clone();
    }
    call("task", arguments)
}

fn write(file: &str) -> RawCall {
    call("write", json!({ "file_path": file, "content": "x" }))
}

#[test]
fn an_agent_has_its_instructions_its_model_its_tools_and_its_rules() {
    let server = ModelServer::start([
        Step::call(
            "",
            [
                write("new.txt"),
                call("example_add", json!({ "a": 1, "b": 2 })),
            ],
        ),
        Step::say("Well."),
    ]);
    let yaml = "model: anthropic/claude-sonnet-4-5\n\
        tools: [write, example_add, task]\n\
        ask: { instructions: Speak like a pirate., settings: { temperature: 0.5 }, turns: 2 }\n\
        policy: { deny: [write] }\n";
    let user = with_agents(user(), &[("pirate", yaml)])
        .with("ANTHROPIC_BASE_URL", &server.url(Provider::Anthropic));
    let ran = user.runs([
        "ask", "Write.", "--agent", "pirate", "--allow", "write", "--yes",
    ]);
    ran.ends_with(0).prints("Well.\n");
    let requests = server.requests();
    assert_eq!(requests[0].provider, Some(Provider::Anthropic));
    assert_eq!(requests[0].body["model"], "claude-sonnet-4-5");
    assert_eq!(requests[0].body["temperature"], 0.5);
    let mut tools = requests[0].tools();
    tools.sort_unstable();
    assert_eq!(tools, ["example_add", "task", "write"]);
    let system = requests[0].body["system"].to_string();
    assert!(system.contains("Speak like a pirate."), "{system}");
    let told = requests[1].body.to_string();
    assert!(told.contains("permission_denied"), "{told}");
    assert!(!user.home().join("new.txt").exists());
    // The conversation says whose it is.
    let listed = user.runs(["conversations", "--json"]).json();
    assert_eq!(listed[0]["agent"], "pirate");
}

/// The parent may write; whoever it gives a task to may at most what both may.
#[test]
fn a_write_the_parent_may_do_and_the_child_may_not() {
    let agents = [
        ("reader", "tools: [read, example_add]\n"),
        ("warned", "tools: [write]\npolicy: { deny: [write] }\n"),
        ("writer", "tools: [write]\n"),
    ];
    for (at, client) in CLIENTS.into_iter().enumerate() {
        let cases = [
            (json!({ "subagent_type": "reader" }), "unknown_tool", false),
            (
                json!({ "subagent_type": "warned" }),
                "permission_denied",
                false,
            ),
            (
                json!({ "subagent_type": "writer", "tools": ["read"] }),
                "unknown_tool",
                false,
            ),
            (json!({ "tools": ["read"] }), "unknown_tool", false),
            (json!({ "subagent_type": "writer" }), "child.txt", true),
            (json!({}), "child.txt", true),
        ];
        // All of them by one client, and one of each kind by the others.
        let cases = cases.into_iter().enumerate();
        for (_, (child, told, happens)) in
            cases.filter(|(case, _)| at == 0 || [1, 4].contains(case))
        {
            let asking = Asking::by(
                with_agents(user(), &agents),
                client,
                [
                    Step::call("", [task(&child), write("parent.txt")]),
                    Step::call("", [write("child.txt")]),
                    Step::say("I tried."),
                    Step::say("That is how it went."),
                ],
            );
            let ran = asking.asks(&["Work.", "--allow", "write"]).ends_with(0);
            assert_eq!(ran.stdout, "That is how it went.\n", "{client:?} {child}");
            let is_there = |name: &str| asking.user.home().join(name).exists();
            assert!(is_there("parent.txt"), "{client:?} {child}");
            assert_eq!(is_there("child.txt"), happens, "{client:?} {child}");
            are(&asking.results(2), &[told]);
            let back = asking.results(3);
            are(&back, &["I tried.", "parent.txt"]);
        }
    }
}

/// What the parent may not, no agent it names may do for it.
#[test]
fn a_task_widens_nothing() {
    let agents = [
        (
            "careful",
            "tools: [task, read]\npolicy: { deny: [write] }\n",
        ),
        ("writer", "tools: [write]\npolicy: { allow: [write] }\n"),
    ];
    let asking = Asking::by(
        with_agents(user(), &agents),
        CLIENTS[0],
        [
            Step::call("", [task(&json!({ "subagent_type": "writer" }))]),
            Step::call("", [write("child.txt")]),
            Step::say("I tried."),
            Step::say("Well."),
        ],
    );
    let ran = asking
        .asks(&["Work.", "--agent", "careful", "--yes"])
        .ends_with(0);
    ran.prints("Well.\n");
    assert!(!asking.user.home().join("child.txt").exists());
    assert_eq!(asking.server.requests()[1].tools(), [] as [&str; 0]);
}

#[test]
fn every_call_is_recorded_with_whoever_made_it() {
    let asking = Asking::any([
        Step::call("", [task(&json!({})), write("parent.txt")]),
        Step::call("", [write("child.txt"), call("no_such_tool", json!({}))]),
        Step::say("Done."),
        Step::say("Well."),
    ]);
    asking.asks(&["Work.", "--allow", "write"]).ends_with(0);
    let records = asking.user.runs(["log", "--json"]).ends_with(0).lines();
    let mut made: Vec<String> = records
        .iter()
        .map(|record| {
            let word = |key: &str| record[key].as_str().unwrap_or("-").to_owned();
            let status = record["outcome"]["status"].as_str().unwrap();
            format!("{} {} {status}", word("caller"), word("tool"))
        })
        .collect();
    made.sort();
    assert_eq!(
        made,
        [
            "cli task ok",
            "cli write ok",
            "cli#task-1 - error",
            "cli#task-1 write ok",
        ],
        "{records:#?}"
    );
}

#[test]
fn tasks_are_given_on_twice_and_not_further() {
    let deeper = || Step::call("", [task(&json!({}))]);
    let asking = Asking::any([
        deeper(),
        deeper(),
        deeper(),
        Step::say("No further."),
        Step::say("From below."),
        Step::say("From the top."),
    ]);
    let events = asking.events(&["Go deep."]);
    assert_eq!(events.last().unwrap()["text"], "From the top.");
    let requests = asking.server.requests();
    let may_give = |at: usize| requests[at].tools().contains(&"task");
    assert_eq!([0, 1, 2].map(may_give), [true, true, false]);
    are(&asking.results(3), &["unknown_tool"]);
    are(&asking.results(4), &["No further."]);
    are(&asking.results(5), &["From below."]);
    // One call by the model that was asked; what the others took is told with it.
    let ended = events.last().unwrap();
    assert_eq!(ended["calls"], 1);
    assert_eq!(of_kind(&events, "called").len(), 1);
}

/// Six tasks of one turn: four run, and two wait for their turn.
#[test]
fn only_so_many_tasks_run_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, largest) = (Arc::clone(&now), Arc::clone(&most));
    let answer = move |request: &Value| {
        let text = request.to_string();
        let has_results = text.contains("\"role\":\"tool\"");
        match (text.contains("Give six tasks."), has_results) {
            (true, false) => Step::call("", (0..6).map(|_| task(&json!({}))).collect::<Vec<_>>()),
            (true, true) => Step::say("All done."),
            (false, false) => {
                let now = count.fetch_add(1, Ordering::SeqCst) + 1;
                largest.fetch_max(now, Ordering::SeqCst);
                Step::call("", [call("example_sleep", json!({ "ms": 300 }))])
            }
            (false, true) => {
                count.fetch_sub(1, Ordering::SeqCst);
                Step::say("Done.")
            }
        }
    };
    let asking = Asking::any(Script::default().then_always(Step::answer(answer)));
    asking
        .asks(&["Give six tasks."])
        .ends_with(0)
        .prints("All done.\n");
    assert_eq!(asking.results(asking.server.requests().len() - 1).len(), 6);
    let (most, now) = (most.load(Ordering::SeqCst), now.load(Ordering::SeqCst));
    assert!(most <= 4 && now == 0, "{most} at once, {now} left");
}

/// Tasks that never end: four of them are under way at the same time.
#[test]
fn so_many_tasks_do_run_at_once() {
    let tasks: Vec<RawCall> = (0..6).map(|_| task(&json!({}))).collect();
    let script = Script::new([Step::call("", tasks)]).then_always(Step::Hang);
    let asking = Asking::any(script);
    let asked = asking.begins(&["Give six tasks."]);
    asking.is_asked(5);
    asked.signal(Signal::INT);
    let ran = asked.ends();
    assert_eq!(ran.status, Some(130), "{ran:#?}");
    // Those that waited did not begin.
    assert_eq!(asking.server.requests().len(), 5);
    assert_eq!(of_kind(&ran.lines(), "called").len(), 6);
}

/// However the program ends, what its tasks run ends with it: in front and in the background.
#[test]
fn the_end_of_the_parent_is_the_end_of_its_children() {
    for background in [false, true] {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            let name = format!("{background} {signal:?}");
            let mark = format!("{}-task-{name}", std::process::id());
            let child = json!({ "command": "touch begun; sleep 1000", "env": { "MARK": mark } });
            let child = Arc::new(Mutex::new(child));
            let answer = move |request: &Value| match request.to_string() {
                text if !text.contains("Give it away.") => {
                    Step::call("", [call("bash", child.lock().unwrap().clone())])
                }
                text if text.contains("\"role\":\"tool\"") => Step::Hang,
                _ => Step::call("", [task(&json!({ "run_in_background": background }))]),
            };
            let asking = Asking::any(Script::default().then_always(Step::answer(answer)));
            let asked = asking.begins(&["Give it away.", "--allow", "bash"]);
            until("the child's command runs", || {
                asking.user.home().join("begun").exists() && !living(&mark).is_empty()
            });
            asked.signal(signal);
            let ran = asked.ends();
            let status = if signal == Signal::KILL {
                None
            } else {
                Some(130)
            };
            assert_eq!(ran.status, status, "{name} {ran:#?}");
            until("nothing of it runs", || living(&mark).is_empty());
        }
    }
}

/// One that answers is read, and one that never would is stopped.
#[test]
fn a_task_in_the_background_is_read_and_stopped() {
    let quick = json!({ "description": "Answer at once", "run_in_background": true });
    let endless = json!({
        "description": "Think for ever", "prompt": "Think for ever, please.", "run_in_background": true,
    });
    // The number of the task that is called so.
    let number = |told: &str, description: &str| {
        let end = told.find(&format!(" s now: {description}.")).unwrap();
        let begun = told[..end].rfind("task-").unwrap();
        let mut words = told[begun..end].split_whitespace();
        words.next().unwrap().to_owned()
    };
    for client in CLIENTS {
        let (quick, endless) = (quick.clone(), endless.clone());
        let answer = move |request: &Value| {
            let (text, results) = (request.to_string(), results(request));
            if !text.contains("Give two away.") {
                return match text.contains("Think for ever, please.") {
                    true => Step::Hang,
                    false => Step::say("Done in the background."),
                };
            }
            let told = results.join("\n");
            match results.len() {
                0 => Step::call("", [task(&quick), task(&endless)]),
                2 => {
                    let read = json!({ "id": number(&told, "Answer at once"), "timeout": 60_000 });
                    Step::call("", [call("task_output", read)])
                }
                3 => {
                    let stop = json!({ "id": number(&told, "Think for ever") });
                    Step::call("", [call("task_stop", stop)])
                }
                _ => Step::say("Both."),
            }
        };
        let asking = Asking::new(client, Script::default().then_always(Step::answer(answer)));
        let ran = asking.asks(&["Give two away."]).ends_with(0);
        assert_eq!(ran.stdout, "Both.\n", "{client:?}");
        let requests = asking.server.requests().len();
        let parts = [
            "Answer at once",
            "Think for ever",
            "Done in the background.",
            "was ended",
        ];
        are(&asking.results(requests - 1), &parts);
    }
}

#[test]
fn a_conversation_that_is_gone_on_with_gives_tasks_to_its_model() {
    let asking = Asking::any([
        Step::say("Hello."),
        Step::call("", [task(&json!({}))]),
        Step::say("It went well."),
        Step::say("It is done."),
    ]);
    asking.asks(&["Hi."]).ends_with(0);
    let words = ["ask", "--continue", "Give it away."];
    let ran = asking.user.runs(words).ends_with(0);
    assert_eq!(ran.stdout, "It is done.\n", "{ran:#?}");
    assert!(asking.results(3)[0].contains("It went well."), "{ran:#?}");
}

#[test]
fn without_a_model_a_task_says_so() {
    let words = [
        "call",
        "task",
        "description=Do some work",
        "prompt=Do what is to be done.",
        "--yes",
    ];
    let ran = user().runs(words).ends_with(1);
    assert!(
        ran.stderr.contains("no model is named") && ran.stderr.contains("toolsmith.yaml"),
        "{ran:#?}"
    );
    // A model of the configuration does it.
    let server = ModelServer::start([Step::say("It is done.")]);
    let url = server.url(Provider::Ollama);
    let user = user().having(
        "toolsmith.yaml",
        format!("model: ollama/llama3.1\nproviders: {{ ollama: {{ url: {url} }} }}\n"),
    );
    let ran = user.runs(words).ends_with(0);
    assert!(ran.stdout.contains("It is done."), "{ran:#?}");
    // Who calls a tool by hand is asked about it, as about every other.
    user.runs(&words[..4]).ends_with(3);
}

#[test]
fn a_model_nobody_named_is_not_asked() {
    let asking = Asking::any([
        Step::call("", [task(&json!({ "model": "openai/the-dearest" }))]),
        Step::call("", [task(&json!({ "subagent_type": "nobody" }))]),
        Step::say("Well."),
    ]);
    asking.asks(&["Work."]).ends_with(0).prints("Well.\n");
    are(
        &asking.results(2),
        &["not among those of this project", "nobody"],
    );
}
