//! The usage guide: its form, what is asked for, and where its texts come from.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use serde_json::{Value, json};
use toolsmith_core::{Effect, Example, Kind, Schema, Source, ToolDef};
use toolsmith_runtime::guide::{
    Budget, Described, ExampleForm, Guide, Layer, LifeCycle, OverlaySource, Overlays, PENDING,
    Place, Request, Response, Snippet,
};
use toolsmith_testing::tools::{definition, taking};

pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_759_536_000)
}

pub(crate) fn guide_over(overlays: Overlays) -> Guide {
    Guide::new(Arc::new(Arc::new(overlays)), now)
}

pub(crate) fn plain_guide() -> Guide {
    guide_over(Overlays::default())
}

pub(crate) fn place(line: usize) -> Place {
    Place {
        file: "overlay.yaml".into(),
        line,
    }
}

pub(crate) fn described(text: &str) -> Described {
    let mut described = Described::default();
    described.text = Some(text.to_owned());
    described.place = place(1);
    described
}

/// A layer of texts and of examples by tool.
pub(crate) fn layer(texts: &[(&str, Described)], examples: &[(&str, &[&str])]) -> Layer {
    let mut layer = Layer::default();
    layer.descriptions = texts
        .iter()
        .map(|(name, entry)| ((*name).to_owned(), entry.clone()))
        .collect();
    layer.examples = examples
        .iter()
        .map(|(name, snippets)| {
            let snippets = snippets.iter().enumerate();
            let snippets = snippets.map(|(index, code)| Snippet::new(*code, place(index + 1)));
            ((*name).to_owned(), snippets.collect())
        })
        .collect::<BTreeMap<_, _>>();
    layer
}

pub(crate) fn with_own(own: Layer) -> Overlays {
    let mut overlays = Overlays::default();
    overlays.own = own;
    overlays
}

/// What a document is made of, as a CommonMark parser sees it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outline {
    /// Level and text.
    pub(crate) headings: Vec<(u8, String)>,
    /// Language and code.
    pub(crate) code: Vec<(String, String)>,
    /// Rules between sections.
    pub(crate) rules: usize,
    /// Anything we never write.
    pub(crate) foreign: Vec<String>,
}

pub(crate) fn outline(markdown: &str) -> Outline {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.footnotes = true;
    options.extension.tasklist = true;
    let arena = Arena::new();
    let mut outline = Outline::default();
    for node in parse_document(&arena, markdown, &options).descendants() {
        match &node.data.borrow().value {
            NodeValue::Heading(heading) => outline.headings.push((heading.level, text_of(node))),
            NodeValue::CodeBlock(block) => {
                let code = (block.info.clone(), block.literal.clone());
                outline.code.push(code);
            }
            NodeValue::ThematicBreak => outline.rules += 1,
            NodeValue::Document
            | NodeValue::Paragraph
            | NodeValue::Text(_)
            | NodeValue::Code(_)
            | NodeValue::SoftBreak
            | NodeValue::Strong
            | NodeValue::List(_)
            | NodeValue::Item(_) => {}
            other => outline.foreign.push(format!("{other:?}")),
        }
    }
    outline
}

pub(crate) fn text_of<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for node in node.descendants() {
        match &node.data.borrow().value {
            NodeValue::Text(more) => text.push_str(more),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::SoftBreak => text.push('\n'),
            _ => {}
        }
    }
    text
}

pub(crate) fn tool(name: &str, effect: Effect) -> Arc<ToolDef> {
    Arc::new(
        taking(name, json!({ "path": { "type": "string" } }))
            .with_effect(effect)
            .with_description("Does something that takes a sentence to tell."),
    )
}

pub(crate) fn catalogue() -> Vec<Arc<ToolDef>> {
    let imported = Source::Mcp {
        server: "github".to_owned(),
    };
    vec![
        tool("run_command", Effect::Execute),
        Arc::new(definition("create_issue").with_source(imported)),
        tool("read_file", Effect::Read),
        tool("fetch_page", Effect::Network),
        tool("get_help", Effect::Read),
        tool("list_directory", Effect::Read),
        tool("search_in_files", Effect::Read),
        tool("write_file", Effect::Write),
        tool("show_tree", Effect::Read),
    ]
}

