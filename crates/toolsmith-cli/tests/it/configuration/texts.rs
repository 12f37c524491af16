//! Texts that are no YAML, or too much of it: the same in every file that is read.

use super::{all_in_one_folder, case, in_the_main_file};

fn utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// Ten lists of ten of the list before: ten thousand million entries.
fn bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let before = format!("*a{}", level - 1);
        let list = [before.as_str(); 10].join(", ");
        text += &format!("a{level}: &a{level} [{list}]\n");
    }
    text + "tags: *a9\ntools: *a9\n"
}

fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("an alias bomb", bomb().into_bytes()),
        ("an alias to itself", text("description: &a [*a]\n")),
        (
            "a mapping that holds itself",
            text("name: &a\n  name: *a\n"),
        ),
        ("an alias to nothing", text("description: *nobody\n")),
        (
            "many aliases",
            format!("description: &a x\ntags: [{}]\n", "*a, ".repeat(5_000)).into_bytes(),
        ),
        (
            "deep lists",
            format!("tags: {}{}\n", "[".repeat(50_000), "]".repeat(50_000)).into_bytes(),
        ),
        ("deep mappings", "{a: ".repeat(50_000).into_bytes()),
        (
            "deep blocks",
            format!(
                "name:\n{}",
                (1..1_000).fold(String::new(), |text, depth| text
                    + &" ".repeat(depth)
                    + "a:\n")
            )
            .into_bytes(),
        ),
        (
            "wide",
            (0..60_000)
                .fold(String::new(), |text, key| text + &format!("k{key}: 1\n"))
                .into_bytes(),
        ),
        ("a key twice", text("name: a\ndescription: b\nname: c\n")),
        (
            "a key twice, spelled otherwise",
            text("name: a\n\"na\\x6de\": c\n"),
        ),
        ("a tab", text("name: a\n\tdescription: b\n")),
        ("not UTF-8 at the start", b"\xffname: a\n".to_vec()),
        (
            "not UTF-8 in a value",
            b"name: a\ndescription: caf\xe9\n".to_vec(),
        ),
        (
            "not UTF-8 at the end",
            b"name: a\n# cut off: \xe2\x82".to_vec(),
        ),
        ("overlong UTF-8", b"name: \xc0\xafetc\n".to_vec()),
        ("UTF-16", utf16("name: a\n")),
        ("NUL characters", b"name: a\0b\n".to_vec()),
        ("nothing but NUL characters", vec![0; 4096]),
        (
            "an object of Python",
            text("name: !!python/object/apply:os.system [id]\n"),
        ),
        (
            "a tag that includes",
            text("name: a\ndescription: !include /etc/passwd\n"),
        ),
        ("a binary tag", text("name: !!binary aGVsbG8=\n")),
        ("two documents", text("name: a\n---\nname: b\n")),
        ("a merge key", text("x: &x { name: a }\n<<: *x\n")),
        ("a merge key by itself", text("<<: { name: a }\n")),
        (
            "one line without an end",
            format!("description: {}\nnme: 1\n", "x".repeat(900_000)).into_bytes(),
        ),
        (
            "17 megabytes",
            format!("description: a\n{}", "# nothing\n".repeat(1_700_000)).into_bytes(),
        ),
        ("a list", text("- name: a\n")),
        ("a word", text("hello\n")),
        ("a number", text("42\n")),
        ("cut off", text("description: \"it goes on\n")),
        ("a bracket too many", text("tags: [a]]\n")),
        (
            "what steers a terminal",
            text("name: a\n\"\u{202e}\u{200b}nme\\e[31m\\a\": \"\\e]0;owned\\a\"\n"),
        ),
        (
            "a long key",
            format!("{}: 1\n", "k".repeat(900)).into_bytes(),
        ),
        ("half of a file", text("name: a\ndescription: some\npara")),
        ("Windows line ends", text("name: a\r\nnaem: b\r\n")),
    ]
}

#[test]
fn texts_in_the_main_file() {
    let cases = texts()
        .into_iter()
        .map(|(name, text)| case(name).main(text));
    insta::assert_snapshot!(in_the_main_file(cases));
}

#[test]
fn texts_in_every_folder() {
    for folder in [
        "tools/native",
        "tools/builtin",
        "tools/mcp",
        "configs/tool_sets",
        "agents",
    ] {
        let name = format!("texts_in_{}", folder.replace('/', "_"));
        insta::assert_snapshot!(name, all_in_one_folder(folder, "yaml", texts()));
    }
}

/// The same in the header of a script, whose lines are counted in the script.
#[test]
fn texts_in_the_header_of_a_script() {
    let scripts = texts().into_iter().filter_map(|(name, text)| {
        let text = String::from_utf8(text).ok()?;
        // A header is no longer than 64 KiB, and three dashes end it.
        if text.len() > 60_000 || text.contains("---") {
            return None;
        }
        let lines: String = text.lines().map(|line| format!("# {line}\n")).collect();
        Some((
            name,
            format!("#!/bin/sh\n# ---\n{lines}# ---\necho hello\n"),
        ))
    });
    insta::assert_snapshot!(all_in_one_folder("tools/builtin", "sh", scripts));
}
