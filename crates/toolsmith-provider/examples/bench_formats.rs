//! What it costs to write and read the formats of models: `cargo xtask bench formats`.
//!
//! Where `BENCH_FORMATS` names a program that measures other people's formatters on the same
//! tools and texts, their figures stand beside ours. Every figure is the best of several
//! rounds, so that a busy machine disturbs little.

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use toolsmith_core::{Detail, Exposure, Offer, RawCall, Schema, ToolDef};
use toolsmith_provider::repair::repair;
use toolsmith_provider::text::{self, TextFormat};
use toolsmith_provider::{Options, Provider, declare, script};
use toolsmith_testing::bench::{Goal, Run, Verdict, judged, skipped, title, told};

/// The binary's own: most of what is measured here is memory asked for and given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TOOLS: usize = 100;
const ROUNDS: usize = 15;

fn main() -> ExitCode {
    let tools: Vec<Value> = (0..TOOLS).map(tool).collect();
    let run = Run::begin();
    run.end(declaring(&tools).and(repairing()).and(streaming()))
}

/// A tool as they come, of about 830 bytes.
fn tool(number: usize) -> Value {
    json!({
        "name": format!("create_record_{number}"),
        "description": "Creates a record in a collection, and tells what became of it.",
        "parameters": {
            "type": "object",
            "properties": {
                "collection": { "type": "string", "description": "The collection it goes into.", "minLength": 1 },
                "title": { "type": "string", "description": "What it is called in lists." },
                "state": { "type": "string", "enum": ["open", "closed"], "description": "Its state." },
                "priority": { "type": "integer", "minimum": 1, "maximum": 5, "default": 3 },
                "due": { "type": ["string", "null"], "format": "date", "description": "When it is due." },
                "labels": { "type": "array", "items": { "type": "string" } },
                "author": {
                    "type": "object",
                    "properties": { "name": { "type": "string" }, "address": { "type": "string", "format": "email" } },
                    "required": ["name"],
                    "additionalProperties": false
                }
            },
            "required": ["collection", "title"],
            "additionalProperties": false
        }
    })
}

fn offer(tools: &[Value]) -> Offer {
    let mut offer = Offer::new(Detail::Brief);
    for tool in tools {
        let word = |key: &str| tool[key].as_str().expect("a text");
        let schema = Schema::as_received(tool["parameters"].clone()).expect("a schema");
        let definition = ToolDef::new(word("name")).expect("a name");
        let definition = definition
            .with_description(word("description"))
            .with_input(schema);
        offer.add(word("name"), Arc::new(definition), Exposure::Direct);
    }
    offer
}

/// Those that have a format of their own.
fn providers() -> impl Iterator<Item = Provider> {
    let is_one = |provider: &Provider| !matches!(provider, Provider::Mcp | Provider::Text);
    Provider::ALL.into_iter().filter(is_one)
}

fn declaring(tools: &[Value]) -> Verdict {
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    title(&format!(
        "declaring {TOOLS} tools of {} bytes",
        bytes / TOOLS
    ));
    let offer = offer(tools);
    let mut verdict = Verdict::Met;
    for provider in providers() {
        for strict in [false, true] {
            let mut options = Options::default();
            options.strict = strict;
            let taken = best(|| declare(provider, &offer, &options).expect("declared"));
            let word = if strict { ", strict" } else { "" };
            let what = format!("{provider}{word}");
            let taken = taken / TOOLS as f64;
            verdict = verdict.and(judged(&what, taken, "µs per tool", Goal::AtMost(10.0)));
        }
    }
    match theirs("declare", &json!(tools)) {
        Some(peers) => {
            for (name, taken) in peers.as_object().into_iter().flatten() {
                told(name, taken.as_f64().unwrap_or(f64::NAN), "µs per tool");
            }
        }
        None => skipped("litellm, pydantic-ai and openai's helper", "not installed"),
    }
    verdict
}

