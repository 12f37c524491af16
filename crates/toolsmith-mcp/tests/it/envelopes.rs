//! JSON that is no message, and messages of strange shapes.

use serde_json::json;

use super::protocol::{Handshake, INVALID, METHOD, OK, Silent, Stateless, case, check_all};
use super::support::request;

#[tokio::test]
async fn what_is_no_message_is_told_so() {
    let list = request(1, "tools/list", json!({})).to_string();
    let with_id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let with_params = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#)
    };
    let long_id = format!("\"{}\"", "i".repeat(100_000));
    let endless_id = format!("\"{}\"", "i".repeat(300_000));
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
            "a text too long for an id",
            Handshake,
            with_id(&endless_id),
            &[("null", INVALID)],
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
