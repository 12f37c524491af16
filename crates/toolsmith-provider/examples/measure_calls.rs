//! Says every accepted answer of a file of function calls as every provider would, and
//! counts how many are understood as the same calls: whole, streamed, streamed byte by
//! byte, and in two pieces split at every byte; with nothing declared, and with the
//! functions declared, strictly and not. Then tells how fast answers and streams are read.
//!
//! A number after the file splits at every so many bytes only, which is quicker; names of
//! providers after it measure these alone.
//!
//! The file has one JSON object per line: `functions`, each with a name and parameters, and
//! `answer`, a list of objects from a name to its arguments, each with the values that are
//! accepted for it.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Detail, Exposure, Offer, RawCall, Schema, ToolDef};
use toolsmith_provider::parse::parse;
use toolsmith_provider::{
    Answer, Declared, Dictionary, Options, ParseError, Provider, Stream, declare, script,
};

struct Entry {
    offer: Offer,
    calls: Vec<RawCall>,
}

#[expect(clippy::print_stdout, reason = "an example tells what it measured")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path =
        (arguments.next()).ok_or("usage: measure_calls <calls.jsonl> [bytes] [provider...]")?;
    let step: usize = arguments.next().map_or(Ok(1), |step| step.parse())?;
    let mut providers = Vec::new();
    for word in arguments {
        providers.push(word.parse()?);
    }
    if providers.is_empty() {
        providers.extend(Provider::ALL);
    }
    let mut entries = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        entries.push(entry(&serde_json::from_str(line)?)?);
    }
    let calls: usize = entries.iter().map(|entry| entry.calls.len()).sum();
    println!("{} answers with {calls} calls", entries.len());
    println!(
        "{:<18}{:>7}{:>8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}",
        "provider",
        "whole",
        "stream",
        "bytes",
        "declared",
        "strict",
        "split",
        "of",
        "µs/kB whole",
        "µs/kB stream"
    );
    for provider in providers {
        measure(provider, &entries, step.max(1))?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example tells what it measured")]
fn measure(provider: Provider, entries: &[Entry], step: usize) -> Result<(), Box<dyn Error>> {
    let none = Dictionary::default();
    let (mut whole, mut streamed, mut single, mut split, mut halves) = (0, 0, 0, 0, 0);
    let (mut bodies, mut streams) = (Vec::new(), Vec::new());
    let mut understood = [0, 0];
    for entry in entries {
        let calls = of(provider, &entry.calls);
        let body = bytes(script::body(provider, &none, "", calls));
        whole += usize::from(same(&parse(provider, &body, &none), calls));
        let stream = script::stream(provider, &none, "", calls);
        streamed += usize::from(same(&read(provider, [stream.as_slice()]), calls));
        single += usize::from(same(&read(provider, stream.chunks(1)), calls));
        for at in (0..=stream.len()).step_by(step) {
            let (left, right) = stream.split_at(at);
            halves += 1;
            split += usize::from(same(&read(provider, [left, right]), calls));
        }
        for (strict, count) in [false, true].into_iter().zip(&mut understood) {
            let mut options = Options::default();
            options.strict = strict;
            let declared = declare(provider, &entry.offer, &options)?;
            *count += usize::from(exchanged(&declared, calls));
        }
        bodies.push(body);
        streams.push(stream);
    }
    let whole_speed = speed(&bodies, |body| {
        black_box(parse(provider, black_box(body), &none)).is_ok()
    });
    let stream_speed = speed(&streams, |stream| {
        black_box(read(provider, [black_box(stream)])).is_ok()
    });
    println!(
        "{:<18}{whole:>7}{streamed:>8}{single:>8}{:>10}{:>10}{split:>10}{halves:>10}{whole_speed:>12.2}{stream_speed:>12.2}",
        provider.word(),
        understood[0],
        understood[1]
    );
    Ok(())
}

/// Whether calls of declared tools arrive, whole and streamed.
fn exchanged(declared: &Declared, calls: &[RawCall]) -> bool {
    let dictionary = &declared.dictionary;
    let body = bytes(script::body(declared.provider, dictionary, "", calls));
    let mut stream = declared.stream();
    stream.push(&script::stream(declared.provider, dictionary, "", calls));
    same(&declared.parse(&body), calls) && same(&stream.finish(), calls)
}

/// Microseconds for a thousand bytes.
fn speed(texts: &[Vec<u8>], read: impl Fn(&[u8]) -> bool) -> f64 {
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let begun = Instant::now();
    let read = texts.iter().filter(|text| read(text)).count();
    let micros = begun.elapsed().as_secs_f64() * 1e6;
    assert_eq!(read, texts.len(), "every answer can be read");
    micros / (bytes as f64 / 1000.0)
}

/// A request of MCP is one call.
fn of(provider: Provider, calls: &[RawCall]) -> &[RawCall] {
    match provider {
        Provider::Mcp => &calls[..1],
        _ => calls,
    }
}

fn bytes(body: Value) -> Vec<u8> {
    match body {
        Value::String(text) => text.into_bytes(),
        body => body.to_string().into_bytes(),
    }
}

fn read<'a>(
    provider: Provider,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Answer, ParseError> {
    let mut stream = Stream::new(provider, &Dictionary::default());
    for piece in pieces {
        stream.push(piece);
    }
    stream.finish()
}

fn same(answer: &Result<Answer, ParseError>, calls: &[RawCall]) -> bool {
    answer.as_ref().is_ok_and(|answer| {
        answer.calls.len() == calls.len()
            && answer.calls.iter().zip(calls).all(|(read, made)| {
                read.complete
                    && read.call.repairs.is_empty()
                    && read.call.name == made.name
                    && read.call.arguments == made.arguments
            })
    })
}

fn entry(line: &Value) -> Result<Entry, Box<dyn Error>> {
    let mut offer = Offer::new(Detail::Brief);
    for (index, function) in list(line, "functions")?.iter().enumerate() {
        let name = function["name"]
            .as_str()
            .ok_or("a function without a name")?;
        let tool = ToolDef::new(format!("tool_{index}"))?
            .with_description(function["description"].as_str().unwrap_or_default())
            .with_input(Schema::as_received(function["parameters"].clone())?);
        offer.add(name, Arc::new(tool), Exposure::Direct);
    }
    let mut calls = Vec::new();
    for answer in list(line, "answer")? {
        for (name, accepted) in answer.as_object().ok_or("an answer that is no object")? {
            let mut arguments = Map::new();
            for (key, values) in accepted.as_object().ok_or("arguments that are no object")? {
                // The empty text says that the argument may be left out.
                let mut values = values.as_array().into_iter().flatten();
                if let Some(value) = values.find(|value| **value != "") {
                    arguments.insert(key.clone(), value.clone());
                }
            }
            let arguments = RawArguments::Json(Value::Object(arguments));
            calls.push(RawCall::with_arguments(name, arguments));
        }
    }
    Ok(Entry { offer, calls })
}

fn list<'v>(value: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    value[key].as_array().ok_or_else(|| format!("no {key}"))
}
