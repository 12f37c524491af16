//! Scripts: what runs them, and what does not.

use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_runtime::Caller;

use super::ground::{reason, text};
use super::yard::{Yard, fact};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_is_run_by_what_its_first_line_or_name_says() {
    let yard = Yard::new();
    yard.file("plain.sh", "echo \"plain $0 <$1> <$2>\"\n");
    yard.file("first line", "#!/bin/sh\necho first \"$1\"\n");
    yard.file("perl.pl", "print \"perl $ARGV[0]\\n\";\n");
    yard.file("env.txt", "#!/usr/bin/env -S perl -w\nprint \"env\\n\";\n");
    let run = async |arguments: Value| {
        let outcome = yard.call("script", arguments).await;
        assert!(outcome.is_success(), "{}", text(&outcome));
        text(&outcome)
    };
    let path = yard.root().join("plain.sh");
    let args = json!(["-c", "two words; echo $(id)"]);
    assert_eq!(
        run(json!({"script_path": "plain.sh", "args": args})).await,
        format!("plain {} <-c> <two words; echo $(id)>", path.display())
    );
    assert_eq!(
        run(json!({"script_path": "first line", "args": ["-x"]})).await,
        "first -x"
    );
    assert_eq!(
        run(json!({"script_path": "perl.pl", "args": ["-e"]})).await,
        "perl -e"
    );
    assert_eq!(run(json!({"script_path": "env.txt"})).await, "env");
    // What the caller names comes first.
    assert!(
        run(json!({"script_path": "perl.pl", "interpreter": "/bin/cat"}))
            .await
            .starts_with("print")
    );
    assert_eq!(
        run(json!({"source": "echo \"$1-$#\"", "interpreter": "bash", "args": ["--version"]}))
            .await,
        "--version-1"
    );
    assert_eq!(
        run(json!({"source": "print(6*7)", "interpreter": "python3"})).await,
        "42"
    );
    assert!(yard.living().is_empty() && yard.leftovers().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_run_is_refused_with_a_remedy() {
    let yard = Yard::new();
    yard.file("notes.txt", "no script");
    yard.file("lost.py", "#!/opt/nowhere/python\n");
    yard.file("lost2.py", "#!/usr/bin/env no-such-interpreter\n");
    yard.file("relative", "#!python\n");
    yard.file("good.sh", "echo\n");
    std::fs::create_dir(yard.root().join("folder.sh")).unwrap();
    let either = "exactly one";
    for (arguments, word, told) in [
        (json!({}), "BAD_ARGUMENT", either),
        (
            json!({"script_path": "good.sh", "source": "echo", "interpreter": "sh"}),
            "BAD_ARGUMENT",
            either,
        ),
        (
            json!({"source": "echo"}),
            "BAD_ARGUMENT",
            "needs interpreter",
        ),
        (json!({"script_path": "good.shh"}), "NOT_FOUND", "good.sh"),
        (
            json!({"script_path": "folder.sh"}),
            "IS_DIRECTORY",
            "folder",
        ),
        (
            json!({"script_path": "/etc/passwd"}),
            "OUTSIDE_ROOT",
            "workspace",
        ),
        (
            json!({"script_path": "notes.txt"}),
            "BAD_ARGUMENT",
            "Name an interpreter",
        ),
        (
            json!({"script_path": "lost.py"}),
            "BAD_ARGUMENT",
            "/opt/nowhere/python, which is not there",
        ),
        (
            json!({"script_path": "lost2.py"}),
            "BAD_ARGUMENT",
            "no-such-interpreter, which is not installed",
        ),
        (
            json!({"script_path": "relative"}),
            "BAD_ARGUMENT",
            "full path",
        ),
        (
            json!({"script_path": "good.sh", "interpreter": "bash -x"}),
            "BAD_ARGUMENT",
            "options cannot be given",
        ),
        (
            json!({"script_path": "good.sh", "interpreter": "--version"}),
            "BAD_ARGUMENT",
            "no interpreter",
        ),
        (
            json!({"script_path": "good.sh", "interpreter": "./good.sh"}),
            "BAD_ARGUMENT",
            "no interpreter",
        ),
        (
            json!({"script_path": "good.sh", "interpreter": "/nowhere"}),
            "NOT_FOUND",
            "no program",
        ),
        (
            json!({"script_path": "good.sh", "args": ["a\0b"]}),
            "BAD_ARGUMENT",
            "NUL",
        ),
    ] {
        let outcome = yard.call("script", arguments.clone()).await;
        assert_eq!(reason(&outcome), word, "{arguments}: {}", text(&outcome));
        assert!(
            text(&outcome).contains(told),
            "{arguments}: {}",
            text(&outcome)
        );
    }
    let fifo = yard.root().join("fifo.sh");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let outcome = yard.call("script", json!({"script_path": "fifo.sh"})).await;
    assert_eq!(reason(&outcome), "NOT_REGULAR");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_hangs_is_ended_and_told_of() {
    let yard = Yard::new();
    yard.file("hang.sh", "echo begun\nsleep 1000 &\nsleep 1000\n");
    let outcome = yard
        .call("script", json!({"script_path": "hang.sh", "timeout": 1000}))
        .await;
    assert_eq!(fact(&outcome, "exit_code"), 124);
    assert_eq!(fact(&outcome, "command"), "hang.sh");
    assert!(outcome.model_text().contains("begun"));
    assert!(yard.living().is_empty());
}

/// Who is asked sees what runs, not only what it runs on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_names_the_interpreter() {
    let yard = Yard::new();
    yard.file("notes.txt", "no script");
    let arguments = json!({"script_path": "notes.txt", "interpreter": "/bin/rm", "args": ["-f"]});
    let call = RawCall::new("script", arguments);
    let explained = yard.toolbox.explain(call, &Caller::new("test")).await;
    assert_eq!(explained.plan.unwrap().summary, "run /bin/rm notes.txt -f");
    // A source may do nothing but run its arguments.
    let arguments = json!({"source": "\"$@\"", "interpreter": "sh", "args": ["rm", "a b"]});
    let call = RawCall::new("script", arguments);
    let explained = yard.toolbox.explain(call, &Caller::new("test")).await;
    let summary = "run sh: \"$@\" (given rm 'a b')";
    assert_eq!(explained.plan.unwrap().summary, summary);
}
