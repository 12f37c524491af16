//! Edits of a user's files: what is meant changes, and nothing else.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolsmith_manager::edit::{EditError, append_to_list, insert_mapping_entry};
use toolsmith_manager::yaml;

/// Adds `new` to the list `tools`; `+` marks the lines that are new.
#[track_caller]
fn appended(before: &str, after: &str) {
    appended_at(&["tools"], "new", before, after);
}

#[track_caller]
fn appended_at(path: &[&str], item: &str, before: &str, after: &str) {
    match append_to_list(before, path, item) {
        Ok(edited) => assert_eq!(edited, after, "\n{edited}"),
        Err(error) => panic!("{error}\n{before}"),
    }
}

#[test]
fn a_list_in_lines() {
    appended("tools:\n  - a\n", "tools:\n  - a\n  - new\n");
    appended(
        "tools:\n- a\n- b\nx: 1\n",
        "tools:\n- a\n- b\n- new\nx: 1\n",
    );
    appended("tools:\n    -   a", "tools:\n    -   a\n    - new");
    appended(
        "# top\ntools: # why\n  - a # one\n\n  - 'b' # two\n  # three\n\n# four\nx: 1 # five\n",
        "# top\ntools: # why\n  - a # one\n\n  - 'b' # two\n  - new\n  # three\n\n# four\nx: 1 # five\n",
    );
    appended(
        "tools:\r\n  - a\r\n  # c\r\nx: 1\r\n",
        "tools:\r\n  - a\r\n  - new\r\n  # c\r\nx: 1\r\n",
    );
    appended(
        "---\ntools:\n  - a\n...\n",
        "---\ntools:\n  - a\n  - new\n...\n",
    );
    appended(
        "\u{feff}tools:\n  - a\n",
        "\u{feff}tools:\n  - a\n  - new\n",
    );
    // Items of more than one line.
    appended(
        "tools:\n  - a: 1\n    b: 2 # c\n",
        "tools:\n  - a: 1\n    b: 2 # c\n  - new\n",
    );
    appended(
        "tools:\n  - |\n    text\n\nx: 1\n",
        "tools:\n  - |\n    text\n  - new\n\nx: 1\n",
    );
    appended(
        "tools:\n  - - a\n    - b\n",
        "tools:\n  - - a\n    - b\n  - new\n",
    );
    appended(
        "tools:\n  -\n  - # nothing\nx: 1\n",
        "tools:\n  -\n  - # nothing\n  - new\nx: 1\n",
    );
    appended(
        "tools:\n  - \"a\n    b\"\n",
        "tools:\n  - \"a\n    b\"\n  - new\n",
    );
    appended(
        "tools:\n  - [a,\n     b] # c\n",
        "tools:\n  - [a,\n     b] # c\n  - new\n",
    );
    appended(
        "tools:\n  - ä # ü\n  - ö\n",
        "tools:\n  - ä # ü\n  - ö\n  - new\n",
    );
}

#[test]
fn a_list_in_brackets() {
    appended("tools: []\n", "tools: [new]\n");
    appended("tools: [ ] # c\n", "tools: [new ] # c\n");
    appended(
        "tools: [a, 'b'] # c\nx: 1\n",
        "tools: [a, 'b', new] # c\nx: 1\n",
    );
    appended("tools: [a,]\n", "tools: [a, new]\n");
    appended("{tools: [a], x: 1}", "{tools: [a, new], x: 1}");
    appended("tools: [[a], {b: c}]\n", "tools: [[a], {b: c}, new]\n");
    appended(
        "tools: [\n  a, # one\n  b # two\n]\n",
        "tools: [\n  a, # one\n  b, # two\n  new\n]\n",
    );
    appended(
        "tools: [\n  a, # one\n  b, # two\n  # three\n]\n",
        "tools: [\n  a, # one\n  b, # two\n  new,\n  # three\n]\n",
    );
    appended("tools: [a,\n        b]\n", "tools: [a,\n        b, new]\n");
    appended("tools: [\n]\n", "tools: [new\n]\n");
}

