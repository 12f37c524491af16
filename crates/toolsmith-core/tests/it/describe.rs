//! Definitions in words, and what follows from a definition.

use serde_json::{Map, json};
use toolsmith::definition::{Consent, Description, Detail, Hints, Meta, ToolDeclaration};
use toolsmith::{Effect, Kind, Schema, Source, ToolDef};

fn tool(name: &str) -> ToolDef {
    ToolDef::new(name).unwrap()
}

#[test]
fn arguments_as_markdown() {
    let schema = Schema::input(json!({
        "properties": {
            "path": { "type": "string", "description": "The file.\nRelative to the root." },
            "mode": { "enum": ["fast", "slow"], "default": "fast" },
            "say": { "const": "YES" },
            "lines": { "type": ["integer", "null"], "description": "How many." },
            "either": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "number" } }] },
            "anything": true,
            "edits": {
                "type": "array",
                "description": "What to change.",
                "items": {
                    "type": "object",
                    "properties": {
                        "old": { "type": "string" },
                        "new": { "type": "string", "description": "One\ntwo." },
                    },
                    "required": ["old"],
                },
            },
        },
        "required": ["path", "say"],
    }))
    .unwrap();
    assert_eq!(
        schema.to_markdown(),
        "Arguments:\n\
         - `path` (string, required): The file.\n\
         \x20 Relative to the root.\n\
         - `mode` (one of `\"fast\"`, `\"slow\"`, optional, default `\"fast\"`)\n\
         - `say` (exactly `\"YES\"`, required)\n\
         - `lines` (integer or null, optional): How many.\n\
         - `either` (string or array of number, optional)\n\
         - `anything` (any, optional)\n\
         - `edits` (array of object, optional): What to change.\n\
         \x20 - `old` (string, required)\n\
         \x20 - `new` (string, optional): One\n\
         \x20   two."
    );
    assert_eq!(Schema::no_arguments().to_markdown(), "Takes no arguments.");
}

#[test]
fn markdown_of_a_deep_schema_ends() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..50 {
        schema = json!({ "type": "object", "properties": { "a": schema } });
    }
    let markdown = Schema::input(schema).unwrap().to_markdown();
    assert_eq!(markdown.lines().count(), 6, "{markdown}");
}

const WARNING: &str = "REQUIRES EXPLICIT USER INSTRUCTION: It is final. Pass consent=\"DO_IT\" only \
    when the user has asked for exactly this; never guess it, and never use it to save a question.";

fn described() -> ToolDef {
    let mut description = Description::from("Does\n it.\n\nAnd more\nof it.");
    description.usage_notes = vec!["Use it well.".into(), "Use it seldom.".into()];
    description.important = vec!["It is slow.".into()];
    let schema =
        json!({ "properties": { "n": { "type": "integer", "description": "How often." } } });
    tool("do_it")
        .with_description(description)
        .with_input(Schema::input(schema).unwrap())
        .with_consent(Consent::new("DO_IT").because("It is final."))
        .with_returns("How often it was done.")
}

#[test]
fn the_consent_warning_is_in_brief_and_full() {
    let tool = described();
    let brief = format!("Does it.\n\nImportant: It is slow.\n\n{WARNING}");
    assert_eq!(tool.description_for_models(Detail::Brief), brief);
    assert_eq!(
        tool.description_for_models(Detail::Full),
        format!(
            "Does it.\n\nAnd more\nof it.\n\nImportant: It is slow.\n\n{WARNING}\n\n\
             - Use it well.\n- Use it seldom.\n\n\
             Arguments:\n\
             - `n` (integer, optional): How often.\n\
             - `consent` (exactly `\"DO_IT\"`, required): Say this only when the user explicitly \
             asked for it.\n\n\
             Returns: How often it was done."
        )
    );
    let unexplained = Consent::new("X").warning();
    assert!(unexplained.contains("What it does may be hard or impossible to undo."));
}

#[test]
fn a_declaration_is_a_projection() {
    let tool = described();
    let declaration = ToolDeclaration::new("acme_do_it", &tool, Detail::Brief);
    assert_eq!(
        serde_json::to_value(declaration).unwrap(),
        json!({
            "name": "acme_do_it",
            "description": tool.brief_description(),
            "parameters": tool.input,
        })
    );
}

#[test]
fn a_plain_text_is_a_description() {
    let description = Description::from("  One\n line.  ");
    assert_eq!(
        (description.short.as_str(), description.long.as_str()),
        ("One line.", "")
    );
    let description = Description::from("Short.\n\n\nLong\n\ntext.\n");
    assert_eq!(description.short, "Short.");
    assert_eq!(description.long, "Long\n\ntext.");
}

