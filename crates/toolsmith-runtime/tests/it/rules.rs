//! Rules, as data: the rule, the call, and whether the rule is about it.

use serde_json::{Value, json};
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{AnyTool, Kind, Outcome, Plan, RawCall, Schema, Source, ToolDef, Touch};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::{definition, echoing};

/// `tool(file_path, …)`, open, which names no paths by itself.
fn plain() -> ToolDef {
    let schema = json!({
        "properties": {"file_path": {}, "file-path": {}, "größe": {}, "n": {}, "options": {"properties": {"mode": {}}}, "list": {}, "a/b": {}},
        "required": ["file_path"],
        "additionalProperties": true,
    });
    definition("tool").with_input(Schema::as_received(schema).unwrap())
}

/// The same, but it says that its `file_path` is beneath `/ws`, as a workspace does.
fn telling() -> AnyTool {
    FunctionTool::new(plain())
        .with_plan(|arguments: &Value| {
            let path = arguments["file_path"].as_str().unwrap_or_default();
            let path = path.strip_prefix("/ws/").unwrap_or(path);
            Ok(Plan::default().touching(Touch::read(path).from_argument("file_path")))
        })
        .into_async(async |_: Value, _| Outcome::nothing())
}

fn decide(tool: AnyTool, rule: Rule, arguments: Value, caller: &Caller) -> Verdict {
    // The mode is the opposite of the rule, so that it never decides the same.
    let mode = match rule.verdict() {
        Verdict::Allow => Mode::Ask,
        _ => Mode::Auto,
    };
    let name = tool.definition().name.to_string();
    let policy = Policy::new(mode).with_rules([rule]);
    let toolbox = Toolbox::builder()
        .tools([tool])
        .policy(policy)
        .build()
        .unwrap();
    let explained = explain(&toolbox, RawCall::new(name, arguments), caller);
    explained
        .decision
        .unwrap_or_else(|| panic!("{:?}", explained.error))
        .verdict
}

/// Whether each sort of rule takes a call to be its own.
fn is_about(rule: &str, tool: impl Fn() -> AnyTool, arguments: &Value) -> (bool, bool) {
    let caller = Caller::new("test");
    let of = |verdict| {
        decide(
            tool(),
            Rule::parse(verdict, rule).unwrap(),
            arguments.clone(),
            &caller,
        )
    };
    let allows = of(Verdict::Allow) == Verdict::Allow;
    let denies = of(Verdict::Deny) == Verdict::Deny;
    assert_eq!(
        of(Verdict::Ask) == Verdict::Ask,
        denies,
        "ask and deny read alike: {rule}"
    );
    (allows, denies)
}

/// A tool that writes, so that the mode `ask` does not allow it by itself.
fn writing() -> AnyTool {
    echoing(plain().with_kind(Kind::Edit))
}

