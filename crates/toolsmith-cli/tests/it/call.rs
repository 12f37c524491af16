//! `call`: the reply in every shape, and what a person reads.

use serde_json::{Value, json};

use crate::support::{Ran, user};

fn call(arguments: &[&str]) -> Ran {
    user().runs([&["call"], arguments].concat())
}

/// What `example_add a=two b=three` answers.
const TWO_WRONG: &str = "2 arguments of `example_add` do not fit:\n\
    - `a`: expected number, got \"two\" (string)\n\
    - `b`: expected number, got \"three\" (string)\n\
    `example_add` takes (a: number, b: number).";

fn problems() -> Value {
    json!({ "reason": "BAD_ARGUMENT", "problems": [
        { "path": "a", "expected": "number", "found": "\"two\" (string)" },
        { "path": "b", "expected": "number", "found": "\"three\" (string)" },
    ]})
}

#[test]
fn a_success_in_every_shape() {
    let shapes = [
        (
            "message",
            json!({ "tool_name": "example_add", "output": 5, "error": null }),
        ),
        ("envelope", json!({ "success": true, "value": 5 })),
        (
            "result",
            json!({ "success": true, "llm_content": "5", "display_content": "5" }),
        ),
        (
            "mcp",
            json!({
                "content": [{ "type": "text", "text": "5" }],
                "structuredContent": 5,
                "isError": false,
            }),
        ),
        (
            "outcome",
            json!({ "value": 5, "facts": { "tool": "example_add", "call_id": "call-1" } }),
        ),
    ];
    for (shape, expected) in shapes {
        let ran = call(&["example_add", "a=2", "b=3", "--as", shape])
            .ends_with(0)
            .tells("");
        assert_eq!(ran.json(), expected, "{shape}");
        assert_eq!(
            ran.stdout.lines().count(),
            1,
            "one line where there is no terminal"
        );
    }
}

#[test]
fn a_failure_in_every_shape() {
    let error = json!({
        "code": "invalid_parameters",
        "message": TWO_WRONG,
        "retryable": false,
        "details": problems(),
    });
    let said = format!("invalid_parameters: {TWO_WRONG}\nCorrect the arguments and call again.");
    let shapes = [
        (
            "message",
            json!({ "tool_name": "example_add", "output": null, "error": error }),
        ),
        (
            "envelope",
            json!({ "success": false, "error": TWO_WRONG, "error_type": "invalid_parameters" }),
        ),
        (
            "result",
            json!({
                "success": false,
                "llm_content": said,
                "display_content": format!("invalid_parameters: {TWO_WRONG}"),
                "error": {
                    "message": TWO_WRONG,
                    "type": "validation_error",
                    "code": "invalid_parameters",
                    "details": problems(),
                },
            }),
        ),
        (
            "mcp",
            json!({ "content": [{ "type": "text", "text": said }], "isError": true }),
        ),
        (
            "outcome",
            json!({
                "error": error,
                "facts": { "tool": "example_add", "call_id": "call-1" },
            }),
        ),
    ];
    for (shape, expected) in shapes {
        let ran = call(&["example_add", "a=two", "b=three", "--as", shape])
            .ends_with(1)
            .tells("");
        assert_eq!(ran.json(), expected, "{shape}");
    }
}

#[test]
fn json_is_the_whole_outcome() {
    let as_json = call(&["example_add", "a=2", "b=3", "--json"]).ends_with(0);
    let as_outcome = call(&["example_add", "a=2", "b=3", "--as", "outcome"]);
    assert_eq!(as_json.json(), as_outcome.json());
    let shape_wins = call(&["example_add", "a=2", "b=3", "--json", "--as", "envelope"]);
    assert_eq!(shape_wins.json(), json!({ "success": true, "value": 5 }));
}

#[test]
fn without_a_shape_the_value_is_printed() {
    call(&["example_add", "a=2", "b=3"])
        .ends_with(0)
        .prints("5\n")
        .tells("");
    call(&["example_add", "a=0.5", "b=0.25"])
        .ends_with(0)
        .prints("0.75\n");
    call(&["example_echo", "text=a\nb"])
        .ends_with(0)
        .prints("a\nb\n");
}

#[test]
fn wrong_arguments_are_all_named_with_the_next_step() {
    call(&["example_add", "a=two", "b=three"])
        .ends_with(1)
        .prints("")
        .tells(&format!(
            "error: invalid_parameters: {TWO_WRONG}\n  see `toolsmith show example_add`\n"
        ));
}

#[test]
fn an_unknown_tool_is_answered_with_the_nearest() {
    call(&["exmple_add"]).ends_with(1).prints("").tells(
        "error: unknown_tool: there is no tool \"exmple_add\"; the nearest are example_add, \
         example_fail, example_flood, example_panic\n  see `toolsmith tools`\n",
    );
    let ran = call(&["exmple_add", "--as", "message"]).ends_with(1);
    assert_eq!(
        ran.json(),
        json!({
            "tool_name": "exmple_add",
            "output": null,
            "error": {
                "code": "unknown_tool",
                "message": "there is no tool \"exmple_add\"; the nearest are example_add, \
                    example_fail, example_flood, example_panic",
                "retryable": false,
                "details": {
                    "nearest": ["example_add", "example_fail", "example_flood", "example_panic"],
                },
            },
        })
    );
}