#[test]
fn the_kind_decides_the_effect() {
    let table = [
        (Kind::Read, "read", Effect::Read),
        (Kind::Search, "search", Effect::Read),
        (Kind::Think, "think", Effect::Read),
        (Kind::Edit, "edit", Effect::Write),
        (Kind::Delete, "delete", Effect::Write),
        (Kind::Move, "move", Effect::Write),
        (Kind::Execute, "execute", Effect::Execute),
        (Kind::Network, "network", Effect::Network),
        (Kind::External, "external", Effect::Network),
        (Kind::Other, "other", Effect::Network),
    ];
    for (kind, word, effect) in table {
        assert_eq!(kind.effect(), effect, "{word}");
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(word));
        let tool = tool("t").with_kind(kind);
        assert_eq!((tool.kind, tool.effect), (kind, effect));
        let declared = tool.with_effect(Effect::Read);
        assert_eq!((declared.kind, declared.effect), (kind, Effect::Read));
    }
    for effect in [
        Effect::Read,
        Effect::Write,
        Effect::Execute,
        Effect::Network,
    ] {
        assert_eq!(Kind::of_effect(effect).effect(), effect);
    }
}

#[test]
fn the_category_is_inferred_where_it_is_not_set() {
    let table = [
        ("list_directory", Kind::Read, "navigation"),
        ("show_tree", Kind::Read, "navigation"),
        ("directory_size", Kind::Read, "navigation"),
        ("search_in_files", Kind::Read, "search"),
        ("find_files_by_name", Kind::Search, "search"),
        ("grep", Kind::Search, "search"),
        ("glob", Kind::Search, "search"),
        ("read_file", Kind::Read, "read"),
        ("think", Kind::Think, "read"),
        ("get_tool_usage_guide", Kind::Read, "guide"),
        ("help", Kind::Read, "guide"),
        ("write", Kind::Edit, "edit"),
        ("delete_tree", Kind::Delete, "edit"),
        ("find_and_replace", Kind::Edit, "edit"),
        ("bash", Kind::Execute, "execution"),
        ("web_fetch", Kind::Network, "network"),
        ("search_web", Kind::Network, "network"),
    ];
    for (name, kind, category) in table {
        assert_eq!(tool(name).with_kind(kind).category(), category, "{name}");
    }
    let server = "git".to_owned();
    let imported = tool("list_files")
        .with_kind(Kind::Read)
        .with_source(Source::Mcp { server });
    assert_eq!(imported.category(), "git");
    let mut meta = Meta::new("x");
    meta.category = Some("mine".into());
    assert_eq!(imported.with_meta(meta).category(), "mine");
}

#[test]
fn annotations_follow_effect_and_hints() {
    let annotations = |kind: Kind| tool("t").with_kind(kind).annotations();
    assert_eq!(
        annotations(Kind::Read),
        json!({
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        })
    );
    assert_eq!(
        annotations(Kind::Edit),
        json!({
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": false,
        })
    );
    assert_eq!(
        annotations(Kind::Network),
        json!({
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": true,
        })
    );
    let mut hints = Hints::default();
    hints.destructive = Some(false);
    hints.idempotent = Some(true);
    hints.open_world = Some(true);
    assert_eq!(
        tool("t")
            .with_kind(Kind::Execute)
            .with_hints(hints)
            .with_title("Title")
            .annotations(),
        json!({
            "readOnlyHint": false,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": true,
            "title": "Title",
        })
    );
}

#[test]
fn a_definition_holds_no_execution_setting() {
    let written = serde_json::to_value(described()).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "name",
            "source",
            "kind",
            "effect",
            "description",
            "input",
            "returns",
            "consent",
            "meta"
        ]
    );
    assert_eq!(written["meta"], json!({ "id": "do_it" }));
    assert_eq!(written["source"], json!({ "type": "builtin" }));
    let mut meta = Meta::new("id-1");
    meta.version = Some("1.2.0".into());
    meta.tags = vec!["a".into()];
    meta.documentation_url = Some("https://example.com".into());
    meta.extra = Map::from_iter([("owner".to_owned(), json!("me"))]);
    assert_eq!(
        serde_json::to_value(&meta).unwrap(),
        json!({
            "id": "id-1",
            "version": "1.2.0",
            "tags": ["a"],
            "documentation_url": "https://example.com",
            "extra": { "owner": "me" },
        })
    );
}

#[test]
fn source_and_effect_are_set_apart() {
    let mcp = Source::Mcp {
        server: "git".into(),
    };
    for source in [Source::Builtin, Source::Native, Source::Rest, mcp] {
        for (kind, effect) in [
            (Kind::Read, Effect::Read),
            (Kind::Edit, Effect::Write),
            (Kind::Execute, Effect::Execute),
            (Kind::Network, Effect::Network),
        ] {
            let before = tool("t").with_source(source.clone()).with_kind(kind);
            let after = tool("t").with_kind(kind).with_source(source.clone());
            for tool in [before, after] {
                assert_eq!((&tool.source, tool.kind), (&source, kind));
                assert_eq!(tool.effect, effect, "{source:?}");
            }
        }
    }
}

#[test]
fn sources_have_words() {
    let mcp = Source::Mcp {
        server: "git".into(),
    };
    for (source, word) in [
        (Source::Builtin, "builtin"),
        (Source::Native, "native"),
        (Source::Rest, "rest"),
        (mcp.clone(), "mcp"),
    ] {
        assert_eq!(source.word(), word);
    }
    assert_eq!(
        serde_json::to_value(mcp).unwrap(),
        json!({ "type": "mcp", "server": "git" })
    );
}
