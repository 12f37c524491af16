//! Configurations that cannot be used. Each is refused with the place and the line,
//! and none takes long, panics, or reaches the terminal raw.

use std::path::Path;
use std::sync::Arc;

use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, IfMissing, ManagerError, Setup};

/// A loader that has one file.
struct Given(Vec<u8>);

impl ConfigLoader for Given {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        Ok((path == Path::new("t.yaml")).then(|| self.0.clone()))
    }
}

/// Reads a configuration, and builds the toolbox it describes.
fn refused(content: &[u8]) -> String {
    let given = Arc::new(Given(content.to_vec()));
    let read = Setup::open_with(given, Path::new("t.yaml"), IfMissing::Fail);
    let built = read.and_then(|setup| setup.with_examples().load());
    match built {
        Ok(_) => panic!("it was accepted: {}", String::from_utf8_lossy(content)),
        Err(error @ ManagerError::File(_)) => error.to_string(),
        Err(error) => panic!("no place: {error}"),
    }
}

/// Checks that `content` is refused with `message` at the place of the `^` in the
/// excerpt, which is given as it is shown: the line, and the caret beneath.
#[track_caller]
fn check(content: impl AsRef<[u8]>, place: (usize, usize), message: &str) {
    let content = content.as_ref();
    let text = String::from_utf8_lossy(content);
    let shown = refused(content);
    let (line, column) = place;
    let mut lines = shown.lines();
    assert_eq!(
        lines.next().unwrap(),
        format!("t.yaml:{line}:{column}: {message}"),
        "{text}"
    );
    // The caret stands beneath the very character the column speaks of.
    let excerpt = lines.nth(1).unwrap();
    let caret = lines
        .next()
        .unwrap()
        .chars()
        .position(|c| c == '^')
        .unwrap();
    let margin = line.to_string().len() + " | ".len();
    if excerpt.chars().nth(margin) == Some('…') {
        assert_eq!(caret, margin + 81, "{shown}");
    } else {
        assert_eq!(caret, margin + column - 1, "{shown}");
    }
    assert_eq!(lines.next(), None, "{shown}");
    let is_tame = |c: char| c == '\n' || !c.is_control();
    assert!(shown.chars().all(is_tame), "{shown:?}");
    assert!(shown.len() < 2_000, "{shown}");
}

const ROOT_KEYS: &str = "serve, prefix, descriptions, limits, bindings, sources, callers, policy, records, telemetry, web, sandbox, guide, servers, tools, tool_sets, openapi, pins, output_strategy, model, models, providers, ask, hosted_tools";
const DURATION: &str =
    "is no duration; write a number and a unit, such as `500ms`, `30s`, `5m` or `2h`";
const PREFIX: &str = "a prefix has at most 32 letters, digits, `_`, `.` and `-`";
const ALIASES: &str = "the aliases stand for more than is accepted";
const DEEP: &str = "it nests too deep from here on";
const NUMBER: &str = "expected a whole number from 1 to 1073741824, found";
/// The same where a word may stand for one.
const PARALLEL: &str = "expected true, false or a whole number from 1 to 1073741824, found";
const MAPPING: &str = "expected a mapping (`key: value`)";
/// The arguments of a rule take any value, so bombs go off there if anywhere.
const ARGS: &str = "policy:\n  rules:\n    - effect: deny\n      args:\n";

#[test]
fn unknown_keys_at_every_level() {
    let unknown = |key: &str, known: &str| format!("unknown key `{key}`; known here: {known}");
    let meant = |key: &str, known: &str| format!("unknown key `{key}`; did you mean `{known}`?");
    check("limit: {}\n", (1, 1), &meant("limit", "limits"));
    check("prefix: a\nfoo: 1\n", (2, 1), &unknown("foo", ROOT_KEYS));
    check("policy:\n  rulez: []\n", (2, 3), &meant("rulez", "rules"));
    check(
        "policy:\n  zzz: []\n",
        (2, 3),
        &unknown("zzz", "mode, rules, allow, ask, deny"),
    );
    check(
        "bindings:\n  x: {tiemout: 3s}\n",
        (2, 7),
        &meant("tiemout", "timeout"),
    );
    check(
        "bindings:\n  x: {Timeout: 3s}\n",
        (2, 7),
        &meant("Timeout", "timeout"),
    );
    check(
        "policy:\n  rules:\n    - {effect: deny, tool: x}\n    - {effect: deny, toool: y}\n",
        (4, 22),
        &meant("toool", "tool"),
    );
    check(
        "limits: { tiemout: 3s }\n",
        (1, 11),
        &meant("tiemout", "timeout"),
    );
    check("serve: { port: 1 }\n", (1, 10), &unknown("port", "prefix"));
}

