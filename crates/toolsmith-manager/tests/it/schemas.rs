//! The schemas of the files people write: they are schemas, they take what the readers
//! take, and they know every key the readers know.

use std::path::Path;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use toolsmith_manager::{Config, schemas, yaml};

fn validator(name: &str) -> Validator {
    let schema = (schemas::named(name).unwrap().schema)();
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .build(&schema)
        .unwrap()
}

fn value(text: &str) -> Value {
    yaml::read("t.yaml", text.as_bytes()).unwrap()
}

#[track_caller]
fn good(name: &str, text: &str) {
    let value = value(text);
    let errors: Vec<String> = validator(name)
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}\n{text}\n{errors:#?}");
}

#[track_caller]
fn bad(name: &str, text: &str) {
    assert!(!validator(name).is_valid(&value(text)), "{name}\n{text}");
}

#[test]
fn each_is_a_schema_and_says_which_dialect() {
    for sort in schemas::all() {
        let schema = (sort.schema)();
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{}",
            sort.name
        );
        let title = schema["title"].as_str().unwrap_or_default();
        assert!(title.starts_with("Toolsmith: "), "{}: {title:?}", sort.name);
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        validator(sort.name);
    }
}

#[test]
fn every_key_has_a_description() {
    for sort in schemas::all() {
        let schema = (sort.schema)();
        let mut nodes = vec![&schema];
        while let Some(node) = nodes.pop() {
            if let Some(properties) = node.get("properties").and_then(Value::as_object) {
                for (key, property) in properties {
                    // A choice of one key is described as a choice.
                    let is_choice = properties.len() == 1 && node.get("description").is_some();
                    let is_described = property.get("description").is_some() || is_choice;
                    assert!(is_described, "{}: `{key}`", sort.name);
                }
            }
            match node {
                Value::Object(fields) => nodes.extend(fields.values()),
                Value::Array(items) => nodes.extend(items),
                _ => {}
            }
        }
    }
}

#[test]
fn files_are_known_by_where_they_lie() {
    for (path, name) in [
        ("toolsmith.yaml", Some("toolsmith")),
        ("/a/b/toolsmith.yml", Some("toolsmith")),
        ("agents/writer.yaml", Some("agent")),
        ("/p/configs/tool_sets/all.yaml", Some("tool_set")),
        ("tools/native/weather.yaml", Some("native")),
        ("./tools/builtin/read.yaml", Some("builtin")),
        ("tools/mcp/git.yml", Some("mcp")),
        ("x/tool_descriptions.yaml", Some("tool_descriptions")),
        ("tool_examples.yaml", Some("tool_examples")),
        ("tools/builtin/script.sh", None),
        ("tools/other/x.yaml", None),
        ("native/x.yaml", None),
        ("x.yaml", None),
        ("", None),
    ] {
        let found = schemas::of_file(Path::new(path)).map(|sort| sort.name);
        assert_eq!(found, name, "{path}");
    }
    for sort in schemas::all() {
        let example = sort.files.replace('*', "example");
        let found = schemas::of_file(Path::new(&example)).unwrap();
        assert_eq!(found.name, sort.name);
    }
}

/// Whole files that the readers take.
const CONFIGURATIONS: &[&str] = &[
    "{}",
    "limits:\npolicy:\nbindings:\nserve:\nprefix:\nservers:\nguide:\n",
    "serve: { prefix: acme }\ndescriptions: full\nlimits: { parallel: 2, timeout: 1s, longest: 2m, \
     output_bytes: 6 }\nbindings:\n  \"mcp__*\": { timeout: 60s, exposure: deferred, prefix: '' }\n\
     policy:\n  mode: auto-edit\n  allow: ['read(file_path: docs/**)']\n  ask: [bash]\n  rules:\n    \
     - { effect: deny, tool: write, args: { file_path: { beneath: secrets }, n: 3, f: 'a*' } }\n    \
     - { effect: allow, source: mcp, agent: 'w*' }\n",
    "servers:\n  git: { command: uvx mcp-server-git, allow: [\"git_*\"] }\n  other:\n    command: [npx, \
     -y, server]\n    args: [--port, '3']\n    env: { KEY: '${env:KEY}', N: 3 }\n    env_passthrough: \
     [HOME]\n    cwd: sub\n    timeout: 10s\n    disabled: true\n  web:\n    url: https://example.com/mcp\n    \
     headers: { X-A: b }\n    mcp_api_key: { header: X-Key, value: '${env:KEY}' }\n    protocol: legacy\n",
    "guide: { title: Acme, template: guide.md.j2 }\n",
];

