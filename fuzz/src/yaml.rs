//! A file of YAML has a value, or an error with a place in it that is told in few words.

use serde_json::Value;
use toolsmith_core::json;
use toolsmith_manager::config::Config;
use toolsmith_manager::yaml::{self, MAX_BYTES, YamlError};

/// How many characters an error has at most: its message, the line, and what is around them.
const LONGEST: usize = 1200;

/// Checks one file.
pub fn check(bytes: &[u8]) {
    let value = yaml::read::<Value>("file.yaml", bytes);
    if let Err(error) = &value {
        placed(error, bytes);
        moved(error, bytes);
    }
    if let Ok(value) = &value {
        bounded(value, bytes);
        written(value);
    }
    if let Err(error) = yaml::read::<Config>("file.yaml", bytes) {
        placed(&error, bytes);
    }
}

/// An error points into the file, and steers no terminal.
fn placed(error: &YamlError, bytes: &[u8]) {
    let told = error.to_string();
    assert!(told.chars().count() <= LONGEST, "{told}");
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!told.contains(is_control), "{told:?}");
    if bytes.len() > MAX_BYTES {
        assert_eq!(error.line, 0, "{told}");
        return;
    }
    let lines = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() + 1;
    assert!(error.line >= 1 && error.column >= 1, "no place: {told}");
    assert!(error.line <= lines + 1, "beyond the end: {told}");
    assert!(told.starts_with(&format!("file.yaml:{}:{}: ", error.line, error.column)));
}

/// A comment in front moves the place down by a line, and nothing else.
fn moved(error: &YamlError, bytes: &[u8]) {
    if bytes.starts_with("\u{feff}".as_bytes()) || bytes.len() + 16 > MAX_BYTES {
        return;
    }
    let later = [b"# comment\n", bytes].concat();
    let later = yaml::read::<Value>("file.yaml", &later).expect_err("a comment mends nothing");
    let place = (later.line, later.column, later.message.as_str());
    assert_eq!(
        place,
        (error.line + 1, error.column, error.message.as_str())
    );
}

/// Aliases do not blow a value up.
fn bounded(value: &Value, bytes: &[u8]) {
    assert!(
        !json::depth_exceeds(value, 80),
        "it is deeper than its limit"
    );
    // As much text as a file may have, and what ten thousand values take.
    let most = MAX_BYTES + 40 * 10_000 + 8 * bytes.len();
    assert!(!json::size_exceeds(value, most), "it is larger than {most}");
}

/// What was read can be written as JSON, which is YAML, and read again.
fn written(value: &Value) {
    let text = value.to_string();
    // YAML knows characters that may not stand in a file; JSON does not write them out.
    let odd = |c: char| {
        matches!(
            c,
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}'
        )
    };
    if text.contains(odd) || text.len() > MAX_BYTES / 2 {
        return;
    }
    // More aliases than nodes were allowed may have been written out.
    match yaml::read::<Value>("file.yaml", text.as_bytes()) {
        Ok(again) => assert_eq!(again.to_string(), text),
        Err(error) => panic!("{error}\n{text}"),
    }
}
