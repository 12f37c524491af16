//! What a host says, and what the file says, become one toolbox.

use std::path::Path;

use serde_json::json;
use toolsmith_core::event::Redact as _;
use toolsmith_core::{AnyTool, Outcome, RawCall, Schema, ToolDef};
use toolsmith_manager::Setup;
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Selection};

fn setup(config: &str) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolsmith.yaml"), config).unwrap();
    Setup::open(folder.path()).unwrap()
}

fn tool(name: &str, description: &str, schema: serde_json::Value) -> AnyTool {
    let definition = ToolDef::new(name)
        .unwrap()
        .with_description(description)
        .with_input(Schema::input(schema).unwrap());
    AnyTool::from_fn(definition, async |_: serde_json::Value, _| Outcome::ok(1))
}

#[test]
fn the_hosts_mode_and_prefix_beat_the_files() {
    let setup = setup("prefix: filed\npolicy: { mode: plan }\n");
    assert_eq!(setup.load().unwrap().policy().mode(), Mode::Plan);
    let manager = self::setup("prefix: filed\npolicy: { mode: plan }\n")
        .with_mode(Some(Mode::Auto))
        .with_prefix(Some("host".to_owned()))
        .with_examples()
        .load()
        .unwrap();
    assert_eq!(manager.policy().mode(), Mode::Auto);
    let offer = manager.toolbox().offer(&Selection::everything());
    assert!(offer.find("host_example_add").is_some());
    assert!(offer.find("filed_example_add").is_none());
}

#[test]
fn rules_of_host_and_file_add_up() {
    let rule = Rule::parse(Verdict::Allow, "a").unwrap();
    let setup = setup("policy: { deny: [b] }\n").with_rules([rule]);
    let manager = setup.load().unwrap();
    let rules: Vec<String> = manager
        .policy()
        .rules()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(rules, ["deny b", "allow a"]);
}

#[test]
fn the_first_of_a_name_stays_and_the_others_are_listed() {
    let described = "A tool that is described at some length.";
    let setup = setup("")
        .with_tools(
            "first",
            [tool("twin", described, json!({ "properties": {} }))],
        )
        .with_tools(
            "second",
            [tool("twin", described, json!({ "properties": {} }))],
        );
    let manager = setup.load().unwrap();
    assert_eq!(manager.toolbox().registry().len(), 1);
    assert_eq!(
        manager.lint(),
        ["tool `twin` of second is shadowed by that of first"]
    );
}

#[test]
fn lint_finds_what_is_allowed_but_not_good() {
    let schema = json!({ "properties": {
        "typed": { "type": "string", "description": "Fine." },
        "bare": {},
        "silent": { "type": "string", "description": " " },
    }});
    let setup = setup(
        "bindings: { 'no*': {}, 'sho*': {} }\n\
         policy: { allow: ['short(typed: x)', 'short(untyped: x)'], deny: [nobody, 'effect:write'] }\n",
    )
    .with_tools("host", [tool("short", "Too short.", schema)]);
    let manager = setup.load().unwrap();
    assert_eq!(
        manager.lint(),
        [
            "tool `short`: the description has 10 characters; 20 to 500 are best",
            "tool `short`: `bare` has no type",
            "tool `short`: `bare` has no description",
            "tool `short`: `silent` has no description",
            "bindings: \"no*\" names no tool",
            "policy: rule `deny nobody` names no tool",
            "policy: no tool of rule `allow short(untyped: x)` has an argument `untyped`",
        ]
    );
}

/// What forbids may say the offered name, what allows may not.
#[test]
fn lint_knows_the_names_tools_are_offered_by() {
    let setup = setup(
        "serve: { prefix: acme }\n\
         policy: { deny: [acme_example_add], ask: ['acme_example_s*'], allow: [acme_example_echo] }\n",
    )
    .with_examples();
    let manager = setup.load().unwrap();
    let finding = "policy: rule `allow acme_example_echo` names no tool";
    assert_eq!(manager.lint(), [finding]);
}

#[test]
fn the_examples_have_no_findings() {
    let setup = setup("").with_examples();
    let manager = setup.load().unwrap();
    assert_eq!(manager.lint(), [] as [&str; 0]);
}

#[tokio::test]
async fn the_files_limits_are_in_force() {
    let setup = setup("limits: { argument_bytes: 20 }\n").with_examples();
    let manager = setup.load().unwrap();
    assert_eq!(
        manager.file().and_then(Path::file_name),
        Some("toolsmith.yaml".as_ref())
    );
    let long = "x".repeat(100);
    let call = RawCall::new("example_echo", json!({ "text": long }));
    let outcome = manager
        .toolbox()
        .run(call, &Caller::new("test"))
        .await
        .into_outcome();
    assert_eq!(outcome.error.unwrap().code(), "invalid_parameters");
}

#[test]
fn keys_that_are_written_out_are_redacted_as_those_referred_to() {
    let manager = setup(
        "providers:
  openai: { key: written-key, headers: { Authorization: Bearer written-token, X-Plain: visible } }
",
    );
    let manager = manager.load().unwrap();
    let redactor = manager.toolbox().redactor();
    for secret in ["written-key", "written-token"] {
        let told = redactor.redact(&format!("it is {secret}.")).into_owned();
        assert!(!told.contains(secret), "{told}");
    }
    assert_eq!(redactor.redact("visible"), "visible");
}

#[test]
fn references_to_what_is_not_there_are_told_within_bounds() {
    let variables = |count: usize| {
        let each = (0..count).map(|number| format!("  A{number}: \"${{env:B{number}}}\"\n"));
        each.collect::<String>()
    };
    let tool = "name: t\ncommand: [/bin/true]\nsandbox: none\nenv:\n";
    let folder = crate::sets::project(&[]);
    crate::sets::put(
        folder.path(),
        "tools/native/t.yaml",
        &format!("{tool}{}", variables(150)),
    );
    let manager = Setup::open(folder.path()).unwrap().load().unwrap();
    let missing = manager.missing();
    assert_eq!(missing.len(), 101);
    assert!(missing[99].contains("`env.A"), "{}", missing[99]);
    let last = "50 more references to what is not there";
    assert!(missing[100].ends_with(last), "{}", missing[100]);
}

/// Who writes a script into that folder means a tool.
#[test]
fn a_script_without_a_header_is_a_finding() {
    let manager = crate::sets::load(&[
        ("tools/builtin/silent.sh", "#!/bin/sh\necho hello\n"),
        ("tools/builtin/notes.txt", "What is to be done.\n"),
        (
            "tools/builtin/late.py",
            "#!/usr/bin/python3\n# -*- coding: utf-8 -*-\n#---\n#name: late\n\
             #description: It says hello, and nothing else.\n#---\n",
        ),
    ]);
    assert!(manager.get_tool("late").is_some());
    let findings = manager.lint();
    let found = findings.iter().filter(|each| each.contains("no header"));
    let found: Vec<&String> = found.collect();
    assert_eq!(found.len(), 1, "{findings:#?}");
    assert!(found[0].contains("silent.sh: it is no tool"), "{found:?}");
}
