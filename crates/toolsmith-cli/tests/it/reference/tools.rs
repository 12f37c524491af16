//! The tools that come with the program, from their definitions.

use serde_json::Value;

use super::{check, head, row};
use crate::support::newcomer;

const OPENING: &str = "\
# Tools

The tools that come with the program, as it defines them; `toolsmith guide` tells the same of all
tools you have, with examples. [The built-in tools](../built-in-tools.md) says what they promise. An
effect is what rules and modes speak of: what has the effect `read` runs unless a rule says otherwise, and
everything else is asked for ([what may run](../permission.md)).

";

#[test]
fn the_page_of_tools() {
    let user = newcomer();
    let listed = user.runs(["tools", "--json"]).ends_with(0).json();
    let names = listed.as_array().unwrap().iter().map(|tool| &tool["name"]);
    let tools: Vec<Value> = names
        .map(|name| {
            let words = ["show", name.as_str().unwrap(), "--json"];
            user.runs(words).ends_with(0).json()
        })
        .collect();
    let mut categories: Vec<&str> = Vec::new();
    for tool in &tools {
        let category = text(tool, "category");
        if !categories.contains(&category) {
            categories.push(category);
        }
    }
    let mut page = OPENING.to_owned();
    page += &head(["tool", "effect", "what it does"]);
    for tool in categories.iter().flat_map(|category| of(&tools, category)) {
        let name = text(tool, "name");
        let link = format!("[`{name}`](#{name})");
        let description = text(tool, "description");
        let first = description.split("\n\n").next().unwrap_or_default();
        page += &row([&link, text(tool, "effect"), first]);
    }
    for category in categories {
        page += &format!("\n## Category: {category}\n");
        for tool in of(&tools, category) {
            page += &section(tool);
        }
    }
    check("tools.md", &page);
}

fn of<'t>(tools: &'t [Value], category: &str) -> impl Iterator<Item = &'t Value> {
    tools
        .iter()
        .filter(move |tool| text(tool, "category") == category)
}

fn section(tool: &Value) -> String {
    let mut facts = vec![format!("Effect `{}`", text(tool, "effect"))];
    for (hint, word) in [
        ("destructive", "may destroy what was there"),
        ("idempotent", "twice does no more than once"),
        ("open_world", "deals with an open world"),
    ] {
        if tool["hints"][hint] == true {
            facts.push(word.to_owned());
        }
    }
    format!(
        "\n### `{}`\n\n*{}.*\n\n{}\n",
        text(tool, "name"),
        facts.join("; "),
        text(tool, "full_description")
    )
}

#[track_caller]
fn text<'t>(tool: &'t Value, key: &str) -> &'t str {
    tool[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} of {tool}"))
}
