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
    let outcome = yard.bash("echo $0 $#; cd /nowhere").await;
    assert!(
        outcome.model_text().contains("bash 0\nbash: line 1: cd:"),
        "{}",
        outcome.model_text()
    );
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_come_together_or_apart() {
    let yard = Yard::new();
    let outcome = yard
        .call(
            "shell",
            json!({"command": "bash", "args": ["-c", "echo out; echo err >&2; exit 4"]}),
        )
        .await;
    let value = outcome.value.clone().unwrap();
    assert_eq!(
        (&value["stdout"], &value["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    assert_eq!(fact(&outcome, "streams"), "separate");
    assert_eq!(
        (
            fact(&outcome, "stdout_length"),
            fact(&outcome, "stderr_length")
        ),
        (json!(4), json!(4))
    );
    assert!(value["output"].as_str().unwrap().contains("err\n"));
    let outcome = yard.call("shell", json!({"command": "bash", "args": ["-c", "echo out; echo err >&2"], "capture_stderr": false})).await;
    assert_eq!(text(&outcome), "out");
    assert_eq!(fact(&outcome, "stderr_length"), 4);
    // One pipe keeps the order of a thousand quick writes.
    let command = "for i in $(seq 500); do echo o$i; echo e$i >&2; done";
    let outcome = yard.bash(command).await;
    let expected: String = (1..=500)
        .map(|number| format!("o{number}\ne{number}\n"))
        .collect();
    assert_eq!(text(&outcome), expected.trim_end());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_expanded_without_a_shell() {
    let yard = Yard::new();
    let args = json!(["%s|", "$HOME", "`id`", "*", "a b", "--", "-n", ";", ""]);
    let outcome = yard
        .call("shell", json!({"command": "printf", "args": args}))
        .await;
    assert_eq!(text(&outcome), "$HOME|`id`|*|a b|--|-n|;||");
    let outcome = yard.call("shell", json!({"command": "echo one two"})).await;
    assert_eq!(reason(&outcome), "BAD_ARGUMENT");
    assert!(text(&outcome).contains("use bash"));
    let outcome = yard
        .call("shell", json!({"command": "no-such-program"}))
        .await;
    assert_eq!(reason(&outcome), "NOT_FOUND");
    yard.file("not executable", "x");
    let outcome = yard
        .call("shell", json!({"command": "./not executable"}))
        .await;
    assert_eq!(reason(&outcome), "DENIED");
    assert!(text(&outcome).contains("chmod +x"), "{}", text(&outcome));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_and_views_of_the_output() {
    let yard = Yard::new();
    let outcome = yard
        .call(
            "bash",
            json!({"command": "cat; echo; echo end", "stdin": "a\nb"}),
        )
        .await;
    assert_eq!(text(&outcome), "a\nb\nend");
    // More than a pipe holds, to a program that reads nothing of it.
    let outcome = yard
        .call(
            "bash",
            json!({"command": "true", "stdin": "x".repeat(1 << 20)}),
        )
        .await;
    assert!(outcome.is_success());
    let outcome = yard
        .call(
            "bash",
            json!({"command": "seq 100", "tail_lines": 2, "head_lines": 1}),
        )
        .await;
    let told = text(&outcome);
    assert!(
        told.starts_with("1\n[… 97 lines, ") && told.ends_with("\n99\n100"),
        "{told}"
    );
    let path = fact(&outcome, "full_output_path");
    let read = yard
        .call("read", json!({"file_path": path, "limit": 3, "offset": 50}))
        .await;
    assert!(text(&read).contains("    50\t50\n"), "{}", text(&read));
    let outcome = yard.call("bash", json!({"command": "seq 100000"})).await;
    let told = text(&outcome);
    assert!(told.chars().count() <= 30_200, "{}", told.len());
    assert!(told.starts_with("1\n2\n") && told.ends_with("\n99999\n100000"));
    let kept = std::fs::metadata(fact(&outcome, "full_output_path").as_str().unwrap()).unwrap();
    assert_eq!(kept.len(), 588_895);
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&kept.permissions()) & 0o777,
        0o600
    );
    let outcome = yard
        .call(
            "bash",
            json!({"command": "seq 20000", "max_output": 200_000}),
        )
        .await;
    assert!(fact(&outcome, "omitted_bytes") == 0 && text(&outcome).ends_with("20000"));
    let outcome = yard
        .bash("printf '\\e[1mbold\\e[0m\\r\\n10%%\\r50%%\\r100%%\\nab\\bc\\n'")
        .await;
    assert_eq!(text(&outcome), "bold\n100%\nac");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_is_refused_with_a_remedy() {
    let yard = Yard::new();
    let two_megabytes = format!("echo {}", "x".repeat(2_000_000));
    for (tool, arguments, word, told) in [
        (
            "bash",
            json!({"command": "echo a\0b"}),
            "BAD_ARGUMENT",
            "NUL",
        ),
        ("bash", json!({"command": " \n"}), "BAD_ARGUMENT", "empty"),
        (
            "bash",
            json!({"command": two_megabytes}),
            "TOO_LARGE",
            "run that with script",
        ),
        (
            "shell",
            json!({"command": "echo", "args": [two_megabytes]}),
            "TOO_LARGE",
            "by stdin",
        ),
        (
            "shell",
            json!({"command": "echo", "args": vec!["x"; 40_000]}),
            "TOO_LARGE",
            "40001 words",
        ),
        (
            "shell",
            json!({"command": "echo", "args": ["a\0"]}),
            "BAD_ARGUMENT",
            "NUL",
        ),
        (
            "bash",
            json!({"command": "true", "session_id": "s".repeat(200)}),
            "BAD_ARGUMENT",
            "session_id",
        ),
        (
            "bash",
            json!({"command": "true", "stdin": "x".repeat(5 << 20)}),
            "TOO_LARGE",
            "stdin",
        ),
        (
            "bash",
            json!({"command": "true", "env": {"A": "x\0"}}),
            "BAD_ARGUMENT",
            "env.A",
        ),
        (
            "bash",
            json!({"command": "true", "env": {"A=B": "x"}}),
            "BAD_ARGUMENT",
            "A=B",
        ),
        (
            "bash",
            json!({"command": "true", "env": {"": "x"}}),
            "BAD_ARGUMENT",
            "no variable's name",
        ),
        (
            "bash",
            json!({"command": "true", "env": {"A": "x".repeat(200_000)}}),
            "BAD_ARGUMENT",
            "bytes",
        ),
    ] {
        let outcome = yard.call(tool, arguments).await;
        assert_eq!(
            reason(&outcome),
            word,
            "{tool} {told}: {:.300}",
            text(&outcome)
        );
        assert!(
            text(&outcome).contains(told),
            "{tool}: {:.300}",
            text(&outcome)
        );
    }
    for name in [
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "IFS",
        "GIT_CONFIG_COUNT",
        "MAKEFILES",
        "RIPGREP_CONFIG_PATH",
        "TAR_OPTIONS",
        "GIT_CONFIG_KEY_0",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "PERL5OPT",
        "RUBYOPT",
        "PATH",
        "HOME",
        "TMPDIR",
        "TOOLSMITH_LAUNCH",
    ] {
        let outcome = yard
            .call("bash", json!({"command": "true", "env": {name: "x"}}))
            .await;
        assert_eq!(reason(&outcome), "DENIED", "{name}: {}", text(&outcome));
        assert!(text(&outcome).contains(name));
    }
    let outcome = yard
        .call("bash", json!({"command": "true", "colour": 1}))
        .await;
    assert!(text(&outcome).contains("colour"), "{}", text(&outcome));
    // Line breaks in values are values.
    let outcome = yard
        .call(
            "bash",
            json!({"command": "printf '%s' \"$A\"", "env": {"A": "one\ntwo\n; id"}}),
        )
        .await;
    assert_eq!(text(&outcome), "one\ntwo\n; id");
    assert!(yard.living().is_empty() && yard.leftovers().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_sandbox_forbids_is_said_to_be_so() {
    let yard = Yard::new();
    let outside = yard.folder.path().join("outside/file");
    let outcome = yard.bash(&format!("echo x > {}", outside.display())).await;
    let told = outcome.model_text();
    assert!(
        told.contains("this may be the sandbox (workspace-write"),
        "{told}"
    );
    assert!(!outside.exists());
    let sandbox = fact(&outcome, "sandbox");
    assert!(sandbox.as_str().unwrap().contains("seccomp"), "{sandbox}");
    let outcome = yard
        .bash("echo x > inside; mkdir -p d; echo y > $TMPDIR/t; exec 3<>/dev/tcp/127.0.0.1/9")
        .await;
    assert!(
        outcome.model_text().contains("network off"),
        "{}",
        outcome.model_text()
    );
    assert_eq!(
        std::fs::read_to_string(yard.root().join("inside")).unwrap(),
        "x\n"
    );
    // A failure of its own is not blamed on it.
    let outcome = yard.bash("ls nowhere").await;
    assert!(
        !outcome.model_text().contains("sandbox"),
        "{}",
        outcome.model_text()
    );
}

/// A private key that is kept in a file is redacted there, wherever the reads cut it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kept_files_hold_no_secrets() {
    let yard = Yard::new();
    let toolbox = yard.toolbox.clone();
    yard.shells
        .redact_with(std::sync::Arc::new(move |text: &str| {
            toolbox.redactor().clean(text).into_owned()
        }));
    let key: String = (0..20)
        .map(|_| format!("{}\n", "QUJD".repeat(16)))
        .collect();
    yard.file(
        "key",
        &format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n"),
    );
    let half = HUSHED.len() / 2;
    let (one, two) = HUSHED.split_at(half);
    let command = format!(
        "seq 20000; while read -r l; do echo $l; sleep 0.01; done < key; printf {one}; sleep 0.1; echo {two}; seq 3"
    );
    let outcome = yard.bash(&command).await;
    let kept =
        std::fs::read_to_string(fact(&outcome, "full_output_path").as_str().unwrap()).unwrap();
    assert!(
        kept.starts_with("1\n2\n") && kept.ends_with("\n1\n2\n3\n"),
        "{kept:.100}"
    );
    assert!(!kept.contains(HUSHED) && !kept.contains("QUJDQUJD"));
    assert!(!text(&outcome).contains(HUSHED) && !text(&outcome).contains("QUJDQUJD"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_command_is_not_repeated_and_a_file_nobody_made_executable_is_no_work_of_the_sandbox()
 {
    let yard = Yard::new();
    let outcome = yard
        .bash(&format!("echo hi # {}", "x".repeat(100_000)))
        .await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    let command = fact(&outcome, "command");
    let command = command.as_str().unwrap();
    assert!(command.len() < 3_000 && command.ends_with("(100010 bytes)"));
    let outcome = yard.bash("echo > f; ./f").await;
    assert_eq!(fact(&outcome, "exit_code"), 126);
    assert!(!text(&outcome).contains("sandbox"), "{}", text(&outcome));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_see_the_variables_of_a_call_and_what_cannot_be_split() {
    use toolsmith_core::RawCall;
    use toolsmith_runtime::permit::{Policy, Verdict};
    use toolsmith_runtime::{Caller, Mode};

    let policy = Policy::new(Mode::Ask).allowing(["bash(git *)", "shell(git *)"]);
    let yard = Yard::with_policy(policy.unwrap());
    let verdict = async |name: &str, arguments| {
        let call = RawCall::new(name, arguments);
        let explained = yard.toolbox.explain(call, &Caller::new("test")).await;
        explained.decision.unwrap().verdict
    };
    let plain = json!({ "command": "git status && git log" });
    assert_eq!(verdict("bash", plain).await, Verdict::Allow);
    let varied = json!({ "command": "git status", "env": { "XDG_CONFIG_HOME": "/x" } });
    assert_eq!(verdict("bash", varied).await, Verdict::Ask);
    let unclear = json!({ "command": "git ${x#$(y)}" });
    assert_eq!(verdict("bash", unclear).await, Verdict::Ask);
    let words = json!({ "command": "git", "args": ["status"] });
    assert_eq!(verdict("shell", words).await, Verdict::Allow);
    let varied = json!({ "command": "git", "args": ["status"], "env": { "GIT_DIR": "/x" } });
    assert_eq!(verdict("shell", varied).await, Verdict::Ask);
}
