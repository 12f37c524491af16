//! What is wrong with a message is answered, and nothing else suffers.
//!
//! Each case is bytes in and answers out, on a connection of its own; a good
//! request follows, which must be answered too.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolsmith_core::CancellationToken;
use toolsmith_mcp::server::Server;
use toolsmith_testing::tools;

use super::support::{calling, initialize, message, note, request, serving, soon, stateless};

pub(super) const PARSE: i64 = -32700;
pub(super) const INVALID: i64 = -32600;
pub(super) const METHOD: i64 = -32601;
pub(super) const PARAMS: i64 = -32602;
pub(super) const VERSION: i64 = -32022;
pub(super) const OK: i64 = 0;

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    Handshake,
    Stateless,
    Silent,
}
pub(super) use Start::{Handshake, Silent, Stateless};

pub(super) struct Case {
    name: &'static str,
    start: Start,
    input: Vec<u8>,
    /// The id of each answer, as JSON, and its code.
    expected: Vec<(String, i64)>,
}

pub(super) fn case(
    name: &'static str,
    start: Start,
    input: impl Into<Vec<u8>>,
    expected: &[(&str, i64)],
) -> Case {
    let expected = expected
        .iter()
        .map(|(id, code)| ((*id).to_owned(), *code))
        .collect();
    Case {
        name,
        start,
        input: input.into(),
        expected,
    }
}

pub(super) async fn check(server: &Server, case: Case) -> Result<(), String> {
    let Case {
        name,
        start,
        input,
        expected,
    } = case;
    let mut bytes = match start {
        Handshake => format!(
            "{}\n{}\n",
            initialize("2025-11-25", json!({})),
            note("notifications/initialized", json!({}))
        ),
        Stateless => format!("{}\n", stateless("first", "tools/list", json!({}))),
        Silent => String::new(),
    }
    .into_bytes();
    bytes.extend(input);
    let alive = match start {
        Handshake => request("alive", "tools/list", json!({})),
        Stateless | Silent => stateless("alive", "tools/list", json!({})),
    };
    bytes.extend(format!("\n{alive}\n").into_bytes());
    let answers = say(server, bytes).await;
    let mut got: Vec<(String, i64)> = answers
        .iter()
        .filter(|answer| answer.get("method").is_none())
        .map(|answer| {
            let code = answer["error"]["code"].as_i64().unwrap_or(OK);
            (answer["id"].to_string(), code)
        })
        .collect();
    let mut wanted = expected;
    wanted.push(("\"alive\"".to_owned(), OK));
    match start {
        Handshake => wanted.push(("\"initialize\"".to_owned(), OK)),
        Stateless => wanted.push(("\"first\"".to_owned(), OK)),
        Silent => {}
    }
    got.sort();
    wanted.sort();
    if got != wanted {
        return Err(format!("{name}: {got:?} instead of {wanted:?}"));
    }
    for answer in &answers {
        if answer["error"]["code"] == VERSION {
            let supported = &answer["error"]["data"]["supported"];
            assert!(
                supported.as_array().is_some_and(|list| list.len() == 5),
                "{answer}"
            );
        }
        if let Some(message) = answer["error"]["message"].as_str() {
            assert!(
                !message.is_empty() && message.len() < 1000,
                "{name}: {message}"
            );
        }
    }
    Ok(())
}

/// Says it all at once, and returns all that is said until the end.
async fn say(server: &Server, bytes: Vec<u8>) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (read, write) = tokio::io::split(theirs);
    let serving = server.serve_streams(read, write, CancellationToken::new());
    let (mut read, mut write) = tokio::io::split(ours);
    let writing = async {
        write.write_all(&bytes).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let mut said = String::new();
    let reading = async { read.read_to_string(&mut said).await.unwrap() };
    let (served, (), _) = soon(async { tokio::join!(serving, writing, reading) }).await;
    if let Err(error) = served {
        return vec![json!({ "the server ended": error.to_string() })];
    }
    said.lines().map(message).collect()
}