#[test]
fn every_matcher() {
    for (rule, file_path, about) in [
        ("tool", json!("x"), true),
        ("t*", json!("x"), true),
        ("*", json!("x"), true),
        ("to?l", json!("x"), true),
        ("{tool,other}", json!("x"), true),
        ("other", json!("x"), false),
        ("too", json!("x"), false),
        ("TOOL", json!("x"), false),
        ("effect:write", json!("x"), true),
        ("effect:read", json!("x"), false),
        ("source:builtin", json!("x"), true),
        ("source:mcp", json!("x"), false),
        ("tool(git *)", json!("git status"), true),
        ("tool(git *)", json!("git"), false),
        ("tool(git *)", json!("rm x"), false),
        ("tool(file_path: src/**)", json!("src/a/b.rs"), true),
        ("tool(file_path: src/**)", json!("lib/a.rs"), false),
        ("tool(file_path: src/*.rs)", json!("src/a.rs"), true),
        ("tool(file_path: *.rs)", json!("a.rs"), true),
        ("tool(file_path = a b)", json!("a b"), true),
        ("tool(file_path = a)", json!("ab"), false),
        ("tool(file_path = 5)", json!(5), true),
        ("tool(file_path = true)", json!(true), true),
        ("tool(file_path = null)", json!(null), true),
        (
            "tool(file_path ^= https://example.com/)",
            json!("https://example.com/a"),
            true,
        ),
        (
            "tool(file_path ^= https://example.com/)",
            json!("https://example.com.evil/a"),
            false,
        ),
        ("tool(file_path ~= ^v[0-9]+$)", json!("v12"), true),
        ("tool(file_path ~= ^v[0-9]+$)", json!("v12x"), false),
        ("tool(file_path ~= b)", json!("abc"), true),
        ("tool(file_path in 1..5)", json!(1), true),
        ("tool(file_path in 1..5)", json!(5), true),
        ("tool(file_path in 1..5)", json!(5.1), false),
        ("tool(file_path in ..5)", json!(-1e9), true),
        ("tool(file_path in 1..)", json!(0), false),
        ("tool(file_path in 1..5)", json!("three"), false),
        ("tool(file_path beneath src)", json!("src"), true),
        ("tool(file_path beneath src)", json!("src/a/b"), true),
        ("tool(file_path beneath src)", json!("srcs/a"), false),
        ("tool(file_path beneath ./src/)", json!("src/a"), true),
        ("tool(file_path beneath .)", json!("a/b"), true),
        ("tool(file_path beneath .)", json!("../a"), false),
        ("tool(file_path beneath .)", json!("/a"), false),
        ("tool(file_path beneath /srv)", json!("/srv/x"), true),
        ("tool(file_path beneath /srv)", json!("/srvx"), false),
        // Lists: allowing needs all of them.
        ("tool(file_path: src/**)", json!(["src/a", "src/b"]), true),
    ] {
        let got = is_about(rule, writing, &json!({"file_path": file_path}));
        assert_eq!(got, (about, about), "{rule} for {file_path}");
    }
}

#[test]
fn several_conditions_must_all_hold() {
    let rule = "tool(n in 1..5, options.mode = fast)";
    for (n, mode, about) in [(3, "fast", true), (6, "fast", false), (3, "slow", false)] {
        let arguments = json!({"file_path": "", "n": n, "options": {"mode": mode}});
        assert_eq!(
            is_about(rule, writing, &arguments),
            (about, about),
            "{n} {mode}"
        );
    }
}

