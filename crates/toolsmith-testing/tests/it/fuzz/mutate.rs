//! Inputs made of seeds: bytes flipped, cut and repeated, pieces of others put in, and words
//! of the dictionary, which mean something where bytes do not.

use super::chance::Chance;

/// How long an input becomes at most.
const LONGEST: usize = 8 << 10;

/// What inputs are made of.
#[derive(Debug)]
pub(super) struct Material {
    pub(super) seeds: Vec<Vec<u8>>,
    pub(super) words: Vec<Vec<u8>>,
}

impl Material {
    /// The next input: a seed with a few changes.
    pub(super) fn input(&self, chance: &mut Chance) -> Vec<u8> {
        let mut input = chance.one_of(&self.seeds).cloned().unwrap_or_default();
        // Most inputs differ little from a seed, so that they are read far enough.
        let changes = 1 + chance.below(3) * chance.below(4);
        for _ in 0..changes {
            self.change(&mut input, chance);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&self, input: &mut Vec<u8>, chance: &mut Chance) {
        let at = chance.below(input.len() + 1);
        let length = 1 + chance.below(16);
        let range = at..(at + length).min(input.len());
        match chance.below(12) {
            0 => {
                let bit = 1 << chance.below(8);
                input.get_mut(at).into_iter().for_each(|byte| *byte ^= bit);
            }
            1 => {
                let drawn = chance.byte();
                input.get_mut(at).into_iter().for_each(|byte| *byte = drawn);
            }
            2 => input.truncate(at),
            3 => drop(input.drain(..at.min(length))),
            4 => drop(input.drain(range)),
            5 => {
                let times = 1 + chance.below(4) * chance.below(20);
                let piece = input[range].repeat(times);
                put(input, at, &piece);
            }
            6 => {
                let piece = input[range].to_vec();
                let elsewhere = chance.below(input.len() + 1);
                put(input, elsewhere, &piece);
            }
            7 => {
                let other = chance.one_of(&self.seeds).cloned().unwrap_or_default();
                let from = chance.below(other.len() + 1);
                put(input, at, &other[from..]);
            }
            8 => {
                let other = chance.one_of(&self.seeds).cloned().unwrap_or_default();
                let from = chance.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            9 => {
                let drawn = chance.byte();
                put(input, at, &[drawn]);
            }
            10 if !self.words.is_empty() => {
                let word = chance.one_of(&self.words).cloned().unwrap_or_default();
                input.splice(range, word);
            }
            _ => {
                let word = chance.one_of(&self.words).cloned().unwrap_or_default();
                put(input, at, &word);
            }
        }
    }
}

fn put(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Reads a dictionary in libFuzzer's form: a word in quotes a line, with `\xAB`, `\\` and
/// `\"` in it.
pub(super) fn words(dictionary: &str) -> Vec<Vec<u8>> {
    let quoted = |line: &str| Some(line.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned());
    let lines = dictionary.lines().filter_map(quoted);
    lines.map(|line| unescaped(line.as_bytes())).collect()
}

fn unescaped(mut line: &[u8]) -> Vec<u8> {
    let mut word = Vec::new();
    loop {
        line = match line {
            [] => return word,
            [b'\\', b'x', high, low, rest @ ..] => {
                word.extend(super::drive::bytes(&[*high, *low]));
                rest
            }
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
        };
    }
}

#[test]
fn a_dictionary_is_read_as_libfuzzer_reads_it() {
    let read = words("# a comment\n\"a\\x0ab\\\\\\\"\"\n\n  \"c\"\n");
    assert_eq!(read, [b"a\nb\\\"".to_vec(), b"c".to_vec()]);
}
