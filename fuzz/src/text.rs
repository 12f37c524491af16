//! Calls in the text of a model are the same however the text was cut on its way.
//!
//! The first byte chooses the formats, the second where the text is cut.

use toolsmith_core::call::RawArguments;
use toolsmith_core::json;
use toolsmith_provider::text::{self, Piece, Reader, TextAnswer, TextFormat, Tools};

/// Checks one text.
pub fn check(bytes: &[u8]) {
    let [choice, cut, bytes @ ..] = bytes else {
        return;
    };
    let said = String::from_utf8_lossy(bytes);
    let one;
    let formats: &[TextFormat] = match TextFormat::ALL.get(usize::from(*choice) % 13) {
        Some(format) => {
            one = [*format];
            &one
        }
        None => &TextFormat::ALL,
    };
    let whole = read(&said, formats, said.len().max(1));
    let plain = text::read(&said, formats, &Tools::default());
    assert_eq!(whole.1, plain, "pieces or not");
    assert_eq!(read(&said, formats, 1), whole, "character by character");
    let size = usize::from(*cut) % 23 + 2;
    assert_eq!(read(&said, formats, size), whole, "by {size} bytes");
    assert!(plain.text.len() <= 2 * said.len() + 64, "it says no more");
    for call in &plain.calls {
        if let RawArguments::Json(arguments) = &call.arguments {
            let read = json::parse(arguments.to_string().as_bytes(), 32 << 20);
            assert!(read.is_ok(), "arguments are strict JSON: {call:?}");
        }
    }
}

/// Reads a text in pieces of about so many bytes; what it tells is joined.
fn read(said: &str, formats: &[TextFormat], size: usize) -> (Vec<Piece>, TextAnswer) {
    let mut reader = Reader::new(formats, Tools::default());
    let mut pieces = Vec::new();
    let mut rest = said;
    while !rest.is_empty() {
        let mut end = size.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, later) = rest.split_at(end);
        reader
            .push(piece)
            .into_iter()
            .for_each(|p| join(&mut pieces, p));
        rest = later;
    }
    let (last, answer) = reader.finish_with_pieces();
    last.into_iter().for_each(|piece| join(&mut pieces, piece));
    (pieces, answer)
}

fn join(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Prose(text)), Piece::Prose(more))
        | (Some(Piece::Reasoning(text)), Piece::Reasoning(more)) => text.push_str(&more),
        (_, Piece::Prose(text) | Piece::Reasoning(text)) if text.is_empty() => {}
        (_, piece) => pieces.push(piece),
    }
}
