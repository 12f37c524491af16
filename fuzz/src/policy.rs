//! Rules mean what they say when they are written again, and no order of them or further no lets more through.
//!
//! Each line of the input is a rule, `allow …`, `ask …` or `deny …`; others are what is
//! called: `run LINE` for a shell, `open PATH` for a file.

use serde_json::{Value, json};
use toolsmith_builtin::shell_line::split;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, CommandLine, Effect, Kind, Outcome, Plan, RawCall, Touch};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};
use toolsmith_testing::{explain, tools};

/// How many rules of an input count; more of them show nothing new.
const MOST_RULES: usize = 8;

/// Checks one list of rules and calls.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut rules: Vec<Rule> = Vec::new();
    let mut calls = vec![RawCall::new("open", json!({ "path": "src/main.rs" }))];
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("run ") {
            calls.push(RawCall::new("run", json!({ "line": line })));
        } else if let Some(path) = line.strip_prefix("open ") {
            calls.push(RawCall::new("open", json!({ "path": path })));
        } else if let Some(rule) = rule(line)
            && rules.len() < MOST_RULES
        {
            rules.push(rule);
        }
    }
    let mode = Mode::ALL[bytes.len() % Mode::ALL.len()];
    calls.truncate(4);
    let verdicts = decide(mode, &rules, &calls);
    let mut reversed = rules.clone();
    reversed.reverse();
    assert_eq!(
        decide(mode, &reversed, &calls),
        verdicts,
        "order matters: {rules:?}"
    );
    for index in 0..rules.len() {
        if rules[index].verdict() == Verdict::Deny {
            let mut fewer = rules.clone();
            fewer.remove(index);
            let before = decide(mode, &fewer, &calls);
            let widened = before
                .iter()
                .zip(&verdicts)
                .any(|(before, after)| after < before);
            assert!(
                !widened,
                "{} lets more through: {before:?} {verdicts:?}",
                rules[index]
            );
        }
    }
    let all = Rule::parse(Verdict::Deny, "*").expect("this is a rule");
    let denied = decide(mode, &[&rules[..], &[all]].concat(), &calls);
    assert!(denied.iter().all(|verdict| *verdict == Verdict::Deny));
}

/// Reads a rule, which is the same when it is read from what it is shown as.
fn rule(line: &str) -> Option<Rule> {
    let (word, text) = line.split_once(' ')?;
    let verdict = verdict(word)?;
    let rule = Rule::parse(verdict, text).ok()?;
    let shown = rule.to_string();
    let (word, text) = shown
        .split_once(' ')
        .expect("a rule is shown with its verdict");
    assert_eq!(self::verdict(word), Some(verdict));
    let again = Rule::parse(verdict, text).expect("what is shown can be read");
    assert_eq!(format!("{again:?}"), format!("{rule:?}"), "{shown}");
    Some(rule)
}

fn verdict(word: &str) -> Option<Verdict> {
    serde_json::from_value(Value::from(word)).ok()
}

fn decide(mode: Mode, rules: &[Rule], calls: &[RawCall]) -> Vec<Verdict> {
    let toolbox = Toolbox::builder()
        .tools([run(), open()])
        .policy(Policy::new(mode).with_rules(rules.iter().cloned()))
        .without_log()
        .build()
        .expect("the tools are good ones");
    let decide = |call: &RawCall| {
        let explained = explain(&toolbox, call.clone(), &Caller::new("fuzz"));
        explained.decision.map(|decision| decision.verdict)
    };
    calls.iter().filter_map(decide).collect()
}

fn run() -> AnyTool {
    let mut definition = tools::taking("run", json!({ "line": { "type": "string" } }));
    definition.kind = Kind::Execute;
    definition.effect = Effect::Execute;
    FunctionTool::<Value>::new(definition)
        .with_plan(|arguments: &Value| {
            let line = arguments["line"].as_str().unwrap_or_default();
            Ok(Plan::new("Runs a line").running(CommandLine::new("line", split(line))))
        })
        .into_async(async |_: Value, _| Outcome::nothing())
}

fn open() -> AnyTool {
    let definition = tools::taking("open", json!({ "path": { "type": "string" } }));
    FunctionTool::<Value>::new(definition)
        .with_plan(|arguments: &Value| {
            let path = arguments["path"].as_str().unwrap_or_default();
            Ok(Plan::new("Opens a file").touching(Touch::read(path).from_argument("path")))
        })
        .into_async(async |_: Value, _| Outcome::nothing())
}
