//! `guide`: the tools explained, from the registry and two files kept by hand.

use serde_json::Value;

use crate::support::{newcomer, user};

/// The tools of a guide, by their headings.
fn headings(guide: &str) -> Vec<&str> {
    let lines = guide.lines();
    lines.filter_map(|line| line.strip_prefix("### ")).collect()
}

#[test]
fn it_is_content_warnings_and_metadata() {
    let user = newcomer();
    let guide = user.runs(["guide", "--json"]).ends_with(0).json();
    let fields: Vec<&String> = guide.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["content", "warnings", "metadata"]);
    let metadata = guide["metadata"].as_object().unwrap();
    let mut names: Vec<&String> = metadata.keys().collect();
    names.sort();
    assert_eq!(
        names,
        [
            "filtered_count",
            "generation_time_ms",
            "invalid_names",
            "omitted",
            "size_bytes",
            "tool_count",
            "total_tools"
        ]
    );
    let content = guide["content"].as_str().unwrap();
    assert_eq!(metadata["size_bytes"], content.len());
    assert_eq!(metadata["total_tools"], headings(content).len());
    assert_eq!(guide["warnings"], serde_json::json!([]));
    let told = user.runs(["guide", "--format", "json"]).ends_with(0).json();
    assert_eq!(told["content"], guide["content"]);
}

#[test]
fn an_unknown_name_is_warned_of_once_and_harms_nothing() {
    let ran = newcomer().runs(["guide", "read", "raed"]).ends_with(0);
    assert_eq!(headings(&ran.stdout), ["read"]);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let warning = "warning: Tool 'raed' not found. Available: read, ";
    assert!(ran.stderr.starts_with(warning), "{}", ran.stderr);
    let none = newcomer().runs(["guide", "nope"]).ends_with(0);
    assert!(none.stdout.contains("read_entire_file"), "{}", none.stdout);
}

/// That its tools are not found is not what is the matter.
#[test]
fn a_tool_of_a_server_that_is_down_is_told_of_as_such() {
    let words = ["--server", "down=false", "guide", "read", "mcp__down__find"];
    let ran = newcomer().runs(words).ends_with(0);
    assert_eq!(headings(&ran.stdout), ["read"]);
    ran.says("warning: mcp__down__find: ")
        .says("the MCP server `down` could not be reached");
}

#[test]
fn the_built_in_tools_are_complete() {
    let table = newcomer().runs(["guide", "--coverage", "--json"]).json();
    let tools = table.as_array().unwrap();
    assert!(!tools.is_empty());
    for tool in tools {
        assert_eq!(tool["state"], "Complete", "{tool}");
    }
    let table = newcomer().runs(["guide", "--coverage"]).ends_with(0);
    assert!(table.stdout.starts_with("TOOL "), "{}", table.stdout);
    assert_eq!(table.stdout.lines().count(), tools.len() + 1);
}

#[test]
fn what_is_kept_by_hand_lies_over_the_rest() {
    let user = newcomer()
        .having(
            "tool_descriptions.yaml",
            "read:\n  text: Reads our files, as we like them read.\n  category: ours\n",
        )
        .having(
            "tool_examples.yaml",
            "read:\n  - |\n    # Ours\n    read(file_path='ours.txt', limit=3)\n",
        );
    let ran = user.runs(["guide", "read"]).ends_with(0).stdout;
    assert!(ran.contains("## Ours Tools (1)"), "{ran}");
    assert!(
        ran.contains("Reads our files, as we like them read."),
        "{ran}"
    );
    assert!(
        ran.contains("# Ours\nread(file_path=\"ours.txt\", limit=3)"),
        "{ran}"
    );
    for (form, example) in [
        ("json", "\"limit\": 3"),
        ("cli", "toolsmith call read file_path=ours.txt limit=3"),
    ] {
        let ran = user.runs(["guide", "read", "--examples", form]);
        assert!(ran.stdout.contains(example), "{}", ran.stdout);
    }
}

