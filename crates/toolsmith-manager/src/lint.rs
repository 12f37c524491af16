//! What is allowed but not good: findings a strict check turns into errors.

use std::collections::HashMap;

use serde_json::Value;
use toolsmith_core::{ToolDef, ToolName};
use toolsmith_runtime::permit::Policy;
use toolsmith_runtime::{Selection, Toolbox};

use crate::config::Config;

/// Sources that have not told their tools, or were not asked: a name may be that of one.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    /// What the names of a server's tools begin with, server by server.
    pub(crate) prefixes: Vec<String>,
    /// Whether there are sources whose tools can be called anything.
    pub(crate) others: bool,
}

impl Unknown {
    /// Whether a name or a glob can mean one of their tools.
    fn may_have(&self, pattern: &str) -> bool {
        let literal = pattern.split(['*', '?', '[', '{']).next();
        let literal = literal.unwrap_or_default();
        let is_glob = literal.len() < pattern.len();
        let of_server = |prefix: &String| {
            // An offered name can have something before it.
            literal.contains(prefix) || (is_glob && prefix.starts_with(literal))
        };
        self.others || self.prefixes.iter().any(of_server)
    }
}

/// Everything worth a word about a configuration and its tools, in a fixed order.
pub(crate) fn lint(
    toolbox: &Toolbox,
    config: &Config,
    policy: &Policy,
    unknown: &Unknown,
) -> Vec<String> {
    let tools = toolbox.registry().all();
    let mut findings: Vec<String> = tools.iter().flat_map(|tool| tool_findings(tool)).collect();
    for (pattern, binding) in &config.bindings {
        let selection = Selection::everything().with_tools([pattern.as_str()]);
        let meant = toolbox.offer(&selection);
        let is_glob = pattern.contains(['*', '?', '[', '{']);
        if binding.cache.is_some()
            && !is_glob
            && meant.tools().iter().any(|it| !it.tool.changes_nothing())
        {
            findings.push(format!(
                "bindings: answers of {pattern:?} are not kept: it does not only look"
            ));
        }
        if meant.tools().is_empty()
            && !toolbox.registry().has(pattern)
            && !unknown.may_have(pattern)
        {
            findings.push(format!("bindings: {pattern:?} names no tool"));
        }
    }
    findings.extend(rules(toolbox, policy, unknown));
    for shadowed in toolbox.registry().shadowed() {
        let (name, origin, by) = (&shadowed.name, &shadowed.origin, &shadowed.by);
        findings.push(format!(
            "tool `{name}` of {origin} is shadowed by that of {by}"
        ));
    }
    findings
}

/// Settings of sources that are none, most likely typing errors.
pub(crate) fn sources(config: &Config, known: &[String]) -> Vec<String> {
    let named = config.sources.names().filter(|pattern| {
        let glob = globset::Glob::new(pattern).map(|glob| glob.compile_matcher());
        glob.is_ok_and(|glob| !known.iter().any(|name| glob.is_match(name)))
    });
    named
        .map(|pattern| format!("sources: {pattern:?} names no source"))
        .collect()
}

/// The rules that speak of no tool, or of arguments no tool has: most likely typing
/// errors, and a rule that forbids nothing is worth a word wherever it is given.
pub(crate) fn rules(toolbox: &Toolbox, policy: &Policy, unknown: &Unknown) -> Vec<String> {
    let tools = toolbox.registry().all();
    let withheld = toolbox.registry().withheld();
    let offer = toolbox.offer(&Selection::everything());
    let offered: HashMap<&ToolName, &str> = (offer.tools().iter())
        .map(|offered| (&offered.tool.name, offered.wire_name.as_str()))
        .collect();
    let mut findings = Vec::new();
    for rule in policy.rules() {
        let meant: Vec<_> = tools
            .iter()
            .filter(|tool| {
                let offered_as = offered.get(&tool.name).copied().unwrap_or_default();
                rule.is_about_name(tool.name.as_str(), offered_as)
            })
            .collect();
        let named = rule.text().split(['(', ' ']).next().unwrap_or_default();
        let is_withheld = { withheld.iter() }.any(|it| rule.is_about_name(it.name.as_str(), ""));
        if meant.is_empty() && !is_withheld && !unknown.may_have(named) {
            findings.push(format!("policy: rule `{rule}` names no tool"));
        }
        for argument in rule.argument_names() {
            let outermost = argument.split('.').next().unwrap_or(argument);
            let known = |tool: &&&std::sync::Arc<ToolDef>| {
                tool.input.as_value()["properties"].get(outermost).is_some()
            };
            if !meant.is_empty() && meant.iter().filter(known).count() == 0 {
                findings.push(format!(
                    "policy: no tool of rule `{rule}` has an argument `{argument}`"
                ));
            }
        }
    }
    findings
}

fn tool_findings(tool: &ToolDef) -> Vec<String> {
    let mut findings = Vec::new();
    let length = tool.description.short.chars().count();
    if !(20..=500).contains(&length) {
        findings.push(format!(
            "tool `{}`: the description has {length} characters; 20 to 500 are best",
            tool.name
        ));
    }
    let properties = tool.input.as_value()["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let typed = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"]
            .iter()
            .any(|keyword| property.get(keyword).is_some());
        if !typed {
            findings.push(format!("tool `{}`: `{name}` has no type", tool.name));
        }
        let description = property.get("description").and_then(Value::as_str);
        if description.is_none_or(|text| text.trim().is_empty()) {
            findings.push(format!("tool `{}`: `{name}` has no description", tool.name));
        }
    }
    findings
}
