//! Which tools there are: names, duplicates, lookups, statistics, changes.

use serde_json::json;
use toolsmith_core::definition::{Example, Meta};
use toolsmith_core::{AnyTool, Consent, Kind, Outcome, Source, ToolDef, ToolRef};
use toolsmith_runtime::registry::{Registry, RegistryError};
use toolsmith_runtime::{BuildError, Toolbox};
use toolsmith_testing::tools::{answering, definition, echoing, taking};
use toolsmith_testing::{call, value};

fn tool(name: &str) -> AnyTool {
    echoing(definition(name))
}

fn toolbox(names: &[&str]) -> Toolbox {
    Toolbox::new(names.iter().map(|name| tool(name))).unwrap()
}

fn names(registry: &Registry) -> Vec<String> {
    let tools = registry.all();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

fn from_server(name: &str, server: &str) -> ToolDef {
    let server = server.to_owned();
    definition(name).with_source(Source::Mcp { server })
}

#[test]
fn two_tools_of_one_name_are_an_error_and_nothing_is_registered() {
    let built = Toolbox::new([tool("one"), tool("two"), tool("one")]);
    let Err(BuildError::Registry(RegistryError::Duplicate { name, by })) = built else {
        panic!("{built:?}");
    };
    assert_eq!((name.as_str(), by.as_str()), ("one", "direct"));

    let toolbox = toolbox(&["one"]);
    let error = toolbox.registry().register(tool("one")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `one` is registered already, by `direct`; give one of them another name"
    );
    let error = toolbox.registry().register_all([tool("two"), tool("one")]);
    assert!(error.is_err());
    assert_eq!(names(toolbox.registry()), ["one"]);
}

#[test]
fn register_all_takes_all_or_none_for_any_error() {
    let toolbox = toolbox(&["one"]);
    let error = toolbox.register([tool("two"), tool("Three")]).unwrap_err();
    assert!(matches!(error, RegistryError::Name { .. }));
    assert_eq!(names(toolbox.registry()), ["one"]);
    toolbox.register([tool("two"), tool("three")]).unwrap();
    assert_eq!(names(toolbox.registry()), ["one", "two", "three"]);
}

#[tokio::test]
async fn on_load_the_first_of_a_name_wins_and_the_others_are_listed() {
    let first = answering(definition("same"), || Outcome::ok(1));
    let second = answering(definition("same"), || Outcome::ok(2));
    let toolbox = Toolbox::builder()
        .load("a", [first, tool("Bad-Name"), tool("other")])
        .load("b", [second, tool("third")])
        .build()
        .unwrap();
    assert_eq!(names(toolbox.registry()), ["same", "other", "third"]);
    let shadowed = serde_json::to_value(toolbox.registry().shadowed()).unwrap();
    assert_eq!(
        shadowed,
        json!([{"name": "same", "origin": "b", "by": "a"}])
    );
    assert_eq!(toolbox.registry().statistics().shadowed, 1);
    assert_eq!(value(&call(&toolbox, "same", json!({})).await), json!(1));
}

#[test]
fn load_tells_what_could_not_be_registered() {
    let toolbox = toolbox(&["one"]);
    let refused = toolbox.registry().load("b", [tool("Two"), tool("three")]);
    let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
    assert_eq!(
        refused,
        [
            "tool name `Two` must be lower case with underscores and begin with a letter, such as `two`"
        ]
    );
    assert_eq!(names(toolbox.registry()), ["one", "three"]);
}

#[test]
fn own_names_are_lower_case_with_underscores() {
    for (name, suggestion) in [
        ("ReadFile", "read_file"),
        ("readFile", "read_file"),
        ("read-file", "read_file"),
        ("read.file", "read_file"),
        ("READ", "read"),
        ("_read", "read"),
        ("9read", "read"),
        ("99", "my_tool"),
        ("HTTPGet", "httpget"),
    ] {
        let error = Toolbox::new([tool(name)]).unwrap_err();
        let BuildError::Registry(RegistryError::Name {
            suggestion: got, ..
        }) = &error
        else {
            panic!("{name}: {error}");
        };
        assert_eq!(got, suggestion, "{name}");
        Toolbox::new([tool(got)]).unwrap();
    }
}

#[test]
fn imported_tools_may_use_every_character_of_names() {
    for name in ["mcp__git__log", "Read-File", "a.b", "9lives", "_x"] {
        Toolbox::new([echoing(from_server(name, "git"))]).unwrap();
    }
    for source in [Source::Builtin, Source::Native, Source::Rest] {
        let own = definition("Read-File").with_source(source);
        assert!(Toolbox::new([echoing(own)]).is_err());
    }
}

#[test]
fn examples_of_imported_tools_hide_nothing() {
    let arguments = json!({"a": ["b\u{200b}c", {"\u{e0064}d": "\u{202e}e"}]});
    let example = Example::new(arguments.as_object().unwrap().clone());
    let imported = from_server("mcp__git__log", "git");
    let imported = imported.with_example(example.with_comment("f\u{e0041}g"));
    let toolbox = Toolbox::new([echoing(imported)]).unwrap();
    let example = &toolbox.registry().all()[0].examples[0];
    assert_eq!(example.comment.as_deref(), Some("fg"));
    assert_eq!(json!(example.arguments), json!({"a": ["bc", {"d": "e"}]}));
}

#[tokio::test]
async fn unregister_takes_a_tool_out_and_nothing_else() {
    let toolbox = toolbox(&["one", "two", "three"]);
    assert!(toolbox.registry().unregister("two"));
    assert!(!toolbox.registry().unregister("two"));
    assert_eq!(names(toolbox.registry()), ["one", "three"]);
    assert!(!toolbox.registry().has("two"));
    assert!(toolbox.registry().get("two").is_none());
    assert!(!call(&toolbox, "two", json!({})).await.is_success());
    assert!(call(&toolbox, "three", json!({})).await.is_success());
    toolbox.register([tool("two")]).unwrap();
    assert_eq!(names(toolbox.registry()), ["one", "three", "two"]);
}

fn catalogue() -> Toolbox {
    let meta = |category: &str, tags: &[&str]| {
        let mut meta = Meta::new(format!("id-{category}"));
        meta.category = Some(category.to_owned());
        meta.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        meta
    };
    let tools = [
        definition("read_file")
            .with_kind(Kind::Read)
            .with_meta(meta("files", &["disk", "text"])),
        definition("write_file")
            .with_kind(Kind::Edit)
            .with_meta(meta("files", &["disk"])),
        definition("fetch")
            .with_kind(Kind::Network)
            .with_source(Source::Rest)
            .with_meta(meta("web", &["text"]))
            .with_description("Reads a page.\n\nFollows redirects, keeps no file."),
        from_server("mcp__git__log", "git").with_kind(Kind::External),
    ];
    Toolbox::new(tools.map(echoing)).unwrap()
}

#[test]
fn tools_are_found_by_source_category_tag_and_kind() {
    let toolbox = catalogue();
    let registry = toolbox.registry();
    let listed = |tools: Vec<std::sync::Arc<ToolDef>>| -> Vec<String> {
        tools.iter().map(|tool| tool.name.to_string()).collect()
    };
    assert_eq!(
        listed(registry.by_source("builtin")),
        ["read_file", "write_file"]
    );
    assert_eq!(listed(registry.by_source("mcp")), ["mcp__git__log"]);
    assert_eq!(listed(registry.by_source("native")), [""; 0]);
    assert_eq!(
        listed(registry.by_category("files")),
        ["read_file", "write_file"]
    );
    assert_eq!(listed(registry.by_category("git")), ["mcp__git__log"]);
    assert_eq!(listed(registry.by_tag("text")), ["read_file", "fetch"]);
    assert_eq!(listed(registry.by_tag("tex")), [""; 0]);
    assert_eq!(listed(registry.by_kind(Kind::Edit)), ["write_file"]);
    // Kinds of the same effect stay apart.
    assert_eq!(listed(registry.by_kind(Kind::Delete)), [""; 0]);
    assert_eq!(listed(registry.by_kind(Kind::Network)), ["fetch"]);
    assert_eq!(listed(registry.by_kind(Kind::External)), ["mcp__git__log"]);
    assert_eq!(registry.categories(), ["files", "git", "web"]);
    assert_eq!(registry.tags(), ["disk", "text"]);
    assert_eq!(registry.len(), 4);
    assert!(!registry.is_empty());
}

#[test]
fn search_ranks_name_over_tag_over_text() {
    let toolbox = catalogue();
    for (text, expected) in [
        ("file", &["read_file", "write_file", "fetch"][..]),
        ("FILE disk", &["read_file", "write_file"]),
        ("fetch", &["fetch"]),
        ("text", &["read_file", "fetch"]),
        ("page", &["fetch"]),
        ("redirects file", &["fetch"]),
        ("git", &["mcp__git__log"]),
        ("nothing", &[]),
        ("   ", &[]),
    ] {
        let found = toolbox.registry().search(text);
        let found: Vec<&str> = found.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(found, expected, "{text:?}");
    }
    // A part of a name counts more than a tag, and that more than a text, whatever the order.
    let texts = definition("by_text").with_description("Speaks of a word.");
    let mut tags = definition("by_tag");
    tags.meta.tags = vec!["word".to_owned()];
    let ranked = Toolbox::new([texts, tags, definition("a_word_in_it")].map(echoing)).unwrap();
    let found = ranked.registry().search("word");
    let found: Vec<&str> = found.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(found, ["a_word_in_it", "by_tag", "by_text"]);
    // A whole name counts more than a part of one, whatever the order.
    let toolbox = self::toolbox(&["logger", "log"]);
    let found = toolbox.registry().search("log");
    assert_eq!(found[0].name, "log");
}

#[test]
fn statistics_count_by_source_category_and_effect() {
    let statistics = serde_json::to_value(catalogue().registry().statistics()).unwrap();
    assert_eq!(
        statistics,
        json!({
            "total": 4,
            "by_source": {"builtin": 2, "mcp": 1, "rest": 1},
            "by_category": {"files": 2, "git": 1, "web": 1},
            "by_effect": {"network": 2, "read": 1, "write": 1},
            "shadowed": 0,
        })
    );
}

#[test]
fn references_resolve_by_name_and_by_id() {
    let toolbox = catalogue();
    let resolve = |reference: ToolRef| {
        let found = toolbox.registry().resolve(&reference);
        found.map(|tool| tool.name.to_string())
    };
    assert_eq!(resolve(ToolRef::name("fetch")).as_deref(), Some("fetch"));
    assert_eq!(resolve(ToolRef::id("id-web")).as_deref(), Some("fetch"));
    // The first of two equal ids stays.
    assert_eq!(
        resolve(ToolRef::id("id-files")).as_deref(),
        Some("read_file")
    );
    assert_eq!(resolve(ToolRef::name("id-web")), None);
    assert_eq!(resolve(ToolRef::id("fetch")), None);
    toolbox.registry().unregister("fetch");
    assert_eq!(resolve(ToolRef::id("id-web")), None);
}

#[test]
fn every_change_is_told_once_and_nothing_else_is() {
    let toolbox = toolbox(&["one"]);
    let registry = toolbox.registry();
    let mut changes = registry.subscribe();
    registry.register(tool("two")).unwrap();
    assert!(registry.register(tool("two")).is_err());
    registry.load("files", [tool("three"), tool("two")]);
    registry.load("files", [tool("two")]);
    registry.unregister("one");
    registry.unregister("one");
    let mut told = Vec::new();
    while let Ok(change) = changes.try_recv() {
        told.push(serde_json::to_value(change).unwrap());
    }
    let change = |source: &str, added: &[&str], removed: &[&str]| json!({"source": source, "added": added, "removed": removed, "changed": []});
    assert_eq!(
        told,
        [
            change("direct", &["two"], &[]),
            change("files", &["three"], &[]),
            change("direct", &[], &["one"]),
        ]
    );
}

#[test]
fn declarations_come_in_the_order_of_registration_under_bare_names() {
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .tools(["zeta", "alpha", "mid"].map(tool))
        .build()
        .unwrap();
    let declared = toolbox
        .registry()
        .declarations(toolsmith_core::Detail::Brief);
    let names: Vec<&str> = declared.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["zeta", "alpha", "mid"]);
    let full = toolbox
        .registry()
        .declarations(toolsmith_core::Detail::Full);
    for (brief, full) in declared.iter().zip(full) {
        assert!(!brief.description.contains("Takes no arguments."));
        assert!(
            full.description.ends_with("Takes no arguments."),
            "{full:?}"
        );
    }
}

