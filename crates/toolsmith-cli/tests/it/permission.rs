//! What may run: consent, rules, modes and answers, and which beats which.

use crate::support::{Ran, newcomer, user};

const DELETE: [&str; 4] = ["call", "example_delete", "name=x", "consent=DELETE_EXAMPLE"];

fn delete(options: &[&str]) -> Ran {
    user().runs([&DELETE, options].concat())
}

#[test]
fn without_the_consent_literal_nothing_helps() {
    for consent in [
        &[][..],
        &["consent=yes"],
        &["consent=delete_example"],
        &["consent="],
    ] {
        for options in [
            &[][..],
            &["--yes"],
            &["--allow", "example_delete"],
            &["--mode", "auto"],
        ] {
            let words = [&["call", "example_delete", "name=x"], consent, options].concat();
            user()
                .runs(words)
                .ends_with(1)
                .prints("")
                .says("invalid_parameters: an argument of `example_delete` does not fit:")
                .says("- `consent`: expected exactly \"DELETE_EXAMPLE\", got ");
        }
    }
}

#[test]
fn with_the_literal_and_nobody_to_ask_it_is_refused() {
    delete(&[]).ends_with(3).prints("").tells(
        "error: approval_required: example_delete(name=\"x\", consent=\"DELETE_EXAMPLE\") \
         needs approval: there is no terminal to ask on\n  \
         add --yes to approve it, or --allow with a rule for it\n",
    );
}

#[test]
fn yes_answers_what_would_be_asked() {
    delete(&["--yes"])
        .ends_with(0)
        .prints("deleted x\n")
        .tells("");
}

#[test]
fn yes_beats_no_denial() {
    delete(&["--deny", "example_delete", "--yes"])
        .ends_with(3)
        .prints("")
        .tells(
            "error: permission_denied: not allowed by rule `deny example_delete`: \
             a rule forbids it\n  --dry-run shows which rule decided\n",
        );
}

/// Options, and whether the call runs.
#[test]
fn deny_beats_ask_beats_allow_beats_the_mode() {
    let cases = [
        (&["--allow", "example_delete"][..], 0),
        (&["--allow", "example_*"], 0),
        (&["--allow", "effect:write"], 0),
        (&["--allow", "source:builtin"], 0),
        (&["--allow", "example_delete(name: x)"], 0),
        (&["--allow", "example_delete(x)"], 0),
        (&["--allow", "example_delete(name: y)"], 3),
        (&["--allow", "source:mcp"], 3),
        (&["--allow", "example_delete", "--deny", "effect:write"], 3),
        (&["--deny", "effect:write", "--allow", "example_delete"], 3),
        (&["--deny", "example_delete(name: y)", "--yes"], 0),
        (&["--deny", "example_delete(name ^= x)", "--yes"], 3),
        (&["--deny", "*", "--yes", "--mode", "auto"], 3),
        (&["--mode", "plan", "--yes"], 3),
        (&["--mode", "plan", "--allow", "example_delete"], 0),
        (&["--mode", "ask"], 3),
        (&["--mode", "auto-edit"], 0),
        (&["--mode", "auto"], 0),
        (&["--mode", "auto", "--deny", "example_delete"], 3),
    ];
    for (options, status) in cases {
        let ran = delete(options);
        assert_eq!(ran.status, Some(status), "{options:?} {ran:#?}");
        assert_eq!(
            ran.stdout,
            if status == 0 { "deleted x\n" } else { "" },
            "{options:?}"
        );
    }
}

#[test]
fn a_denial_holds_under_the_offered_name() {
    let user = user().with("MCP_TOOL_PREFIX", "acme");
    for name in ["example_delete", "acme_example_delete"] {
        for rule in ["example_delete", "acme_example_delete"] {
            user.runs(
                ["call", name, "name=x", "consent=DELETE_EXAMPLE"]
                    .into_iter()
                    .chain(["--yes", "--deny", rule]),
            )
            .ends_with(3)
            .prints("")
            .tells(&format!(
                "error: permission_denied: not allowed by rule `deny {rule}`: \
                 a rule forbids it\n  --dry-run shows which rule decided\n",
            ));
        }
    }
}