#[test]
fn duplicate_keys_at_every_level() {
    let twice = |key: &str| format!("key `{key}` stands here twice");
    check("prefix: a\nprefix: b\n", (2, 1), &twice("prefix"));
    check(
        "limits:\n  timeout: 3s\n  timeout: 4s\n",
        (3, 3),
        &twice("timeout"),
    );
    check("serve: {prefix: a, prefix: a}\n", (1, 20), &twice("prefix"));
    check("bindings:\n  x: {}\n  x: {}\n", (3, 3), &twice("x"));
    check("bindings:\n  x: {}\n  \"x\": {}\n", (3, 3), &twice("x"));
    check(
        "bindings: {x: {timeout: 1s, timeout: 1s}}\n",
        (1, 29),
        &twice("timeout"),
    );
    check(
        "policy:\n  rules:\n    - {effect: deny, effect: allow}\n",
        (3, 22),
        &twice("effect"),
    );
    check(
        format!("{ARGS}        a: b\n        a: c\n"),
        (6, 9),
        &twice("a"),
    );
    check(
        format!("{ARGS}        a: {{equals: 1, equals: 2}}\n"),
        (5, 24),
        &twice("equals"),
    );
}

#[test]
fn wrong_types() {
    check("- a\n", (1, 1), MAPPING);
    check("hello\n", (1, 1), MAPPING);
    check("42\n", (1, 1), MAPPING);
    check("limits: lots\n", (1, 9), MAPPING);
    check("limits: [1]\n", (1, 9), MAPPING);
    check("policy:\n  rules: [write]\n", (2, 11), MAPPING);
    check("policy:\n  allow: {a: b}\n", (2, 10), "expected a list");
    check("policy:\n  allow: write\n", (2, 10), "expected a list");
    check("policy:\n  allow: [[a]]\n", (2, 11), "expected a text");
    check(
        "policy:\n  allow:\n    - ~\n",
        (3, 7),
        "expected a text, found nothing",
    );
    check("policy:\n  mode: [ask]\n", (2, 9), "expected a word");
    check("prefix: {a: b}\n", (1, 9), "expected a text");
    check("? [a, b]\n: 1\n", (1, 3), "expected a text");
    check(": 1\n", (1, 1), "expected a text, found nothing");
    check(
        "limits:\n  parallel: many\n",
        (2, 13),
        &format!("{PARALLEL} \"many\""),
    );
    check(
        "limits:\n  parallel: 1.5\n",
        (2, 13),
        &format!("{PARALLEL} 1.5"),
    );
    check(
        "limits:\n  output_bytes: true\n",
        (2, 17),
        &format!("{NUMBER} true"),
    );
    check(
        "limits:\n  parallel: [1]\n",
        (2, 13),
        &format!("{PARALLEL} a list"),
    );
    check(
        "limits:\n  parallel: '64'\n",
        (2, 13),
        &format!("{PARALLEL} \"64\""),
    );
    check(
        "policy:\n  mode: yolo\n",
        (2, 9),
        "unknown word `yolo`; known here: plan, ask, auto-edit, auto",
    );
    check(
        "descriptions: long\n",
        (1, 15),
        "unknown word `long`; known here: brief, full",
    );
    check(
        "bindings:\n  x: {exposure: secret}\n",
        (2, 17),
        "unknown word `secret`; known here: direct, deferred, hidden",
    );
    check(
        "policy:\n  rules:\n    - effect: maybe\n",
        (3, 15),
        "unknown word `maybe`; known here: allow, ask, deny",
    );
    check(
        "policy:\n  rules:\n    - tool: x\n",
        (3, 7),
        "the key `effect` is missing here",
    );
}

