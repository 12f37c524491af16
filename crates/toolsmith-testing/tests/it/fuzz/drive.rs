//! Runs a property over many inputs, and says how to see a failure again.

use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::mutate::{Material, words};

/// How often a failing input is made smaller.
const SMALLER: usize = 300;

/// Checks the seeds of a property and then inputs made of them.
pub(super) fn drive(name: &str, usual: u64, check: fn(&[u8])) {
    if let Ok(input) = std::env::var("FUZZ_INPUT") {
        check(&bytes(input.as_bytes()));
        return;
    }
    let material = material(name);
    for seed in &material.seeds {
        attempt(name, seed, check);
    }
    let (iterations, start) = (number("FUZZ_ITERATIONS"), number("FUZZ_START"));
    let last = last_input(name);
    let mut slowest = (Duration::ZERO, 0);
    let mut chance = Chance::new(start.unwrap_or_default());
    for _ in 0..iterations.unwrap_or(usual) {
        let input = material.input(&mut chance);
        if iterations.is_some() {
            // What kills the process, or never ends, is not caught: it is found here.
            fs::write(&last, &input).expect("the target folder can be written to");
        }
        let began = Instant::now();
        attempt(name, &input, check);
        slowest = slowest.max((began.elapsed(), input.len()));
    }
    if iterations.is_some() {
        let (took, length) = slowest;
        let line = format!("{name}: the slowest input, of {length} bytes, took {took:?}\n");
        // Straight there: a long run is watched.
        fs::write(last.with_extension("slowest"), &line).expect("it was written to before");
    }
}

/// Checks one input; where the property does not hold, with how to see that again.
fn attempt(name: &str, input: &[u8], check: fn(&[u8])) {
    let fails = |input: &[u8]| catch_unwind(AssertUnwindSafe(|| check(input))).is_err();
    if !fails(input) {
        return;
    }
    let small = smaller(input, fails);
    panic!(
        "{name} does not hold for {:?}\nto see it again:\n  FUZZ_INPUT={} cargo test -p \
         toolsmith-testing --test it fuzz::{name}\nonce it is mended, keep the input in fuzz/seeds/{name}/",
        String::from_utf8_lossy(&small),
        hexadecimal(&small),
    );
}

/// An input that fails as well and has fewer bytes.
fn smaller(input: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut small = input.to_vec();
    let mut tries = 0;
    let mut length = small.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < small.len() && tries < SMALLER {
            let mut less = small.clone();
            less.drain(at..(at + length).min(small.len()));
            tries += 1;
            match fails(&less) {
                true => small = less,
                false => at += length,
            }
        }
        length /= 2;
    }
    small
}

fn material(name: &str) -> Material {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let folder = fuzz.join("seeds").join(name);
    let entries = fs::read_dir(&folder).expect("a property has seeds");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "a property has seeds");
    let read = |file: &PathBuf| fs::read(file).expect("a seed can be read");
    let dictionary = fuzz.join("dictionaries").join(format!("{name}.dict"));
    Material {
        seeds: files.iter().map(read).collect(),
        words: words(&fs::read_to_string(dictionary).unwrap_or_default()),
    }
}

/// Where the input under way is kept in long runs.
fn last_input(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}.last"))
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let read = text.parse();
    Some(read.unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}")))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that hexadecimal digits spell.
pub(super) fn bytes(digits: &[u8]) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map_while(byte).collect()
}