/// The names of the guide, of its files and of its examples have no prefix.
#[test]
fn names_are_bare_whatever_they_are_offered_as() {
    let user = newcomer()
        .with("MCP_TOOL_PREFIX", "acme")
        .having(
            "tool_descriptions.yaml",
            "read: What we say about reading.\n",
        )
        .having("tool_examples.yaml", "read: ['read(file_path=\"a\")']\n");
    let ran = user.runs(["guide", "read"]).ends_with(0);
    assert!(headings(&ran.stdout).contains(&"read"));
    assert!(ran.stdout.contains("What we say about reading."));
    assert!(ran.stdout.contains("read(file_path=\"a\")"));
    assert!(!ran.stdout.contains("acme"), "{}", ran.stdout);
    let called = user
        .runs([
            "call",
            "acme_get_tool_usage_guide",
            "tool_names=[\"read\"]",
            "--json",
        ])
        .ends_with(0)
        .json();
    let content = called["value"]["content"].as_str().unwrap();
    assert_eq!(headings(content), ["read"]);
}

#[test]
fn it_keeps_to_the_room_there_is() {
    for (option, most) in [("--bytes", 3000), ("--bytes", 100), ("--tokens", 500)] {
        let room = most.to_string();
        let guide = newcomer()
            .runs(["guide", "--json", option, &room])
            .ends_with(0)
            .json();
        let content = guide["content"].as_str().unwrap();
        assert!(content.len() <= 4 * most, "{option} {most}");
        if option == "--bytes" {
            assert!(content.len() <= most, "{option} {most}");
        }
        let metadata = &guide["metadata"];
        let omitted = metadata["omitted"].as_array().unwrap().len();
        assert_eq!(
            metadata["filtered_count"],
            headings(content).len() + omitted
        );
        assert!(omitted > 0);
    }
}

