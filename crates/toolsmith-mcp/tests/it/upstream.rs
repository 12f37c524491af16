//! Upstreams that die, hang, flood and lie, each beside a good one.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::{RawCall, Reply};
use toolsmith_mcp::client::{Protocol, Reach, State, UpstreamOptions, Upstreams};
use toolsmith_process::Launch;
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};

use crate::support::{soon, toolbox, until};

/// Says what a server with a handshake says first, and lists these tools.
pub(crate) fn opening(tools: &Value) -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "sh", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "result": hello });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } });
    // Initialize, initialized, list.
    format!("read a; echo '{hello}'; read a; read a; echo '{list}';")
}

fn tools() -> Value {
    json!([{ "name": "t", "description": "A tool.", "inputSchema": { "type": "object" } }])
}

/// The answer to the first call.
fn answer(result: &Value) -> String {
    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": result });
    format!("read a; echo '{answer}';")
}

fn good_answer() -> String {
    answer(&json!({ "content": [{ "type": "text", "text": "fine" }] }))
}

/// A shell script as an upstream.
pub(crate) fn script(name: &str, script: &str) -> UpstreamOptions {
    let launch = Launch::new("/bin/sh").arguments(["-c", script]);
    let launch = launch.environment([("PATH", "/usr/bin:/bin")]);
    UpstreamOptions::new(name, Reach::Child(launch))
        .protocol(Protocol::Handshake)
        .start_time(Duration::from_secs(20))
}

/// A good upstream that answers one call.
fn good() -> UpstreamOptions {
    let words = format!("{} {} sleep 1000", opening(&tools()), good_answer());
    script("good", &words)
}

async fn call(toolbox: &Toolbox, name: &str, limit: Duration) -> Value {
    let caller = Caller::new("test").with_timeout(limit);
    let reply = soon(toolbox.run(RawCall::new(name, json!({})), &caller)).await;
    match reply {
        Reply::Done(outcome) => outcome.to_mcp(),
        other => panic!("{other:?}"),
    }
}

fn told(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

const LONG: Duration = Duration::from_secs(50);
const SHORT: Duration = Duration::from_millis(300);

/// Starts a bad upstream beside a good one, which must work whatever the bad one does.
async fn beside_a_good_one(bad: UpstreamOptions) -> (Toolbox, Upstreams) {
    let toolbox = toolbox([]);
    let upstreams = Upstreams::start([bad, good()], &toolbox);
    soon(upstreams.all()[1].settled()).await;
    let result = call(&toolbox, "mcp__good__t", LONG).await;
    assert_eq!(told(&result), "fine", "{result}");
    (toolbox, upstreams)
}

/// What is shown of an upstream that cannot be reached.
async fn fails_as(bad: UpstreamOptions, expected: &str) {
    let (_toolbox, upstreams) = beside_a_good_one(bad).await;
    soon(upstreams.all()[0].settled()).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Failed, "{status:?}");
    let error = status.error.unwrap();
    assert!(error.contains(expected), "{error}");
    soon(upstreams.stop()).await;
}

/// Why is told once, however many have passed it on.
#[tokio::test]
async fn one_that_cannot_list_its_tools_says_why() {
    let hello = opening(&tools());
    let (hello, _) = hello.rsplit_once("echo").unwrap();
    let error = json!({ "code": -32603, "message": "broken" });
    let error = json!({ "jsonrpc": "2.0", "id": 1, "error": error });
    let bad = script("bad", &format!("{hello} echo '{error}'; sleep 1000"));
    let toolbox = toolbox([]);
    let upstreams = Upstreams::start([bad], &toolbox);
    soon(upstreams.all()[0].settled()).await;
    assert_eq!(
        upstreams.all()[0].status().error.unwrap(),
        "it could not list its tools: the server answered: broken (-32603)"
    );
    soon(upstreams.stop()).await;
}