/// Texts of about a kilobyte and of a hundred, damaged in the ways models damage them.
fn damaged() -> Vec<(&'static str, String)> {
    let whole = |count: usize| {
        let row = |number: usize| {
            let path = format!("src/file_{number}.rs");
            json!({ "path": path, "line": number, "text": "let x = \"a\";\n", "ok": true })
        };
        let rows: Vec<Value> = (0..count).map(row).collect();
        json!({ "name": "apply", "rows": rows }).to_string()
    };
    let (small, large) = (whole(13), whole(1300));
    let trailing = |text: &str| text.replace("}]", "},]").replace("true}", "true,}");
    let python = |text: &str| text.replace("true", "True").replace("\"ok\"", "'ok'");
    let unquoted = |text: &str| {
        let text = text.replace("\"line\":", "line:");
        text.replace("\"path\":", "path:")
    };
    let cut = |text: &str| text[..text.len() * 2 / 3].to_owned();
    vec![
        ("trailing commas, 1 kB", trailing(&small)),
        ("trailing commas, 100 kB", trailing(&large)),
        ("Python's words and quotes, 1 kB", python(&small)),
        ("Python's words and quotes, 100 kB", python(&large)),
        ("keys without quotes, 1 kB", unquoted(&small)),
        ("line breaks in texts, 1 kB", small.replace("\\n", "\n")),
        ("cut off, 1 kB", cut(&small)),
        ("cut off, 100 kB", cut(&large)),
        ("fenced, 1 kB", format!("```json\n{small}\n```")),
        ("nothing to repair, 1 kB", small),
    ]
}

fn repairing() -> Verdict {
    title("repairing");
    let texts = damaged();
    let all: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    let peers = theirs("repair", &json!(all));
    if peers.is_none() {
        skipped("json_repair", "not installed");
    }
    let mut verdict = Verdict::Met;
    for (index, (what, text)) in texts.iter().enumerate() {
        let taken = best(|| repair(text).expect("repaired"));
        let per_kilobyte = taken * 1000.0 / text.len() as f64;
        verdict = verdict.and(judged(what, per_kilobyte, "µs per kB", Goal::AtMost(20.0)));
        if let Some(theirs) = peers.as_ref().and_then(|peers| peers[index].as_f64()) {
            told(&format!("{what}: json_repair"), theirs, "µs per kB");
        }
    }
    verdict
}

/// What a call carries in the streams that are measured.
fn content(length: usize) -> Value {
    json!({ "content": "a\"b\\ {[<".repeat(length / 8) })
}

/// Streams of one size and of sixteen times that, in small pieces: the cost of a byte stays.
fn streaming() -> Verdict {
    title("streaming, sixteen times as long: the cost of a byte");
    let mut verdict = Verdict::Met;
    let mut compare = |what: String, per_byte: &dyn Fn(usize) -> f64| {
        let ratio = per_byte(512 << 10) / per_byte(32 << 10);
        verdict = verdict.and(judged(&what, ratio, "×", Goal::AtMost(2.0)));
    };
    for provider in providers() {
        let declared = declare(provider, &Offer::default(), &Options::default()).expect("declared");
        compare(provider.to_string(), &|length| {
            let calls = [RawCall::new("write", content(length))];
            let bytes = script::stream(provider, &declared.dictionary, "", &calls);
            let taken = best(|| {
                let mut stream = declared.stream();
                for piece in bytes.chunks(64) {
                    black_box(stream.push(piece));
                }
                stream.finish().expect("an answer")
            });
            taken / bytes.len() as f64
        });
    }
    for format in TextFormat::ALL {
        compare(format!("text: {}", format.word()), &|length| {
            let arguments = content(length);
            let text = text::write(format, &[("write", &arguments, None)]);
            let taken = best(|| {
                let mut reader = text::Reader::new(&[format], text::Tools::default());
                let mut rest = text.as_str();
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(rest.floor_char_boundary(64).max(4));
                    black_box(reader.push(piece));
                    rest = after;
                }
                reader.finish()
            });
            taken / text.len() as f64
        });
    }
    verdict
}

/// Microseconds, the best of several rounds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        black_box(work());
        best = best.min(begin.elapsed().as_secs_f64() * 1e6);
    }
    best
}

/// What other people's programs take for the same, where there are any.
fn theirs(what: &str, given: &Value) -> Option<Value> {
    let words = std::env::var("BENCH_FORMATS").ok()?;
    let mut words = words.split(' ');
    let file = std::env::temp_dir().join(format!("bench-formats-{}.json", std::process::id()));
    std::fs::write(&file, given.to_string()).ok()?;
    let mut command = Command::new(words.next()?);
    let output = command.args(words).arg(what).arg(&file).output();
    let _ = std::fs::remove_file(&file);
    serde_json::from_slice(&output.ok()?.stdout).ok()
}