#[test]
fn a_list_that_is_not_there_yet() {
    appended("", "tools:\n  - new\n");
    appended("# only a comment\n", "# only a comment\ntools:\n  - new\n");
    appended("# no line feed", "# no line feed\ntools:\n  - new");
    appended("---\n", "---\ntools:\n  - new\n");
    appended("{}\n", "{tools: [\"new\"]}\n");
    appended("x: 1\n", "x: 1\ntools:\n  - new\n");
    appended(
        "x: 1 # c\n\n# end\n",
        "x: 1 # c\ntools:\n  - new\n\n# end\n",
    );
    appended("tools:\nx: 1\n", "tools:\n  - new\nx: 1\n");
    appended(
        "tools: # none yet\n  # really\nx: 1\n",
        "tools: # none yet\n  - new\n  # really\nx: 1\n",
    );
    appended("x: 1\ntools:", "x: 1\ntools:\n  - new");
    let path = ["a", "b", "c"];
    appended_at(
        &path,
        "new",
        "a:\n   x: 1\ny: 2\n",
        "a:\n   x: 1\n   b:\n     c:\n       - new\ny: 2\n",
    );
    appended_at(
        &path,
        "new",
        "a: {x: 1}\n",
        "a: {x: 1, b: {\"c\":[\"new\"]}}\n",
    );
    appended_at(
        &path,
        "new",
        "a:\n  b:\n",
        "a:\n  b:\n    c:\n      - new\n",
    );
    appended_at(&path, "new", "", "a:\n  b:\n    c:\n      - new\n");
}

#[test]
fn what_would_be_read_as_something_else_is_quoted() {
    for item in [
        "true",
        "No",
        "null",
        "~",
        "",
        " ",
        "3",
        "1e3",
        "0x1",
        "a b",
        "a: b",
        "a #b",
        "- a",
        "*",
        "mcp__*",
        "&a",
        "!t",
        "[a]",
        "{a}",
        "a,b",
        "\"",
        "'",
        "\\",
        "\n",
        "\t",
        "ä",
        "\u{1}",
        "set:x",
        "%a",
        "@a",
        "`a",
        "|",
        "2024-01-01",
        "---",
        "...",
        "?",
        ".inf",
    ] {
        for text in ["tools:\n  - a\n", "tools: [a]\n", "", "x: {y: 1}\n"] {
            let edited = append_to_list(text, &["tools"], item).unwrap();
            let value: Value = yaml::read("t.yaml", edited.as_bytes()).unwrap();
            let items = value["tools"].as_array().unwrap();
            assert_eq!(items.last(), Some(&json!(item)), "{edited}");
        }
    }
}