#[test]
fn what_the_reader_takes_the_schema_takes() {
    for text in CONFIGURATIONS {
        yaml::read::<Config>("t.yaml", text.as_bytes()).unwrap();
        good("toolsmith", text);
    }
    let source = include_str!("../../src/config/mod.rs");
    let lines = source
        .lines()
        .skip_while(|line| *line != "//! ```yaml")
        .skip(1);
    let lines = lines.take_while(|line| *line != "//! ```");
    let example: String = lines
        .map(|line| line.trim_start_matches("//! ").to_owned() + "\n")
        .collect();
    good("toolsmith", &example);
}

#[test]
fn good_files_of_every_sort() {
    good(
        "toolsmith",
        "tools: [read, 'set:basics']\ntool_sets: [basics]\nmodel: m\noutput_strategy: { function_calling: false }\npins: first-use\n\
          openapi:\n  pets: { file: pets.yaml, prefix: pets, auth_method: bearer, auth: { token: '${env:T}' }, include: { tags: [pet], methods: [GET] } }\n",
    );
    good(
        "agent",
        "name: writer\ndescription: Writes.\ntools: [write, 'mcp__*', 'set:all']\ntool_sets: [basics]\nmodel: m\n\
          output_strategy: { function_calling: true, fallback_to_structured_output: false }\npolicy: { mode: plan, deny: [bash] }\n",
    );
    good(
        "toolsmith",
        "models: { 'ollama/tiny*': { function_calling: false, text_format: xml, price: { input: 1, output: 2.5 } }, other: {} }\n\
          hosted_tools: { anthropic: [{ type: web_search_20250305, name: web_search }], openai-responses: [] }\n\
          providers: { anthropic: { url: 'https://a.example', key: '${env:K}', headers: { X-A: b } }, ollama: {} }\n\
          ask: { instructions: Be brief., turns: 3, time: 5m, tokens: 1000, cost: 0.5, context_tokens: 9, settings: { temperature: 0 } }\n",
    );
    good(
        "agent",
        "hosted_tools: { gemini: [{ googleSearch: {} }] }\n",
    );
    good(
        "tool_set",
        "name: basics\ndescription: The usual.\ntools: [read, 'find_*']\nsets: [other]\n",
    );
    good(
        "mcp",
        "name: git\ncommand: uvx mcp-server-git\nallow: ['git_*']\npins: strict\n",
    );
    good(
        "mcp",
        "mcp_server_url: https://example.com/mcp\nmcp_api_key: ${env:KEY}\n",
    );
    good("builtin", "name: read\ndisabled: true\ntimeout: 3s\n");
    good(
        "builtin",
        "tools:\n  read: { exposure: hidden, tags: [a], category: c }\n  write:\n",
    );
    good(
        "tool_descriptions",
        "read: Reads.\nwrite: { text: Writes., returns: Nothing., category: edit }\nedit: [Manual description to be added]\n",
    );
    good(
        "tool_examples",
        "read: read(file_path=\"a\")\nwrite:\n  - write(a=1)\n  - { file_path: a }\n",
    );
    good(
        "native",
        "api_url: https://api.example.com/v1\nauth_method: bearer\nauth: { token: \"${env:TOKEN}\" }\ntools:\n  - name: get_user\n    \
          description: Looks up a user.\n    method: GET\n    path: /users/{id}\n    parameters:\n      properties: { id: { type: integer } }\n      required: [id]\n",
    );
    good(
        "native",
        "name: count\ncommand: [wc, -w, [--files, '{f}'], '{file}']\nsandbox: none\nexit_codes: { 0: ok, 1: nothing }\noutput: text\ntimeout: 5s\n",
    );
    good(
        "native",
        "name: x\nbase_url: http://localhost\nmethod: post\nauth_method: oauth2\n",
    );
}