/// `(rule, argument, allows, denies)`, where the two differ: what could be meant
/// denies, and only what must be meant allows.
#[test]
fn spelling_does_not_widen_an_allow_nor_dodge_a_deny() {
    for (rule, path, allows, denies) in [
        ("tool(file_path: src/**)", "src/../secret", false, true),
        ("tool(file_path: secret)", "src/../secret", false, true),
        ("tool(file_path: *.rs)", "../x.rs", false, true),
        ("tool(file_path: *.rs)", "a/../../x.rs", false, true),
        ("tool(file_path: *.rs)", "a/x.rs", true, true),
        ("tool(file_path: secret/**)", "./secret/x", false, true),
        ("tool(file_path: secret/**)", "secret//x", true, true),
        ("tool(file_path: secret/**)", ".//secret/./x", false, true),
        (
            "tool(file_path: secret/**)",
            "a/b/../../secret/x",
            false,
            true,
        ),
        ("tool(file_path: ./secret/**)", "secret/x", false, true),
        ("tool(file_path = secret)", "secret/", false, true),
        ("tool(file_path = secret)", "./secret", false, true),
        ("tool(file_path: secret)", "secret/.", false, true),
        ("tool(file_path: /etc/**)", "//etc/passwd", false, true),
        (
            "tool(file_path: /etc/**)",
            "/usr/../etc/passwd",
            false,
            true,
        ),
        ("tool(file_path: /etc/**)", "/../etc/passwd", false, true),
        ("tool(file_path ^= src/)", "src/../secret", false, true),
        ("tool(file_path ^= secret/)", "./secret/x", false, true),
        ("tool(file_path ~= ^src/)", "src/../../x", false, true),
        ("tool(file_path beneath src)", "src/../secret", false, false),
        ("tool(file_path beneath src)", "./src/a/../b", true, true),
        ("tool(file_path beneath src)", "/src/a", false, false),
        ("tool(file_path beneath ..)", "../a", true, true),
        ("tool(file_path beneath ..)", "../../etc", false, false),
        ("tool(file_path: **/*.rs)", "../../out/x.rs", false, true),
        ("tool(file_path: **/*.rs)", "/out/x.rs", false, true),
        ("tool(file_path: ../**)", "../../etc/passwd", false, true),
        ("tool(file_path: src/*)", "src/a/b", false, true),
        (
            "tool(file_path: https://a.org/**)",
            "https://a.org",
            true,
            true,
        ),
        ("tool(file_path ^= http://a/)", "http://a", true, true),
        ("tool(file_path = https://a)", "https://a/", true, true),
        (
            "tool(file_path: https://a/**)",
            "https://a.evil",
            false,
            false,
        ),
        // One place for both, but only one of them has the slash that is allowed.
        ("tool(file_path: https://a/**)", "https://a?b", false, true),
        ("tool(file_path: ftp://a/**)", "ftp://a", false, true),
        // What is written like an address is one only behind a scheme.
        (
            "tool(file_path: src/**)",
            "src/x://../../../etc/passwd",
            false,
            true,
        ),
        (
            "tool(file_path beneath src)",
            "src/x://../../../etc/passwd",
            false,
            false,
        ),
        (
            "tool(file_path beneath .)",
            "x://a/../../../etc/passwd",
            false,
            true,
        ),
        ("tool(file_path beneath .)", "..x", true, true),
        // No spelling leads out of a server, or past a rule about it.
        (
            "tool(file_path: https://a.org/x/**)",
            "https://a.org/y/../../x/1",
            false,
            true,
        ),
        (
            "tool(file_path: https://a.org/x/**)",
            "https://a.org/y/%2e%2E/x/1",
            false,
            true,
        ),
        (
            "tool(file_path: https://a.org/x/**)",
            "https://A.org/x/1",
            false,
            true,
        ),
        (
            "tool(file_path: https://a.org/x/**)",
            "https://b.org/../a.org/x/1",
            false,
            false,
        ),
        (
            "tool(file_path: https://a.org/x/**)",
            "https://a.org/x/?q=/../../../y",
            true,
            true,
        ),
        ("tool(n = 5)", "n:5.0", true, true),
        ("tool(n = 5.0)", "n:5", false, true),
    ] {
        let arguments = match path.strip_prefix("n:") {
            Some(number) => json!({"file_path": "", "n": number.parse::<f64>().unwrap()}),
            None => json!({ "file_path": path }),
        };
        assert_eq!(
            is_about(rule, writing, &arguments),
            (allows, denies),
            "{rule} for {path}"
        );
    }
    // One bad item of a list is enough.
    let mixed = json!({"file_path": ["src/a", "secret"]});
    assert_eq!(
        is_about("tool(file_path: src/**)", writing, &mixed),
        (false, true)
    );
    let empty = json!({"file_path": []});
    assert_eq!(
        is_about("tool(file_path: src/**)", writing, &empty),
        (false, false)
    );
}