pub(super) fn server() -> Server {
    serving([tools::echo(), tools::add(), tools::fail(), tools::explode()])
}

pub(super) async fn check_all(cases: Vec<Case>, least: usize) {
    assert!(cases.len() >= least, "{} cases", cases.len());
    let server = server();
    let mut wrong = Vec::new();
    for case in cases {
        wrong.extend(check(&server, case).await.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_is_no_json_is_told_so() {
    let deep = |open: &str, close: &str, depth: usize| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"a":{open}{close}}}}}"#
        )
    };
    let list = request(1, "tools/list", json!({})).to_string();
    let values = format!("[{}0]", "0,".repeat(1 << 20));
    let long = |bytes: usize| {
        let text = "x".repeat(bytes);
        request(1, "tools/call", calling("echo", json!({ "text": text }))).to_string()
    };
    let cases = vec![
        case("words", Handshake, "hello there", &[("null", PARSE)]),
        case(
            "cut off",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/li"#,
            &[("null", PARSE)],
        ),
        case(
            "cut off in a key",
            Handshake,
            r#"{"jsonrp"#,
            &[("null", PARSE)],
        ),
        case("only an open brace", Handshake, "{", &[("null", PARSE)]),
        case("only a closing brace", Handshake, "}", &[("null", PARSE)]),
        case(
            "garbage behind",
            Handshake,
            format!("{list} x"),
            &[("null", PARSE)],
        ),
        case(
            "two on a line",
            Handshake,
            format!("{list}{list}"),
            &[("null", PARSE)],
        ),
        case(
            "a comma behind",
            Handshake,
            format!("{list},"),
            &[("null", PARSE)],
        ),
        case(
            "a trailing comma",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,}"#,
            &[("null", PARSE)],
        ),
        case(
            "single quotes",
            Handshake,
            "{'jsonrpc':'2.0'}",
            &[("null", PARSE)],
        ),
        case(
            "a comment",
            Handshake,
            format!("{list} // hello"),
            &[("null", PARSE)],
        ),
        case(
            "a byte order mark",
            Handshake,
            [b"\xEF\xBB\xBF", list.as_bytes()].concat(),
            &[("null", PARSE)],
        ),
        case(
            "a zero byte in front",
            Handshake,
            format!("\0{list}"),
            &[("null", PARSE)],
        ),
        case(
            "a zero byte inside",
            Handshake,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}",
            &[("null", PARSE)],
        ),
        case(
            "only zero bytes",
            Handshake,
            [0_u8; 100],
            &[("null", PARSE)],
        ),
        case(
            "a control character",
            Handshake,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x01\"}",
            &[("null", PARSE)],
        ),
        case(
            "not UTF-8",
            Handshake,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}",
            &[("null", PARSE)],
        ),
        case(
            "overlong UTF-8",
            Handshake,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}",
            &[("null", PARSE)],
        ),
        case(
            "a surrogate in UTF-8",
            Handshake,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}",
            &[("null", PARSE)],
        ),
        case(
            "UTF-16",
            Handshake,
            list.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>(),
            &[("null", PARSE)],
        ),
        case(
            "a lone surrogate",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
            &[("null", PARSE)],
        ),
        case(
            "a lone low surrogate",
            Handshake,
            r#"{"jsonrpc":"2.0","id":"\udc00","method":"x"}"#,
            &[("null", PARSE)],
        ),
        case(
            "not a number",
            Handshake,
            r#"{"jsonrpc":"2.0","id":NaN,"method":"x"}"#,
            &[("null", PARSE)],
        ),
        case(
            "infinity",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1e999}}"#,
            &[("null", PARSE)],
        ),
        case(
            "a number with a zero in front",
            Handshake,
            r#"{"jsonrpc":"2.0","id":01,"method":"x"}"#,
            &[("null", PARSE)],
        ),
        case(
            "an id twice",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            &[("null", PARSE)],
        ),
        case(
            "a name twice",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"add"}}"#,
            &[("null", PARSE)],
        ),
        case(
            "an argument twice",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","te\u0078t":"b"}}}"#,
            &[("null", PARSE)],
        ),
        case(
            "a thousand arrays deep",
            Handshake,
            deep("[", "]", 1000),
            &[("null", PARSE)],
        ),
        case(
            "a million arrays deep",
            Handshake,
            "[".repeat(1_000_000),
            &[("null", PARSE)],
        ),
        case(
            "a thousand objects deep",
            Handshake,
            deep(r#"{"a":"#, "}", 1000),
            &[("null", PARSE)],
        ),
        case(
            "more values than fit",
            Handshake,
            values,
            &[("null", PARSE)],
        ),
        case(
            "a line of 17 MiB",
            Handshake,
            long(17 << 20),
            &[("null", INVALID)],
        ),
        case(
            "a line of 17 MiB without words",
            Silent,
            "x".repeat(17 << 20),
            &[("null", INVALID)],
        ),
        case("a line of 15 MiB", Handshake, long(15 << 20), &[("1", OK)]),
        case("nothing", Handshake, "", &[]),
        case("empty lines", Handshake, "\n\n\n\n", &[]),
        case("spaces", Handshake, "  \t \n \r\n", &[]),
        case(
            "a line that ends as in DOS",
            Handshake,
            format!("{list}\r\n"),
            &[("1", OK)],
        ),
        case(
            "spaces around",
            Handshake,
            format!("  {list}\t "),
            &[("1", OK)],
        ),
        case(
            "garbage before anything",
            Silent,
            "hello there\n\0\n",
            &[("null", PARSE), ("null", PARSE)],
        ),
        case(
            "garbage in the stateless era",
            Stateless,
            "{]",
            &[("null", PARSE)],
        ),
        case(
            "two hundred lines of garbage",
            Handshake,
            "x\n".repeat(200),
            &[("null", PARSE); 200],
        ),
    ];
    check_all(cases, 40).await;
}

