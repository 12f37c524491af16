//! `bash`, `shell` and `script` as a model uses them.

use serde_json::json;
use toolsmith_core::ErrorKind;

use super::ground::{reason, text};
use super::yard::{HUSHED, Yard, fact};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_says_what_it_wrote_and_how_it_ended() {
    let yard = Yard::new();
    let outcome = yard.bash("echo one; echo two >&2; echo three").await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    assert_eq!(text(&outcome), "one\ntwo\nthree");
    assert_eq!(fact(&outcome, "exit_code"), 0);
    assert_eq!(fact(&outcome, "streams"), "merged");
    assert_eq!(fact(&outcome, "stdout_length"), 14);
    assert!(fact(&outcome, "stderr_length").is_null());
    assert_eq!(fact(&outcome, "cwd"), ".");
    assert_eq!(fact(&outcome, "session_id"), "default");
    let outcome = yard.bash("echo no; exit 3").await;
    let error = outcome.error.clone().unwrap();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(error.message, "the command exited with status 3");
    assert!(
        outcome.model_text().contains("\nno"),
        "{}",
        outcome.model_text()
    );
    assert_eq!(fact(&outcome, "exit_code"), 3);
    let outcome = yard.bash("kill -SEGV $$").await;
    assert_eq!(fact(&outcome, "exit_code"), 139);
    assert_eq!(fact(&outcome, "signal"), "SIGSEGV");
    let outcome = yard.bash("no-such-program-at-all").await;
    assert!(
        text(&outcome).contains("command not found"),
        "{}",
        text(&outcome)
    );
    assert_eq!(fact(&outcome, "exit_code"), 127);
    assert!(yard.living().is_empty() && yard.leftovers().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_the_parents_secrets_is_visible() {
    let yard = Yard::new();
    let outcome = yard
        .bash("env; cat /proc/self/environ | tr '\\0' '\\n'; set")
        .await;
    let told = text(&outcome);
    assert!(
        told.contains("NO_COLOR=1") && told.contains("GIT_TERMINAL_PROMPT=0"),
        "{told}"
    );
    for name in [
        "API_KEY",
        "DATABASE_URL",
        "XDG_SESSION_TOKEN",
        "LD_PRELOAD",
        "BASH_ENV=",
        HUSHED,
    ] {
        assert!(!told.contains(name), "{name}: {told}");
    }
    // What gets into an output all the same is redacted.
    let outcome = yard
        .bash(&format!(
            "echo {}; echo {} | rev",
            HUSHED,
            HUSHED.chars().rev().collect::<String>()
        ))
        .await;
    assert!(!text(&outcome).contains(HUSHED), "{}", text(&outcome));
    assert!(!serde_json::to_string(&outcome).unwrap().contains(HUSHED));
}
