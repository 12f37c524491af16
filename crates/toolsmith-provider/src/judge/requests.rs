//! What holds for a request: names, numbers, descriptions, the strict budget.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::schemas::{self, Count};
use super::{Fault, MOST};
use crate::provider::Provider;
use crate::rules::RequestRules;

/// One declared tool.
struct Tool<'v> {
    name: &'v str,
    description: Option<&'v str>,
    schema: Option<&'v Value>,
    strict: bool,
}

pub(super) fn judge(
    provider: Provider,
    rules: &'static RequestRules,
    declared: &Value,
    faults: &mut Vec<Fault>,
) {
    let tools = tools(provider, declared);
    let mut fault = |tool: &str, rule: &str| {
        faults.push(Fault {
            tool: tool.to_owned(),
            path: String::new(),
            rule: rule.to_owned(),
            source: rules.source,
        });
    };
    let mut names: HashSet<&str> = hosted(provider, declared).collect();
    for tool in &tools {
        if !rules.names.accept(tool.name) {
            fault(tool.name, "a name that is not accepted");
        }
        if !names.insert(tool.name) {
            fault(tool.name, "a name that another tool has");
        }
        if rules.description && tool.description.is_none_or(|text| text.trim().is_empty()) {
            fault(tool.name, "no description");
        }
    }
    if rules.tools.is_some_and(|limit| tools.len() > limit) {
        fault("", "more tools than are taken");
    }
    let mut spent = Count::default();
    let mut strict = 0;
    for tool in tools.iter().filter(|_| rules.plain.is_some()) {
        let rules = match (&rules.strict, rules.plain) {
            (Some(strict), _) if tool.strict => strict.rules,
            (_, Some(plain)) => plain,
            _ => continue,
        };
        let count = match tool.schema {
            Some(schema) => schemas::judge(tool.name, rules, schema, faults),
            None if provider == Provider::Gemini => Count::default(),
            None => {
                faults.push(Fault {
                    tool: tool.name.to_owned(),
                    path: String::new(),
                    rule: "no schema".to_owned(),
                    source: rules.source,
                });
                Count::default()
            }
        };
        if tool.strict {
            strict += 1;
            spent.optional += count.optional;
            spent.unions += count.unions;
        }
        if faults.len() >= MOST {
            return;
        }
    }
    let Some(mode) = &rules.strict else {
        return;
    };
    let spending = [
        (
            strict,
            mode.budget.tools,
            "more strict tools than are taken",
        ),
        (
            spent.optional,
            mode.budget.optional,
            "more optional parameters in strict tools than are taken",
        ),
        (
            spent.unions,
            mode.budget.unions,
            "more unions in strict tools than are taken",
        ),
        (
            usize::from(mode.all_or_none && strict > 0 && strict < tools.len()) * 2,
            1,
            "some tools are strict and some are not",
        ),
    ];
    for (count, limit, rule) in spending {
        if limit > 0 && count > limit {
            faults.push(Fault {
                tool: String::new(),
                path: String::new(),
                rule: rule.to_owned(),
                source: rules.source,
            });
        }
    }
}

/// All that is declared, functions and what the provider runs itself.
fn entries(provider: Provider, declared: &Value) -> impl Iterator<Item = &Value> {
    let field = match provider {
        Provider::OpenAiFunctions => declared.get("functions"),
        Provider::Bedrock => declared
            .get("toolConfig")
            .or(Some(declared))
            .and_then(|configuration| configuration.get("tools")),
        _ => declared.get("tools"),
    };
    field.unwrap_or(declared).as_array().into_iter().flatten()
}

/// The names of what the provider runs itself: no function may have the same.
fn hosted(provider: Provider, declared: &Value) -> impl Iterator<Item = &str> {
    entries(provider, declared).filter_map(hosted_name)
}

fn hosted_name(entry: &Value) -> Option<&str> {
    if let Some(name) = entry.pointer("/systemTool/name") {
        return name.as_str();
    }
    let kind = entry.get("type")?.as_str()?;
    let ours = matches!(kind, "function" | "custom");
    entry.get("name")?.as_str().filter(|_| !ours)
}

/// The declared functions, in whichever form the provider has them.
fn tools(provider: Provider, declared: &Value) -> Vec<Tool<'_>> {
    let all_strict = declared.get("strict_tools") == Some(&Value::Bool(true));
    let mut tools = Vec::new();
    for entry in entries(provider, declared) {
        match provider {
            Provider::Gemini => {
                let functions = entry.get("functionDeclarations").and_then(Value::as_array);
                let functions = functions.into_iter().flatten().filter_map(Value::as_object);
                tools.extend(functions.map(|function| tool(function, "parameters", false)));
            }
            Provider::Bedrock => {
                if let Some(Value::Object(specification)) = entry.get("toolSpec") {
                    let mut tool = tool(specification, "inputSchema", false);
                    tool.schema = tool.schema.and_then(|schema| schema.get("json"));
                    tools.push(tool);
                }
            }
            Provider::Anthropic | Provider::Mcp => {
                let field = match provider {
                    Provider::Anthropic => "input_schema",
                    _ => "inputSchema",
                };
                let own = entry.get("type").is_none_or(|kind| kind == "custom");
                if let (Some(object), true) = (entry.as_object(), own) {
                    tools.push(tool(object, field, false));
                }
            }
            _ => {
                let hosted = entry.get("type").is_some_and(|kind| kind != "function");
                let function = entry.get("function").unwrap_or(entry);
                if let (Some(function), false) = (function.as_object(), hosted) {
                    // The Responses are strict unless they are told not to be.
                    let default = provider == Provider::OpenAiResponses || all_strict;
                    tools.push(tool(function, "parameters", default));
                }
            }
        }
    }
    tools
}

fn tool<'v>(object: &'v Map<String, Value>, schema: &str, strict_unless_said: bool) -> Tool<'v> {
    let strict = object.get("strict").and_then(Value::as_bool);
    Tool {
        name: object.get("name").and_then(Value::as_str).unwrap_or(""),
        description: object.get("description").and_then(Value::as_str),
        schema: object.get(schema),
        strict: strict.unwrap_or(strict_unless_said),
    }
}