#[tokio::test]
async fn what_is_no_message_is_told_so() {
    let list = request(1, "tools/list", json!({})).to_string();
    let with_id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let with_params = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#)
    };
    let long_id = format!("\"{}\"", "i".repeat(100_000));
    let cases = vec![
        case("an empty batch", Handshake, "[]", &[("null", INVALID)]),
        case(
            "a batch",
            Handshake,
            format!("[{list}]"),
            &[("null", INVALID)],
        ),
        case(
            "a batch of two",
            Stateless,
            format!("[{list},{list}]"),
            &[("null", INVALID)],
        ),
        case(
            "a batch of nothing much",
            Handshake,
            "[1,2,3]",
            &[("null", INVALID)],
        ),
        case(
            "a batch before anything",
            Silent,
            format!("[{list}]"),
            &[("null", INVALID)],
        ),
        case("null", Handshake, "null", &[("null", INVALID)]),
        case("a number", Handshake, "42", &[("null", INVALID)]),
        case("a text", Handshake, r#""tools/list""#, &[("null", INVALID)]),
        case("true", Silent, "true", &[("null", INVALID)]),
        case("an empty object", Handshake, "{}", &[("null", INVALID)]),
        case(
            "no version",
            Handshake,
            r#"{"id":1,"method":"tools/list"}"#,
            &[("1", INVALID)],
        ),
        case(
            "version 1.0",
            Handshake,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
            &[("1", INVALID)],
        ),
        case(
            "a number as version",
            Handshake,
            r#"{"jsonrpc":2.0,"id":1,"method":"tools/list"}"#,
            &[("1", INVALID)],
        ),
        case(
            "null as version",
            Handshake,
            r#"{"jsonrpc":null,"id":1,"method":"tools/list"}"#,
            &[("1", INVALID)],
        ),
        case(
            "another key for the version",
            Handshake,
            r#"{"JSONRPC":"2.0","id":1,"method":"tools/list"}"#,
            &[("1", INVALID)],
        ),
        case(
            "null as id",
            Handshake,
            with_id("null"),
            &[("null", INVALID)],
        ),
        case(
            "true as id",
            Handshake,
            with_id("true"),
            &[("null", INVALID)],
        ),
        case(
            "a list as id",
            Handshake,
            with_id("[1]"),
            &[("null", INVALID)],
        ),
        case(
            "an object as id",
            Handshake,
            with_id(r#"{"a":1}"#),
            &[("null", INVALID)],
        ),
        case(
            "half a number as id",
            Handshake,
            with_id("1.5"),
            &[("null", INVALID)],
        ),
        case(
            "a whole fraction as id",
            Handshake,
            with_id("1.0"),
            &[("null", INVALID)],
        ),
        case(
            "a number of 65 bits as id",
            Handshake,
            with_id("18446744073709551616"),
            &[("null", INVALID)],
        ),
        case(
            "the largest unsigned id",
            Handshake,
            with_id("18446744073709551615"),
            &[("null", INVALID)],
        ),
        case(
            "the largest id",
            Handshake,
            with_id("9223372036854775807"),
            &[("9223372036854775807", OK)],
        ),
        case(
            "the smallest id",
            Handshake,
            with_id("-9223372036854775808"),
            &[("-9223372036854775808", OK)],
        ),
        case("zero as id", Handshake, with_id("0"), &[("0", OK)]),
        case(
            "an empty text as id",
            Handshake,
            with_id(r#""""#),
            &[("\"\"", OK)],
        ),
        case(
            "a long text as id",
            Handshake,
            with_id(&long_id),
            &[(&long_id, OK)],
        ),
        case(
            "a strange text as id",
            Handshake,
            with_id(r#""\u0000\u2028é""#),
            &[("\"\\u0000\u{2028}é\"", OK)],
        ),
        case(
            "no method",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1}"#,
            &[("1", INVALID)],
        ),
        case(
            "a number as method",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            &[("1", INVALID)],
        ),
        case(
            "null as method",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            &[("1", INVALID)],
        ),
        case(
            "a list as method",
            Handshake,
            r#"{"jsonrpc":"2.0","id":"m","method":["tools/list"]}"#,
            &[("\"m\"", INVALID)],
        ),
        case(
            "a note with a number as method",
            Handshake,
            r#"{"jsonrpc":"2.0","method":5}"#,
            &[("null", INVALID)],
        ),
        case(
            "a list as parameters",
            Handshake,
            with_params("[]"),
            &[("1", INVALID)],
        ),
        case(
            "a text as parameters",
            Handshake,
            with_params(r#""a""#),
            &[("1", INVALID)],
        ),
        case(
            "a number as parameters",
            Handshake,
            with_params("7"),
            &[("1", INVALID)],
        ),
        case(
            "null as parameters",
            Handshake,
            with_params("null"),
            &[("1", INVALID)],
        ),
        case(
            "a method and a result",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","result":{}}"#,
            &[("1", INVALID)],
        ),
        case(
            "a method and an error",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","error":{"code":1,"message":"x"}}"#,
            &[("1", INVALID)],
        ),
        case(
            "a result and an error",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            &[("1", INVALID)],
        ),
        case(
            "an answer to nothing",
            Handshake,
            r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
            &[],
        ),
        case(
            "an answer to nothing, first",
            Silent,
            r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
            &[],
        ),
        case(
            "an error to nothing",
            Handshake,
            r#"{"jsonrpc":"2.0","id":77,"error":{"code":-1,"message":"no"}}"#,
            &[],
        ),
        case(
            "an error without an id",
            Handshake,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
            &[],
        ),
        case(
            "an error that is none",
            Handshake,
            r#"{"jsonrpc":"2.0","id":3,"error":"no"}"#,
            &[],
        ),
        case(
            "an unknown note",
            Handshake,
            r#"{"jsonrpc":"2.0","method":"notifications/strange"}"#,
            &[],
        ),
        case(
            "a request as a note",
            Handshake,
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            &[],
        ),
        case(
            "a note as a request",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#,
            &[("1", METHOD)],
        ),
        case(
            "strange keys beside",
            Handshake,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","extra":[1]}"#,
            &[("1", OK)],
        ),
    ];
    check_all(cases, 45).await;
}
