//! The guide's size: never over what was asked for, and given up in the promised order.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolsmith_core::{Effect, Example, Kind, Schema, ToolDef};
use toolsmith_runtime::guide::{Budget, Request, Response};
use toolsmith_testing::tools::{definition, taking, with_schema};

use crate::guide::{outline, plain_guide, tool};

fn full_tool(name: &str, size: usize, letter: &str) -> Arc<ToolDef> {
    let text = letter.repeat(size);
    let example = json!({ "path": text }).as_object().unwrap().clone();
    Arc::new(
        taking(
            name,
            json!({ "path": { "type": "string", "description": text } }),
        )
        .with_description(format!("Short {text}.\n\nLong {text}."))
        .with_example(Example::new(example)),
    )
}

fn answer(tools: &[Arc<ToolDef>], budget: Budget) -> Response {
    plain_guide().answer(tools, &Request::everything().with_budget(budget))
}

/// As the documentation has it: three ASCII characters a token, one for every other
/// character, two beyond the basic plane.
fn thirds(text: &str) -> usize {
    let cost = |c: char| match u32::from(c) {
        0..=0x7f => 1,
        0x80..=0xffff => 3,
        _ => 6,
    };
    text.chars().map(cost).sum()
}

/// Every tool is shown or told as left out, and in the document too, unless that says how
/// many names it lacks.
fn check_complete(tools: &[Arc<ToolDef>], response: &Response) {
    let metadata = &response.metadata;
    assert_eq!(metadata.tool_count + metadata.omitted.len(), tools.len());
    let headings = outline(&response.content).headings;
    let shown: Vec<&str> = (headings.iter().filter(|(level, _)| *level == 3))
        .map(|(_, name)| name.as_str())
        .collect();
    assert_eq!(shown.len(), metadata.tool_count);
    for tool in tools {
        let name = tool.name.as_str();
        let is_omitted = metadata.omitted.iter().any(|omitted| omitted == name);
        assert_ne!(shown.contains(&name), is_omitted, "{name}");
    }
    let lists_all =
        response.content.contains("**Left out") && !response.content.contains(" more\n");
    if lists_all {
        let (_, list) = response.content.split_once(")**: ").unwrap();
        let (list, _) = list.split_once("\n\n").unwrap();
        let list = list.replace("\\_", "_");
        assert_eq!(list.split(", ").collect::<Vec<_>>(), metadata.omitted);
    }
}

#[test]
fn a_thousand_tools_are_shown_or_listed() {
    let tools: Vec<_> = (0..1000)
        .map(|n| full_tool(&format!("some_tool_of_a_set_{n}"), 60, "x"))
        .collect();
    let response = answer(&tools, Budget::default());
    assert!(response.content.len() <= 50_000);
    assert!(
        response.content.len() > 49_000,
        "{}",
        response.content.len()
    );
    check_complete(&tools, &response);
    assert!(response.metadata.tool_count > 50);
    assert!(!response.content.contains(" more\n"));
    assert!(!response.content.contains("**Example**"));
    let few: Vec<String> = response.metadata.omitted.iter().take(2).cloned().collect();
    let asked = Request::everything().with_tool_names(Some(few));
    assert_eq!(plain_guide().answer(&tools, &asked).metadata.tool_count, 2);
}

/// Names alone can be too many.
#[test]
fn names_that_do_not_fit_are_counted() {
    let tools: Vec<_> = (0..2000)
        .map(|n| tool(&format!("{n:04}{}", "x".repeat(60)), Effect::Read))
        .collect();
    let response = answer(&tools, Budget::default());
    assert!(response.content.len() <= 50_000);
    assert!(response.content.len() > 49_800);
    assert_eq!(response.metadata.omitted.len(), 2000);
    let listed = response.content.matches("xxx, ").count() + 1;
    let more = format!(" and {} more\n", 2000 - listed);
    assert!(response.content.contains(&more), "{listed}");
}

