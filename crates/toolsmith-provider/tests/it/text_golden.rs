//! Texts in, calls out: each case is read whole, byte by byte and in two pieces.

use std::path::Path;

use serde_json::{Value, json};
use toolsmith_core::call::RawArguments;
use toolsmith_provider::text::{Piece, Reader, TextAnswer, TextCall, TextFormat, Tools, read};

use crate::repair_golden::walk;

pub(crate) fn call(call: &TextCall) -> Value {
    let mut value = json!({ "name": call.name, "format": call.format.word() });
    match &call.arguments {
        RawArguments::Json(arguments) => value["arguments"] = arguments.clone(),
        RawArguments::Malformed(reason) => value["malformed"] = reason.as_str().into(),
        _ => unreachable!("there are two"),
    }
    if let Some(id) = &call.id {
        value["id"] = id.as_str().into();
    }
    if !call.repairs.is_empty() {
        value["repairs"] = call.repairs.clone().into();
    }
    if !call.complete {
        value["complete"] = false.into();
    }
    value
}

fn answer(answer: &TextAnswer) -> Value {
    json!({
        "calls": answer.calls.iter().map(call).collect::<Vec<_>>(),
        "text": answer.text,
        "reasoning": answer.reasoning,
    })
}

/// Reads a text in pieces, and checks that what came as pieces is what came in the end.
pub(crate) fn read_pieces<'t>(
    pieces: impl IntoIterator<Item = &'t str>,
    formats: &[TextFormat],
    tools: &Tools,
) -> TextAnswer {
    let mut reader = Reader::new(formats, tools.clone());
    let mut found: Vec<Piece> = pieces
        .into_iter()
        .flat_map(|piece| reader.push(piece))
        .collect();
    let (last, answer) = reader.finish_with_pieces();
    found.extend(last);
    let calls = found.iter().filter(|piece| matches!(piece, Piece::Call(_)));
    assert_eq!(calls.count(), answer.calls.len());
    // What was said before the end of reasoning nobody opened is thought in the end.
    let prose = found.iter().filter_map(|piece| match piece {
        Piece::Prose(prose) => Some(prose.as_str()),
        _ => None,
    });
    let prose: String = prose.collect();
    assert!(
        prose == answer.text || !answer.reasoning.is_empty(),
        "{prose:?} {answer:?}"
    );
    answer
}

/// Every way to read a text must say the same.
pub(crate) fn read_every_way(text: &str, formats: &[TextFormat], tools: &Tools) -> TextAnswer {
    let whole = read(text, formats, tools);
    let characters = text
        .char_indices()
        .map(|(at, c)| &text[at..at + c.len_utf8()]);
    assert_eq!(read_pieces(characters, formats, tools), whole, "{text}");
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        let (first, second) = text.split_at(at);
        assert_eq!(
            read_pieces([first, second], formats, tools),
            whole,
            "{first}|{second}"
        );
    }
    whole
}

fn tools(case: &Value) -> Tools {
    let schemas = case["schemas"].as_object().cloned().unwrap_or_default();
    schemas.into_iter().collect()
}

#[test]
fn texts_read_as_expected() {
    walk("text", |path: &Path, case| {
        let text = case["text"].as_str().unwrap();
        let folder = path
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        // A folder that is named after no format holds what is read as any.
        let formats = match folder.parse::<TextFormat>() {
            Ok(format) => vec![format],
            Err(_) => TextFormat::ALL.to_vec(),
        };
        let tools = tools(case);
        let found = read_every_way(text, &formats, &tools);
        if case["only_its_own"] != true {
            let any = read_every_way(text, &TextFormat::ALL, &tools);
            assert_eq!(any, found, "{}", path.display());
        }
        answer(&found)
    });
}
