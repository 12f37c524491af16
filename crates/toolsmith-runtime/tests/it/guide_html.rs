//! The guide as a page: whole in itself, and nothing a tool says becomes part of it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolsmith_core::{Example, Kind, Schema, ToolDef};
use toolsmith_runtime::guide::{Guide, Overlays, Place, Request, Snippet};

fn page_with(overlays: Overlays, tools: &[ToolDef], request: &Request) -> String {
    let tools: Vec<Arc<ToolDef>> = tools.iter().cloned().map(Arc::new).collect();
    let time = || SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let guide = Guide::new(Arc::new(Arc::new(overlays)), time);
    guide.html(&tools, request).unwrap()
}

fn page(tools: &[ToolDef]) -> String {
    page_with(Overlays::default(), tools, &Request::everything())
}

fn tool(name: &str) -> ToolDef {
    ToolDef::new(name)
        .unwrap()
        .with_kind(Kind::Read)
        .with_description("Reads something that is there to be read.")
}

fn with_input(tool: ToolDef, schema: Value) -> ToolDef {
    tool.with_input(Schema::input(schema).unwrap())
}

/// The tags of a page in order, each checked: known, closed in order, and with nothing in
/// it that reaches beyond the page. Reads only what the page may be made of, so that what
/// it cannot read is an error too.
fn tags(page: &str) -> Vec<String> {
    const EMPTY: [&str; 3] = ["!doctype", "meta", "input"];
    let known: BTreeSet<&str> = "!doctype html head meta title style body a header h1 p span div \
         label input fieldset legend nav ul li main section h2 article h3 h4 table thead tr th \
         tbody td details summary pre code figure figcaption script"
        .split_whitespace()
        .collect();
    let (mut open, mut tags): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = page;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>') || tags.last().is_some_and(|t| t == "style" || t == "script"));
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tags:?}");
            continue;
        }
        let name = tag.split_whitespace().next().unwrap();
        assert!(known.contains(name), "<{tag}>");
        let attributes = tag[name.len()..].split('"').step_by(2);
        for attribute in attributes.filter(|text| text.contains('=')) {
            let attribute = attribute.trim().trim_end_matches('=');
            let attribute = attribute.rsplit(' ').next().unwrap();
            let is_harmless = !attribute.starts_with("on") && attribute != "src";
            assert!(is_harmless && attribute != "style", "<{tag}>");
        }
        if let Some((_, address)) = tag.split_once("href=\"") {
            assert!(address.starts_with('#'), "<{tag}>");
        }
        if !EMPTY.contains(&name) {
            open.push(name.to_owned());
        }
        tags.push(name.to_owned());
        // What stands in these two is no markup.
        if name == "style" || name == "script" {
            let end = format!("</{name}>");
            rest = &rest[rest.find(&end).unwrap()..];
        }
    }
    assert_eq!(open, Vec::<String>::new());
    assert_eq!(tags.iter().filter(|tag| *tag == "script").count(), 1);
    assert_eq!(tags.iter().filter(|tag| *tag == "style").count(), 1);
    tags
}

fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, after) = page.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    after.split_once(to).unwrap().0
}

fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&#x2f;", "/")
        .replace("&amp;", "&")
}

/// What a page says, without its markup.
fn text(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    unescaped(&text)
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let page = page(&[tool("read_it")]);
    tags(&page);
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    for beyond in [
        "http://", "https://", "url(", "@import", "<link", "<img", "src=",
    ] {
        assert!(!page.contains(beyond), "{beyond}");
    }
    // The policy names what is there, by its hash, and allows nothing else.
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\">");
    let policy = unescaped(policy);
    let hash = |tag: &str| {
        let content = between(&page, &format!("<{tag}>"), &format!("</{tag}>"));
        let digest = Sha256::digest(content);
        assert_eq!(
            decoded(between(&policy, &format!("{tag}-src 'sha256-"), "'")),
            *digest,
            "{tag}"
        );
    };
    hash("style");
    hash("script");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

/// Base64, the other way round than the page writes it.
fn decoded(text: &str) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    for letter in text.trim_end_matches('=').chars() {
        let value = match letter {
            'A'..='Z' => letter as u32 - 'A' as u32,
            'a'..='z' => letter as u32 - 'a' as u32 + 26,
            '0'..='9' => letter as u32 - '0' as u32 + 52,
            '+' => 62,
            _ => 63,
        };
        bits.extend((0..6).rev().map(|bit| value >> bit & 1 == 1));
    }
    let bytes = bits.chunks_exact(8);
    bytes
        .map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
        .collect()
}

