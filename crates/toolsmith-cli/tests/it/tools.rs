//! `tools` and `show`: what there is, and under which names.

use std::time::Instant;

use serde_json::{Value, json};

use crate::client::{Client, LONG};
use crate::support::{User, newcomer, user};

const EXAMPLES: [&str; 8] = [
    "example_add",
    "example_delete",
    "example_echo",
    "example_fail",
    "example_flood",
    "example_panic",
    "example_progress",
    "example_sleep",
];

/// Lists the example tools only.
const EXAMPLE_TOOLS: [&str; 4] = ["tools", "--json", "--category", "example"];

fn row(name: &str, title: &str, description: &str) -> Value {
    json!({
        "name": name,
        "title": title,
        "source": "builtin",
        "kind": "read",
        "effect": "read",
        "category": "example",
        "tags": [],
        "description": description,
    })
}

fn names(user: &User) -> Vec<String> {
    let list = user.runs(EXAMPLE_TOOLS).ends_with(0).json();
    let rows = list.as_array().unwrap();
    let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
    rows.iter().map(name).collect()
}

#[test]
fn the_examples_are_listed_whole_and_in_a_fixed_order() {
    let user = user();
    let list = user.runs(EXAMPLE_TOOLS).ends_with(0).tells("");
    let mut delete = row(
        "example_delete",
        "Delete",
        "Pretends to delete something, to show how consent is asked for.\n\n\
         REQUIRES EXPLICIT USER INSTRUCTION: What is deleted cannot be brought back. Pass \
         consent=\"DELETE_EXAMPLE\" only when the user has asked for exactly this; never guess it, \
         and never use it to save a question.",
    );
    delete["kind"] = "edit".into();
    delete["effect"] = "write".into();
    let mut expected = vec![
        row(
            "example_add",
            "Add",
            "Adds two numbers and returns the sum.",
        ),
        row(
            "example_echo",
            "Echo",
            "Returns the text it is given, unchanged.",
        ),
        row(
            "example_sleep",
            "Sleep",
            "Sleeps for some time and tells for how long.",
        ),
        row(
            "example_fail",
            "Fail",
            "Fails with the message it is given.",
        ),
        row(
            "example_progress",
            "Progress",
            "Reports its progress step by step, then tells how many there were.",
        ),
        delete,
        row(
            "example_flood",
            "Flood",
            "Returns as many bytes as asked for, to show how large outputs are cut.",
        ),
        row(
            "example_panic",
            "Panic",
            "Panics, to show that nothing else is harmed.",
        ),
    ];
    let order: Vec<String> = names(&user);
    expected.sort_by_key(|row| order.iter().position(|name| row["name"] == **name));
    assert_eq!(list.json(), Value::Array(expected));
    let again = user.runs(EXAMPLE_TOOLS);
    assert_eq!(again.stdout, list.stdout);
}

#[test]
fn every_example_is_there_and_nothing_else() {
    let mut found = names(&user());
    found.sort();
    assert_eq!(found, EXAMPLES);
}

#[test]
fn without_the_variable_there_are_no_examples() {
    newcomer().runs(EXAMPLE_TOOLS).ends_with(0).prints("[]\n");
}

#[test]
fn only_the_word_true_counts() {
    for value in ["1", "TRUE", "True", "yes", "", " true", "true "] {
        let user = newcomer().with("MCP_INCLUDE_EXAMPLE_TOOLS", value);
        assert_eq!(names(&user), [] as [&str; 0], "{value:?}");
    }
}

