//! An answer of a model is the same however its bytes were cut on their way.
//!
//! The first byte chooses the provider, and whether it was told of tools; the second
//! where the bytes are cut.

use std::sync::LazyLock;

use toolsmith_core::{Detail, Offer};
use toolsmith_provider::parse::ParseError;
use toolsmith_provider::stream::{Delta, Stream};
use toolsmith_provider::{Answer, Declared, Dictionary, Options, Provider, declare};
use toolsmith_runtime::{Selection, Toolbox};
use toolsmith_testing::tools;

/// Checks one stream.
pub fn check(bytes: &[u8]) {
    let [choice, cut, bytes @ ..] = bytes else {
        return;
    };
    let whole = read(*choice, [bytes]);
    let single = read(*choice, bytes.chunks(1));
    assert_eq!(single, whole, "byte by byte");
    let size = usize::from(*cut) % 61 + 2;
    assert_eq!(read(*choice, bytes.chunks(size)), whole, "by {size} bytes");
    let middle = bytes.len() * usize::from(*cut) / 255;
    let (left, right) = bytes.split_at(middle);
    assert_eq!(read(*choice, [left, right]), whole, "cut at {middle}");
    let (deltas, Ok(answer)) = whole else { return };
    let shown: String = (deltas.iter())
        .filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let budget = 4 * bytes.len() + 1024;
    assert!(shown.len() <= budget && answer.text.len() <= budget);
    let ids = answer.calls.iter().filter_map(|each| each.call.id.as_ref());
    let mut ids: Vec<&str> = ids.map(|id| id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        ids.len(),
        answer.calls.len(),
        "each call has its own number"
    );
}

fn read<'a>(
    choice: u8,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<Answer, ParseError>) {
    let mut stream = begin(choice);
    let mut deltas = Vec::new();
    for piece in pieces {
        for delta in stream.push(piece) {
            join(&mut deltas, delta);
        }
    }
    let (last, answer) = stream.finish_with_deltas();
    for delta in last {
        join(&mut deltas, delta);
    }
    (deltas, answer)
}

fn begin(choice: u8) -> Stream {
    let choice = usize::from(choice) % (2 * Provider::ALL.len());
    match choice.checked_sub(Provider::ALL.len()) {
        None => Stream::new(Provider::ALL[choice], &Dictionary::default()),
        Some(index) => match &DECLARED[index] {
            Some(declared) => declared.stream(),
            None => Stream::new(Provider::ALL[index], &Dictionary::default()),
        },
    }
}

/// What each provider was told of two tools; nothing where it cannot be told.
static DECLARED: LazyLock<Vec<Option<Declared>>> = LazyLock::new(|| {
    let toolbox = Toolbox::new([tools::echo(), tools::add()]).expect("the tools are good ones");
    let mut selection = Selection::default();
    selection.detail = Detail::Full;
    let offer: Offer = toolbox.offer(&selection);
    let declared = |provider: Provider| declare(provider, &offer, &Options::default()).ok();
    Provider::ALL.into_iter().map(declared).collect()
});

/// Adds a delta. How text is cut into deltas depends on how it came.
fn join(deltas: &mut Vec<Delta>, delta: Delta) {
    match (deltas.last_mut(), delta) {
        (Some(Delta::Text(text)), Delta::Text(more))
        | (Some(Delta::Reasoning(text)), Delta::Reasoning(more)) => text.push_str(&more),
        (
            Some(Delta::Arguments { index, text }),
            Delta::Arguments {
                index: same,
                text: more,
            },
        ) if *index == same => {
            text.push_str(&more);
        }
        (_, Delta::Text(text) | Delta::Reasoning(text)) if text.is_empty() => {}
        (_, delta) => deltas.push(delta),
    }
}