/// Without a script the page is there whole, and the search, which needs one, is not.
#[test]
fn nothing_is_hidden_from_those_without_scripts() {
    let page = page(&[tool("read_it"), tool("list_it")]);
    let hidden: Vec<&str> = page
        .match_indices(" hidden>")
        .map(|(end, _)| &page[page[..end].rfind('<').unwrap()..end])
        .collect();
    assert_eq!(
        hidden,
        [
            "<div class=\"search\" id=\"search-box\" role=\"search\"",
            "<p class=\"nothing\" id=\"nothing\""
        ]
    );
    assert!(page.contains("<label for=\"search\">"));
    assert!(
        page.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
    );
    assert!(page.contains("@media (prefers-color-scheme: dark)"));
}

#[test]
fn every_tool_stands_in_its_category_and_in_the_contents() {
    let tools = ["grep_it", "list_it", "read_it", "help_me", "tree_it"].map(tool);
    let page = page(&tools);
    tags(&page);
    let headings = page.match_indices("<h2 id=\"name-category-");
    let headings: Vec<String> = headings
        .map(|(at, _)| text(page[at..].split_once("</h2>").unwrap().0))
        .collect();
    assert_eq!(
        headings,
        [
            "Navigation tools (2)",
            "Search tools (1)",
            "Read tools (1)",
            "Guide tools (1)"
        ]
    );
    let mut ids = HashSet::new();
    for (at, found) in page.match_indices(" id=\"") {
        let id = page[at + found.len()..].split_once('"').unwrap().0;
        assert!(ids.insert(id), "{id} stands there twice");
    }
    for (at, found) in page.match_indices("href=\"#") {
        let id = page[at + found.len()..].split_once('"').unwrap().0;
        assert!(ids.contains(id), "{id} leads nowhere");
    }
    for tool in &tools {
        let link = format!(
            "<li data-for=\"tool-{0}\"><a href=\"#tool-{0}\">{0}</a>",
            tool.name
        );
        assert!(page.contains(&link), "{link}");
    }
    assert!(page.contains("<span>Generated 2027-01-15</span><span>5 tools</span>"));
}

#[test]
fn a_tool_is_told_whole() {
    let read = with_input(
        tool("read_it")
            .with_title("Read a file")
            .with_description("Reads `one` file.\n\nSecond < paragraph & more.")
            .with_returns("The lines.")
            .with_example(
                Example::new(json!({ "path": "a b" }).as_object().unwrap().clone())
                    .with_comment("A file"),
            ),
        json!({
            "properties": {
                "path": { "type": "string", "description": "The file.", "minLength": 1 },
                "mode": { "type": "string", "enum": ["a", "b"], "default": "a", "description": "How." },
                "edits": { "type": "array", "description": "Changes.", "maxItems": 9, "items": {
                    "type": "object",
                    "properties": { "old": { "type": "string", "description": "Before." } },
                    "required": ["old"],
                } },
                "kept": { "$ref": "#/$defs/kept" },
                "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "told": { "enum": ["x", "y"], "description": "Either `x`\nor `y`:\n- `x` is first" },
                "sure": { "const": "YES" },
            },
            "required": ["path"],
            "$defs": { "kept": { "type": "integer", "description": "How many.", "minimum": 1, "maximum": 5 } },
        }),
    );
    let page = page(std::slice::from_ref(&read));
    tags(&page);
    assert!(page.contains("<p dir=\"auto\">Reads <code>one</code> file.</p>"));
    assert!(page.contains("<p dir=\"auto\">Second &lt; paragraph &amp; more.</p>"));
    assert!(page.contains("<span class=\"title\" dir=\"auto\">Read a file</span>"));
    assert!(page.contains("<span class=\"state complete\">Complete</span>"));
    assert!(page.contains("<p dir=\"auto\">The lines.</p>"));
    let table = between(&page, "<tbody>", "</tbody>");
    let rows: Vec<String> = table
        .split("</tr>")
        .map(|row| text(row).split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|row| !row.is_empty())
        .collect();
    assert_eq!(
        rows,
        [
            "path required string The file.at least 1 character",
            "mode string = \"a\" How.One of \"a\", \"b\"",
            "edits array of object Changes.at most 9 items",
            "edits[].old required string Before.",
            "kept integer How many.1 to 5",
            "either string or null",
            "told string Either x or y: - x is first",
            "sure exactly Only \"YES\"",
        ]
    );
    let schema = between(
        &page,
        "<pre tabindex=\"0\" aria-label=\"Schema of read_it\"><code>",
        "</code>",
    );
    let schema: Value = serde_json::from_str(&unescaped(schema)).unwrap();
    assert_eq!(schema.to_string(), read.input.as_value().to_string());
    let example = between(&page, "<figure", "</figure>");
    assert!(example.contains("<figcaption dir=\"auto\">A file</figcaption>"));
    let form = |class: &str| {
        let from = format!("<pre class=\"{class}\"><code>");
        unescaped(between(example, &from, "</code>"))
    };
    assert_eq!(form("python"), "read_it(path=\"a b\")");
    assert_eq!(
        serde_json::from_str::<Value>(&form("json")).unwrap(),
        json!({ "path": "a b" })
    );
    assert!(form("command").starts_with("toolsmith call read_it "));
}