#[test]
fn unknown_keys_and_wrong_types_are_seen_everywhere() {
    for (name, text) in [
        ("toolsmith", "limit: {}"),
        ("toolsmith", "limits: { tiemout: 3s }"),
        ("toolsmith", "limits: { parallel: 0 }"),
        ("toolsmith", "limits: { timeout: soon }"),
        ("toolsmith", "policy: { mode: yolo }"),
        ("toolsmith", "policy: { rules: [{ tool: read }] }"),
        (
            "toolsmith",
            "policy: { rules: [{ effect: deny, args: { a: { like: b } } }] }",
        ),
        ("toolsmith", "servers: { git: { comand: x } }"),
        ("toolsmith", "servers: { git: { name: x, command: x } }"),
        ("toolsmith", "bindings: { a: { exposure: some } }"),
        ("toolsmith", "openapi: { pets: { include: { tag: [a] } } }"),
        ("toolsmith", "[]"),
        ("agent", "tool: [read]"),
        ("agent", "tools: read"),
        ("agent", "output_strategy: { functions: true }"),
        ("toolsmith", "models: { a: { functions: true } }"),
        ("toolsmith", "models: { a: { text_format: yaml } }"),
        ("toolsmith", "hosted_tools: { opnai: [] }"),
        ("toolsmith", "providers: { opnai: {} }"),
        ("toolsmith", "providers: { openai: { token: x } }"),
        ("toolsmith", "models: { a: { price: { input: 1 } } }"),
        ("toolsmith", "ask: { turns: 0 }"),
        ("agent", "ask: { rounds: 3 }"),
        ("toolsmith", "hosted_tools: { openai: [web_search] }"),
        ("agent", "hosted_tools: [web_search]"),
        ("tool_set", "toolz: []"),
        ("mcp", "urll: x"),
        ("mcp", "protocol: new"),
        ("mcp", "pins: on"),
        ("toolsmith", "pins: always"),
        ("builtin", "enabled: true"),
        ("builtin", "tools: { read: { enabled: true } }"),
        ("builtin", "tools: [read]"),
        ("tool_descriptions", "read: { txt: a }"),
        ("tool_descriptions", "read: 3"),
        ("tool_examples", "read: [[a]]"),
        ("native", "naem: x"),
        ("native", "name: x\ntools: [{ naem: y }]"),
        ("native", "name: x\nmethod: FETCH"),
        ("native", "name: x\nauth: { tokn: a }"),
        ("native", "name: x\nsandbox: maybe"),
        ("native", "name: x\nsandbox: { mode: none }"),
        ("toolsmith", "sandbox: { mode: none }"),
        ("toolsmith", "sandbox: { network: true }"),
        ("toolsmith", "sandbox: { limits: { processes: 0 } }"),
    ] {
        bad(name, text);
    }
}

/// The keys a reader says it knows, when it meets one it does not.
fn known(text: &str) -> Vec<String> {
    let error = yaml::read::<Config>("t.yaml", text.as_bytes()).unwrap_err();
    let (_, keys) = error.message.split_once("known here: ").unwrap();
    keys.split(", ").map(str::to_owned).collect()
}

/// So that a key added to a reader is not forgotten here.
#[test]
fn every_key_of_the_readers_is_in_the_schema() {
    let schema = (schemas::named("toolsmith").unwrap().schema)();
    for (text, place) in [
        ("zzz: 1", ""),
        ("serve: { zzz: 1 }", "/$defs/Serve"),
        ("limits: { zzz: 1 }", "/$defs/Limits"),
        ("policy: { zzz: 1 }", "/$defs/Policy"),
        ("policy: { rules: [{ zzz: 1 }] }", "/$defs/Rule"),
        ("bindings: { a: { zzz: 1 } }", "/$defs/Binding"),
        ("guide: { zzz: 1 }", "/$defs/Guide"),
        ("sandbox: { zzz: 1 }", "/$defs/Sandbox"),
        ("sandbox: { limits: { zzz: 1 } }", "/$defs/SandboxLimits"),
        ("servers: { a: { zzz: 1 } }", "/$defs/Server"),
        ("openapi: { a: { zzz: 1 } }", "/$defs/OpenApi"),
        (
            "openapi: { a: { include: { zzz: 1 } } }",
            "/$defs/Operations",
        ),
        ("records: { zzz: 1 }", "/$defs/Records"),
        ("telemetry: { zzz: 1 }", "/$defs/Telemetry"),
        ("telemetry: { otlp: { zzz: 1 } }", "/$defs/Otlp"),
        ("web: { zzz: 1 }", "/$defs/Web"),
        ("callers: { zzz: 1 }", "/$defs/Callers"),
        ("sources: { a: { zzz: 1 } }", "/$defs/Source"),
        ("ask: { zzz: 1 }", "/$defs/Asking"),
        ("models: { a: { zzz: 1 } }", "/$defs/Model"),
        ("output_strategy: { zzz: 1 }", "/$defs/OutputStrategy"),
        ("providers: { openai: { zzz: 1 } }", "/$defs/ModelProvider"),
    ] {
        let properties = schema.pointer(&format!("{place}/properties"));
        let properties = properties.unwrap_or_else(|| panic!("{place}: {schema:#}"));
        for key in known(text).iter().filter(|key| *key != "name") {
            assert!(
                properties.get(key).is_some(),
                "{text}: `{key}` is not in {properties}"
            );
        }
    }
    assert_ne!(schema["properties"], json!({}));
}