#[test]
fn the_built_in_tools_are_there_from_the_start() {
    let list = newcomer().runs(["tools", "--json"]).ends_with(0).json();
    let mut found: Vec<(&str, &str, &str)> = Vec::new();
    for row in list.as_array().unwrap() {
        let word = |key: &str| row[key].as_str().unwrap();
        found.push((word("name"), word("category"), word("effect")));
    }
    found.sort_unstable();
    let expected = [
        ("api_call", "web", "network"),
        ("bash", "shell", "execute"),
        ("edit", "edit", "write"),
        ("find", "search", "read"),
        ("find_files_by_name", "search", "read"),
        ("find_recently_modified_files", "search", "read"),
        ("get_tool_usage_guide", "guide", "read"),
        ("glob", "search", "read"),
        ("grep", "search", "read"),
        ("list_directory", "navigation", "read"),
        ("multi_edit", "edit", "write"),
        ("read", "read", "read"),
        ("read_entire_file", "read", "read"),
        ("read_file_lines", "read", "read"),
        ("read_file_tail", "read", "read"),
        ("read_files", "read", "read"),
        ("read_project_context", "read", "read"),
        ("script", "shell", "execute"),
        ("search_in_file", "search", "read"),
        ("search_in_files", "search", "read"),
        ("shell", "shell", "execute"),
        ("shell_input", "shell", "execute"),
        ("shell_kill", "shell", "execute"),
        ("shell_list", "shell", "read"),
        ("shell_output", "shell", "read"),
        ("show_tree", "navigation", "read"),
        ("task", "agents", "execute"),
        ("task_output", "agents", "read"),
        ("task_stop", "agents", "read"),
        ("web_fetch", "web", "network"),
        ("write", "edit", "write"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn tools_in_words_are_one_line_each_within_the_width() {
    let ran = user()
        .runs(["tools", "--category", "example"])
        .ends_with(0)
        .tells("");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), EXAMPLES.len());
    assert!(lines.contains(&"example_add       read     Adds two numbers and returns the sum."));
    assert!(
        lines.iter().all(|line| line.chars().count() <= 101),
        "{lines:#?}"
    );
}

#[test]
fn tools_are_filtered_by_source_and_category() {
    let user = user();
    let count = |options: &[&str]| {
        let ran = user.runs([&["tools", "--json"], options].concat());
        ran.ends_with(0).json().as_array().unwrap().len()
    };
    assert_eq!(count(&["--source", "builtin"]), 31 + 8);
    assert_eq!(count(&["--source", "mcp"]), 0);
    assert_eq!(count(&["--category", "example"]), 8);
    assert_eq!(count(&["--category", "moon"]), 0);
    user.runs(["tools", "--category", "moon"])
        .ends_with(0)
        .prints("")
        .tells("No tool is of that source and category; see `toolsmith tools`.\n");
    user.runs(["tools", "--source", "moon"])
        .ends_with(2)
        .prints("")
        .says("[possible values: builtin, native, rest, mcp]");
    user.runs(["tools", "--shadowed", "--json"])
        .ends_with(0)
        .prints("[]\n");
}

/// A project with a tool of its own that neither its set, its agent nor its configuration
/// offers.
fn selective(configuration: &str) -> User {
    let user = newcomer().having("toolsmith.yaml", configuration);
    for folder in ["tools/native", "configs/tool_sets", "agents"] {
        std::fs::create_dir_all(user.home().join(folder)).unwrap();
    }
    user.having(
        "tools/native/mine.yaml",
        "name: mine\ncommand: [echo, hello]\n",
    )
    .having("configs/tool_sets/none.yaml", "tools: []\n")
    .having("configs/tool_sets/odd.yaml", "tools: [gone, 'set:inner']\n")
    .having("configs/tool_sets/inner.yaml", "tools: [lost]\n")
    .having("agents/w.yaml", "tool_sets: [inner]\n")
}

#[test]
fn a_tool_that_is_not_offered_is_not_said_to_be_missing() {
    for (configuration, words, by) in [
        ("", ["--set", "none"].as_slice(), "the tool set `none`"),
        ("", &["--agent", "w"], "the agent `w`"),
        ("tools: [read]\n", &[], "toolsmith.yaml"),
    ] {
        let user = selective(configuration);
        let told =
            format!("error: unknown_tool: there is a tool \"mine\", but {by} does not offer it\n");
        for command in [
            ["call", "mine"].as_slice(),
            &["call", "mine", "--dry-run"],
            &["show", "mine"],
        ] {
            let words = words.iter().chain(command);
            user.runs(words).ends_with(1).prints("").says(&told);
        }
    }
    // What is read by programs is what every caller is told.
    let ran = selective("").runs(["call", "mine", "--set", "none", "--json"]);
    assert_eq!(ran.json()["error"]["message"], "there is no tool \"mine\"");
    let user = selective("");
    user.runs(["call", "yours", "--set", "none"])
        .ends_with(1)
        .says("there is no tool \"yours\"");
}

#[test]
fn an_empty_list_says_whose_it_is() {
    for (configuration, words, told) in [
        (
            "",
            ["--set", "none"].as_slice(),
            "No tool is offered by the tool set `none`.\n",
        ),
        (
            "tools: []\n",
            &[],
            "No tool is offered by toolsmith.yaml.\n",
        ),
        (
            "",
            &["--set", "none", "--source", "mcp"],
            "No tool is of that source and category; see `toolsmith tools`.\n",
        ),
    ] {
        let words = ["tools"].iter().chain(words);
        let user = selective(configuration);
        user.runs(words).ends_with(0).prints("").tells(told);
    }
}

/// A typing error in a set is seen by whoever uses it.
#[test]
fn unknown_members_of_what_is_in_use_are_told() {
    let odd = "./configs/tool_sets/odd.yaml: `gone` names no tool and no set";
    let inner = "./configs/tool_sets/inner.yaml: `lost` names no tool and no set";
    let own = "toolsmith.yaml: `raed` names no tool and no set";
    for (configuration, words, told) in [
        ("", ["--set", "odd"].as_slice(), vec![inner, odd]),
        ("", &["--agent", "w"], vec![inner]),
        ("tool_sets: [inner]\n", &[], vec![inner]),
        ("tools: [raed, grep]\n", &[], vec![own]),
        ("tools: [raed, grep]\n", &["--agent", "w"], vec![inner]),
        ("", &["--set", "none"], vec![]),
        ("", &[], vec![]),
    ] {
        let words = ["tools", "--json"].iter().chain(words);
        let lines = told.iter().map(|told| format!("warning: {told}\n"));
        let told = lines.collect::<String>();
        selective(configuration)
            .runs(words)
            .ends_with(0)
            .tells(&told);
    }
}

/// What is written in a file comes out whole, and under the source it is of.
#[test]
fn tools_of_files_have_their_source_and_their_metadata() {
    let user = newcomer();
    std::fs::create_dir_all(user.home().join("tools/native")).unwrap();
    let user = user.having(
        "tools/native/two.yaml",
        "tools:\n\
         \x20 - name: weather\n\
         \x20   description: Tells the weather of a place, from far away.\n\
         \x20   api_url: http://127.0.0.1:9\n\
         \x20   parameters: { properties: { city: { type: string, pattern: '^[A-Z]', minLength: 2 } } }\n\
         \x20   metadata: { category: sky, tags: [rain], documentationUrl: 'https://docs.example/', owner: me, since: 3 }\n\
         \x20 - name: hello\n\
         \x20   description: Says a few words to whoever calls it.\n\
         \x20   command: [/bin/echo, hello]\n",
    );
    let listed = |option: &str, word: &str| -> Vec<String> {
        let list = user
            .runs(["tools", "--json", option, word])
            .ends_with(0)
            .json();
        let rows = list.as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed("--source", "rest"), ["weather"]);
    assert_eq!(listed("--source", "native"), ["hello"]);
    assert_eq!(listed("--category", "sky"), ["weather"]);
    let shown = user.runs(["show", "weather", "--json"]).ends_with(0).json();
    assert_eq!(shown["tags"], json!(["rain"]));
    assert_eq!(shown["documentation_url"], "https://docs.example/");
    assert_eq!(shown["extra"], json!({ "owner": "me", "since": 3 }));
    // That they are an object was not said, and the property is as it was written.
    assert_eq!(
        shown["input_schema"],
        json!({
            "type": "object",
            "properties": { "city": { "type": "string", "pattern": "^[A-Z]", "minLength": 2 } },
            "additionalProperties": false,
        })
    );
}

#[test]
fn show_adds_everything_else() {
    let shown = user()
        .runs(["show", "example_delete", "--json"])
        .ends_with(0)
        .tells("");
    let brief = "Pretends to delete something, to show how consent is asked for.\n\n\
        REQUIRES EXPLICIT USER INSTRUCTION: What is deleted cannot be brought back. Pass \
        consent=\"DELETE_EXAMPLE\" only when the user has asked for exactly this; never guess it, \
        and never use it to save a question.";
    let arguments = "Arguments:\n\
        - `name` (string, required): What to delete.\n\
        - `consent` (exactly `\"DELETE_EXAMPLE\"`, required): Say this only when the user \
        explicitly asked for it.";
    assert_eq!(
        shown.json(),
        json!({
            "name": "example_delete",
            "title": "Delete",
            "source": "builtin",
            "kind": "edit",
            "effect": "write",
            "hints": { "destructive": true },
            "category": "example",
            "description": brief,
            "full_description": format!("{brief}\n\n{arguments}"),
            "id": "example_delete",
            "version": null,
            "tags": [],
            "documentation_url": null,
            "input_schema": {
                "type": "object",
                "properties": {
                    "name": { "description": "What to delete.", "type": "string" },
                    "consent": {
                        "type": "string",
                        "const": "DELETE_EXAMPLE",
                        "description": "Say this only when the user explicitly asked for it.",
                    },
                },
                "required": ["name", "consent"],
                "additionalProperties": false,
            },
            "output_schema": { "type": "string" },
            "examples": [],
            "returns": null,
            "consent": {
                "argument": "consent",
                "literal": "DELETE_EXAMPLE",
                "reason": "What is deleted cannot be brought back.",
            },
            "annotations": {
                "readOnlyHint": false,
                "destructiveHint": true,
                "idempotentHint": false,
                "openWorldHint": false,
                "title": "Delete",
            },
            "extra": {},
        })
    );
}

#[test]
fn show_in_words_is_markdown() {
    user()
        .runs(["show", "example_add"])
        .ends_with(0)
        .tells("")
        .prints(
            "# example_add\n\nbuiltin · read · example\n\n\
         Adds two numbers and returns the sum.\n\n\
         Arguments:\n\
         - `a` (number, required): The first number.\n\
         - `b` (number, required): The second number.\n",
        );
}

#[test]
fn show_of_an_unknown_tool_names_the_nearest() {
    user()
        .runs(["show", "exmple_add", "--json"])
        .ends_with(1)
        .prints("")
        .says("unknown_tool: there is no tool \"exmple_add\"; the nearest are example_add,")
        .says("\n  see `toolsmith tools`\n");
}

/// Under each prefix: the offered name of `example_add`, and who accepts which calls.
#[test]
fn a_prefix_from_the_environment_is_on_every_offered_name() {
    let user = user().with("MCP_TOOL_PREFIX", "acme");
    let offered = names(&user);
    assert_eq!(offered.len(), EXAMPLES.len());
    assert!(
        offered.iter().all(|name| name.starts_with("acme_example_")),
        "{offered:?}"
    );
    for name in ["acme_example_add", "example_add"] {
        user.runs(["call", name, "a=2", "b=3", "--as", "message"])
            .ends_with(0)
            .prints("{\"tool_name\":\"example_add\",\"output\":5,\"error\":null}\n");
        let shown = user.runs(["show", name, "--json"]).ends_with(0).json();
        assert_eq!(shown["name"], "example_add");
    }
    let list = user.runs(["tools", "--json"]).json();
    let add = list
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "acme_example_add");
    assert_eq!(add.unwrap()["bare_name"], "example_add");
    assert!(!list.to_string().contains("acme_example_add numbers"));
    user.runs(["show", "example_add"])
        .ends_with(0)
        .prints(&self::user().runs(["show", "example_add"]).stdout);
}