/// A typing error in what forbids is seen, and what is no rule is not complained of.
#[test]
fn a_rule_that_means_no_tool_is_told_of() {
    let warning = "warning: policy: rule `deny exmaple_delete` names no tool\n";
    delete(&["--deny", "exmaple_delete", "--yes"])
        .ends_with(0)
        .prints("deleted x\n")
        .tells(warning);
    delete(&["--allow", "example_delete(nmae: x)", "--yes"])
        .ends_with(0)
        .tells(
            "warning: policy: no tool of rule `allow example_delete(nmae: x)` \
             has an argument `nmae`\n",
        );
    let user = user()
        .having("toolsmith.yaml", "policy: { deny: [exmaple_delete] }\n")
        .typing("[]");
    user.runs(["batch"]).ends_with(0).says(warning.trim_end());
    user.runs(["tools"]).ends_with(0).tells("");
}

/// What a server calls its tools is known once it was asked, and a call asks its own alone.
#[cfg(target_os = "linux")]
#[test]
fn a_rule_about_a_server_nobody_asked_is_not_complained_of() {
    let program = env!("CARGO_BIN_EXE_toolsmith");
    let config = format!(
        "servers: {{ up: {{ command: {program} --root up serve --stdio, allow: [glob] }} }}\n\
         policy: {{ allow: ['mcp__up__*'], ask: [mcp__up__golb], deny: ['mcp__*__drop'] }}\n\
         bindings: {{ mcp__up__glob: {{ timeout: 5s }} }}\n"
    );
    let user = newcomer().having("toolsmith.yaml", config);
    std::fs::create_dir(user.home().join("up")).unwrap();
    std::fs::write(user.home().join("up/a.md"), "").unwrap();
    let ours = ["call", "glob", "pattern=*.yaml"];
    user.runs(ours).ends_with(0).tells("");
    user.runs(["check", "--strict"]).ends_with(0).tells("");
    user.runs(["call", "mcp__up__glob", "pattern=*.md"])
        .ends_with(0)
        .tells(
            "warning: policy: rule `deny mcp__*__drop` names no tool\n\
             warning: policy: rule `ask mcp__up__golb` names no tool\n",
        );
    user.runs(ours.into_iter().chain(["--deny", "mcp__pu__x"]))
        .ends_with(0)
        .tells("warning: policy: rule `deny mcp__pu__x` names no tool\n");
}

#[test]
fn the_file_and_the_command_line_speak_together() {
    let with = |policy: &str, options: &[&str]| {
        let user = user().having("toolsmith.yaml", format!("policy: {policy}\n"));
        user.runs([&DELETE, options].concat()).status
    };
    assert_eq!(with("{ allow: [example_delete] }", &[]), Some(0));
    assert_eq!(
        with("{ allow: [example_delete] }", &["--deny", "example_delete"]),
        Some(3)
    );
    assert_eq!(
        with(
            "{ deny: [example_delete] }",
            &["--allow", "example_delete", "--yes"]
        ),
        Some(3)
    );
    assert_eq!(
        with("{ ask: [example_delete] }", &["--allow", "example_delete"]),
        Some(3)
    );
    assert_eq!(
        with("{ ask: [example_delete] }", &["--mode", "auto"]),
        Some(3)
    );
    assert_eq!(with("{ ask: [example_delete] }", &["--yes"]), Some(0));
    assert_eq!(with("{ mode: plan }", &["--yes"]), Some(3));
    assert_eq!(with("{ mode: plan }", &["--mode", "auto-edit"]), Some(0));
    let full = "{ rules: [{ effect: deny, tool: 'example_*', args: { name: { equals: x } } }] }";
    assert_eq!(with(full, &["--yes"]), Some(3));
}

