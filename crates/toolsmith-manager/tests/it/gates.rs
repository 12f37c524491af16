//! The three gates of the usage guide, one test each, over the tools of the binary.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use toolsmith_manager::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE, OverlayFiles};
use toolsmith_runtime::guide::{Guide, Request};

use crate::shipped::{SHIPPED, guide, tools};

#[test]
fn gate_contract_every_schema_is_valid_2020_12() {
    let folder = tempfile::tempdir().unwrap();
    let guide = guide(OverlayFiles::in_folder(folder.path(), SystemTime::now));
    for tool in tools(&guide) {
        let input = tool.input.as_value();
        let checked = jsonschema::draft202012::meta::validate(input);
        assert!(checked.is_ok(), "{}: {:?}", tool.name, checked.err());
        assert_eq!(input["type"], "object", "{}", tool.name);
        for (name, property) in input["properties"].as_object().into_iter().flatten() {
            let description = property["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{}: {name}", tool.name);
        }
    }
}

#[test]
fn gate_integration_the_guide_parses_as_commonmark() {
    let folder = tempfile::tempdir().unwrap();
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).over(SHIPPED);
    let guide = guide(files);
    let tools = tools(&guide);
    let content = guide.answer(&tools, &Request::everything()).content;
    let arena = Arena::new();
    let document = parse_document(&arena, &content, &Options::default());
    let (mut titles, mut categories, mut names, mut schemas) = (0, 0, 0, Vec::new());
    for node in document.descendants() {
        match &node.data.borrow().value {
            NodeValue::Heading(heading) => match heading.level {
                1 => titles += 1,
                2 => categories += 1,
                _ => names += 1,
            },
            NodeValue::CodeBlock(block) if block.info == "json" => {
                schemas.push(serde_json::from_str(&block.literal).unwrap());
            }
            NodeValue::HtmlBlock(_) | NodeValue::HtmlInline(_) | NodeValue::Table(_) => {
                panic!("the guide holds more than it should")
            }
            _ => {}
        }
    }
    assert_eq!((titles, names), (1, tools.len()));
    assert!(categories >= 4);
    // In the order of the guide each is the one that is registered, key by key.
    let shown: Vec<String> = schemas.iter().map(serde_json::Value::to_string).collect();
    for tool in &tools {
        let registered = tool.input.as_value().to_string();
        assert!(shown.contains(&registered), "{}", tool.name);
    }
}

#[test]
fn gate_unit_yaml_missing_corrupt_and_empty() {
    for (content, warnings) in [(None, 0), (Some(""), 0), (Some("read: [\n"), 2)] {
        let folder = tempfile::tempdir().unwrap();
        for name in [DESCRIPTIONS_FILE, EXAMPLES_FILE] {
            if let Some(content) = content {
                fs::write(folder.path().join(name), content).unwrap();
            }
        }
        let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).over(SHIPPED);
        let guide: Arc<Guide> = guide(files);
        let tools = tools(&guide);
        let response = guide.answer(&tools, &Request::everything());
        assert_eq!(response.warnings.len(), warnings, "{:?}", response.warnings);
        assert_eq!(response.metadata.tool_count, tools.len());
    }
}