#[test]
fn a_prefix_that_ends_in_an_underscore_gets_no_second() {
    let user = user().with("MCP_TOOL_PREFIX", "acme_");
    assert!(names(&user).contains(&"acme_example_add".to_owned()));
}

#[test]
fn the_files_prefix_counts_where_the_environment_has_none() {
    let file = "serve:\n  prefix: filed\n";
    let user = user().having("toolsmith.yaml", file);
    assert!(names(&user).contains(&"filed_example_add".to_owned()));
    let user = self::user()
        .having("toolsmith.yaml", file)
        .with("MCP_TOOL_PREFIX", "acme");
    assert!(names(&user).contains(&"acme_example_add".to_owned()));
    let user = self::user()
        .having("toolsmith.yaml", file)
        .with("MCP_TOOL_PREFIX", "");
    assert!(
        names(&user).contains(&"example_add".to_owned()),
        "an empty one beats the file"
    );
}

#[test]
fn rules_and_bindings_speak_of_bare_names_under_a_prefix() {
    let user = user().with("MCP_TOOL_PREFIX", "acme").having(
        "toolsmith.yaml",
        "bindings:\n  example_sleep: { timeout: 1ms }\n  example_echo: { prefix: '' }\n",
    );
    user.runs([
        "call",
        "acme_example_add",
        "a=1",
        "b=2",
        "--deny",
        "example_add",
    ])
    .ends_with(3)
    .says("permission_denied: not allowed by rule `deny example_add`");
    user.runs(["call", "acme_example_sleep", "ms=60000"])
        .ends_with(124)
        .says("timeout:");
    assert!(names(&user).contains(&"example_echo".to_owned()));
}