/// As above, of addresses that are fetched by whoever knows how.
#[test]
fn no_way_to_write_an_address_widens_an_allow_or_dodges_a_deny() {
    for (rule, url, allows, denies) in [
        // Capitals, in the rule or in the call.
        ("https://A.org/x/**", "https://A.org/x/1", true, true),
        ("https://A.org/x/**", "https://a.org/x/1", false, true),
        ("https://*.A.org/**", "https://b.a.org/x", false, true),
        ("notes://Mine/**", "notes://Mine/1", true, true),
        ("notes://mine/**", "notes://Mine/1", false, true),
        // A wildcard in the name of a server ends where the name does.
        ("https://*.a.org/**", "https://b.a.org/x", true, true),
        (
            "https://*.a.org/**",
            "https://evil.test?.a.org/x",
            false,
            true,
        ),
        (
            "https://*.a.org/**",
            "https://evil.test#.a.org/x",
            false,
            true,
        ),
        (
            "https://*.a.org/**",
            "https://evil.test\\.a.org/x",
            false,
            true,
        ),
        (
            "https://a.org/x/**",
            "https://a.org/x/\\..\\..\\y",
            false,
            true,
        ),
        // What a browser takes for the same.
        ("https://a.org/x/**", "https:/a.org/x/1", false, true),
        ("https://a.org/x/**", "https:a.org/x/1", false, true),
        ("https://a.org/x/**", "https:\\\\a.org\\x\\1", false, true),
        ("https://a.org/x/**", " https://a.org/x/1", false, true),
        ("https://a.org/x/**", "ht\ntps://a.o\trg/x/1", false, true),
        (
            "https://a.org/x/**",
            "https://me:pass@a.org/x/1",
            false,
            true,
        ),
        ("https://a.org/x/**", "https://a.org:0443/x/1", false, true),
        ("https://a.org/x/**", "https://a.org./x/1", false, true),
        ("https://a.org/x/**", "https://%61.org/x/1", false, true),
        ("https://a.org/x/**", "https://a.org/%78/1", false, true),
        (
            "https://a.org/x/**",
            "https://a.org/y/..%2fx/1",
            false,
            true,
        ),
        ("https://a.org/x/**", "https://a.org:8443/x/1", false, false),
        (
            "https://a.org/x/**",
            "https://a.org@b.org/x/1",
            false,
            false,
        ),
        ("file:///etc/**", "file:/etc/passwd", false, true),
        (
            "file:///etc/**",
            "FILE://localhost/%65tc/passwd",
            false,
            true,
        ),
        ("/etc/**", "file:///tmp/../etc/passwd", false, true),
        ("/etc/**", "file://other/etc/passwd", false, false),
        // Or is it a path?
        ("secret/**", "x://../secret/key", false, true),
    ] {
        let rule = format!("tool(file_path: {rule})");
        let got = is_about(&rule, writing, &json!({ "file_path": url }));
        assert_eq!(got, (allows, denies), "{rule} for {url:?}");
    }
}

#[test]
fn the_paths_a_tool_says_it_means_are_the_truth() {
    let writes = || {
        let tool = telling();
        let definition = ToolDef::clone(&tool.definition()).with_kind(Kind::Edit);
        FunctionTool::new(definition)
            .with_plan(|arguments: &Value| {
                let path = arguments["file_path"].as_str().unwrap_or_default();
                let path = path.strip_prefix("/ws/").unwrap_or(path);
                Ok(Plan::default().touching(Touch::write(path).from_argument("file_path")))
            })
            .into_async(async |_: Value, _| Outcome::nothing())
    };
    for (rule, path, allows, denies) in [
        ("tool(file_path: src/**)", "/ws/src/a", true, true),
        ("tool(file_path: secret/**)", "/ws/secret/a", true, true),
        (
            "tool(file_path: src/**)",
            "/ws/src/../secret/a",
            false,
            false,
        ),
        ("tool(file_path: secret/**)", "/ws/./secret//a", true, true),
        ("tool(file_path beneath src)", "/ws/secret/a", false, false),
        (
            "tool(file_path: src/**)",
            "src/../../etc/passwd",
            false,
            true,
        ),
        ("tool(file_path: *.rs)", "../x.rs", false, true),
    ] {
        let arguments = json!({ "file_path": path });
        assert_eq!(
            is_about(rule, writes, &arguments),
            (allows, denies),
            "{rule} for {path}"
        );
    }
}

#[test]
fn an_argument_that_cannot_be_judged_forbids_and_never_allows() {
    for (rule, allows, denies) in [
        // No such argument: a typing error must not open a door.
        ("tool(fil_path: secret/**)", false, true),
        ("tool(options.mod = x)", false, true),
        // Known but left out: the rule is about something else.
        ("tool(n = 5)", false, false),
        ("tool(options.mode = x)", false, false),
    ] {
        assert_eq!(
            is_about(rule, writing, &json!({"file_path": "x"})),
            (allows, denies),
            "{rule}"
        );
    }
    let none = || echoing(definition("tool").with_kind(Kind::Edit));
    assert_eq!(is_about("tool(x*)", none, &json!({})), (false, true));
}

#[test]
fn a_deny_reaches_into_lists_of_objects() {
    let arguments = json!({"file_path": "", "list": [{"path": "a"}, {"path": "secret"}]});
    let denies = is_about("tool(list.path = secret)", writing, &arguments).1;
    assert!(denies);
    assert_eq!(
        is_about("tool(list: secret)", writing, &arguments),
        (false, true)
    );
}