#[test]
fn a_time_limit_ends_a_call_with_124() {
    call(&["example_sleep", "ms=60000", "--timeout", "200ms"])
        .ends_with(124)
        .prints("")
        .tells(
            "error: timeout: ran out of time after 200ms; it was stopped\n  \
             give it more time with --timeout\n",
        );
    let ran = call(&["example_sleep", "ms=60000", "--timeout", "1ms", "--json"]).ends_with(124);
    assert_eq!(ran.json()["error"]["code"], "timeout");
    assert_eq!(
        ran.json()["error"]["retryable"],
        true,
        "sleeping twice does no harm"
    );
}

#[test]
fn the_longest_time_limit_of_the_file_holds_for_the_option_too() {
    user()
        .having("toolsmith.yaml", "limits: { longest: 1ms, timeout: 1ms }\n")
        .runs(["call", "example_sleep", "ms=60000", "--timeout", "1h"])
        .ends_with(124);
}

#[test]
fn a_failing_tool_says_why() {
    call(&["example_fail", "message=no such branch"])
        .ends_with(1)
        .prints("")
        .tells("error: execution_failed: no such branch\n");
}

#[test]
fn a_panic_is_internal_and_nothing_but_the_reply_is_told() {
    call(&["example_panic"])
        .ends_with(1)
        .prints("")
        .tells("error: internal: the tool panicked: this example always panics\n");
    let verbose = call(&["example_panic", "-vv"]).ends_with(1);
    assert!(
        verbose.stderr.contains("tool_example.rs"),
        "-vv tells where: {verbose:#?}"
    );
}

#[test]
fn progress_is_silent_without_a_terminal() {
    call(&["example_progress", "steps=100"])
        .ends_with(0)
        .prints("took 100 steps\n")
        .tells("");
}

#[test]
fn verbose_tells_the_call_on_stderr_and_leaves_stdout_alone() {
    let ran = call(&["example_add", "a=2", "b=3", "-vvv"])
        .ends_with(0)
        .prints("5\n");
    assert!(
        ran.stderr
            .contains("TRACE toolsmith: Tool called: example_add"),
        "{ran:#?}"
    );
    assert!(
        ran.stderr
            .contains("TRACE toolsmith: Tool example_add completed successfully"),
        "{ran:#?}"
    );
    let ran = call(&["example_add", "a=2", "b=3", "-v"])
        .ends_with(0)
        .prints("5\n");
    assert!(
        ran.stderr
            .contains("INFO toolsmith: tool call tool=\"example_add\""),
        "{ran:#?}"
    );
    assert!(!ran.stderr.contains("TRACE"), "{ran:#?}");
}

#[test]
fn what_steers_a_terminal_is_taken_out() {
    call(&[
        "example_echo",
        "text=\u{1b}[31mred\u{1b}[0m \u{202e}back\u{200b}\u{7}",
    ])
    .ends_with(0)
    .prints("red back\n");
    call(&["example_fail", "message=\u{1b}]0;title\u{7}gone"])
        .ends_with(1)
        .tells("error: execution_failed: gone\n");
    call(&["\u{1b}[31mred"])
        .ends_with(1)
        .says("there is no tool");
}

#[test]
fn a_dry_run_tells_the_plan_and_who_decides_and_runs_nothing() {
    let delete = [
        "example_delete",
        "name=x",
        "consent=DELETE_EXAMPLE",
        "--dry-run",
    ];
    let ran = |more: &[&str]| call(&[&delete, more].concat());
    ran(&[]).ends_with(0).tells("").prints(
        "plan:     example_delete(name=\"x\", consent=\"DELETE_EXAMPLE\")\n\
         decision: ask, by mode ask\n\
         because:  it writes, which must be asked for\n",
    );
    ran(&["--deny", "example_*", "--yes"])
        .ends_with(0)
        .tells("")
        .prints(
            "plan:     example_delete(name=\"x\", consent=\"DELETE_EXAMPLE\")\n\
         decision: deny, by rule `deny example_*`\n\
         because:  a rule forbids it\n",
        );
    assert_eq!(
        ran(&["--json", "--allow", "example_delete(name: x)"])
            .ends_with(0)
            .json(),
        json!({
            "tool": "example_delete",
            "effect": "write",
            "arguments": { "name": "x", "consent": "DELETE_EXAMPLE" },
            "plan": {
                "summary": "example_delete(name=\"x\", consent=\"DELETE_EXAMPLE\")",
                "confirm": { "needed": "unspecified" },
            },
            "decision": {
                "verdict": "allow",
                "by": "rule `allow example_delete(name: x)`",
                "reason": "a rule allows it",
            },
        })
    );
    call(&["example_panic", "--dry-run"]).ends_with(0).tells("");
    call(&["example_fail", "message=x", "--dry-run", "-vvv"])
        .ends_with(0)
        .prints(
            "plan:     example_fail(message=\"x\")\n\
         decision: allow, by mode ask\n\
         because:  it only reads\n",
        );
}

#[test]
fn a_dry_run_of_a_wrong_call_says_what_is_wrong() {
    let ran = call(&["example_delete", "name=x", "--dry-run"])
        .ends_with(1)
        .prints("");
    assert!(
        ran.stderr
            .contains("expected exactly \"DELETE_EXAMPLE\", got nothing"),
        "{ran:#?}"
    );
    let ran = call(&["example_add", "a=two", "b=three", "--dry-run", "--json"]).ends_with(1);
    assert_eq!(
        ran.json(),
        json!({
            "tool": "example_add",
            "effect": "read",
            "error": {
                "code": "invalid_parameters",
                "message": TWO_WRONG,
                "retryable": false,
                "details": problems(),
            },
        })
    );
}
