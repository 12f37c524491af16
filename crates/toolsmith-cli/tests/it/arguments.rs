//! Arguments as the command line writes them, through the real binary. What needs
//! schemas the example tools do not have is tested beside the code.

use serde_json::{Value, json};

use crate::support::{Ran, user};

/// The arguments as the tool would get them.
#[track_caller]
fn arguments(words: &[&str]) -> Value {
    let ran = user().runs([&["call"], words, &["--dry-run", "--json"]].concat());
    ran.ends_with(0).json()["arguments"].clone()
}

fn call(words: &[&str]) -> Ran {
    user().runs([&["call"], words].concat())
}

#[test]
fn pairs_are_typed_by_the_schema() {
    let cases = [
        (
            &["example_add", "a=2", "b=-3.5e1"][..],
            json!({ "a": 2, "b": -35.0 }),
        ),
        (&["example_echo", "text=12"], json!({ "text": "12" })),
        (&["example_echo", "text=true"], json!({ "text": "true" })),
        (&["example_echo", "text=null"], json!({ "text": "null" })),
        (
            &["example_echo", "text={\"a\":1}"],
            json!({ "text": "{\"a\":1}" }),
        ),
        (&["example_echo", "text="], json!({ "text": "" })),
        (&["example_echo", "text=a=b=c"], json!({ "text": "a=b=c" })),
        (
            &["example_echo", "text= spaced out "],
            json!({ "text": " spaced out " }),
        ),
        (
            &["example_echo", "text=--flag"],
            json!({ "text": "--flag" }),
        ),
        (&["example_sleep", "ms=5"], json!({ "ms": 5 })),
        (&["example_sleep", "ms=5.0"], json!({ "ms": 5 })),
        (&["example_panic"], json!({})),
    ];
    for (words, expected) in cases {
        assert_eq!(arguments(words), expected, "{words:?}");
    }
}

#[test]
fn args_come_as_json_from_a_file_or_from_stdin() {
    let whole = json!({ "a": 2, "b": 3 });
    assert_eq!(
        arguments(&["example_add", "--args", "{\"a\":2,\"b\":3}"]),
        whole
    );
    let user = user()
        .having("call.json", "{\"a\": 2, \"b\": 3}\n")
        .typing(" {\"a\": 2,\n \"b\": 3} ");
    for source in ["@call.json", "-"] {
        user.runs(["call", "example_add", "--args", source])
            .ends_with(0)
            .prints("5\n");
    }
}

#[test]
fn pairs_are_laid_over_args() {
    let cases = [
        (
            &["--args", "{\"a\":2}", "b=3"][..],
            json!({ "a": 2, "b": 3 }),
        ),
        (
            &["b=3", "--args", "{\"a\":2,\"b\":7}"],
            json!({ "a": 2, "b": 3 }),
        ),
        (&["--args", "{}", "a=1", "b=1"], json!({ "a": 1, "b": 1 })),
        (&["--args", "null", "a=1", "b=1"], json!({ "a": 1, "b": 1 })),
    ];
    for (words, expected) in cases {
        assert_eq!(
            arguments(&[&["example_add"], words].concat()),
            expected,
            "{words:?}"
        );
    }
    call(&["example_add", "--args", "[1]", "a=1"])
        .ends_with(1)
        .says("--args is no object, so KEY=VALUE cannot be added to it");
    call(&["example_add", "--args", "[1]"])
        .ends_with(1)
        .says("the arguments of `example_add` must be an object, not an array of 1 items");
}

#[test]
fn the_calls_own_faults_are_invalid_parameters() {
    let cases = [
        (
            &["txt=a"][..],
            "- `txt`: expected no such argument, got \"a\" (string); did you mean `text`?",
        ),
        (
            &["text=a", "text=b"],
            "cannot be read: `text` is given twice",
        ),
        (
            &["text=a", "text.b=c"],
            "`text` is given both as a value and as an object",
        ),
        (&["text.b=c", "text=a"], "`text` is given twice"),
        (
            &["text.b=c"],
            "- `text`: expected string, got an object with 1 fields",
        ),
        (&[], "- `text`: expected string, got nothing"),
    ];
    for (words, said) in cases {
        call(&[&["example_echo"], words].concat())
            .ends_with(1)
            .prints("")
            .says("error: invalid_parameters: ")
            .says(said);
    }
}

#[test]
fn the_users_own_faults_are_wrong_usage() {
    let cases = [
        (
            &["text"][..],
            "\"text\" is no argument: arguments are written key=value",
        ),
        (&["=x"], "\"=x\" is no argument"),
        (&[""], "\"\" is no argument"),
        (
            &["--args", "@missing.json"],
            "--args: missing.json cannot be read: ",
        ),
        (&["--args", "@."], "--args: . cannot be read: "),
        (&["--args", "@"], "--args:  cannot be read: "),
        (
            &["--args"],
            "a value is required for '--args <JSON|@FILE|->'",
        ),
        (
            &["--as", "yaml"],
            "[possible values: outcome, result, envelope, message, mcp]",
        ),
        (&["--nope"], "unexpected argument '--nope' found"),
    ];
    for (words, said) in cases {
        call(&[&["example_echo"], words].concat())
            .ends_with(2)
            .prints("")
            .says(said);
    }
}