#[test]
fn numbers_and_durations() {
    check(
        "limits:\n  parallel: 0\n",
        (2, 13),
        &format!("{PARALLEL} 0"),
    );
    check(
        "limits:\n  parallel: -1\n",
        (2, 13),
        &format!("{PARALLEL} -1"),
    );
    check(
        "limits:\n  output_bytes: 99999999999999999999999\n",
        (2, 17),
        &format!("{NUMBER} 100000000000000000000000"),
    );
    check(
        "limits:\n  output_bytes: 18446744073709551615\n",
        (2, 17),
        &format!("{NUMBER} 18446744073709551615"),
    );
    check(
        "limits:\n  parallel: 5\n  timeout: 30\n",
        (3, 12),
        &format!("\"30\" {DURATION}"),
    );
    check(
        "limits:\n  timeout: soon\n  grace: 1s\n",
        (2, 12),
        &format!("\"soon\" {DURATION}"),
    );
    check(
        "limits:\n  timeout: -1s\n",
        (2, 12),
        &format!("\"-1s\" {DURATION}"),
    );
    check(
        "limits: {timeout: 1e400s}\n",
        (1, 19),
        &format!("\"1e400s\" {DURATION}"),
    );
    check(
        "limits: {timeout: 9999h}\n",
        (1, 19),
        &format!("\"9999h\" {DURATION}"),
    );
    check(
        "limits:\n  timeout: 0s\n",
        (2, 12),
        "it must be longer than nothing",
    );
    check(
        "limits:\n  approval: 0ms\n",
        (2, 13),
        "it must be longer than nothing",
    );
    check(
        "bindings:\n  x:\n    timeout: soon\n",
        (3, 14),
        &format!("\"soon\" {DURATION}"),
    );
    check(
        "bindings: {x: {timeout: 0h}}\n",
        (1, 25),
        "it must be longer than nothing",
    );
}

#[test]
fn prefixes_and_patterns() {
    check("serve:\n  prefix: 'a b'\n", (2, 11), PREFIX);
    check("prefix: ü\n", (1, 9), PREFIX);
    check(format!("prefix: {}\n", "a".repeat(33)), (1, 9), PREFIX);
    check("prefix: \"\\e[31mred\"\n", (1, 9), PREFIX);
    check("bindings:\n  x:\n    prefix: 'a b'\n", (3, 13), PREFIX);
    check(
        "bindings:\n  good: {}\n  '[': {}\n",
        (3, 3),
        "error parsing glob '[': unclosed character class; missing ']'",
    );
}

#[test]
fn rules_in_the_short_form_at_their_own_place() {
    let rule = |text: &str, reason: &str| format!("rule \"{text}\" cannot be read: {reason}");
    let open = "the `(` has no `)` at the end";
    check(
        "policy:\n  allow:\n    - good\n    - 'bad('\n",
        (4, 7),
        &rule("bad(", open),
    );
    check(
        "policy:\n  deny: [a, 'b(', c]\n",
        (2, 13),
        &rule("b(", open),
    );
    check(
        "policy:\n  ask: ['']\n",
        (2, 9),
        &rule("", "it names no tool"),
    );
    check(
        "policy:\n  deny: ['x()']\n",
        (2, 10),
        &rule("x()", "there is nothing between the parentheses"),
    );
    check(
        "policy:\n  deny: [two words]\n",
        (2, 10),
        &rule("two words", "a tool name cannot hold ' '"),
    );
    check(
        "policy:\n  deny: ['effect:fly']\n",
        (2, 10),
        &rule("effect:fly", "effects are read, write, execute and network"),
    );
    check(
        "policy:\n  deny: ['source:moon']\n",
        (2, 10),
        &rule(
            "source:moon",
            "sources are builtin, native, rest, mcp and mcp/SERVER",
        ),
    );
    check(
        "policy:\n  deny: ['[']\n",
        (2, 10),
        &rule(
            "[",
            "error parsing glob '[': unclosed character class; missing ']'",
        ),
    );
    check(
        "policy:\n  deny: ['x(a ~= ()']\n",
        (2, 10),
        &rule("x(a ~= ()", "regex parse error: ( ^ error: unclosed group"),
    );
    check(
        "policy:\n  deny: ['x(n in 5..1)']\n",
        (2, 10),
        &rule("x(n in 5..1)", "\"5..1\" is no range; write LOW..HIGH"),
    );
}

#[test]
fn rules_in_full_at_their_own_place() {
    let rule = |fields: &str| format!("policy:\n  rules:\n    - {{effect: ask}}\n    - {fields}\n");
    check(
        rule("{effect: deny, tool: 'x y'}"),
        (4, 7),
        "rule \"x y\" cannot be read: a tool name cannot hold ' '",
    );
    check(
        rule("{effect: deny, args: {p: {regex: '('}}}"),
        (4, 7),
        "argument `p`: regex parse error: ( ^ error: unclosed group",
    );
    check(
        rule("{effect: deny, args: {p: '['}}"),
        (4, 7),
        "argument `p`: error parsing glob '[': unclosed character class; missing ']'",
    );
    check(
        rule("{effect: deny, args: {p: {like: x}}}"),
        (4, 7),
        "argument `p`: use a glob, or one of equals, glob, prefix, regex, range, beneath",
    );
    check(
        rule("{effect: deny, args: {p: {range: 5..1}}}"),
        (4, 7),
        "argument `p`: \"5..1\" is no range; write LOW..HIGH",
    );
    check(
        rule("{effect: deny, source: moon}"),
        (4, 7),
        "sources are builtin, native, rest, mcp and mcp/SERVER",
    );
    check(
        rule("{effect: deny, agent: '['}"),
        (4, 7),
        "error parsing glob '[': unclosed character class; missing ']'",
    );
    check(
        rule("{effect: deny, args: {n: .nan}}"),
        (4, 32),
        "non-finite float `.nan` rejected by the configured policy",
    );
}