fn headings(response: &Response) -> Vec<String> {
    let headings = outline(&response.content).headings.into_iter();
    headings
        .map(|(level, text)| format!("{} {text}", "#".repeat(level.into())))
        .collect()
}

#[test]
fn a_guide_has_the_form_that_was_promised() {
    let list = taking("list_directory", json!({ "path": { "type": "string" } }))
        .with_kind(Kind::Read)
        .with_returns("The entries.");
    let own = layer(
        &[(
            "list_directory",
            described("列出指定目录下的所有文件和子目录。"),
        )],
        &[("list_directory", &["# 列出src\nlist_directory(path='src')"])],
    );
    let response = guide_over(with_own(own)).answer(&[Arc::new(list)], &Request::everything());
    assert_eq!(
        response.content,
        r#"# Toolsmith Tools Usage Guide

Generated: 2025-10-04 | Tools: 1 | Category Filter: None

## Navigation Tools (1)

### list_directory
**Purpose**: 列出指定目录下的所有文件和子目录。

**Parameters**:
```json
{
  "type": "object",
  "properties": {
    "path": {
      "type": "string"
    }
  },
  "required": [
    "path"
  ],
  "additionalProperties": false
}
```

**Example**:
```python
# 列出src
list_directory(path="src")
```

**Returns**: The entries.

---
"#
    );
    assert_eq!(response.warnings, Vec::<String>::new());
    let metadata = response.metadata;
    assert_eq!((metadata.total_tools, metadata.tool_count), (1, 1));
    assert_eq!(metadata.filtered_count, 1);
    assert_eq!(metadata.size_bytes, response.content.len());
    assert!(metadata.generation_time_ms > 0.0);
}

#[test]
fn the_first_categories_come_first_and_the_others_by_name() {
    let response = plain_guide().answer(&catalogue(), &Request::everything());
    assert_eq!(
        headings(&response),
        [
            "# Toolsmith Tools Usage Guide",
            "## Navigation Tools (2)",
            "### list_directory",
            "### show_tree",
            "## Search Tools (1)",
            "### search_in_files",
            "## Read Tools (1)",
            "### read_file",
            "## Guide Tools (1)",
            "### get_help",
            "## Edit Tools (1)",
            "### write_file",
            "## Execution Tools (1)",
            "### run_command",
            "## Github Tools (1)",
            "### create_issue",
            "## Network Tools (1)",
            "### fetch_page",
        ]
    );
    let outline = outline(&response.content);
    assert_eq!((outline.rules, outline.code.len()), (9, 9));
    assert_eq!(outline.foreign, Vec::<String>::new());
}

#[test]
fn a_category_can_be_given_and_the_users_word_is_last() {
    let mut given = definition("one").with_kind(Kind::Read);
    given.meta.category = Some("code".to_owned());
    let tools = [Arc::new(given)];
    let category = |text: &str| {
        let mut entry = Described::default();
        entry.category = Some(text.to_owned());
        entry
    };
    let shown = |overlays: Overlays| {
        let (metadata, _) = guide_over(overlays).assembled(&tools, &Request::everything());
        metadata[0].category.clone()
    };
    let mut overlays = Overlays::default();
    assert_eq!(shown(overlays.clone()), "code");
    overlays.shipped = Arc::new(layer(&[("one", category("shipped"))], &[]));
    assert_eq!(shown(overlays.clone()), "shipped");
    overlays.own = layer(&[("one", category("  Search "))], &[]);
    assert_eq!(shown(overlays.clone()), "search");
    overlays.own = layer(&[("one", category(" \u{200b}\n"))], &[]);
    assert_eq!(shown(overlays), "shipped");
}

