//! Overlays that cannot be used. Each is refused whole, with its place; none takes long,
//! panics, or reaches a terminal raw.

use std::fmt::Write as _;
use std::fs;
use std::time::SystemTime;

use toolsmith_manager::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE, OverlayFiles};
use toolsmith_runtime::guide::OverlaySource;

const SAID: &str = "a mapping of tools' names to what is said of them";
const DESCRIPTION: &str = "a text, or a mapping of `text`, `returns` and `category`";
const CALL: &str = "a call such as `name(key=\"value\")`, or arguments as JSON";
const EMPTY: &str = "the text is empty; leave it out";
const ALIASES: &str = "the aliases stand for more than is accepted";
const DEEP: &str = "it nests too deep from here on";
const LARGE: &str = "it is larger than 1048576 bytes";
const MORE: &str = "it holds more than is accepted from here on";

/// How long this thread has worked; what others do meanwhile does not count.
#[cfg(unix)]
fn seconds_of_work() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec
}

#[cfg(not(unix))]
fn seconds_of_work() -> i64 {
    0
}

/// The warning about a file with this content, without its path and its end.
fn warning(name: &str, content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now);
    // What was good before stays, whatever comes.
    fs::write(&path, "kept: kept()\n").unwrap();
    files.current();
    fs::write(&path, content).unwrap();
    let began = seconds_of_work();
    let current = files.current();
    assert!(seconds_of_work() - began < 5, "it took too long");
    let own = &current.own;
    assert!(own.descriptions.contains_key("kept") || own.examples.contains_key("kept"));
    assert_eq!(own.descriptions.len() + own.examples.len(), 1);
    assert_eq!(current.warnings.len(), 1, "{:?}", current.warnings);
    let warning = &current.warnings[0];
    assert!(warning.chars().all(|c| !c.is_control()), "{warning:?}");
    assert!(warning.len() < 2_000, "{warning}");
    let end = "; what it said before still holds";
    let warning = warning.strip_prefix(&path.display().to_string()).unwrap();
    warning.strip_suffix(end).unwrap().to_owned()
}

#[track_caller]
fn check(name: &str, content: impl AsRef<[u8]>, place: &str, message: &str) {
    let content = content.as_ref();
    let shown = String::from_utf8_lossy(&content[..content.len().min(200)]).into_owned();
    let expected = format!("{place}: {message}");
    assert_eq!(warning(name, content), expected, "{shown}");
}

#[track_caller]
fn both(content: impl AsRef<[u8]>, place: &str, message: &str) {
    check(DESCRIPTIONS_FILE, content.as_ref(), place, message);
    check(EXAMPLES_FILE, content, place, message);
}

fn invalid(found: &str, expected: &str) -> String {
    format!("expected {expected}, found {found}")
}

#[test]
fn something_else_than_a_mapping() {
    both("- read\n- write\n", ":1:1", &invalid("a list", SAID));
    both("[read]\n", ":1:1", &invalid("a list", SAID));
    both("read\n", ":1:1", &invalid("a text", SAID));
    both("42\n", ":1:1", &invalid("a number", SAID));
    both("true\n", ":1:1", &invalid("a truth value", SAID));
}