/// Examples go first, then long text, then white space, then tools.
#[test]
fn things_are_given_up_in_order() {
    let tools: Vec<_> = (0..12)
        .map(|n| full_tool(&format!("tool_{n}"), 90, "x"))
        .collect();
    let whole = answer(&tools, Budget::default()).content.len();
    let mut steps = Vec::new();
    for budget in (900..=whole).rev().step_by(40) {
        let response = answer(&tools, Budget::Bytes(budget));
        assert!(response.content.len() <= budget);
        check_complete(&tools, &response);
        let count = |text: &str| response.content.matches(text).count();
        let shown = response.metadata.tool_count;
        let (examples, long, pretty) =
            (count("**Example**"), count("Long x"), count("```json\n{\n"));
        let lost = [12 - examples, 12 - long, 12 - pretty, 12 - shown];
        // A later step begins only where the one before was taken for all tools.
        for (before, after) in [(0, 1), (1, 2), (2, 3)] {
            assert!(lost[after] == 0 || lost[before] == 12, "{budget}: {lost:?}");
        }
        steps.push(lost);
    }
    assert_eq!(steps[0], [0, 0, 0, 0]);
    for step in 0..4 {
        let partly = |lost: &[usize; 4]| lost[step] > 0 && lost[step] < 12;
        assert!(
            steps.iter().any(partly),
            "step {step} is taken piece by piece"
        );
    }
    // The first tools are the fullest.
    let budget = Budget::Bytes(whole - 1);
    let content = answer(&tools, budget).content;
    let last = content.split("### ").last().unwrap();
    assert!(!last.contains("**Example**") && content.contains("**Example**"));
}

#[test]
fn tiny_budgets_are_kept_too() {
    let tools: Vec<_> = (0..30)
        .map(|n| full_tool(&format!("tool_{n}"), 50, "x"))
        .collect();
    for budget in 0..1200 {
        let response = answer(&tools, Budget::Bytes(budget));
        assert!(response.content.len() <= budget, "{budget}");
        check_complete(&tools, &response);
        if (19..120).contains(&budget) {
            assert_eq!(response.content, "30 tools left out.\n");
        }
        if budget < 19 {
            assert_eq!(response.content, "");
        }
        let request = Request::everything()
            .with_budget(Budget::Bytes(budget))
            .with_category(Some("none".to_owned()));
        let index = plain_guide().answer(&tools, &request);
        assert!(index.content.len() <= budget, "{budget}");
    }
}

#[test]
fn a_thousand_vast_schemas_are_listed_by_name() {
    let schema = json!({ "type": "object", "description": "x".repeat(200_000) });
    let tools: Vec<_> = (0..1000)
        .map(|n| Arc::new(with_schema(&format!("tool_{n}"), schema.clone())))
        .collect();
    let response = answer(&tools, Budget::default());
    assert_eq!(response.metadata.omitted.len(), 1000);
    check_complete(&tools, &response);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_budget_is_never_exceeded(
        sizes in prop::collection::vec((0_usize..3000, prop::sample::select(vec!["x", "`", "列", "🦀", "_a*", "\n#"])), 0..25),
        budget in prop_oneof![0_usize..2000, 0_usize..60_000],
        by_tokens in any::<bool>(),
    ) {
        let tools: Vec<_> = sizes
            .iter()
            .enumerate()
            .map(|(n, (size, letter))| full_tool(&format!("tool_{n}_"), *size / letter.len(), letter))
            .collect();
        let asked = if by_tokens { Budget::Tokens(budget / 3) } else { Budget::Bytes(budget) };
        let response = answer(&tools, asked);
        if by_tokens {
            prop_assert!(thirds(&response.content) <= budget / 3 * 3);
        } else {
            prop_assert!(response.content.len() <= budget);
        }
        check_complete(&tools, &response);
        prop_assert_eq!(response.metadata.size_bytes, response.content.len());
        let again = answer(&tools, asked);
        prop_assert_eq!(response.content, again.content);
    }
}

/// A row of tools that do not fit does not hide those behind them that do.
#[test]
fn large_tools_do_not_push_small_ones_out() {
    let long = "x".repeat(60_000);
    let large = |n: usize| {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "description": long } } });
        let definition =
            definition(&format!("large_{n:02}")).with_input(Schema::input(schema).unwrap());
        let mut definition = definition.with_kind(Kind::Read);
        definition.meta.category = Some("aaa".to_owned());
        Arc::new(definition)
    };
    let mut tools: Vec<Arc<ToolDef>> = (0..60).map(large).collect();
    let mut small = definition("small").with_kind(Kind::Read);
    small.meta.category = Some("zzz".to_owned());
    tools.push(Arc::new(small));
    let response = plain_guide().answer(&tools, &Request::everything());
    assert!(
        response.content.contains("### small\n"),
        "{}",
        response.content
    );
    assert_eq!(response.metadata.omitted.len(), 60);
}

/// Names stay as they are called, however many underscores they have.
#[test]
fn names_of_upstream_tools_are_not_mangled() {
    let tools = [Arc::new(
        definition("mcp__git__git_status").with_kind(Kind::Read),
    )];
    let response = plain_guide().answer(&tools, &Request::everything());
    assert!(
        response.content.contains("### mcp__git__git_status\n"),
        "{}",
        response.content
    );
}
