//! The files shown in the documentation are files that load.

use std::path::Path;

use toolsmith_manager::{AskTerms, Setup, View};

use crate::sets::put;

const DOCUMENT: &str = include_str!("../../../../docs/tools-from-files.md");

const OPENAPI: &str = r#"
openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: "https://shop.example/v1" }]
paths:
  /orders:
    get: { operationId: listOrders, tags: [orders], summary: Lists the orders of a day., responses: {} }
    post: { operationId: addOrder, tags: [orders], summary: Adds an order to the list., responses: {} }
"#;

/// Every file of the document, by the name its first line gives.
fn files() -> Vec<(String, String)> {
    let blocks = DOCUMENT.split("```yaml\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let named = blocks.map(|block| {
        let (first, _) = block.split_once('\n').unwrap();
        (first.trim_start_matches("# ").to_owned(), block.to_owned())
    });
    let mut files: Vec<(String, String)> = named.collect();
    let script = DOCUMENT
        .split("```sh\n")
        .find(|block| block.starts_with("#!"))
        .unwrap();
    let script = script.split("```").next().unwrap();
    files.push(("tools/builtin/greet".to_owned(), script.to_owned()));
    files.push(("shop.openapi.yaml".to_owned(), OPENAPI.to_owned()));
    files
}

#[cfg(target_os = "linux")]
#[test]
fn every_file_of_the_documentation_loads() {
    use toolsmith_builtin::{Workspace, WorkspaceOptions};

    let folder = tempfile::tempdir().unwrap();
    let files = files();
    for (path, content) in &files {
        put(folder.path(), path, content);
    }
    assert!(files.len() > 8, "{files:?}");
    let keys = ["WEATHER_KEY", "LEGACY_KEY", "SHOP_TOKEN"];
    let keys = keys.map(|key| (key.into(), "a-key-of-some-length".into()));
    let workspace = Workspace::open([Path::new(folder.path())], WorkspaceOptions::default());
    let built_in = toolsmith_builtin::tools(&workspace.unwrap(), std::time::SystemTime::now);
    let manager = Setup::open(folder.path())
        .unwrap()
        .with_environment(&keys)
        .with_tools("builtin", built_in)
        .load()
        .unwrap();
    assert_eq!(manager.errors(), [] as [&str; 0]);
    assert_eq!(manager.missing(), [] as [&str; 0]);
    assert_eq!(manager.broken_sets(), [] as [&str; 0]);
    for tool in [
        "get_forecast",
        "report_weather",
        "count_words",
        "greet",
        "shop_list_orders",
    ] {
        assert!(manager.get_tool(tool).is_some(), "{tool}");
    }
    assert!(manager.get_tool("write").is_none());
    assert!(manager.get_tool("shop_add_order").is_none());
    assert_eq!(manager.remotes().len(), 1);
    let tools = manager
        .tools_of(&View::Agent("reviewer".to_owned()))
        .unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "read",
            "find",
            "find_files_by_name",
            "find_recently_modified_files",
            "grep",
            "glob"
        ]
    );
}

#[test]
fn the_settings_of_the_guards_load() {
    const GUARDS: &str = include_str!("../../../../docs/guards.md");
    let yaml = GUARDS.split("```yaml\n").nth(1).unwrap();
    let yaml = yaml.split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "toolsmith.yaml", yaml);
    let manager = Setup::open(folder.path()).unwrap().load().unwrap();
    assert_eq!(manager.errors(), [] as [&str; 0]);
    // None of its sources is there, which is worth a word for each.
    let unknown = manager.lint();
    let unknown = unknown.iter().filter(|it| it.contains("names no source"));
    assert_eq!(unknown.count(), 3);
}

#[test]
fn the_files_about_agents_load() {
    const AGENTS: &str = include_str!("../../../../docs/agents.md");
    let blocks = AGENTS.split("```yaml\n").skip(1);
    let blocks: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    let [settings, reviewer] = blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "toolsmith.yaml", settings);
    put(folder.path(), "agents/reviewer.yaml", reviewer);
    put(folder.path(), ".keys/anthropic", "a-key-of-some-length");
    let manager = Setup::open(folder.path()).unwrap().load().unwrap();
    assert_eq!(manager.errors(), [] as [&str; 0]);
    let terms = AskTerms::default();
    let (name, agent) = manager
        .agent(&View::Usual, &terms)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(name.to_string(), "openai-compatible/qwen3");
    assert_eq!(agent.limits().turns, 30);
}