#[tokio::test]
async fn an_upstream_that_repeats_a_secret_is_shown_without_it() {
    let secret = "correct-horse-battery-staple";
    let toolbox = Toolbox::builder()
        .secrets([secret])
        .without_log()
        .build()
        .unwrap();
    let words = format!("echo 'cannot log in with {secret}' >&2; exit 3");
    let upstreams = Upstreams::start([script("bad", &words)], &toolbox);
    soon(upstreams.settled()).await;
    let error = upstreams.all()[0].status().error.unwrap();
    assert!(error.contains("cannot log in with"), "{error}");
    assert!(!error.contains(secret), "{error}");
    soon(upstreams.stop()).await;
}

#[tokio::test]
async fn an_upstream_that_refuses_without_end_is_shown_in_few_words() {
    let message = format!("go away{}", " and away".repeat(10_000));
    let refused = json!({ "code": -32603, "message": message });
    let refused = json!({ "jsonrpc": "2.0", "id": 1, "error": refused });
    let hello = opening(&json!([]));
    let (hello, _) = hello.rsplit_once("echo").unwrap();
    let bad = script("bad", &format!("{hello} echo '{refused}'; sleep 1000"));
    let upstreams = Upstreams::start([bad], &toolbox([]));
    soon(upstreams.settled()).await;
    let error = upstreams.all()[0].status().error.unwrap();
    assert!(error.contains("go away"), "{error}");
    assert!(error.len() < 5000, "{} bytes", error.len());
    soon(upstreams.stop()).await;
}

#[tokio::test]
async fn one_that_no_longer_lists_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let words = format!(
        "{} echo '{changed}'; read a; : > {}; sleep 1000",
        opening(&tools()),
        asked.display()
    );
    let bad = script("bad", &words).start_time(Duration::from_secs(600));
    let upstreams = Upstreams::start([bad], &toolbox([]));
    until(|| asked.exists()).await;
    soon(upstreams.stop()).await;
}

#[tokio::test]
async fn one_that_cannot_start_is_shown_and_harms_no_other() {
    let missing = Reach::Child(Launch::new("/nowhere/at/all"));
    fails_as(UpstreamOptions::new("bad", missing), "/nowhere/at/all").await;
    fails_as(script("bad", "exit 3"), "").await;
    fails_as(script("bad", "echo oh no >&2; exit 3"), "oh no").await;
    let soon = Duration::from_millis(300);
    fails_as(
        script("bad", "sleep 1000").start_time(soon),
        "did not answer",
    )
    .await;
    fails_as(
        script("bad", "printf '{\"jsonrpc\":'; sleep 1000").start_time(soon),
        "did not answer",
    )
    .await;
    fails_as(script("bad", "printf '{\"jsonrpc\":'"), "").await;
    let wrong_id = r#"read a; echo '{"jsonrpc":"2.0","id":77,"result":{}}'; sleep 1000"#;
    fails_as(script("bad", wrong_id).start_time(soon), "").await;
    let wrong_result = r#"read a; echo '{"jsonrpc":"2.0","id":0,"result":{"x":1}}'; sleep 1000"#;
    fails_as(script("bad", wrong_result).start_time(soon), "").await;
    let refused = r#"read a; echo '{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"go away"}}'; sleep 1000"#;
    fails_as(script("bad", refused), "go away").await;
}

#[tokio::test]
async fn one_that_writes_nothing_but_garbage_is_given_up() {
    fails_as(script("bad", "yes garbage"), "").await;
}

#[tokio::test]
async fn a_gigabyte_without_an_end_is_not_kept() {
    let before = resident();
    let flood = "head -c 1000000000 /dev/zero | tr '\\0' x; sleep 1000";
    let bad = script("bad", flood).start_time(Duration::from_secs(5));
    let (_toolbox, upstreams) = beside_a_good_one(bad).await;
    soon(upstreams.all()[0].settled()).await;
    assert!(resident() < before + (200 << 20), "{} MB", resident() >> 20);
}