#[test]
fn reading_needs_no_permission_but_can_be_denied() {
    let add = ["call", "example_add", "a=1", "b=2"];
    for mode in ["plan", "ask", "auto-edit", "auto"] {
        user()
            .runs([&add[..], &["--mode", mode]].concat())
            .ends_with(0)
            .prints("3\n");
    }
    user()
        .runs([&add[..], &["--deny", "effect:read"]].concat())
        .ends_with(3)
        .prints("");
}

/// A guard that cannot be read stops everything before it starts.
#[test]
fn what_cannot_be_read_is_wrong_usage() {
    let cases = [
        (
            &["--allow", "x("][..],
            "rule \"x(\" cannot be read: the `(` has no `)` at the end",
        ),
        (
            &["--deny", ""],
            "rule \"\" cannot be read: it names no tool",
        ),
        (
            &["--deny", "["],
            "rule \"[\" cannot be read: error parsing glob",
        ),
        (
            &["--deny", "x()"],
            "there is nothing between the parentheses",
        ),
        (&["--deny", "x(a ~= ()"], "regex parse error"),
        (
            &["--deny", "x(n in 5..1)"],
            "\"5..1\" is no range; write LOW..HIGH",
        ),
        (
            &["--deny", "effect:fly"],
            "effects are read, write, execute and network",
        ),
        (
            &["--deny", "source:moon"],
            "sources are builtin, native, rest, mcp and mcp/SERVER",
        ),
        (&["--deny", "two words"], "a tool name cannot hold ' '"),
        (
            &["--mode", "yolo"],
            "\"yolo\" is no mode; use plan, ask, auto-edit or auto",
        ),
        (&["--mode", ""], "\"\" is no mode"),
        (
            &["--timeout", "5"],
            "\"5\" is no duration; write a number and a unit",
        ),
        (&["--timeout", "-1s"], "unexpected argument '-1' found"),
        (&["--timeout=-1s"], "\"-1s\" is no duration"),
        (&["--timeout", "0s"], "a time limit is longer than nothing"),
        (&["--timeout", "99999999h"], "\"99999999h\" is no duration"),
        (&["--timeout", "NaNs"], "\"NaNs\" is no duration"),
    ];
    for (options, said) in cases {
        let ran = delete(&[options, &["--yes"]].concat());
        assert_eq!(ran.status, Some(2), "{options:?} {ran:#?}");
        assert!(ran.stderr.contains(said), "{options:?} {ran:#?}");
        assert_eq!(ran.stdout, "");
    }
}

/// A search from above would see what is forbidden below.
#[test]
fn forbidding_a_folder_forbids_searching_it_from_above() {
    let user = newcomer();
    for folder in ["secrets", "src"] {
        std::fs::create_dir(user.home().join(folder)).unwrap();
        std::fs::write(user.home().join(folder).join("a.txt"), "hunter2\n").unwrap();
    }
    let everything = format!("pattern={}/secrets/*", user.home().display());
    for (tool, argument) in [
        ("grep", "pattern=hunter"),
        ("glob", "pattern=**/*.txt"),
        ("glob", "pattern=secrets/*"),
        ("glob", &everything),
        ("find", "name=a.txt"),
        ("show_tree", "max_depth=3"),
        ("search_in_files", "query=hunter"),
        ("find_files_by_name", "name_pattern=a.txt"),
    ] {
        let rule = format!("{tool}(path beneath secrets)");
        let ran = user.runs(["call", tool, argument, "--deny", &rule]);
        assert_eq!(ran.status, Some(3), "{tool} {argument}: {ran:#?}");
        assert!(!ran.stdout.contains("a.txt"), "{tool} {argument}");
        if !argument.starts_with("pattern=/") {
            let ran = user.runs(["call", tool, argument, "path=src", "--deny", &rule]);
            assert_eq!(ran.status, Some(0), "{tool} {argument}: {ran:#?}");
        }
    }
}
