//! Upstream servers with bad habits: this program, started by the one that is tried.
//!
//! `dies` ends in the middle of calls, `hangs` answers late or never, and `babbles` writes
//! what is no message and changes its tools. Each still answers most calls.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The first word on the command line of an upstream.
pub(crate) const WORD: &str = "upstream";

/// The habits, and the names the servers have by them.
pub(crate) const HABITS: [&str; 3] = ["dies", "hangs", "babbles"];

/// What a call is answered with that went well.
pub(crate) const DONE: &str = "the work is done";

/// How many calls go well between two that do not.
const EVERY: u64 = 9;

/// Serves on the standard streams until nobody is there.
pub(crate) fn run(habit: &str) {
    let habit: Arc<str> = habit.into();
    let output = Arc::new(Mutex::new(io::stdout()));
    let calls = Arc::new(AtomicU64::new(u64::from(std::process::id()) % EVERY));
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if message.get("id").is_none() || message.get("method").is_none() {
            continue;
        }
        let (habit, output, calls) = (Arc::clone(&habit), Arc::clone(&output), Arc::clone(&calls));
        // Each request by itself: one that hangs delays no other.
        thread::spawn(move || {
            for line in answers(&habit, &message, &calls) {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = output.write_all(&line).and_then(|()| output.flush());
            }
        });
    }
}

fn answers(habit: &str, message: &Value, calls: &AtomicU64) -> Vec<Vec<u8>> {
    let number = calls.load(Ordering::Relaxed);
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": habit, "version": "1" },
        }),
        "tools/list" => json!({ "tools": tools(habit, number) }),
        "tools/call" => {
            let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
            return called(habit, message, number);
        }
        "ping" => json!({}),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return vec![line(
                &json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }),
            )];
        }
    };
    vec![line(
        &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
    )]
}

fn called(habit: &str, message: &Value, number: u64) -> Vec<Vec<u8>> {
    let content = json!([{ "type": "text", "text": DONE }]);
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": content } });
    let is_bad = number.is_multiple_of(EVERY);
    match habit {
        // As one that crashes: without a word, and at once.
        "dies" if is_bad => std::process::abort(),
        "hangs" if is_bad => {
            thread::sleep(Duration::from_secs(4));
            vec![line(&answer)]
        }
        "babbles" if is_bad => {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let strange = json!({ "jsonrpc": "2.0", "id": "nobody asked", "result": {} });
            let noise = b"Traceback: \xff\xfe [no JSON\n{\"half\": \n".to_vec();
            vec![noise, line(&strange), line(&changed), line(&answer)]
        }
        _ => vec![line(&answer)],
    }
}

/// The tools; one of those that babble has another every time.
fn tools(habit: &str, number: u64) -> Vec<Value> {
    let tool = |name: String| {
        json!({
            "name": name, "description": "Does some work.",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        })
    };
    let mut tools = vec![tool("work".to_owned())];
    if habit == "babbles" {
        tools.push(tool(format!("other_{}", number / EVERY % 50)));
    }
    tools
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
