//! Writes every accepted answer of a file of function calls in every text format, and
//! counts how many read back to the same calls: whole, byte by byte, and in two pieces
//! split at every byte. Then tells how fast reading and repair are.
//!
//! The file has one JSON object per line: `functions`, each with a name and parameters, and
//! `answer`, a list of objects from a name to its arguments, each with the values that are
//! accepted for it; an empty text among them says that the argument may be left out.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_provider::repair::repair;
use toolsmith_provider::text::{Reader, TextAnswer, TextFormat, Tools, read, write};

type Calls = Vec<(String, Value)>;

#[expect(clippy::print_stdout, reason = "an example tells what it measured")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: measure_text <calls.jsonl>")?;
    let mut entries = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        entries.push(entry(&serde_json::from_str(line)?)?);
    }
    println!(
        "{} entries, {} calls",
        entries.len(),
        entries.iter().map(|(calls, _)| calls.len()).sum::<usize>()
    );
    measure_repair(&entries);
    println!(
        "{:<14}{:>8}{:>8}{:>8}{:>8}{:>14}{:>12}",
        "format", "whole", "schemas", "bytes", "halves", "of", "µs per kB"
    );
    for format in TextFormat::ALL {
        measure(format, &entries);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example tells what it measured")]
fn measure(format: TextFormat, entries: &[(Calls, Tools)]) {
    let mut counts = [0_usize; 4];
    let (mut halves, mut bytes) = (0_usize, 0_usize);
    let mut texts = Vec::new();
    for (calls, tools) in entries {
        let written: Vec<_> = calls
            .iter()
            .map(|(name, value)| (name.as_str(), value, None))
            .collect();
        let text = write(format, &written);
        let unknown = Tools::default();
        let ways = [
            read(&text, &TextFormat::ALL, &unknown),
            read(&text, &TextFormat::ALL, tools),
            pieces(
                text.char_indices()
                    .map(|(at, c)| &text[at..at + c.len_utf8()]),
                &unknown,
            ),
        ];
        for (count, answer) in counts.iter_mut().zip(&ways) {
            *count += usize::from(same(answer, calls));
        }
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            let (first, second) = text.split_at(at);
            halves += 1;
            counts[3] += usize::from(same(&pieces([first, second], &unknown), calls));
        }
        bytes += text.len();
        texts.push(text);
    }
    let micros = fastest(20, || {
        for text in &texts {
            black_box(read(black_box(text), &TextFormat::ALL, &Tools::default()));
        }
    });
    let micros = micros / (bytes as f64 / 1000.0);
    let [whole, schemas, single, split] = counts;
    let of = format!("{} / {halves}", entries.len());
    println!(
        "{:<14}{whole:>8}{schemas:>8}{single:>8}{split:>8}{of:>14}{micros:>12.2}",
        format.word()
    );
}

/// Each call as JSON with the damage models do most.
#[expect(clippy::print_stdout, reason = "an example tells what it measured")]
fn measure_repair(entries: &[(Calls, Tools)]) {
    let calls: Vec<&Value> = entries
        .iter()
        .flat_map(|(calls, _)| calls.iter().map(|(_, value)| value))
        .collect();
    let whole = Value::Array(calls.into_iter().cloned().collect()).to_string();
    let damages: [(&str, String); 4] = [
        ("valid", whole.clone()),
        ("fence", format!("```json\n{whole}\n```")),
        ("commas", whole.replace('}', ",}")),
        (
            "unclosed",
            whole[..whole.floor_char_boundary(whole.len() - 5)].to_owned(),
        ),
    ];
    for (name, text) in damages {
        let micros = fastest(200, || {
            black_box(repair(black_box(&text)).is_ok());
        });
        println!(
            "repair {name:<10}{:>10} bytes {:>8.2} µs per kB",
            text.len(),
            micros / (text.len() as f64 / 1000.0)
        );
    }
}

/// The microseconds of the fastest of several rounds: the others were disturbed.
fn fastest(rounds: usize, mut round: impl FnMut()) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..rounds {
        let begun = Instant::now();
        round();
        fastest = fastest.min(begun.elapsed().as_secs_f64() * 1e6);
    }
    fastest
}

fn pieces<'t>(pieces: impl IntoIterator<Item = &'t str>, tools: &Tools) -> TextAnswer {
    let mut reader = Reader::new(&TextFormat::ALL, tools.clone());
    for piece in pieces {
        reader.push(piece);
    }
    reader.finish()
}

fn same(answer: &TextAnswer, calls: &Calls) -> bool {
    let found = answer.calls.iter().map(|call| match &call.arguments {
        RawArguments::Json(value) if call.complete => Some((&call.name, value)),
        _ => None,
    });
    let expected = calls.iter().map(|(name, value)| Some((name, value)));
    found.eq(expected) && answer.text.is_empty()
}

fn entry(entry: &Value) -> Result<(Calls, Tools), Box<dyn Error>> {
    let mut calls = Vec::new();
    for answer in entry["answer"].as_array().ok_or("no answer")? {
        for (name, accepted) in answer.as_object().ok_or("an answer that is no object")? {
            let mut arguments = Map::new();
            for (key, values) in accepted.as_object().ok_or("arguments that are no object")? {
                let values = values
                    .as_array()
                    .ok_or("accepted values that are no list")?;
                if values.iter().any(|value| value == "") {
                    continue;
                }
                let first = values.first().ok_or("no accepted value")?;
                arguments.insert(key.clone(), first.clone());
            }
            calls.push((name.clone(), Value::Object(arguments)));
        }
    }
    let functions = entry["functions"].as_array().ok_or("no functions")?;
    let tool = |function: &Value| {
        Some((
            function["name"].as_str()?.to_owned(),
            function["parameters"].clone(),
        ))
    };
    Ok((calls, functions.iter().filter_map(tool).collect()))
}
