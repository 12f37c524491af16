//! Keys of many sorts go through the binary, and none comes out: whatever the command, the
//! shape of the reply, and how much is told on stderr.

use serde_json::json;

use crate::support::{User, newcomer};

/// Keys as they are written, made when they are needed.
fn keys() -> Vec<String> {
    let lot = |length: usize| "a1B2c3D4e5F6g7H8i9J0".repeat(8)[..length].to_owned();
    let hex = |length: usize| "0123456789abcdef".repeat(8)[..length].to_owned();
    let dashes = "-".repeat(5);
    vec![
        format!("ghp_{}", lot(36)),
        format!("github_pat_{}", lot(60)),
        format!("glpat-{}", lot(20)),
        format!("sk-{}", lot(48)),
        format!("sk-ant-api03-{}", lot(80)),
        format!("AKIA{}", "ABCD2345EFGH67IJ"),
        format!("AIza{}", lot(35)),
        format!("GOCSPX-{}", lot(28)),
        format!("xoxb-123456789012-{}", lot(24)),
        format!("sk_live_{}", lot(24)),
        format!("whsec_{}", lot(32)),
        format!("npm_{}", lot(36)),
        format!("pypi-{}", lot(100)),
        format!("hf_{}", lot(34)),
        format!("dop_v1_{}", hex(64)),
        format!("shpat_{}", hex(32)),
        format!("SG.{}.{}", lot(22), lot(43)),
        format!("7123456789:AA{}", lot(33)),
        format!("eyJ{}.eyJ{}.{}", lot(20), lot(40), lot(43)),
        format!("Authorization: Bearer {}", lot(32)),
        format!("https://me:{}@host.example/", lot(20)),
        format!("https://host.example/?access_token={}", lot(24)),
        format!("aws_secret_access_key={}", lot(40)),
        format!(
            "{dashes}BEGIN PRIVATE KEY{dashes}\n{0}\n{0}\n{dashes}END PRIVATE KEY{dashes}",
            lot(64)
        ),
    ]
}

/// What must not come out of any: every key holds it but those in capitals or hexadecimal.
const NEEDLES: [&str; 3] = [
    "a1B2c3D4e5F6",
    "0123456789abcdef0123456789abcdef",
    "ABCD2345EFGH67IJ",
];

fn user() -> User {
    newcomer().with("MCP_INCLUDE_EXAMPLE_TOOLS", "true")
}

#[track_caller]
fn check(told: &str, where_from: &str) {
    for needle in NEEDLES {
        assert!(!told.contains(needle), "{where_from}: {told}");
    }
    assert!(told.contains("[redacted]"), "{where_from}: {told}");
}

#[test]
fn no_key_comes_out_of_a_batch_in_any_shape() {
    let user = user();
    let mut calls = Vec::new();
    for key in keys() {
        calls.push(json!({ "name": "example_echo", "arguments": { "text": key } }));
        // One that does not fit, one with a name that is none, one that fails.
        calls.push(json!({ "name": "example_add", "arguments": { "a": key, "b": 1 } }));
        calls.push(json!({ "name": format!("tool {key}"), "arguments": {} }));
        calls.push(json!({ "name": "read", "arguments": { "file_path": key } }));
    }
    let user = user.having("calls", json!(calls).to_string());
    for shape in ["outcome", "result", "envelope", "message", "mcp"] {
        let ran = user
            .runs(["-vvv", "batch", "calls", "--as", shape])
            .ends_with(1);
        check(&ran.stdout, shape);
        check(&ran.stderr, "stderr");
    }
}

#[test]
fn no_key_comes_out_of_a_call() {
    let user = user();
    for key in keys() {
        let text = format!("text={key}");
        let ran = user
            .runs(["-vvv", "call", "example_echo", &text])
            .ends_with(0);
        check(&ran.stdout, "stdout");
        check(&ran.stderr, "stderr");
    }
}
