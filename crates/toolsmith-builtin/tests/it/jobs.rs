//! Jobs in the background, from their start to their end, and whose they are.

use serde_json::{Value, json};
use toolsmith_core::Outcome;

use super::ground::{reason, text};
use super::yard::{Yard, fact};

async fn started(yard: &Yard, command: &str) -> String {
    let arguments = json!({"command": command, "run_in_background": true});
    let outcome = yard.call("bash", arguments).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert!(fact(&outcome, "pid").is_u64());
    fact(&outcome, "id").as_str().unwrap().to_owned()
}

async fn read(yard: &Yard, arguments: Value) -> Outcome {
    yard.call("shell_output", arguments).await
}

fn value(outcome: &Outcome, name: &str) -> Value {
    let value = outcome.value.as_ref().unwrap();
    value.get(name).cloned().unwrap_or(Value::Null)
}

/// Reads until a job has ended.
async fn over(yard: &Yard, id: &str) -> Outcome {
    loop {
        let outcome = read(yard, json!({"id": id, "since": 0, "wait_ms": 1000})).await;
        if value(&outcome, "state") != "running" {
            return outcome;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_read_typed_into_and_ended() {
    let yard = Yard::new();
    let id = started(
        &yard,
        "echo ready; while read -r line; do echo \"<$line>\"; done; echo over",
    )
    .await;
    assert_eq!(id, "1");
    let outcome = read(&yard, json!({"id": id, "wait_ms": 10_000})).await;
    assert_eq!(value(&outcome, "output"), "ready\n");
    assert_eq!(value(&outcome, "state"), "running");
    let since = value(&outcome, "next_since");
    let typed = yard
        .call("shell_input", json!({"id": id, "text": "one\n"}))
        .await;
    assert!(typed.is_success(), "{}", text(&typed));
    let outcome = read(&yard, json!({"id": id, "wait_ms": 10_000})).await;
    assert_eq!(value(&outcome, "output"), "<one>\n");
    // Again, from a place.
    let outcome = read(&yard, json!({"id": id, "since": since})).await;
    assert_eq!(value(&outcome, "output"), "<one>\n");
    let outcome = read(&yard, json!({"id": id})).await;
    assert_eq!(value(&outcome, "output"), "");
    assert!(text(&outcome).contains("[nothing new]"));
    yard.call(
        "shell_input",
        json!({"id": id, "text": "two", "close": true}),
    )
    .await;
    let outcome = over(&yard, &id).await;
    assert_eq!(value(&outcome, "output"), "ready\n<one>\nover\n");
    assert_eq!(
        (value(&outcome, "state"), value(&outcome, "exit_code")),
        ("finished".into(), 0.into())
    );
    let typed = yard
        .call("shell_input", json!({"id": id, "text": "x"}))
        .await;
    assert_eq!(reason(&typed), "DENIED");
    let second = started(
        &yard,
        "trap '' TERM; sleep 1000 & setsid -f sleep 1000; sleep 1000",
    )
    .await;
    let outcome = yard.call("shell_kill", json!({"id": second})).await;
    assert_eq!(value(&outcome, "state"), "killed", "{}", text(&outcome));
    assert!(yard.living().is_empty() && yard.leftovers().is_empty());
    let listed = yard.call("shell_list", json!({})).await;
    assert_eq!(value(&listed, "jobs").as_array().unwrap().len(), 2);
    assert_eq!(value(&listed, "running"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_its_callers_alone() {
    let yard = Yard::new();
    let id = started(&yard, "echo mine; sleep 1000").await;
    for (tool, arguments) in [
        ("shell_output", json!({"id": id})),
        ("shell_input", json!({"id": id, "text": "x"})),
        ("shell_kill", json!({"id": id})),
        ("shell_output", json!({"id": "../1"})),
        ("shell_output", json!({"id": "99999999999999999999"})),
    ] {
        let outcome = yard.call_as("other", tool, arguments.clone()).await;
        assert_eq!(reason(&outcome), "NOT_FOUND", "{tool}: {}", text(&outcome));
        assert!(!text(&outcome).contains("mine"));
    }
    let listed = yard.call_as("other", "shell_list", json!({})).await;
    assert_eq!(value(&listed, "jobs"), json!([]));
    assert!(!yard.living().is_empty());
    yard.call("shell_kill", json!({"id": id})).await;
    assert!(yard.living().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_job_is_told_once_to_its_caller() {
    let yard = Yard::new();
    let id = started(&yard, "exit 5").await;
    // Somebody else's replies say nothing of it.
    let mut told = String::new();
    while !told.contains("exited with status 5") {
        let other = yard
            .call_as("other", "bash", json!({"command": "true"}))
            .await;
        assert!(!text(&other).contains("job"), "{}", text(&other));
        told = text(&yard.bash("echo x").await);
    }
    assert!(
        told.contains(&format!("job {id} (exit 5) exited with status 5")),
        "{told}"
    );
    let again = text(&yard.bash("echo x").await);
    assert_eq!(again, "x");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_shows_lines_and_is_linear() {
    let yard = Yard::new();
    let id = started(&yard, "seq 1 100").await;
    over(&yard, &id).await;
    let outcome = read(&yard, json!({"id": id, "since": 0, "filter": "^.*7$"})).await;
    assert_eq!(
        value(&outcome, "output"),
        "7\n17\n27\n37\n47\n57\n67\n77\n87\n97\n"
    );
    let outcome = read(&yard, json!({"id": id, "since": 0, "filter": "nothing"})).await;
    assert!(text(&outcome).contains("[nothing new matches the filter]"));
    for filter in ["(", "(a{1000}){1000}", "(?=x)"] {
        let outcome = read(&yard, json!({"id": id, "filter": filter})).await;
        assert_eq!(reason(&outcome), "BAD_PATTERN", "{}", text(&outcome));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_not_finished_is_seen_once() {
    let yard = Yard::new();
    let id = started(
        &yard,
        "printf 'Password: '; read -r word; echo; echo \"[$word]\"",
    )
    .await;
    let outcome = read(&yard, json!({"id": id, "wait_ms": 10_000})).await;
    assert_eq!(value(&outcome, "unfinished_line"), "Password: ");
    let outcome = read(&yard, json!({"id": id})).await;
    assert!(value(&outcome, "unfinished_line").is_null());
    yard.call("shell_input", json!({"id": id, "text": "sesame\n"}))
        .await;
    let outcome = over(&yard, &id).await;
    assert_eq!(value(&outcome, "output"), "Password: \n[sesame]\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_reads_nothing_holds_up_nobody() {
    let yard = Yard::new();
    let id = started(&yard, "sleep 1000").await;
    let text_to_type = "x".repeat(64 << 10);
    let mut refused = 0;
    for _ in 0..40 {
        let outcome = yard
            .call("shell_input", json!({"id": id, "text": text_to_type}))
            .await;
        if !outcome.is_success() {
            assert_eq!(reason(&outcome), "BUSY");
            refused += 1;
        }
    }
    assert!(refused >= 20, "{refused}");
    let outcome = yard
        .call(
            "shell_input",
            json!({"id": id, "text": "x".repeat((64 << 10) + 1)}),
        )
        .await;
    assert_eq!(reason(&outcome), "BAD_ARGUMENT");
    yard.call("shell_kill", json!({"id": id})).await;
    assert!(yard.living().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_than_sixty_four_run() {
    let yard = Yard::new();
    let arguments = json!({"command": "sleep", "args": ["1000"], "run_in_background": true});
    for _ in 0..64 {
        let outcome = yard.call("shell", arguments.clone()).await;
        assert!(outcome.is_success(), "{}", text(&outcome));
    }
    let outcome = yard.call("shell", arguments.clone()).await;
    assert_eq!(reason(&outcome), "BUSY");
    assert!(text(&outcome).contains("shell_kill"), "{}", text(&outcome));
    // One that is waited for still runs.
    assert!(yard.bash("true").await.is_success());
    yard.call("shell_kill", json!({"id": "7"})).await;
    assert!(yard.call("shell", arguments).await.is_success());
    yard.shells.close().await;
    assert!(yard.living().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_that_have_ended_are_forgotten_first() {
    let yard = Yard::new();
    let live = started(&yard, "sleep 1000").await;
    for _ in 0..40 {
        let id = started(&yard, "true").await;
        over(&yard, &id).await;
    }
    let listed = yard.call("shell_list", json!({})).await;
    let jobs = value(&listed, "jobs");
    let ids: Vec<&str> = jobs
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["id"].as_str().unwrap())
        .collect();
    assert!(ids.len() <= 34, "{ids:?}");
    assert_eq!((ids[0], *ids.last().unwrap()), (live.as_str(), "41"));
    yard.shells.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_leaves_can_go_on() {
    let yard = Yard::new();
    let arguments = json!({"command": "sleep 1000 & echo done; exit 0", "leave_running": true});
    let outcome = yard.call("bash", arguments).await;
    let told = text(&outcome);
    assert!(
        told.contains("done\n[still running as job 1: sleep ("),
        "{told}"
    );
    assert_eq!(fact(&outcome, "exit_code"), 0);
    assert_eq!(yard.living().len(), 1, "{:?}", yard.living());
    yard.call("shell_kill", json!({"id": "1"})).await;
    assert!(yard.living().is_empty());
    // Once it is gone by itself, the job has ended.
    let arguments = json!({"command": "(sleep 0.3; echo late) & echo done", "leave_running": true});
    yard.call("bash", arguments).await;
    let outcome = over(&yard, "2").await;
    assert_eq!(value(&outcome, "output"), "done\nlate\n");
    assert_eq!(value(&outcome, "state"), "finished");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_can_go_on_when_its_time_is_up() {
    let yard = Yard::new();
    let arguments = json!({"command": "echo begun; sleep 1.5; echo ended", "timeout": 1000, "on_timeout": "background"});
    let outcome = yard.call("bash", arguments).await;
    assert!(outcome.is_success());
    let told = text(&outcome);
    assert!(
        told.contains("begun\n[time ran out after 1s; it is still running as job 1"),
        "{told}"
    );
    assert!(fact(&outcome, "exit_code").is_null());
    assert_eq!(fact(&outcome, "timed_out"), true);
    let outcome = over(&yard, "1").await;
    assert_eq!(value(&outcome, "output"), "begun\nended\n");
    assert_eq!(value(&outcome, "exit_code"), 0);
    assert!(yard.living().is_empty());
}

/// A command may be as long as a program can be given; whoever sent it has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_command_is_not_repeated_whole() {
    let yard = Yard::new();
    let id = started(&yard, &format!("echo done # {}", "x".repeat(100_000))).await;
    let outcome = over(&yard, &id).await;
    let command = value(&outcome, "command").as_str().unwrap().to_owned();
    assert!(command.starts_with("echo done # xxx"), "{command}");
    assert!(command.len() < 3000, "{}", command.len());
}