#[test]
fn what_cannot_be_added_to_is_left_alone() {
    for (text, said) in [
        ("tools: a\n", "`tools` is a text and no list"),
        ("tools: {a: b}\n", "`tools` is a mapping and no list"),
        ("[a]\n", "`the file` is a list and no mapping"),
        ("tools: [a\n", "it cannot be read"),
        ("tools: ~\n", "cannot be added to safely"),
        ("x: &a [b]\ntools: *a\n", "cannot be added to safely"),
        ("tools: &a [b]\nx: *a\n", "cannot be added to safely"),
        (
            "tools:\n  - |+\n    text\n\nx: 1\n",
            "cannot be added to safely",
        ),
        ("a: 1\na: 2\n", "it cannot be read"),
    ] {
        let error = append_to_list(text, &["tools"], "new").unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    let error = append_to_list("a: 1\n", &["a", "b"], "new").unwrap_err();
    assert!(
        error.to_string().contains("`a` is a number and no mapping"),
        "{error}"
    );
}

#[track_caller]
fn inserted(before: &str, block: &str, after: &str) {
    match insert_mapping_entry(before, &["servers"], "new", block) {
        Ok(edited) => assert_eq!(edited, after, "\n{edited}"),
        Err(error) => panic!("{error}\n{before}"),
    }
}

#[test]
fn a_key_in_a_mapping() {
    let block = "# ours\ncommand: [a, b]\nenv:\n  X: '1'\n";
    inserted(
        "servers:\n  git: { command: x } # c\n  # d\n\nx: 1\n",
        block,
        "servers:\n  git: { command: x } # c\n  new:\n    # ours\n    command: [a, b]\n    env:\n      X: '1'\n  # d\n\nx: 1\n",
    );
    inserted(
        "servers:\n\tx"
            .replace('\t', "    ")
            .as_str()
            .replace('x', "x: 1")
            .as_str(),
        "url: y",
        "servers:\n    x: 1\n    new:\n      url: y",
    );
    inserted(
        "servers: {}\n",
        "url: y\n",
        "servers: {new: {\"url\":\"y\"}}\n",
    );
    inserted(
        "servers: { a: {b: c} } # d\n",
        "{url: y}",
        "servers: { a: {b: c}, new: {\"url\":\"y\"} } # d\n",
    );
    inserted(
        "servers:\n",
        "{url: y} # z",
        "servers:\n  new: {url: y} # z\n",
    );
    inserted("", "- a\n- b", "servers:\n  new:\n    - a\n    - b\n");
    inserted(
        "x: 1\r\n",
        "a: 1\nb: 2\n",
        "x: 1\r\nservers:\r\n  new:\r\n    a: 1\r\n    b: 2\r\n",
    );
    inserted("servers:\n  a: 1\n", "", "servers:\n  a: 1\n  new:\n");
    inserted(
        "servers:\n  a: 1\n",
        "text",
        "servers:\n  a: 1\n  new: text\n",
    );
    let root = insert_mapping_entry("a: 1\n", &[], "b", "2").unwrap();
    assert_eq!(root, "a: 1\nb: 2\n");
    let root = insert_mapping_entry("", &[], "b c", "2").unwrap();
    assert_eq!(root, "\"b c\": 2\n");
}

#[test]
fn a_key_that_cannot_be_added() {
    for (text, block, said) in [
        (
            "servers:\n  new: 1\n",
            "a: b",
            "`servers.new` is there already",
        ),
        (
            "servers: []\n",
            "a: b",
            "`servers` is a list and no mapping",
        ),
        (
            "servers:\n  a: 1\n",
            "a: [",
            "what is to be added cannot be read",
        ),
        (
            "servers:\n  a: 1\n",
            "a: !!str b",
            "what is to be added cannot be read",
        ),
        (
            "x: &a {b: c}\nservers: *a\n",
            "1",
            "cannot be added to safely",
        ),
    ] {
        let error = insert_mapping_entry(text, &["servers"], "new", block).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
    let error = append_to_list("x: [", &["x"], "a").unwrap_err();
    assert!(matches!(error, EditError::Unreadable(_)));
}

/// A file with `tools` and `servers` somewhere, written by somebody with habits.
fn document() -> impl Strategy<Value = String> {
    let comment = prop_oneof![Just(""), Just(" # c, [d]: {e}"), Just("   #")];
    let item = prop_oneof![
        Just("a"),
        Just("'b c'"),
        Just("\"d\\ne\""),
        Just("[f, g]"),
        Just("{h: i}"),
        Just("3"),
        Just("~"),
        Just("ü"),
        Just("|\n      text\n      more"),
        Just("k: l\n    m: n"),
    ];
    let between = prop_oneof![
        Just(""),
        Just("\n"),
        Just("# alone\n"),
        Just("      # deep\n")
    ];
    let items = prop::collection::vec((item, comment.clone(), between.clone()), 0..5);
    let list = (items, 0_usize..3, any::<bool>()).prop_map(|(items, style, _)| {
        match (style, items.is_empty()) {
            (0, _) | (_, true) => {
                let flat: Vec<&str> = items
                    .iter()
                    .map(|(item, ..)| *item)
                    .filter(|item| !item.contains('\n') && !item.contains(": "))
                    .collect();
                format!(" [{}]\n", flat.join(", "))
            }
            (style, _) => {
                let indent = if style == 1 { "  " } else { "" };
                let mut text = "\n".to_owned();
                for (item, comment, between) in items {
                    let item = item.replace("\n    ", &format!("\n{indent}  "));
                    let comment = if item.contains('\n') { "" } else { comment };
                    text.push_str(&format!("{indent}- {item}{comment}\n{between}"));
                }
                text
            }
        }
    });
    let servers = prop_oneof![
        Just("servers:\n"),
        Just("servers: {}\n"),
        Just("servers: {a: {b: c}} # d\n"),
        Just("servers:\n   a:\n      b: c # d\n   # e\n"),
        Just(""),
    ];
    let more = prop_oneof![
        Just(""),
        Just("x: 1\n"),
        Just("# end\n"),
        Just("\n\ny: |\n  text\n\n"),
        Just("z:\n- 1\n")
    ];
    (
        between,
        comment,
        list,
        servers,
        more,
        any::<(bool, bool, bool)>(),
    )
        .prop_map(
            |(before, comment, list, servers, more, (first, crlf, cut))| {
                let comment = if list.starts_with(' ') { "" } else { comment };
                let tools = format!("tools:{comment}{list}");
                let mut text = if first {
                    format!("{before}{tools}{servers}{more}")
                } else {
                    format!("{before}{servers}{tools}{more}")
                };
                if cut {
                    text.truncate(text.trim_end().len());
                }
                if crlf {
                    text.replace('\n', "\r\n")
                } else {
                    text
                }
            },
        )
}

/// Tells whether a text is another with pieces put in: every line of the one stands in
/// the other, in order, but for a comma or a piece behind it.
fn is_within(before: &str, after: &str) -> bool {
    let mut rest = after.chars();
    before.chars().all(|c| rest.any(|other| other == c))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_the_list_changes(text in document(), item in "[a-z:*# ]{1,6}") {
        let old: Value = yaml::read("t.yaml", text.as_bytes()).unwrap();
        let edited = append_to_list(&text, &["tools"], &item).unwrap();
        let mut expected = old;
        expected["tools"].as_array_mut().unwrap().push(json!(item));
        let new: Value = yaml::read("t.yaml", edited.as_bytes()).unwrap();
        prop_assert_eq!(new, expected, "\n{}\n---\n{}", text, edited);
        prop_assert!(is_within(&text, &edited), "\n{}\n---\n{}", text, edited);
        prop_assert_eq!(text.matches('#').count() + item.matches('#').count(), edited.matches('#').count());
        prop_assert_eq!(text.contains("\r\n") , edited.contains("\r\n"));
    }

    #[test]
    fn nothing_but_the_mapping_changes(text in document(), key in "[a-z:* ]{2,6}") {
        let old: Value = yaml::read("t.yaml", text.as_bytes()).unwrap();
        let edited = insert_mapping_entry(&text, &["servers"], &key, "url: x # here\nallow:\n  - y\n").unwrap();
        let mut expected = old;
        expected["servers"][&key] = json!({"url": "x", "allow": ["y"]});
        let new: Value = yaml::read("t.yaml", edited.as_bytes()).unwrap();
        prop_assert_eq!(new, expected, "\n{}\n---\n{}", text, edited);
        prop_assert!(is_within(&text, &edited), "\n{}\n---\n{}", text, edited);
    }

    #[test]
    fn no_text_is_too_odd(text in "[a-z:\\-\\[\\]{},#'\"|>&* \n\r\t~!%?]{0,60}") {
        let _ = append_to_list(&text, &["a"], "b");
        let _ = insert_mapping_entry(&text, &["a", "b"], "c", &text);
    }
}