#[test]
fn descriptions_that_are_no_texts() {
    let refused = |content: &str, place: &str, message: &str| {
        check(DESCRIPTIONS_FILE, content, place, message);
    };
    refused(
        "a: Text.\nread: 5\n",
        ":2:7",
        &invalid("a number", DESCRIPTION),
    );
    refused("read: 2.5\n", ":1:7", &invalid("a number", DESCRIPTION));
    refused(
        "read: true\n",
        ":1:7",
        &invalid("a truth value", DESCRIPTION),
    );
    refused("read: [a, b]\n", ":1:7", &invalid("a list", DESCRIPTION));
    refused("read:\n", ":1:5", &invalid("nothing", DESCRIPTION));
    refused("read: ''\n", ":1:7", EMPTY);
    refused("read: '  '\n", ":1:7", EMPTY);
    refused("read:\n  text: 5\n", ":2:9", &invalid("a number", "a text"));
    refused(
        "read:\n  returns: [a]\n",
        ":2:12",
        &invalid("a list", "a text"),
    );
    refused("read:\n  text:\n", ":2:7", &invalid("nothing", "a text"));
    refused(
        "read:\n  text: { a: b }\n",
        ":2:9",
        &invalid("a mapping", "a text"),
    );
    refused("read:\n  category: ''\n", ":2:13", EMPTY);
    refused(
        "read:\n  txt: Text.\n",
        ":2:3",
        "unknown key `txt`; there are `text`, `returns` and `category`",
    );
    refused(
        "read:\n  text: a\n  text: b\n",
        ":3:3",
        "key `text` stands here twice",
    );
}

#[test]
fn examples_that_are_no_calls() {
    let refused = |content: &str, place: &str, message: &str| {
        check(EXAMPLES_FILE, content, place, message);
    };
    refused(
        "a: a()\nread: 5\n",
        ":2:7",
        &invalid("a number", "a list of calls"),
    );
    refused("read:\n", ":1:5", &invalid("nothing", "a list of calls"));
    refused(
        "read: {a: b}\n",
        ":1:7",
        &invalid("a mapping", "a list of calls"),
    );
    refused("read: ''\n", ":1:7", EMPTY);
    refused(
        "read:\n  - read()\n  - 5\n",
        ":3:5",
        &invalid("a number", CALL),
    );
    refused("read:\n  - [read()]\n", ":2:5", &invalid("a list", CALL));
    refused("read:\n  -\n", ":2:4", &invalid("nothing", CALL));
    refused("read:\n  - ' '\n", ":2:5", EMPTY);
}

#[test]
fn names_twice() {
    both(
        "read: a()\nwrite: b()\nread: c()\n",
        ":3:1",
        "key `read` stands here twice",
    );
    both(
        "read: a()\n\"read\": c()\n",
        ":2:1",
        "key `read` stands here twice",
    );
}

#[test]
fn tabs_tags_merges_and_second_documents() {
    let tab = warning(DESCRIPTIONS_FILE, b"read:\n\ttext: a\n");
    assert!(tab.starts_with(":2:"), "{tab}");
    both(
        "read: !!str a\n",
        ":1:7",
        "tags such as `!!str` are not supported",
    );
    both(
        "read: !exec a\n",
        ":1:7",
        "tags such as `!exec` are not supported",
    );
    let merge = warning(DESCRIPTIONS_FILE, b"a: &a {text: x}\nb:\n  <<: *a\n");
    assert!(merge.contains("merge keys"), "{merge}");
    let second = warning(DESCRIPTIONS_FILE, b"a: b()\n---\nc: d()\n");
    assert!(second.contains("a second document begins here"), "{second}");
}

#[test]
fn bytes_that_are_no_text() {
    both(b"read: \xff\xfe\n", ":1:7", "it is not UTF-8 from here on");
    both(
        b"a: b()\nread: ok \xc3(\n",
        ":2:10",
        "it is not UTF-8 from here on",
    );
    let wide: Vec<u8> = "read: a()\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for name in [DESCRIPTIONS_FILE, EXAMPLES_FILE] {
        warning(name, &wide);
        warning(name, b"read: \"a\x00b\n");
        warning(name, b"\x00\x00\x00\x00");
        warning(name, b"\x7fELF\x02\x01\x01\x00");
        warning(name, b"read: [a(, \x1b[31m");
    }
}