#[test]
fn a_prefix_no_name_can_have_is_refused() {
    for prefix in [
        "a b",
        "a\u{1b}[31m",
        "ü",
        "012345678901234567890123456789012",
    ] {
        user()
            .with("MCP_TOOL_PREFIX", prefix)
            .runs(["tools"])
            .ends_with(2)
            .prints("")
            .says("cannot stand in a tool name; use at most 32 letters, digits, `_`, `.` and `-`");
    }
}

#[test]
fn selections_and_overlays_speak_of_bare_names_under_a_prefix() {
    let user = user()
        .with("MCP_TOOL_PREFIX", "acme")
        .having("toolsmith.yaml", "tools: [example_add, 'example_e*']\n")
        .having(
            "tool_descriptions.yaml",
            "example_add: Adds up, as the user says of it.\n",
        );
    let list = user.runs(["tools", "--json"]).ends_with(0).json();
    let rows = list.as_array().unwrap().iter();
    let names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["acme_example_add", "acme_example_echo"]);
    let guide = user.runs(["guide", "example_add"]).ends_with(0).stdout;
    assert!(
        guide.contains("Adds up, as the user says of it.") && !guide.contains("acme"),
        "{guide}"
    );
}

#[test]
fn full_descriptions_are_a_setting() {
    let described = |user: User, name: &str| {
        let list = user.runs(EXAMPLE_TOOLS).ends_with(0).json();
        let rows = list.as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["name"] == name).unwrap();
        row["description"].as_str().unwrap().to_owned()
    };
    let full = || user().having("toolsmith.yaml", "descriptions: full\n");
    full()
        .runs(["call", "example_add", "a=1", "b=1"])
        .ends_with(0)
        .prints("2\n");
    let brief = described(user(), "example_add");
    assert_eq!(brief, "Adds two numbers and returns the sum.");
    let long = described(full(), "example_add");
    assert!(
        long.starts_with(&brief) && long.contains("\n\nArguments:\n- `a` (number, required)"),
        "{long}"
    );
    for user in [user(), full()] {
        let text = described(user, "example_delete");
        assert!(
            text.contains("REQUIRES EXPLICIT USER INSTRUCTION"),
            "{text}"
        );
    }
}

#[test]
fn servers_tells_how_sources_are_doing_in_a_program_that_serves() {
    let user = newcomer();
    let inner = user.home().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let command = format!(
        "up={} --root {} serve --stdio",
        env!("CARGO_BIN_EXE_toolsmith"),
        inner.display()
    );
    let servers = || {
        let rows = user
            .runs(["--server", &command, "servers", "--json"])
            .json();
        rows[0]["serving"].as_array().unwrap().clone()
    };
    assert_eq!(servers(), [] as [Value; 0]);
    let mut client = Client::start(&user, &["--server", &command]);
    client.tools();
    let begin = Instant::now();
    let told = loop {
        match servers().as_slice() {
            [one] => break one.clone(),
            other => assert!(begin.elapsed() < LONG, "{other:?}"),
        }
    };
    assert_eq!(told["circuit"], "closed");
    assert_eq!(told["waiting"], 0);
    let shown = user.runs(["--server", &command, "servers"]).stdout;
    let line = format!(
        "in process {}, which serves: circuit closed",
        told["process"]
    );
    assert!(shown.contains(&line), "{shown}");
    client.end();
    assert_eq!(servers(), [] as [Value; 0]);
}