#[test]
fn names_of_arguments_need_not_be_plain_words() {
    for (rule, value, about) in [
        ("tool(file-path: /etc/**)", "/etc/passwd", true),
        ("tool(file-path: /etc/**)", "/srv/x", false),
        ("tool(n = 1, file-path ^= /etc)", "/etc/passwd", true),
        ("tool(größe = 1)", "1", true),
        ("tool(größe = 2)", "1", false),
    ] {
        let name = if rule.contains("größe") {
            "größe"
        } else {
            "file-path"
        };
        let arguments = json!({"file_path": "", "n": 1, name: value});
        assert_eq!(
            is_about(rule, writing, &arguments),
            (about, about),
            "{rule} for {value}"
        );
    }
}

#[test]
fn addresses_and_commands_are_globs_for_the_first_argument() {
    for (rule, value, about) in [
        ("tool(https://a.org/*)", "https://a.org/x", true),
        ("tool(https://a.org/*)", "https://b.org/x", false),
        ("tool(https://a.org/?q=*)", "https://a.org/?q=1", true),
        ("tool(*.a.org:443)", "www.a.org:443", true),
        ("tool(npm run x:y *)", "npm run x:y z", true),
        ("tool(npm run x:y *)", "npm run x:z z", false),
        (
            "tool(git commit --author=*)",
            "git commit --author=me",
            true,
        ),
        ("tool(file_path: {http://a,https://b})", "https://b", true),
        ("tool(file_path: a:b)", "a:b", true),
    ] {
        assert_eq!(
            is_about(rule, writing, &json!({"file_path": value})),
            (about, about),
            "{rule} for {value}"
        );
    }
}

#[test]
fn what_looks_like_a_condition_is_never_taken_for_a_glob() {
    for (rule, word) in [
        ("tool(a/b: x)", "a/b"),
        ("tool(a/b = x)", "a/b"),
        ("tool($x ^= y)", "$x"),
        ("tool(\"x\" ~= y)", "\"x\""),
        ("tool(--flag=*)", "--flag"),
        ("tool(git@host:x/*)", "git@host"),
        ("tool(a/b beneath src)", "a/b"),
        ("tool(a/b in 1..5)", "a/b"),
        ("tool(n = 1, a/b: x)", "a/b"),
    ] {
        let error = Rule::parse(Verdict::Deny, rule).unwrap_err().to_string();
        let says = format!("{word:?} is no name of an argument; names are letters,");
        assert!(error.contains(&says), "{rule}: {error}");
        assert!(error.contains(&format!("as in `name: {word}…`")), "{error}");
    }
}

#[test]
fn rules_that_cannot_be_read_say_why() {
    for (rule, reason) in [
        ("", "it names no tool"),
        ("(x)", "it names no tool"),
        ("tool(x", "the `(` has no `)` at the end"),
        ("tool()", "there is nothing between the parentheses"),
        ("tool(a: )", "nothing stands after `:`"),
        ("tool(a in 5)", "\"5\" is no range; write LOW..HIGH"),
        ("tool(a in 5..1)", "\"5..1\" is no range; write LOW..HIGH"),
        ("tool(a in x..y)", "\"x..y\" is no range; write LOW..HIGH"),
        (
            "tool(a in nan..1)",
            "\"nan..1\" is no range; write LOW..HIGH",
        ),
        (
            "effect:destroy",
            "effects are read, write, execute and network",
        ),
        (
            "source:web",
            "sources are builtin, native, rest, mcp and mcp/SERVER",
        ),
        ("two tools", "a tool name cannot hold ' '"),
        ("tool)", "a tool name cannot hold ')'"),
    ] {
        let error = Rule::parse(Verdict::Deny, rule).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("rule {:?} cannot be read: {reason}", rule.trim())
        );
    }
    for rule in [
        "to[ol",
        "tool(a: x[)",
        "tool(a ~= ()",
        "tool(a ~= (x{1000}){1000})",
    ] {
        Rule::parse(Verdict::Deny, rule).unwrap_err();
    }
}