#[test]
fn texts_come_from_the_uppermost_layer_that_has_them_field_by_field() {
    let code = definition("one")
        .with_description("From the code.\n\nAnd more.")
        .with_returns("Code's return.");
    let tools = [Arc::new(code)];
    let mut shipped = described("Shipped text.");
    shipped.returns = Some("Shipped return.".to_owned());
    let mut overlays = Overlays::default();
    let told = |overlays: &Overlays| {
        let (mut all, _) = guide_over(overlays.clone()).assembled(&tools, &Request::everything());
        let tool = all.remove(0);
        (tool.description, tool.details, tool.returns)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        told(&overlays),
        (
            some("From the code."),
            some("And more."),
            some("Code's return.")
        )
    );
    overlays.shipped = Arc::new(layer(&[("one", shipped)], &[]));
    assert_eq!(
        told(&overlays),
        (some("Shipped text."), None, some("Shipped return."))
    );
    overlays.own = layer(&[("one", described("Own\ntext.\n\n\n\nIts rest."))], &[]);
    assert_eq!(
        told(&overlays),
        (
            some("Own\ntext."),
            some("Its rest."),
            some("Shipped return.")
        )
    );
    // A placeholder says nothing.
    overlays.own = layer(&[("one", described(" [Description pending]\n"))], &[]);
    assert_eq!(told(&overlays).0, some("Shipped text."));
}

/// Overlays that can be replaced while a guide is in use.
#[derive(Default)]
struct Changing(Mutex<Arc<Overlays>>);