#[test]
fn what_is_missing_is_said() {
    let bare = ToolDef::new("bare").unwrap().with_kind(Kind::Read);
    let mut overlays = Overlays::default();
    overlays
        .warnings
        .push("tool_examples.yaml:3: it is <wrong>".to_owned());
    let code = "for x in bare(): pass";
    let snippets = vec![Snippet::new(code, Place::default())];
    overlays.own.examples.insert("shown".to_owned(), snippets);
    let names = vec!["bare".to_owned(), "shown".to_owned(), "none".to_owned()];
    let request = Request::everything().with_tool_names(Some(names));
    let tools = [bare, tool("shown"), tool("other")];
    let page = page_with(overlays, &tools, &request);
    tags(&page);
    assert!(page.contains("<span>2 of 3 tools</span>"));
    assert!(page.contains("[Description pending]"));
    assert!(page.contains("<span class=\"state\">Schema only</span>"));
    assert!(page.contains("<p class=\"none\">None.</p>"));
    let warnings = text(between(&page, "id=\"warnings\"", "</section>"));
    assert!(
        warnings.contains("tool_examples.yaml:3: it is <wrong>"),
        "{warnings}"
    );
    assert!(warnings.contains("'none' not found"), "{warnings}");
    let example = between(&page, "<figure", "</figure>");
    assert!(example.contains(code), "{example}");
    assert!(example.contains("Shown as written: "), "{example}");
    assert!(!example.contains("class=\"json\""), "{example}");
}

#[test]
fn a_page_without_tools() {
    let empty = page(&[]);
    tags(&empty);
    assert!(empty.contains("<p>There are no tools to show.</p>"));
    assert!(empty.contains("<span>0 tools</span>"));
}

/// Texts that would be markup, attributes, templates, scripts or orders to the browser.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "</style><script>alert(2)</script>",
    "</script></main></body><h1>mine</h1>",
    "\"><img src=x onerror=alert(3)>",
    "' onmouseover='alert(4)",
    "<!-- `<b>` --> ]]> &lt;script&gt; &#60;",
    "{{ style }}{% for x in y %}{# no #}",
    "`<script>`alert(5)`</script>` `unclosed <i>",
    "\u{202e}desrever\u{2066} \u{1b}[31mred \u{0}\u{200b}\u{e0041}",
];

/// A tool that says `hostile` wherever a tool can say anything.
fn saying(name: &str, hostile: &str) -> ToolDef {
    let mut tool = with_input(
        tool(name).with_title(hostile).with_description(hostile),
        json!({
            "properties": {
                hostile: { "type": "string", "description": hostile, "default": hostile },
                "choice": { "enum": [hostile], "description": "x" },
                "literal": { "const": hostile },
                "shape": { "type": "string", "pattern": regex::escape(hostile), "format": hostile },
            },
        }),
    );
    tool.description.long = hostile.to_owned();
    tool.description.important = vec![hostile.to_owned()];
    tool.description.usage_notes = vec![hostile.to_owned()];
    tool.meta.category = Some(hostile.to_owned());
    let arguments = json!({ hostile: hostile, "choice": hostile });
    tool.with_returns(hostile)
        .with_example(Example::new(arguments.as_object().unwrap().clone()).with_comment(hostile))
}