#[test]
fn rules_of_configuration_files() {
    let parse = |value: Value| serde_json::from_value::<Rule>(value);
    let caller = Caller::new("test").with_agent("coder");
    for (rule, arguments, about) in [
        (json!({"effect": "deny"}), json!({"file_path": ""}), true),
        (
            json!({"effect": "deny", "tool": "t*"}),
            json!({"file_path": ""}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": "src/**"}}),
            json!({"file_path": "src/x"}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": {"equals": "x"}}}),
            json!({"file_path": "x"}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": {"glob": "x*"}}}),
            json!({"file_path": "xy"}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": {"prefix": "x"}}}),
            json!({"file_path": "yx"}),
            false,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": {"regex": "x$"}}}),
            json!({"file_path": "yx"}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"file_path": {"beneath": "a"}}}),
            json!({"file_path": "a/b"}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"n": {"range": "1..2"}}}),
            json!({"file_path": "", "n": 2}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"n": 2}}),
            json!({"file_path": "", "n": 2}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"n": true}}),
            json!({"file_path": "", "n": true}),
            true,
        ),
        (
            json!({"effect": "deny", "args": {"a/b": "x"}}),
            json!({"file_path": "", "a/b": "x"}),
            true,
        ),
        (
            json!({"effect": "deny", "source": "builtin"}),
            json!({"file_path": ""}),
            true,
        ),
        (
            json!({"effect": "deny", "source": "rest"}),
            json!({"file_path": ""}),
            false,
        ),
        (
            json!({"effect": "deny", "agent": "cod*"}),
            json!({"file_path": ""}),
            true,
        ),
        (
            json!({"effect": "deny", "agent": "writer"}),
            json!({"file_path": ""}),
            false,
        ),
    ] {
        let verdict = decide(writing(), parse(rule.clone()).unwrap(), arguments, &caller);
        assert_eq!(verdict == Verdict::Deny, about, "{rule}");
    }
    let by_agent = || parse(json!({"effect": "deny", "agent": "*"})).unwrap();
    let nobody = decide(
        writing(),
        by_agent(),
        json!({"file_path": ""}),
        &Caller::new("test"),
    );
    assert_eq!(nobody, Verdict::Allow);
    for bad in [
        json!({}),
        json!({"effect": "maybe"}),
        json!({"effect": "deny", "tools": "x"}),
        json!({"effect": "deny", "tool": ""}),
        json!({"effect": "deny", "args": {"a": {"like": "x"}}}),
        json!({"effect": "deny", "args": {"a": ["x"]}}),
        json!({"effect": "deny", "args": {"a": {"regex": "("}}}),
        json!({"effect": "deny", "source": "web"}),
        json!({"effect": "deny", "agent": "["}),
        json!("deny tool"),
    ] {
        assert!(parse(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn sources_of_servers_are_told_apart() {
    let of = |server: &str| {
        let source = Source::Mcp {
            server: server.to_owned(),
        };
        move || {
            echoing(
                plain()
                    .with_kind(Kind::External)
                    .with_source(source.clone()),
            )
        }
    };
    let arguments = json!({"file_path": ""});
    assert_eq!(is_about("source:mcp", of("git"), &arguments), (true, true));
    assert_eq!(
        is_about("source:mcp/git", of("git"), &arguments),
        (true, true)
    );
    assert_eq!(
        is_about("source:mcp/git", of("github"), &arguments),
        (false, false)
    );
    assert_eq!(
        is_about("source:mcp/git", writing, &arguments),
        (false, false)
    );
}

#[test]
fn rules_speak_of_the_real_tool_whatever_it_was_called_by() {
    let policy = Policy::new(Mode::Auto).denying(["tool"]).unwrap();
    let toolbox = Toolbox::builder()
        .prefix("acme")
        .policy(policy)
        .tools([writing()])
        .build()
        .unwrap();
    for name in ["tool", "acme_tool"] {
        let call = RawCall::new(name, json!({"file_path": ""}));
        let decision = explain(&toolbox, call, &Caller::new("test"))
            .decision
            .unwrap();
        assert_eq!(decision.verdict, Verdict::Deny, "{name}");
    }
}

/// People see the offered name; forbidding it must forbid. Allowing it does nothing.
#[test]
fn forbidding_holds_under_the_offered_name_too() {
    for (verdict, rule, expected) in [
        (Verdict::Deny, "acme_tool", Verdict::Deny),
        (Verdict::Deny, "acme_*(x*)", Verdict::Deny),
        (Verdict::Ask, "acme_tool", Verdict::Ask),
        (Verdict::Allow, "tool", Verdict::Allow),
        (Verdict::Allow, "acme_tool", Verdict::Ask),
    ] {
        let mode = match verdict {
            Verdict::Allow => Mode::Ask,
            _ => Mode::Auto,
        };
        let rules = [Rule::parse(verdict, rule).unwrap()];
        let toolbox = Toolbox::builder()
            .prefix("acme")
            .policy(Policy::new(mode).with_rules(rules))
            .tools([writing()])
            .build()
            .unwrap();
        for name in ["tool", "acme_tool"] {
            let call = RawCall::new(name, json!({"file_path": "x"}));
            let explained = explain(&toolbox, call, &Caller::new("test"));
            let got = explained.decision.unwrap().verdict;
            assert_eq!(got, expected, "{verdict:?} {rule}, called {name}");
        }
    }
}

/// A call that goes through a tree sees what is in it: forbidding that forbids the call.
#[test]
fn what_is_forbidden_in_a_tree_forbids_going_through_it() {
    let searches = || {
        let definition = ToolDef::clone(&telling().definition()).with_kind(Kind::Edit);
        FunctionTool::new(definition)
            .with_plan(|arguments: &Value| {
                let path = arguments["file_path"].as_str().unwrap_or_default();
                let touch = Touch::read(path).from_argument("file_path");
                Ok(Plan::default().touching(touch.recursively()))
            })
            .into_async(async |_: Value, _| Outcome::nothing())
    };
    for (rule, path, allows, denies) in [
        ("tool(file_path beneath secrets)", ".", false, true),
        ("tool(file_path beneath a/secrets)", "a", false, true),
        ("tool(file_path beneath a/secrets)", "b", false, false),
        (
            "tool(file_path beneath a/secrets)",
            "a/secrets/b",
            true,
            true,
        ),
        ("tool(file_path: secrets/**)", ".", false, true),
        ("tool(file_path: secrets)", ".", false, true),
        ("tool(file_path = a/secrets)", "a", false, true),
        ("tool(file_path: secrets/**)", "src", false, false),
        ("tool(file_path beneath /etc)", "/", false, true),
        ("tool(file_path: **/secrets)", ".", false, false),
        ("tool(file_path ~= secrets)", ".", false, false),
    ] {
        let arguments = json!({ "file_path": path });
        assert_eq!(
            is_about(rule, searches, &arguments),
            (allows, denies),
            "{rule} for {path}"
        );
    }
}

#[test]
fn a_key_with_dots_in_it_does_not_hide_the_value_they_lead_to() {
    let rule = "tool(options.mode = safe)";
    for (options, about) in [
        (
            json!({"options.mode": "safe", "options": {"mode": "safe"}}),
            (true, true),
        ),
        (
            json!({"options.mode": "safe", "options": {"mode": "raw"}}),
            (false, true),
        ),
        (
            json!({"options.mode": "raw", "options": {"mode": "safe"}}),
            (false, true),
        ),
        (
            json!({"options.mode": "safe", "options": [{"mode": "raw"}]}),
            (false, true),
        ),
    ] {
        let mut arguments = json!({"file_path": ""});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(options.as_object().unwrap().clone());
        assert_eq!(is_about(rule, writing, &arguments), about, "{options}");
    }
    // However many dots there are.
    let rule = "tool(options.deep.mode = safe)";
    let arguments = json!({
        "file_path": "",
        "options": {"deep": {"mode": "safe"}},
        "options.deep": {"mode": "raw"},
    });
    assert_eq!(is_about(rule, writing, &arguments), (false, true));
    let arguments = json!({"file_path": "", "options.deep": {"mode": "safe"}});
    assert_eq!(is_about(rule, writing, &arguments), (true, true));
}