#[test]
fn tags_of_every_sort() {
    let tag = |tag: &str| format!("tags such as `{tag}` are not supported");
    check(
        "prefix: !!python/object:os.system x\n",
        (1, 9),
        &tag("!!python/object:os.system"),
    );
    check("policy: !include other.yaml\n", (1, 9), &tag("!include"));
    check("prefix: !foo x\n", (1, 9), &tag("!foo"));
    check("prefix: !!str x\n", (1, 9), &tag("!!str"));
    check("prefix: !!binary YWJj\n", (1, 9), &tag("!!binary"));
    check("!!map\nprefix: a\n", (1, 1), &tag("!!map"));
    check(
        format!("{ARGS}        a: [1, !!float 2]\n"),
        (5, 16),
        &tag("!!float"),
    );
    let verbatim = refused(b"prefix: !<tag:example.com,2000:x> a\n");
    assert!(
        verbatim.starts_with("t.yaml:1:9: tags such as "),
        "{verbatim}"
    );
}

#[test]
fn alias_bombs() {
    let ten = |name: &str| vec![format!("*{name}"); 10].join(", ");
    let mut laughs = format!("{ARGS}        a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (name, before) in ["b", "c", "d", "e", "f", "g", "h", "i"]
        .iter()
        .zip("abcdefgh".chars())
    {
        let before = before.to_string();
        laughs.push_str(&format!("        {name}: &{name} [{}]\n", ten(&before)));
    }
    check(laughs, (8, 44), ALIASES);

    let list = vec!["x"; 20_000].join(",");
    let quadratic = format!(
        "{ARGS}        a: &a [{list}]\n        b: [{}]\n",
        vec!["*a"; 90].join(",")
    );
    check(quadratic, (6, 13), ALIASES);

    let mut many = "bindings:\n  a: &a {prefix: a}\n".to_owned();
    for index in 0..20_000 {
        many.push_str(&format!("  b{index}: *a\n"));
    }
    check(many, (103, 9), ALIASES);

    let mut anchors = "bindings:\n".to_owned();
    for index in 0..20_000 {
        anchors.push_str(&format!("  b{index}: &a{index} {{}}\n"));
    }
    assert!(refused(anchors.as_bytes()).contains(ALIASES));
}

#[test]
fn aliases_that_lead_nowhere() {
    check(
        "limits: *nope\n",
        (1, 9),
        "the alias names no anchor before it",
    );
    check(
        "bindings: &x\n  a: *x\n",
        (2, 6),
        "the alias stands inside what it stands for",
    );
    check(
        "bindings:\n  b: &x\n    <<: *x\n",
        (3, 5),
        "merge keys (`<<`) are not supported",
    );
    check(
        "bindings:\n  a: &x {timeout: 3s}\n  b:\n    <<: *x\n",
        (4, 5),
        "merge keys (`<<`) are not supported",
    );
    let used = refused(b"bindings:\n  a: &x {prefix: a}\nlimits: *x\n");
    assert!(
        used.starts_with("t.yaml:3:9: unknown key `prefix`; known here: "),
        "{used}"
    );
    assert!(!used.contains("line 2"), "{used}");
}

#[test]
fn depth_of_every_sort() {
    let inside = |flow: String| format!("{ARGS}        a: {flow}\n");
    check(inside("[".repeat(60) + &"]".repeat(60)), (5, 71), DEEP);
    check(inside("{a: ".repeat(100_000)), (5, 248), DEEP);
    check(
        inside("[".repeat(100_000) + &"]".repeat(100_000)),
        (5, 267),
        DEEP,
    );
    check("[".repeat(1_000_000), (1, 256), DEEP);
    check("{".repeat(1_000_000), (1, 256), DEEP);
    check("- ".repeat(500_000), (1, 1), MAPPING);
    check("? ".repeat(500_000), (1, 129), DEEP);
    let mut block = ARGS.to_owned();
    for depth in 0..1_000 {
        block.push_str(&" ".repeat(8 + depth));
        block.push_str("a:\n");
    }
    check(block, (65, 69), DEEP);
}

#[test]
fn broken_syntax() {
    check(
        "limits:\n\ttimeout: 3s\n",
        (2, 2),
        "tabs disallowed within this context (block indentation)",
    );
    check("limits: {timeout: 3s\n", (1, 9), "unclosed bracket '{'");
    check(
        "limits:\n  timeout: 3s\n grace: 1s\n",
        (3, 2),
        "while parsing a block mapping, did not find expected key",
    );
    check("prefix: @x\n", (1, 9), "unexpected character: `@'");
    let refused = refused(b"prefix: \"abc\n");
    assert!(refused.starts_with("t.yaml:2:1: "), "{refused}");
}

#[test]
fn several_documents() {
    let second = "a second document begins here; a configuration is one";
    check("prefix: a\n---\nprefix: b\n", (2, 1), second);
    check("---\nprefix: a\n---\n", (3, 1), second);
    check("prefix: a\n...\nprefix: b\n", (2, 1), second);
}

#[test]
fn other_encodings() {
    let message = "it is not UTF-8 from here on";
    check(b"prefix: a\n# caf\xe9\n", (2, 6), message);
    check(b"\xff\xfep\0r\0", (1, 1), message);
    check(b"\xfe\xff\0p\0r", (1, 1), message);
    check(b"\xc3", (1, 1), message);
    check(b"prefix: \xc0\xaf\n", (1, 9), message);
    check(b"prefix: \xed\xa0\x80\n", (1, 9), message);
}

#[test]
fn characters_that_steer_or_hide_leave_a_mark() {
    let shown = refused(b"prefix: a\0b\n");
    assert_eq!(
        shown,
        "t.yaml:1:10: unexpected character: `\\u{0}'\n  |\n1 | prefix: a·b\n  |          ^"
    );
    let shown = refused(b"prefix: \x1b[31mred\n");
    assert!(
        shown.contains("\n1 | prefix: ·[31mred\n  |         ^"),
        "{shown}"
    );
    let shown = refused("limits: {\u{202e}\u{200b}: 1, parallel: 0}\n".as_bytes());
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
    check("serve: { prefix: \u{200b}\u{200b}x }\n", (1, 18), PREFIX);
    let shown = refused(b"\"\\e]0;title\\a\": 1\n");
    assert!(
        shown.chars().all(|c| c == '\n' || !c.is_control()),
        "{shown:?}"
    );
}

#[test]
fn long_lines_are_shown_around_the_place() {
    let padding = " ".repeat(300);
    let line = format!("limits: {{parallel: 1,{padding}timeout: soon,{padding}grace: 1s}}\n");
    check(&line, (1, 331), &format!("\"soon\" {DURATION}"));
    let shown = refused(line.as_bytes());
    let excerpt = shown.lines().nth(2).unwrap();
    assert!(
        excerpt.starts_with("1 | … ") && excerpt.ends_with('…'),
        "{shown}"
    );
    assert!(excerpt.contains("timeout: soon,"), "{shown}");
    assert!(refused(format!("{}: 1\n", "x".repeat(5_000)).as_bytes()).len() < 1_000);
}

#[test]
fn lines_end_as_yaml_says() {
    let message = format!("\"soon\" {DURATION}");
    check("limits:\r\n  timeout: soon\r\n", (2, 12), &message);
    check("limits:\r  timeout: soon\r", (2, 12), &message);
    check("\u{feff}limits:\n  timeout: soon", (2, 12), &message);
}

#[test]
fn too_much() {
    let whole = "t.yaml: it is larger than 1048576 bytes";
    assert_eq!(refused(&vec![b'#'; (1 << 20) + 1]), whole);
    assert_eq!(refused(&vec![b' '; 5 << 20]), whole);
    let rules: Vec<String> = (0..90_000).map(|index| format!("t{index}")).collect();
    check(
        format!("policy:\n  allow: [{}]\n", rules.join(",")),
        (2, 10),
        "501 rules are more than the 500 that are accepted",
    );
    let full = "{effect: deny},".repeat(30_000);
    check(
        format!("policy:\n  rules: [{full}]\n"),
        (2, 10),
        "501 rules are more than the 500 that are accepted",
    );
    let mut bindings = "bindings:\n".to_owned();
    for index in 0..501 {
        bindings.push_str(&format!("  b{index}: {{}}\n"));
    }
    let refused = refused(bindings.as_bytes());
    assert!(
        refused.contains("501 bindings are more than the 500 that are accepted"),
        "{refused}"
    );
    let keys: Vec<String> = (0..90_000).map(|index| format!("k{index}: 1")).collect();
    let many = self::refused(format!("{ARGS}        a: {{{}}}\n", keys.join(",")).as_bytes());
    assert!(
        many.contains("it holds more than is accepted from here on"),
        "{many}"
    );
}
