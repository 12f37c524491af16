//! Machines that can do less: programs run with fewer layers and say so, or not at all.
//! Without a namespace everything a call starts is still found and ended.

use serde_json::json;
use toolsmith_process::{Mode, Sandbox, Support};

use super::ground::{reason, text};
use super::yard::{Yard, fact};

fn support() -> Support {
    toolsmith_process::use_helper(env!("CARGO_BIN_EXE_shell-helper"));
    Support::of_this_machine()
}

fn without_namespaces() -> Yard {
    let support = support().without_namespaces("the system refuses user namespaces");
    Yard::within(Sandbox::new(Mode::WorkspaceWrite).support(support))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missing_is_said() {
    let yard = without_namespaces();
    let outcome = yard.bash("echo x").await;
    assert_eq!(text(&outcome), "x");
    let sandbox = fact(&outcome, "sandbox");
    assert!(!sandbox.as_str().unwrap().contains("userns"), "{sandbox}");
    let notes = fact(&outcome, "sandbox_notes").to_string();
    assert!(
        notes.contains("the system refuses user namespaces"),
        "{notes}"
    );
    let outside = yard.folder.path().join("outside/file");
    yard.bash(&format!("echo x > {}", outside.display())).await;
    assert!(!outside.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_without_the_layers_it_needs() {
    let support = support()
        .without_landlock("the kernel is too old")
        .without_namespaces("the system refuses user namespaces");
    let yard = Yard::within(Sandbox::new(Mode::WorkspaceWrite).support(support));
    let marker = yard.root().join("ran");
    for (tool, arguments) in [
        ("bash", json!({"command": "touch ran"})),
        ("shell", json!({"command": "touch", "args": ["ran"]})),
        (
            "script",
            json!({"source": "touch ran", "interpreter": "sh"}),
        ),
        (
            "bash",
            json!({"command": "touch ran", "run_in_background": true}),
        ),
    ] {
        let outcome = yard.call(tool, arguments).await;
        assert_eq!(reason(&outcome), "DENIED", "{tool}: {}", text(&outcome));
        assert!(
            text(&outcome).contains("the kernel is too old"),
            "{}",
            text(&outcome)
        );
        assert!(!marker.exists() && yard.leftovers().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_found_and_ended_without_a_namespace() {
    for (command, code) in [
        ("sleep 1000 & setsid -f sleep 1000; echo done", 0),
        ("for i in $(seq 400); do sleep 1000 & done; echo done", 0),
        (
            "( ( trap '' TERM HUP; setsid bash -c 'trap \"\" TERM; while :; do sleep 0.1; done' ) & ); sleep 1000",
            124,
        ),
        ("trap '' TERM; while :; do sleep 0.05; done", 124),
        ("kill -STOP $$", 124),
        ("sleep 1000 & kill -KILL 0", 137),
    ] {
        let yard = without_namespaces();
        let limit = if code == 124 { 1000 } else { 20_000 };
        let outcome = yard
            .call("bash", json!({"command": command, "timeout": limit}))
            .await;
        assert_eq!(
            fact(&outcome, "exit_code"),
            code,
            "{command}: {}",
            outcome.model_text()
        );
        assert_eq!(yard.living(), Vec::<String>::new(), "{command}");
        let time = fact(&outcome, "execution_time").as_u64().unwrap();
        assert!(time <= limit + 1000, "{command}: {time}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_is_read_only() {
    let yard = Yard::within(Sandbox::new(Mode::ReadOnly));
    yard.file("a/file", "x");
    let outcome = yard
        .bash("cd a; cat file; echo y > $TMPDIR/t && cat $TMPDIR/t; echo z > file")
        .await;
    assert!(
        outcome.model_text().contains("x"),
        "{}",
        outcome.model_text()
    );
    assert!(
        outcome
            .model_text()
            .contains("this may be the sandbox (read-only"),
        "{}",
        outcome.model_text()
    );
    assert_eq!(
        std::fs::read_to_string(yard.root().join("a/file")).unwrap(),
        "x"
    );
    // The session is kept in every mode.
    assert_eq!(fact(&outcome, "cwd"), "a");
}