#[test]
fn nests_and_bombs() {
    let deep = format!("read: {}", "[".repeat(100_000));
    for name in [DESCRIPTIONS_FILE, EXAMPLES_FILE] {
        let found = warning(name, deep.as_bytes());
        assert!(found.ends_with(DEEP), "{found}");
    }
    let arguments = format!("read:\n  - {}1{}\n", "{a: ".repeat(80), "}".repeat(80));
    let found = warning(EXAMPLES_FILE, arguments.as_bytes());
    assert!(found.ends_with(DEEP), "{found}");

    // Each line is ten of the one before.
    let mut laughs = "a0: &a0 [lol()]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(laughs, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    warning(DESCRIPTIONS_FILE, laughs.as_bytes());
    warning(EXAMPLES_FILE, laughs.as_bytes());
    let laughs: String = laughs.lines().map(|line| format!("  {line}\n")).collect();
    let inside = format!("read:\n  - x: 1\n{}", laughs.replace("  a", "    a"));
    let found = warning(EXAMPLES_FILE, inside.as_bytes());
    assert!(found.ends_with(ALIASES), "{found}");

    check(
        DESCRIPTIONS_FILE,
        "a: &a\n  text: *a\n",
        ":2:9",
        "the alias stands inside what it stands for",
    );
    both("a: *b\n", ":1:4", "the alias names no anchor before it");
}

/// A long text and many aliases for it: little to write, much to hold.
#[test]
fn many_aliases_for_a_long_text() {
    let mut bomb = format!("a: &a {}\n", "x".repeat(900_000));
    for index in 0..90 {
        writeln!(bomb, "b{index}: *a").unwrap();
    }
    for name in [DESCRIPTIONS_FILE, EXAMPLES_FILE] {
        let found = warning(name, bomb.as_bytes());
        assert!(found.ends_with(MORE) || found.ends_with(ALIASES), "{found}");
    }
}

#[test]
fn more_than_is_accepted() {
    both(vec![b'#'; (1 << 20) + 1], "", LARGE);
    let mut many = String::new();
    for index in 0..90_000 {
        writeln!(many, "a{index}: b").unwrap();
    }
    let found = warning(DESCRIPTIONS_FILE, many.as_bytes());
    assert!(found.ends_with(MORE), "{found}");
}

#[test]
fn a_hundred_megabytes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(EXAMPLES_FILE);
    // Sparse: it takes no room on the disk, but would in memory.
    fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now);
    let expected = format!("{}: {LARGE}; it is not used", path.display());
    assert_eq!(files.current().warnings, [expected]);
}

#[test]
fn much_within_the_limits_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now);
    let line = "    read(file_path=\"x\")\n";
    let long = format!("  - |\n{}", line.repeat(200));
    let examples = format!("read:\n{}unknown:\n{long}", "  - read()\n".repeat(50));
    fs::write(folder.path().join(EXAMPLES_FILE), examples).unwrap();
    let text = "x".repeat(900_000);
    fs::write(
        folder.path().join(DESCRIPTIONS_FILE),
        format!("read: {text}\n"),
    )
    .unwrap();
    let current = files.current();
    assert_eq!(current.warnings, Vec::<String>::new());
    assert_eq!(current.own.examples["read"].len(), 50);
    assert_eq!(current.own.examples["unknown"][0].code.lines().count(), 200);
    assert_eq!(current.own.descriptions["read"].text, Some(text));
}

/// Texts are taken as they are: whoever shows them cleans them. Names in warnings are
/// shown, and clean.
#[cfg(unix)]
#[test]
fn texts_stay_and_names_are_tamed() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "\u{202e}<script>alert(1)</script>\u{1b}[31m";
    fs::write(
        folder.path().join(DESCRIPTIONS_FILE),
        format!("read: \"{}\"\n", hostile.replace('\u{1b}', "\\e")),
    )
    .unwrap();
    let odd = folder.path().join("a\n\u{1b}[31m\u{202e}.yaml");
    fs::write(&odd, "a: 5\n").unwrap();
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).with_examples(&odd);
    let current = files.current();
    assert_eq!(
        current.own.descriptions["read"].text.as_deref(),
        Some(hostile)
    );
    assert_eq!(current.warnings.len(), 1, "{:?}", current.warnings);
    let warning = &current.warnings[0];
    assert!(warning.contains("/a ·[31m·.yaml:1:4: "), "{warning:?}");
}