#[tokio::test]
async fn garbage_between_messages_is_left_out() {
    let words = format!(
        "echo hello; echo; echo '[1,2]'; {} echo not json; echo '{{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{{}}}}'; {} sleep 1000",
        opening(&tools()),
        good_answer()
    );
    let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__t")).await;
    assert_eq!(told(&call(&toolbox, "mcp__bad__t", LONG).await), "fine");
}

#[tokio::test]
async fn bad_tools_are_left_out_and_good_ones_taken() {
    let deep = (0..200).fold(
        json!({}),
        |inner, _| json!({ "properties": { "x": inner } }),
    );
    let listed = json!([
        { "name": "good", "inputSchema": { "type": "object" } },
        { "name": "deep", "inputSchema": deep },
        { "name": "remote", "inputSchema": { "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:9/schema" } } } },
        { "name": "circle", "inputSchema": { "$ref": "#" } },
        { "name": "good", "description": "again", "inputSchema": { "type": "object" } },
        { "name": "no schema at all" },
        { "name": "with space", "inputSchema": { "type": "object" } },
        { "name": "x".repeat(200), "inputSchema": { "type": "object" } },
        { "name": "hidden", "description": "do\u{202e} this\u{200b}\u{1b}[31m", "inputSchema": { "type": "object" } },
    ]);
    let words = format!("{} sleep 1000", opening(&listed));
    let (toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    soon(upstreams.all()[0].settled()).await;
    let status = upstreams.all()[0].status();
    if status.state == State::Failed {
        // A list with a tool that is none is no list; it is shown as such.
        assert!(status.error.unwrap().contains("list"), "a reason is given");
        return;
    }
    let names: Vec<String> = toolbox
        .registry()
        .all()
        .iter()
        .map(|t| t.name.to_string())
        .collect();
    assert!(names.contains(&"mcp__bad__good".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp__bad__deep".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp__bad__remote".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    let hidden = toolbox.registry().get("mcp__bad__hidden").unwrap();
    assert_eq!(hidden.description.short, "do this");
}

#[tokio::test]
async fn names_in_schemas_that_hide_something_make_no_tool() {
    let property = |name: &str| json!({ "type": "object", "properties": { name: {} } });
    let listed = json!([
        { "name": "plain", "inputSchema": property("größe") },
        { "name": "escapes", "inputSchema": property("p\u{9b}31m") },
        { "name": "turns", "inputSchema": property("p\u{202e}") },
        { "name": "answers", "inputSchema": property("p"), "outputSchema": property("p\u{200b}") },
    ]);
    let words = format!("{} sleep 1000", opening(&listed));
    let (toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    soon(upstreams.all()[0].settled()).await;
    let registered = toolbox.registry().all();
    let names = registered.iter().map(|tool| tool.name.as_str());
    let names: Vec<&str> = names.filter(|name| name.starts_with("mcp__bad")).collect();
    assert_eq!(names, ["mcp__bad__plain"]);
}

#[tokio::test]
async fn names_that_do_not_fit_stay_apart() {
    let long = |end: char| format!("{}{end}", "x".repeat(100));
    let listed: Vec<Value> = [
        long('a'),
        long('b'),
        "a b".into(),
        "a_b".into(),
        "a/b".into(),
    ]
    .iter()
    .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
    .collect();
    let words = format!("{} sleep 1000", opening(&json!(listed)));
    let (toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    soon(upstreams.all()[0].settled()).await;
    assert_eq!(upstreams.all()[0].status().tools, 5);
    assert!(toolbox.registry().has("mcp__bad__a_b"));
}

#[tokio::test]
async fn five_thousand_tools_are_taken_and_more_than_bearable_are_not() {
    let listed = |count: u32| {
        let tools = (0..count)
            .map(|n| json!({ "name": format!("t{n}"), "inputSchema": { "type": "object" } }));
        tools.collect::<Vec<Value>>()
    };
    let folder = std::env::temp_dir().join(format!("toolsmith-many-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (count, state) in [(5_000, State::Ready), (10_001, State::Failed)] {
        let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": listed(count) } });
        let file = folder.join(count.to_string());
        std::fs::write(&file, format!("{list}\n")).unwrap();
        let (hello, _) = opening(&json!([]))
            .split_once("read a; read a;")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let words = format!("{hello} read a; read a; cat {}; sleep 1000", file.display());
        let (_toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
        soon(upstreams.all()[0].settled()).await;
        let status = upstreams.all()[0].status();
        assert_eq!(status.state, state, "{status:?}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[tokio::test]
async fn pages_that_go_in_circles_end() {
    let page = |id: u32| {
        let page = json!({ "tools": [], "nextCursor": "again" });
        json!({ "jsonrpc": "2.0", "id": id, "result": page })
    };
    let (hello, _) = opening(&json!([]))
        .split_once("read a; read a;")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let words = format!(
        "{hello} read a; read a; echo '{}'; read a; echo '{}'; sleep 1000",
        page(1),
        page(2)
    );
    fails_as(script("bad", &words), "circles").await;
}

#[tokio::test]
async fn one_that_hangs_ends_with_its_time_limit() {
    let words = format!("{} sleep 1000", opening(&tools()));
    let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__t")).await;
    let result = call(&toolbox, "mcp__bad__t", SHORT).await;
    assert!(told(&result).contains("timeout"), "{result}");
}

#[tokio::test]
async fn one_that_dies_in_a_call_says_so_and_is_started_again() {
    let words = format!("{} read a; exit 7", opening(&tools()));
    let (toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__t")).await;
    let result = call(&toolbox, "mcp__bad__t", LONG).await;
    assert_eq!(result["isError"], true);
    assert!(told(&result).contains("went away"), "{result}");
    let upstream = &upstreams.all()[0];
    until(|| upstream.status().failures > 0 || upstream.status().error.is_some()).await;
    until(|| upstream.status().state == State::Ready && upstream.status().failures == 0).await;
}

#[tokio::test]
async fn answers_that_lie_are_cleaned_bounded_or_failures() {
    let cases = [
        (
            json!({ "content": [{ "type": "text", "text": "a\u{1b}[2Jb\u{202e}c" }] }),
            "abc",
            false,
        ),
        (
            json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }),
            "no",
            true,
        ),
        (
            json!({ "content": [], "isError": true }),
            "without a word",
            true,
        ),
        (
            json!({ "structuredContent": { "x": 1 }, "content": [] }),
            "",
            false,
        ),
    ];
    for (sent, expected, is_error) in cases {
        let words = format!("{} {} sleep 1000", opening(&tools()), answer(&sent));
        let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
        until(|| toolbox.registry().has("mcp__bad__t")).await;
        let result = call(&toolbox, "mcp__bad__t", LONG).await;
        assert_eq!(result["isError"], is_error, "{result}");
        assert!(told(&result).contains(expected), "{result}");
    }
}

#[tokio::test]
async fn a_huge_answer_is_cut() {
    let words = format!(
        "{} read a; printf '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"'; head -c 8000000 /dev/zero | tr '\\0' y; echo '\"}}]}}}}'; sleep 1000",
        opening(&tools())
    );
    let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__t")).await;
    let result = call(&toolbox, "mcp__bad__t", LONG).await;
    assert!(result.to_string().len() < 200_000);
}

/// Wherever it says which request it answers, and nobody waits for the time limit.
#[tokio::test]
async fn an_answer_that_is_too_long_is_a_failure_at_once() {
    let long = "head -c 17000000 /dev/zero | tr '\\0' y";
    let text = r#""result":{"content":[{"type":"text","text":""#;
    let ends = [
        (format!(r#"{{"jsonrpc":"2.0","id":2,{text}"#), r#""}]}}"#),
        (format!("{{{text}"), r#""}]},"jsonrpc":"2.0","id":2}"#),
        (
            format!("{{{text}"),
            r#""}]} , "id" : 2, "jsonrpc": "2.0" }"#,
        ),
    ];
    for (first, last) in ends {
        let words = format!(
            "{} read a; printf '{first}'; {long}; echo '{last}'; sleep 1000",
            opening(&tools())
        );
        let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
        until(|| toolbox.registry().has("mcp__bad__t")).await;
        let result = call(&toolbox, "mcp__bad__t", LONG).await;
        assert!(told(&result).contains("is longer than"), "{result}");
    }
}

/// What only looks like the answer to a request ends none.
#[tokio::test]
async fn a_long_line_that_answers_nothing_ends_no_call() {
    let long = "head -c 17000000 /dev/zero | tr '\\0' y";
    let ends = [
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"x","params":{"a":""#,
            r#""}}"#,
        ),
        (r#"{"result":{"a":""#, r#"","id":2}}"#),
        (
            r#"{"method":"x","params":{"a":""#,
            r#""},"jsonrpc":"2.0","id":2}"#,
        ),
        (r#"[{"id":2,"result":""#, r#""}]"#),
        ("", r#""id":2"#),
    ];
    for (first, last) in ends {
        let words = format!(
            "{} read a; printf '{first}'; {long}; echo '{last}'; {} sleep 1000",
            opening(&tools()),
            good_answer().trim_start_matches("read a; "),
        );
        let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
        until(|| toolbox.registry().has("mcp__bad__t")).await;
        let result = call(&toolbox, "mcp__bad__t", LONG).await;
        assert_eq!(told(&result), "fine", "{first} {last}");
    }
}

#[tokio::test]
async fn an_upstream_s_word_widens_nothing() {
    let listed = json!([{
        "name": "t",
        "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true, "destructiveHint": false },
    }]);
    let words = format!("{} {} sleep 1000", opening(&listed), good_answer());
    let toolbox = Toolbox::builder()
        .policy(Policy::new(Mode::Ask))
        .without_log()
        .build()
        .unwrap();
    let upstreams = Upstreams::start([script("bad", &words)], &toolbox);
    soon(upstreams.settled()).await;
    let result = call(&toolbox, "mcp__bad__t", LONG).await;
    assert!(told(&result).contains("approval_required"), "{result}");
}

#[tokio::test]
async fn a_changed_list_replaces_the_old_one() {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let list = json!({ "tools": [{ "name": "other", "inputSchema": { "type": "object" } }] });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": list });
    let words = format!(
        "{} echo '{changed}'; read a; echo '{list}'; sleep 1000",
        opening(&tools())
    );
    let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__other")).await;
    assert!(!toolbox.registry().has("mcp__bad__t"));
}

/// However much it talks beside.
#[tokio::test]
async fn a_changed_list_is_heard_among_many_words() {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let updated = json!({
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": { "uri": "file:///N" },
    });
    let updated = updated.to_string().replace('N', "'$i'");
    let flood = format!("for i in $(seq 3000); do echo '{updated}'; done;");
    let list = json!({ "tools": [{ "name": "other", "inputSchema": { "type": "object" } }] });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": list });
    let words = format!(
        "{} {flood} echo '{changed}'; {flood} read a; echo '{list}'; sleep 1000",
        opening(&tools())
    );
    let (toolbox, _upstreams) = beside_a_good_one(script("bad", &words)).await;
    until(|| toolbox.registry().has("mcp__bad__other")).await;
}

#[tokio::test]
async fn a_circuit_opens_and_spares_callers_the_wait() {
    // Each connection dies in its first call, so failures come in a row.
    let words = format!("{} read a; exit 1", opening(&tools()));
    let toolbox = toolbox([]);
    let upstreams = Upstreams::start([script("bad", &words)], &toolbox);
    let upstream = upstreams.all()[0].clone();
    let opened = tokio::time::timeout(Duration::from_secs(50), async {
        loop {
            let result = call(&toolbox, "mcp__bad__t", LONG).await;
            if told(&result).contains("in a row") {
                break;
            }
            if upstream.status().state != State::Ready {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    opened.await.expect("the circuit opens");
}

#[tokio::test]
async fn nothing_a_child_started_outlives_it() {
    let folder = std::env::temp_dir().join(format!("toolsmith-orphans-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pids = folder.join("pids");
    let words = format!(
        "sleep 1000 & echo $! >> {0}; (setsid sleep 1000 & echo $! >> {0}) ; echo $$ >> {0}; {1} sleep 1000",
        pids.display(),
        opening(&tools())
    );
    let (_toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    soon(upstreams.all()[0].settled()).await;
    let written = std::fs::read_to_string(&pids).unwrap();
    assert_eq!(written.lines().count(), 3);
    soon(upstreams.stop()).await;
    for pid in written.lines() {
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
        };
        until(gone).await;
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[tokio::test]
async fn a_flood_on_stderr_is_bounded() {
    let before = resident();
    let words = format!(
        "head -c 200000000 /dev/zero | tr '\\0' e >&2; {} {} sleep 1000",
        opening(&tools()),
        good_answer()
    );
    let (toolbox, upstreams) = beside_a_good_one(script("bad", &words)).await;
    soon(upstreams.all()[0].settled()).await;
    assert_eq!(told(&call(&toolbox, "mcp__bad__t", LONG).await), "fine");
    assert!(resident() < before + (100 << 20));
}

#[tokio::test]
async fn a_silent_server_of_the_older_era_is_found_out_soon() {
    // It ignores what it does not know, and answers the handshake with the next id.
    let hello = json!({
        "protocolVersion": "2024-11-05",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "old", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "result": hello });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools() } });
    let words =
        format!("read a; read a; echo '{hello}'; read a; read a; echo '{list}'; sleep 1000");
    let options = script("old", &words).protocol(Protocol::Auto);
    let toolbox = toolbox([]);
    let upstreams = Upstreams::start([options], &toolbox);
    soon(upstreams.settled()).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(status.era.unwrap().to_string(), "handshake");
}

#[tokio::test]
async fn a_server_that_says_its_era_too_late_is_used_all_the_same() {
    // It answers the first question only when the second has come, and then both.
    let modern = json!({
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "slow", "version": "1" },
    });
    let modern = json!({ "jsonrpc": "2.0", "id": 0, "result": modern });
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "slow", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "result": hello });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools() } });
    let words = format!(
        "read a; read a; echo '{modern}'; echo '{hello}'; read a; read a; echo '{list}'; sleep 1000"
    );
    let options = script("slow", &words).protocol(Protocol::Auto);
    let toolbox = toolbox([]);
    let upstreams = Upstreams::start([options], &toolbox);
    soon(upstreams.settled()).await;
    let status = upstreams.all()[0].status();
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(status.era.unwrap().to_string(), "handshake");
    assert!(toolbox.registry().has("mcp__slow__t"));
    soon(upstreams.stop()).await;
}

/// How many bytes this process keeps in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

#[tokio::test]
async fn upstreams_are_exchanged_while_others_go_on() {
    let toolbox = toolbox([]);
    let named = |name: &str| {
        let words = format!("{} {} sleep 1000", opening(&tools()), good_answer());
        script(name, &words)
    };
    let upstreams = Upstreams::start([named("old"), named("kept"), named("new")], &toolbox);
    soon(upstreams.settled()).await;
    let registered = || -> Vec<String> {
        let tools = toolbox.registry().all();
        tools.iter().map(|tool| tool.name.to_string()).collect()
    };
    assert_eq!(registered().len(), 3);

    let gone = ["old".to_owned(), "new".to_owned()];
    soon(upstreams.replace(&gone, vec![named("new"), named("more")])).await;
    soon(upstreams.settled()).await;
    let names: Vec<String> = upstreams
        .all()
        .iter()
        .map(|each| each.name().to_owned())
        .collect();
    assert_eq!(names, ["kept", "new", "more"]);
    let mut tools = registered();
    tools.sort();
    assert_eq!(tools, ["mcp__kept__t", "mcp__more__t", "mcp__new__t"]);
    for tool in tools {
        assert_eq!(told(&call(&toolbox, &tool, LONG).await), "fine", "{tool}");
    }
    soon(upstreams.stop()).await;
}