#[test]
fn a_consent_literal_its_schema_does_not_demand_is_refused() {
    let consent = || Consent::new("DELETE");
    let demanded = taking("delete", json!({"name": {"type": "string"}})).with_consent(consent());
    Toolbox::new([echoing(demanded.clone())]).unwrap();

    let mut undemanded = taking("delete", json!({"name": {"type": "string"}}));
    undemanded.consent = Some(consent());
    let mut optional = demanded.clone();
    let mut schema = demanded.input.as_value().clone();
    schema["required"] = json!(["name"]);
    optional.input = toolsmith_core::Schema::as_received(schema).unwrap();
    let empty = definition("delete")
        .with_input(demanded.input.clone())
        .with_consent(Consent::new(""));
    // A default would be filled in, and nobody would have said anything.
    let mut unsaid = demanded.clone();
    let mut schema = demanded.input.as_value().clone();
    schema["properties"]["consent"]["default"] = json!("DELETE");
    unsaid.input = toolsmith_core::Schema::as_received(schema).unwrap();
    for (why, definition) in [
        ("undemanded", undemanded),
        ("optional", optional),
        ("empty", empty),
        ("unsaid", unsaid),
    ] {
        let built = Toolbox::new([echoing(definition)]);
        let Err(BuildError::Registry(RegistryError::Consent { .. })) = built else {
            panic!("{why}: {built:?}");
        };
    }
}
