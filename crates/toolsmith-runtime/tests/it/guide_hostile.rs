//! Whatever texts contain, the guide keeps its form, and the texts stay readable.

use std::sync::Arc;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith_core::{Example, Kind, Schema, ToolDef};
use toolsmith_runtime::guide::{ExampleForm, Guide, Request, ToolMetadata};
use toolsmith_testing::tools::with_schema;

use crate::guide::{described, guide_over, layer, outline, text_of, with_own};

/// Pieces that mean something to some dialect of Markdown, or to a terminal.
const PIECES: &[&str] = &[
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    "\t",
    "# ",
    "## Search Tools (9)",
    "### ",
    "#",
    "- ",
    "+ ",
    "* ",
    "1. ",
    "2) ",
    "10.",
    "> ",
    "---",
    "***",
    "___",
    "===",
    "```",
    "```json\n",
    "~~~",
    "`",
    "``",
    "*",
    "**",
    "_",
    "__",
    "~",
    "~~",
    "[",
    "]",
    "(",
    ")",
    "[a](b)",
    "![a](b)",
    "[a]: /b",
    "[^1]",
    "[^1]: x",
    "<",
    ">",
    "<b>",
    "</b>",
    "<script>",
    "<!-- ",
    "-->",
    "<?php",
    "<![CDATA[",
    "<http://a.b>",
    "&lt;",
    "&#60;",
    "&",
    ";",
    "\\",
    "\\\\",
    "|",
    "| a | b |",
    "|---|---|",
    "--- | ---",
    ":--",
    ":-:",
    "a | b",
    "{{ name }}",
    "{% if %}",
    "{#",
    "$x$",
    "http://a.b",
    "word",
    "file_path",
    "x",
    "7",
    "é",
    "列",
    "🦀",
    "\u{202e}",
    "\u{1b}[31m",
    "\u{0}",
    "\u{2028}",
    "\u{85}",
    "\u{c}",
    "\u{a0}",
    "\u{e0041}",
    "\u{feff}",
    "[Description pending]",
    "  ",
    "\\\n",
    "- [ ] x",
    "a\n===",
    "a\n---",
    "a\n:--\nb",
    "'",
    "\"",
    "!",
    ".",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

#[derive(Clone, Debug)]
struct Texts {
    name: String,
    description: String,
    long: String,
    note: String,
    important: String,
    returns: String,
    category: String,
    in_schema: String,
    comment: String,
    value: String,
    snippet: String,
    own: Option<String>,
}

fn texts() -> impl Strategy<Value = Texts> {
    let names = "[A-Za-z0-9_.-]{1,12}";
    let first = (names, hostile(), hostile(), hostile(), hostile(), hostile());
    let second = (hostile(), hostile(), hostile(), hostile(), hostile());
    (first, second, prop::option::of(hostile())).prop_map(|(first, second, own)| Texts {
        name: first.0,
        description: first.1,
        long: first.2,
        note: first.3,
        important: first.4,
        returns: first.5,
        category: second.0,
        in_schema: second.1,
        comment: second.2,
        value: second.3,
        snippet: second.4,
        own,
    })
}

fn tool_of(texts: &Texts) -> ToolDef {
    let schema = json!({
        "type": "object",
        "properties": { &texts.in_schema: { "description": texts.in_schema } },
    });
    let mut tool = with_schema(&texts.name, schema)
        .with_kind(Kind::Read)
        .with_returns(&texts.returns)
        .with_example(
            Example::new(json!({ "a": texts.value }).as_object().unwrap().clone())
                .with_comment(&texts.comment),
        );
    tool.description.short.clone_from(&texts.description);
    tool.description.long.clone_from(&texts.long);
    tool.description.usage_notes = vec![texts.note.clone(), "Plain.".to_owned()];
    tool.description.important = vec![texts.important.clone()];
    tool.meta.category = Some(texts.category.clone());
    tool
}

/// Letters, digits and signs: what is left when white space and the marks of code are not
/// counted.
fn essence(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '`')
        .collect()
}

fn purposes(markdown: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &Options::default());
    let paragraphs = root
        .descendants()
        .filter(|node| matches!(node.data.borrow().value, NodeValue::Paragraph));
    let texts = paragraphs.map(text_of);
    texts
        .filter_map(|text| Some(text.strip_prefix("Purpose: ")?.to_owned()))
        .collect()
}

