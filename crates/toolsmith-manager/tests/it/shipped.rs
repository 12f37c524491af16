//! What ships with the program about the built-in tools: all of it is there, and right.

use std::sync::Arc;
use std::time::SystemTime;

use toolsmith_builtin::{
    ShellOptions, Shells, Web, WebSettings, Workspace, WorkspaceOptions, overlays,
};
use toolsmith_core::ToolDef;
use toolsmith_manager::overlays::{OverlayFiles, Shipped, layer};
use toolsmith_process::{Mode, Sandbox};
use toolsmith_runtime::guide::{
    Guide, GuideExample, Layer, LifeCycle, OverlaySource, Overlays, Request,
};

pub(crate) const SHIPPED: Shipped = Shipped {
    descriptions: overlays::DESCRIPTIONS,
    examples: overlays::EXAMPLES,
};

fn shipped() -> Layer {
    let descriptions = ("tool_descriptions.yaml", SHIPPED.descriptions);
    let examples = ("tool_examples.yaml", SHIPPED.examples);
    layer(descriptions, examples).unwrap()
}

/// The tools of the binary: the built-in ones, those that give tasks, and the guide.
pub(crate) fn tools(guide: &Arc<Guide>) -> Vec<Arc<ToolDef>> {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open([folder.path()], WorkspaceOptions::default()).unwrap();
    let mut tools = toolsmith_builtin::tools(&workspace, SystemTime::now);
    let sandbox = Sandbox::new(Mode::WorkspaceWrite);
    let options = ShellOptions::new(sandbox, [], folder.path());
    tools.extend(Shells::new(&workspace, options).tools());
    let web = Web::new(WebSettings::default());
    tools.extend(toolsmith_builtin::web_tools(&web));
    tools.extend(toolsmith_agent::task::Tasks::default().tools());
    tools.push(toolsmith_runtime::guide::tool(Arc::clone(guide)));
    tools.iter().map(|tool| tool.definition()).collect()
}

pub(crate) fn guide(source: impl OverlaySource + 'static) -> Arc<Guide> {
    Arc::new(Guide::new(Arc::new(source), SystemTime::now))
}

#[test]
fn every_built_in_tool_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).over(SHIPPED);
    assert_eq!(files.current().warnings, Vec::<String>::new());
    let guide = guide(files);
    let tools = tools(&guide);
    assert_eq!(tools.len(), 31);
    let coverage = guide.coverage(&tools);
    assert_eq!(coverage.len(), tools.len());
    for tool in coverage {
        assert_eq!(tool.state, LifeCycle::Complete, "{}", tool.name);
        assert_eq!(tool.described_by, Some("shipped"), "{}", tool.name);
        assert!((2..=3).contains(&tool.examples), "{}", tool.name);
    }
    let (shown, warnings) = guide.assembled(&tools, &Request::everything());
    assert_eq!(warnings, Vec::<String>::new());
    for tool in shown {
        assert!(tool.returns.is_some(), "{}", tool.name);
        assert!(
            tool.purpose().starts_with(|c: char| c.is_uppercase()),
            "{}",
            tool.name
        );
    }
}

/// Users' overlays are judged, shipped ones are not: so these are judged as if they were
/// a user's. Lengths, lines, unknown and missing tools, examples that do not fit.
#[test]
fn nothing_about_them_is_worth_a_word() {
    let mut overlays = Overlays::default();
    overlays.own = shipped();
    let guide = guide(Arc::new(overlays));
    let findings = guide.lints(&tools(&guide));
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn every_example_is_a_call_with_a_comment() {
    for (name, snippets) in shipped().examples {
        for snippet in snippets {
            let example = GuideExample::read(&name, &snippet.code);
            assert!(
                example.arguments().is_some(),
                "{}: {example:?}",
                snippet.place
            );
            assert!(example.comment().is_some(), "{}", snippet.place);
            assert!(snippet.code.starts_with("# "), "{}", snippet.place);
        }
    }
}

/// The guide says more than the declarations that models get with every request.
#[test]
fn descriptions_are_not_those_of_the_code() {
    let layer = shipped();
    let guide = guide(Arc::new(Overlays::default()));
    for tool in tools(&guide) {
        let described = &layer.descriptions[tool.name.as_str()];
        let text = described.text.clone().unwrap();
        let code = &tool.description;
        assert!(!text.contains(&code.short), "{}", tool.name);
        assert!(text.len() > code.short.len(), "{}", tool.name);
    }
}
