//! Rules about the commands of a line: each must be allowed, and one that is forbidden
//! forbids the line. What is known only when it runs is asked for.

use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, CommandLine, Commands, Kind, Outcome, Plan, PlannedCommand, RawCall, Schema,
};
use toolsmith_runtime::permit::Verdict::{self, Allow, Ask, Deny};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::definition;

/// A tool that takes a line whose commands stand between semicolons, `/` before a name is
/// a folder, `$` is an open word, and `?` is what nobody can tell.
fn shell() -> AnyTool {
    let schema = json!({
        "type": "object",
        "properties": { "command": { "type": "string" }, "cwd": { "type": "string" } },
        "required": ["command"],
    });
    let definition = definition("bash")
        .with_input(Schema::as_received(schema).unwrap())
        .with_kind(Kind::Execute);
    FunctionTool::new(definition)
        .with_plan(|arguments: &Value| {
            let line = arguments["command"].as_str().unwrap_or_default();
            let planned = |text: &str| {
                let text = text.trim().replace('$', "\u{fffc}");
                let command = PlannedCommand::new(&text);
                match text.rsplit_once("bin/") {
                    Some((_, program)) => command.or(program),
                    None => command,
                }
            };
            let commands = match line.contains('?') {
                true => Commands::Unclear {
                    reason: "nobody can tell".to_owned(),
                },
                false => Commands::Known(line.split(';').map(planned).collect()),
            };
            Ok(Plan::new("run").running(CommandLine::new("command", commands)))
        })
        .into_async(async |_: Value, _| Outcome::nothing())
}

#[track_caller]
fn decides(mode: Mode, allow: &[&str], deny: &[&str], arguments: Value) -> Verdict {
    let policy = Policy::new(mode).allowing(allow.iter().copied()).unwrap();
    let policy = policy.denying(deny.iter().copied()).unwrap();
    let toolbox = Toolbox::builder().tools([shell()]).policy(policy);
    let toolbox = toolbox.build().unwrap();
    let caller = Caller::new("test");
    let explained = explain(&toolbox, RawCall::new("bash", arguments), &caller);
    explained.decision.unwrap().verdict
}

#[test]
fn every_command_must_be_allowed_by_some_rule() {
    let rules = [
        "bash(git *)",
        "bash(command ~= ^ls( -l)?$)",
        "bash(> out/*)",
    ];
    for (line, expected) in [
        ("git status", Allow),
        ("git status; ls -l", Allow),
        ("git log; > out/log", Allow),
        ("git log; > out/../x", Ask),
        ("git status; rm x", Ask),
        ("rm x; git status", Ask),
        ("git log $", Allow),
        ("A=1 git status", Ask),
        ("/tmp/bin/git status", Ask),
        ("gitx y", Ask),
        ("git ?", Ask),
    ] {
        assert_eq!(
            decides(Mode::Ask, &rules, &[], json!({ "command": line })),
            expected,
            "{line}"
        );
    }
}

#[test]
fn one_forbidden_command_forbids_the_line() {
    for (line, expected) in [
        ("ls", Allow),
        ("rm x", Deny),
        ("ls; rm x", Deny),
        ("ls; /bin/rm x", Deny),
        ("rm $", Deny),
        ("echo $", Allow),
        // It may be.
        ("$ x", Ask),
        ("ls ?", Ask),
        // As it was written, too.
        ("rm ?", Deny),
    ] {
        let rules = ["bash(rm *)"];
        assert_eq!(
            decides(Mode::Auto, &[], &rules, json!({ "command": line })),
            expected,
            "{line}"
        );
        assert_eq!(
            decides(Mode::Ask, &["bash"], &rules, json!({ "command": line })),
            expected,
            "{line}"
        );
    }
}

#[test]
fn what_may_turn_out_to_be_forbidden_is_asked_for() {
    for (line, expected) in [
        ("rm a keep", Deny),
        ("rm a $", Ask),
        ("rm $", Ask),
        ("r $", Allow),
        ("ls $", Allow),
        ("rm a b", Allow),
    ] {
        let rules = ["bash(rm * keep)"];
        let verdict = decides(Mode::Auto, &[], &rules, json!({ "command": line }));
        assert_eq!(verdict, expected, "{line}");
    }
}

#[test]
fn a_word_that_is_open_fits_no_pattern_but_a_wildcard() {
    for (rule, line, expected) in [
        ("bash(cat src/*)", "cat src/a", Allow),
        ("bash(cat src/*)", "cat $", Ask),
        ("bash(cat src/*)", "cat src/../../x", Ask),
        ("bash(cat *)", "cat $", Allow),
        ("bash(command = cat $)", "cat $", Allow),
        ("bash(command = git a; git b)", "git a; git b", Allow),
        ("bash(command = git a; git b)", "git a", Ask),
        ("bash(command = ls ?)", "ls ?", Allow),
        ("bash(command: *)", "ls ?", Ask),
        ("bash", "ls ?", Ask),
        ("bash", "ls $", Allow),
    ] {
        assert_eq!(
            decides(Mode::Ask, &[rule], &[], json!({ "command": line })),
            expected,
            "{rule} {line}"
        );
    }
    assert_eq!(
        decides(Mode::Auto, &[], &[], json!({ "command": "ls ?" })),
        Allow
    );
}

#[test]
fn other_arguments_are_judged_beside_the_commands() {
    let rules = ["bash(command: git *, cwd: src/**)"];
    let verdict = |line: &str, cwd: &str| {
        decides(
            Mode::Ask,
            &rules,
            &[],
            json!({ "command": line, "cwd": cwd }),
        )
    };
    assert_eq!(verdict("git a; git b", "src/x"), Allow);
    assert_eq!(verdict("git a; git b", "lib"), Ask);
    assert_eq!(verdict("git a; ls", "src/x"), Ask);
}

#[test]
fn an_address_behind_the_name_of_an_option_is_one() {
    for (rule, line, allow, deny) in [
        (
            "bash(get --url=https://a.org/x/**)",
            "get --url=https://a.org/x/1",
            Allow,
            Deny,
        ),
        (
            "bash(get --url=https://a.org/x/**)",
            "get --url=https://a.org/y/../x/1",
            Ask,
            Deny,
        ),
        (
            "bash(get --url=https://a.org/x/**)",
            "get --url=https://a.org/x/../y",
            Ask,
            Deny,
        ),
        (
            "bash(get -ihttps://a.org/x/**)",
            "get -ihttps://a.org/x/1",
            Allow,
            Deny,
        ),
        (
            "bash(clone ssh://git@A.org/**)",
            "clone ssh://git@A.org/x",
            Allow,
            Deny,
        ),
        (
            "bash(get https://a.org/x/**)",
            "get HTTPS://me@A.org:443/y/../x/1",
            Ask,
            Deny,
        ),
        (
            "bash(cat src/*)",
            "cat src/x://../../../etc/passwd",
            Ask,
            Deny,
        ),
    ] {
        let arguments = json!({ "command": line });
        let allowed = decides(Mode::Ask, &[rule], &[], arguments.clone());
        assert_eq!(allowed, allow, "{rule} {line}");
        let denied = decides(Mode::Auto, &[], &[rule], arguments);
        assert_eq!(denied, deny, "{rule} {line}");
    }
}