fn check(guide: &Guide, tools: &[Arc<ToolDef>], form: ExampleForm) -> Result<(), TestCaseError> {
    let request = Request::everything().with_examples(form);
    let response = guide.answer(tools, &request);
    let (metadata, _) = guide.assembled(tools, &request);
    let markdown = &response.content;
    let outline = outline(markdown);
    prop_assert_eq!(&outline.foreign, &Vec::<String>::new(), "{}", markdown);
    prop_assert_eq!(outline.rules, tools.len(), "{}", markdown);
    let mut headings = vec![(1, "Toolsmith Tools Usage Guide".to_owned())];
    for group in metadata.chunk_by(|a, b| a.category == b.category) {
        let mut letters = group[0].category.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let title: String = first.chain(letters).collect();
        headings.push((2, format!("{title} Tools ({})", group.len())));
        headings.extend(group.iter().map(|tool| (3, tool.name.clone())));
    }
    let plain = |(level, text): &(u8, String)| (*level, essence(text));
    prop_assert_eq!(
        outline.headings.iter().map(plain).collect::<Vec<_>>(),
        headings.iter().map(plain).collect::<Vec<_>>(),
        "{}",
        markdown
    );
    let mut code = outline.code.into_iter();
    for tool in &metadata {
        let (language, shown) = code.next().unwrap_or_default();
        prop_assert_eq!(language, "json");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        prop_assert_eq!(shown.to_string(), tool.input_schema.as_value().to_string());
        check_examples(&mut code, tool, form)?;
    }
    prop_assert_eq!(code.next(), None);
    let shown: Vec<String> = purposes(markdown)
        .iter()
        .map(|text| essence(text))
        .collect();
    let expected: Vec<String> = metadata
        .iter()
        .map(|tool| essence(tool.purpose()))
        .collect();
    prop_assert_eq!(shown, expected, "{}", markdown);
    let is_hidden = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202e}' | '\u{e0041}' | '\u{feff}' | '\u{2028}')
    };
    prop_assert!(!markdown.contains(is_hidden), "{:?}", markdown);
    Ok(())
}

/// Each example is in its block, whole.
fn check_examples(
    blocks: &mut impl Iterator<Item = (String, String)>,
    tool: &ToolMetadata,
    form: ExampleForm,
) -> Result<(), TestCaseError> {
    let mut open: Option<(String, String)> = None;
    for example in &tool.examples {
        let code = example.written(form, &tool.name, &tool.input_schema);
        let is_next = match (&open, form, example.arguments()) {
            (None, ..) | (_, ExampleForm::Json, Some(_)) => true,
            (Some((language, _)), _, arguments) => {
                (language == "python") != (form == ExampleForm::Python || arguments.is_none())
            }
        };
        if is_next {
            open = blocks.next();
        }
        let (_, block) = open.clone().unwrap_or_default();
        prop_assert!(block.contains(&code), "{:?} lacks {:?}", block, code);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn texts_are_contained(
        all in prop::collection::vec(texts(), 1..4),
        form in prop::sample::select(vec![
            ExampleForm::Python, ExampleForm::Json, ExampleForm::CommandLine,
        ]),
    ) {
        let mut all = all;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup_by(|a, b| a.name == b.name);
        let tools: Vec<Arc<ToolDef>> = all.iter().map(|texts| Arc::new(tool_of(texts))).collect();
        let own: Vec<_> = all.iter()
            .filter_map(|texts| Some((texts.name.as_str(), described(texts.own.as_deref()?))))
            .collect();
        let snippets: Vec<(&str, Vec<&str>)> = all.iter()
            .filter(|texts| texts.own.is_some())
            .map(|texts| (texts.name.as_str(), vec![texts.snippet.as_str(), "print('x')"]))
            .collect();
        let examples: Vec<(&str, &[&str])> = snippets.iter()
            .map(|(name, snippets)| (*name, snippets.as_slice()))
            .collect();
        check(&guide_over(with_own(layer(&own, &examples))), &tools, form)?;
    }
}

/// What most texts look like is left alone.
#[test]
fn ordinary_texts_keep_their_looks() {
    for text in [
        "Reads `file_path` (UTF-8) from ~/notes & more: a < b, a -> b, 50% of C:\\Users.",
        "Lists edits[0].old_string, snake_case_names, a * b, 1.5 and 3 items; why?",
        "第一行。\n第二行。",
        "Takes `**/*.rs` or ``a ` b``, e.g. \"x\" = 'y'!",
    ] {
        let guide = guide_over(with_own(layer(&[("one", described(text))], &[])));
        let tools = [Arc::new(with_schema("one", json!(true)))];
        let content = guide.answer(&tools, &Request::everything()).content;
        assert!(
            content.contains(&format!("**Purpose**: {text}\n")),
            "{content}"
        );
    }
}

#[test]
fn a_text_of_a_hundred_kilobytes_takes_no_place_from_others() {
    let huge = Arc::new(with_schema("huge", json!(true)).with_description("# x ".repeat(25_000)));
    let schema = json!({ "type": "object", "description": "y".repeat(100_000) });
    let vast = with_schema("vast", json!(true)).with_input(Schema::as_received(schema).unwrap());
    let mut tools = vec![huge, Arc::new(vast)];
    tools.extend((0..20).map(|n| {
        let long = format!(
            "A small tool.\n\nWith something to say. {}",
            "z".repeat(1000)
        );
        Arc::new(with_schema(&format!("small_{n}"), json!(true)).with_description(long))
    }));
    let response = guide_over(with_own(layer(&[], &[]))).answer(&tools, &Request::everything());
    assert_eq!(response.metadata.omitted, ["vast"]);
    assert_eq!(response.metadata.tool_count, 21);
    let response =
        guide_over(with_own(layer(&[], &[]))).answer(&tools[..1], &Request::everything());
    assert_eq!(response.metadata.tool_count, 1);
    assert!(response.content.len() < 50_000);
}