fn hostile_page(hostile: &str) -> String {
    let mut overlays = Overlays::default();
    overlays.warnings.push(hostile.to_owned());
    let snippets = vec![Snippet::new(hostile, Place::default())];
    overlays.own.examples.insert("second".to_owned(), snippets);
    let tools = [saying("first", hostile), saying("second", hostile)];
    page_with(overlays, &tools, &Request::everything())
}

#[test]
fn hostile_texts_stay_texts() {
    for hostile in HOSTILE {
        let page = hostile_page(hostile);
        tags(&page);
        let is_tame = |c: char| c == '\n' || c == '\t' || !c.is_control();
        assert!(page.chars().all(is_tame), "{hostile:?}");
        for hidden in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}'] {
            assert!(!page.contains(hidden), "{hidden:?}");
        }
    }
    let page = hostile_page(HOSTILE[0]);
    assert!(!page.contains(HOSTILE[0]));
    assert!(text(between(&page, "class=\"purpose\"", "</div>")).contains(HOSTILE[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever tools say, the page is the one that plain words make, but for code in
    /// backquotes.
    #[test]
    fn no_text_changes_the_page(hostile in "[<>&\"'`/=!{}%#\\-a-c \n\u{202e}\u{1b}]{0,40}") {
        tags(&hostile_page(&hostile));
    }
}

#[test]
fn schemas_without_end() {
    let circle = with_input(
        tool("circle"),
        json!({
            "properties": { "node": { "$ref": "#/$defs/node" } },
            "$defs": { "node": { "type": "object", "properties": {
                "left": { "$ref": "#/$defs/node" }, "right": { "$ref": "#/$defs/node" },
                "any": { "anyOf": [{ "$ref": "#/$defs/node" }, { "$ref": "#/$defs/node" }] },
            } } },
        }),
    );
    let properties = (0..5_000).map(|index| (format!("p{index}"), json!({ "type": "string" })));
    let wide = json!({ "properties": properties.collect::<serde_json::Map<_, _>>() });
    let wide = with_input(tool("wide"), wide);
    // One long text, told in many places.
    let properties = (0..500).map(|index| (format!("p{index}"), json!({ "$ref": "#/$defs/long" })));
    let long = json!({
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "$defs": { "long": {
            "description": "d".repeat(100_000),
            "default": "v".repeat(100_000),
            "enum": ["e".repeat(100_000)],
        } },
    });
    let long = with_input(tool("long"), long);
    let page = page(&[circle, wide, long]);
    tags(&page);
    let rows = page.matches("<tr>").count();
    assert!(rows <= 3 * 200 + 3, "{rows}");
    assert!(page.len() < 2_000_000, "{}", page.len());
    // The schema itself has them all.
    assert!(page.contains("&quot;p4999&quot;"));
}

#[test]
fn a_thousand_tools() {
    let tools: Vec<ToolDef> = (0..1000)
        .map(|index| tool(&format!("read_{index}")))
        .collect();
    let page = page(&tools);
    for tool in &tools {
        assert!(page.contains(&format!(" id=\"tool-{}\"", tool.name)));
    }
    assert_eq!(page.matches("<article").count(), 1000);
}

/// The schema is JSON, not a text: nothing in it is cleaned away.
#[test]
fn a_schema_is_shown_as_it_is_registered() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "description": "\u{9b}", "default": "\u{202e}x\u{2028}y" },
            "b": { "enum": ["<b>", "a\u{9b}", "\u{1b}[31m"] },
        },
        "additionalProperties": false,
    });
    let page = page(&[with_input(tool("one"), schema.clone())]);
    let (_, after) = page
        .split_once("aria-label=\"Schema of one\"><code>")
        .unwrap();
    let (shown, _) = after.split_once("</code>").unwrap();
    let unescaped = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(shown.to_owned(), |text, (from, to)| text.replace(from, to));
    // As texts, since the order of keys is a part of it.
    let shown: Value = serde_json::from_str(&unescaped).unwrap();
    assert_eq!(shown.to_string(), schema.to_string());
}