impl OverlaySource for Changing {
    fn current(&self) -> Arc<Overlays> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

#[test]
fn every_guide_asks_what_holds_now() {
    let source = Arc::new(Changing::default());
    let guide = Guide::new(Arc::clone(&source) as _, now);
    let tools = [Arc::new(definition("one"))];
    let content = || guide.answer(&tools, &Request::everything()).content;
    assert!(content().contains("**Purpose**: A tool of a test."));
    for text in ["First.", "Second."] {
        *source.0.lock().unwrap() = Arc::new(with_own(layer(&[("one", described(text))], &[])));
        assert!(content().contains(&format!("**Purpose**: {text}\n")));
    }
}

#[test]
fn the_life_cycle_goes_from_schema_to_complete() {
    let bare = || ToolDef::new("bare").unwrap().with_kind(Kind::Read);
    let states = |tool: ToolDef, overlays: Overlays| {
        let coverage = guide_over(overlays).coverage(&[Arc::new(tool)]);
        let states = coverage.into_iter().map(|row| (row.name, row.state));
        states.collect::<Vec<_>>()
    };
    let row = |state| vec![("bare".to_owned(), state)];
    let example: &[(&str, &[&str])] = &[("bare", &["bare()"])];
    let text = [("bare", described("A description of the bare tool."))];
    assert_eq!(
        states(bare(), Overlays::default()),
        row(LifeCycle::SchemaOnly)
    );
    assert_eq!(
        states(bare().with_description(PENDING), Overlays::default()),
        row(LifeCycle::SchemaOnly)
    );
    assert_eq!(
        states(
            bare().with_description("\u{200b}\u{202e}"),
            Overlays::default()
        ),
        row(LifeCycle::SchemaOnly)
    );
    assert_eq!(
        states(bare(), with_own(layer(&[], example))),
        row(LifeCycle::SchemaOnly)
    );
    assert_eq!(
        states(
            bare().with_description("Said in code."),
            Overlays::default()
        ),
        row(LifeCycle::Documented)
    );
    assert_eq!(
        states(bare(), with_own(layer(&text, &[]))),
        row(LifeCycle::Documented)
    );
    assert_eq!(
        states(bare(), with_own(layer(&text, example))),
        row(LifeCycle::Complete)
    );
    let other = [("other", described("There is no such tool anywhere."))];
    assert_eq!(
        states(bare(), with_own(layer(&other, &[]))),
        [
            ("bare".to_owned(), LifeCycle::SchemaOnly),
            ("other".to_owned(), LifeCycle::Unregistered),
        ]
    );
    assert_eq!(json!(LifeCycle::SchemaOnly), json!("SchemaOnly"));
    assert_eq!(LifeCycle::Complete.to_string(), "Complete");
    let tools = [Arc::new(bare())];
    let response = plain_guide().answer(&tools, &Request::everything());
    assert!(
        response
            .content
            .contains("**Purpose**: [Description pending]\n")
    );
}

#[test]
fn examples_are_shown_in_the_form_that_is_wanted() {
    let read = taking(
        "read",
        json!({ "path": { "type": "string" }, "lines": { "type": "integer" } }),
    );
    let snippets: &[&str] = &[
        "# Some of it\nread(path='a b.txt', lines=3)",
        "{\"path\": \"x\", \"lines\": 1}",
        "for x in y:\n    read(path=x)",
    ];
    let guide = guide_over(with_own(layer(&[], &[("read", snippets)])));
    let tools = [Arc::new(read)];
    let code = |form| {
        let request = Request::everything().with_examples(form);
        let outline = outline(&guide.answer(&tools, &request).content);
        assert_eq!(outline.foreign, Vec::<String>::new());
        outline.code.into_iter().skip(1).collect::<Vec<_>>()
    };
    let block = |language: &str, code: &str| (language.to_owned(), code.to_owned());
    let looped = "for x in y:\n    read(path=x)\n";
    assert_eq!(
        code(ExampleForm::Python),
        [block(
            "python",
            "# Some of it\nread(path=\"a b.txt\", lines=3)\n\nread(path=\"x\", lines=1)\n\n\
             for x in y:\n    read(path=x)\n"
        )]
    );
    assert_eq!(
        code(ExampleForm::Json),
        [
            block("json", "{\n  \"path\": \"a b.txt\",\n  \"lines\": 3\n}\n"),
            block("json", "{\n  \"path\": \"x\",\n  \"lines\": 1\n}\n"),
            block("python", looped),
        ]
    );
    assert_eq!(
        code(ExampleForm::CommandLine),
        [
            block(
                "sh",
                "# Some of it\ntoolsmith call read path='a b.txt' lines=3\n\n\
                 toolsmith call read path=x lines=1\n"
            ),
            block("python", looped),
        ]
    );
}

#[test]
fn no_more_than_five_examples_are_shown_and_none_is_dropped_for_its_form() {
    let snippets: Vec<String> = (0..50).map(|n| format!("one(n={n})")).collect();
    let snippets: Vec<&str> = snippets.iter().map(String::as_str).collect();
    let long = "print(1)\n".repeat(200);
    let examples: &[(&str, &[&str])] = &[("one", &snippets), ("two", &[&long])];
    let guide = guide_over(with_own(layer(&[], examples)));
    let mut three = definition("three");
    for n in 0..6 {
        let arguments = json!({ "n": n }).as_object().unwrap().clone();
        three = three.with_example(Example::new(arguments));
    }
    let tools = [definition("one"), definition("two"), three].map(Arc::new);
    let response = guide.answer(&tools, &Request::everything());
    let code = outline(&response.content).code;
    assert_eq!(code[1].1.matches("one(").count(), 5);
    // Those of the definition are no more.
    assert_eq!(code[5].1.matches("three(").count(), 5);
    assert_eq!(code[3].1.lines().count(), 11);
    assert!(code[3].1.ends_with("# … 190 more lines\n"));
}

#[test]
fn warnings_of_the_overlays_come_with_every_guide() {
    let mut overlays = Overlays::default();
    overlays.warnings = vec!["tool_examples.yaml:3: tabs\u{202e} are no indentation".to_owned()];
    overlays.warnings.extend((0..100).map(|n| n.to_string()));
    let response = guide_over(overlays).answer(&catalogue(), &Request::everything());
    assert_eq!(
        response.warnings[0],
        "tool_examples.yaml:3: tabs are no indentation"
    );
    assert_eq!(response.warnings.len(), 20);
}

/// The schemas of definitions are shown exactly: value and order of keys.
#[test]
fn schemas_are_shown_as_they_are_registered() {
    let schema = json!({
        "type": "object",
        "zebra": 1,
        "properties": { "z": { "description": "``` \u{202e} \u{e0041} é" }, "a": true },
        "alpha": [1.5, null, "\u{7f}"],
    });
    let received = Schema::as_received(schema.clone()).unwrap();
    let tools = [Arc::new(definition("one").with_input(received))];
    let whole = plain_guide().answer(&tools, &Request::everything());
    for budget in [50_000, whole.content.len() - 1] {
        let request = Request::everything().with_budget(Budget::Bytes(budget));
        let response = plain_guide().answer(&tools, &request);
        assert_eq!(response.metadata.tool_count, 1, "{budget}");
        let code = outline(&response.content).code.remove(0).1;
        let shown: Value = serde_json::from_str(&code).unwrap();
        assert_eq!(shown.to_string(), schema.to_string());
        assert!(!code.contains(['\u{202e}', '\u{e0041}', '\u{7f}']) && !code.contains("```"));
        assert_eq!(code.contains("\n  "), budget == 50_000);
    }
}