#[test]
fn a_page_for_browsers_holds_everything_itself() {
    let user = newcomer().having(
        "tool_descriptions.yaml",
        "read: '<script>alert(1)</script> is a text like any other'\n",
    );
    let page = user.runs(["guide", "--format", "html"]).ends_with(0).stdout;
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    assert!(!page.contains("<script>alert(1)"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
    for reference in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn a_template_of_ones_own_is_used_and_its_faults_are_told() {
    let user = newcomer()
        .having("mine.j2", "{% for %}")
        .having("toolsmith.yaml", "guide: { title: Acme }\n");
    let ran = user.runs(["guide", "read"]).ends_with(0);
    assert!(
        ran.stdout.starts_with("# Acme Tools Usage Guide"),
        "{}",
        ran.stdout
    );
    let ran = user.runs(["guide", "--template", "mine.j2"]).ends_with(2);
    assert!(ran.stderr.contains("mine.j2:1"), "{}", ran.stderr);
}

#[test]
fn checking_finds_what_is_wrong_with_the_files() {
    let user = user()
        .having(
            "tool_descriptions.yaml",
            "read: short\nraed: A description of something that is no tool.\nwrite: \"[Description pending]\"\n",
        )
        .having(
            "tool_examples.yaml",
            "read:\n  - read(file_path=1)\n  - write(file_path='a', content='')\n  - print(x for x in y)\n",
        );
    let ran = user.runs(["check"]).ends_with(0);
    for finding in [
        "tool_descriptions.yaml:1: tool `read`: ",
        "tool_descriptions.yaml:2: tool `raed`: ",
        "tool_descriptions.yaml:3: tool `write`: ",
        "tool_examples.yaml:2: tool `read`: ",
        "tool_examples.yaml:3: tool `read`: ",
        "tool_examples.yaml:4: tool `read`: ",
    ] {
        assert!(ran.stderr.contains(finding), "{finding}: {}", ran.stderr);
    }
    user.runs(["check", "--strict"]).ends_with(2);
    let broken = newcomer().having("tool_examples.yaml", "read: [\n");
    let ran = broken.runs(["check"]).ends_with(2);
    assert!(ran.stderr.contains("tool_examples.yaml:"), "{}", ran.stderr);
    // The guide itself goes on without it.
    let ran = broken.runs(["guide", "read"]).ends_with(0);
    assert!(ran.stderr.contains("tool_examples.yaml:"), "{}", ran.stderr);
    assert_eq!(headings(&ran.stdout), ["read"]);
}

/// Nothing else is wrong with the files, so that each is what the strict refuse.
#[test]
fn one_description_that_is_not_good_is_enough_when_strict() {
    let good = "A description that is long enough.";
    let long = "x".repeat(501);
    for (text, found) in [
        (good, None),
        ("short", Some("the description has 5 characters")),
        (long.as_str(), Some("the description has 501 characters")),
        ("\"[Description pending]\"", Some("still pending")),
    ] {
        // What ships needs no entry of the user's.
        let file = format!("read: {text}\n");
        let user = newcomer().having("tool_descriptions.yaml", file);
        let ran = user.runs(["check"]).ends_with(0);
        assert_eq!(ran.stderr.lines().count(), usize::from(found.is_some()));
        let strict = user.runs(["check", "--strict"]);
        let status = if found.is_some() { 2 } else { 0 };
        let strict = strict.ends_with(status);
        assert!(
            strict.stderr.contains(found.unwrap_or_default()),
            "{}",
            strict.stderr
        );
    }
}

/// A server shows the guide as a resource and as a prompt, as the files are now.
#[test]
fn clients_of_a_server_get_it_too() {
    let request = |id: u64, method: &str, params: Value| {
        let request =
            serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        format!("{request}\n")
    };
    let completion = |id: u64, typed: &str| {
        let prompt = serde_json::json!({ "type": "ref/prompt", "name": "tool_usage_guide" });
        let argument = serde_json::json!({ "name": "tool_names", "value": typed });
        let params = serde_json::json!({ "ref": prompt, "argument": argument });
        request(id, "completion/complete", params)
    };
    let hello = serde_json::json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let input = [
        request(1, "initialize", hello),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_owned(),
        request(
            2,
            "resources/read",
            serde_json::json!({ "uri": "toolsmith://guide" }),
        ),
        request(
            3,
            "prompts/get",
            serde_json::json!({ "name": "tool_usage_guide", "arguments": { "tool_names": "read, nope" } }),
        ),
        request(4, "resources/list", serde_json::json!({})),
        request(5, "prompts/list", serde_json::json!({})),
        completion(6, ""),
        completion(7, "rea"),
        completion(8, "read, REA"),
        completion(9, "read,wri"),
        completion(10, "nope, "),
    ];
    let ran = newcomer().typing(input.concat()).runs(["serve", "--stdio"]);
    let answers: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answer = |id: u64| {
        let found = answers.iter().find(|answer| answer["id"] == id);
        found.unwrap_or_else(|| panic!("no answer to {id}: {ran:#?}"))["result"].clone()
    };
    let guide = answer(2)["contents"][0].clone();
    assert_eq!(guide["mimeType"], "text/markdown");
    assert!(headings(guide["text"].as_str().unwrap()).contains(&"read"));
    let prompt = answer(3)["messages"][0]["content"]["text"].clone();
    assert_eq!(headings(prompt.as_str().unwrap()), ["read"]);
    assert!(prompt.as_str().unwrap().contains("Tool 'nope' not found"));
    assert!(answer(4).to_string().contains("toolsmith://guide"));
    assert!(answer(5).to_string().contains("tool_usage_guide"));
    let values = |id: u64| answer(id)["completion"]["values"].clone();
    let has = |id: u64, value: &str| values(id).as_array().unwrap().contains(&value.into());
    assert!(has(6, "read") && has(6, "write"), "{}", values(6));
    assert!(has(7, "read") && !has(7, "write"), "{}", values(7));
    // What stands there already stays, and is not there twice.
    assert!(has(8, "read, read_files"), "{}", values(8));
    assert!(!has(8, "read, read"), "{}", values(8));
    assert!(has(9, "read,write"), "{}", values(9));
    assert!(has(10, "nope, read"), "{}", values(10));
}
