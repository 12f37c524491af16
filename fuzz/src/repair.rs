//! Mended JSON is JSON, says no more than the text did, and needs no mending.

use serde_json::Value;
use toolsmith_core::json;
use toolsmith_provider::repair::repair;

const LIMIT: usize = 1 << 20;

/// Checks one text.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mended = repair(&text);
    if let Ok(value) = json::parse(text.as_bytes(), LIMIT) {
        let mended = mended.expect("valid JSON needs no mending");
        assert_eq!(mended.value, value, "valid JSON is not altered");
        assert_eq!(mended.steps(), [""; 0], "nothing is done to valid JSON");
        assert!(!mended.truncated, "valid JSON has its end");
        return;
    }
    let Ok(mended) = mended else { return };
    let changed = !mended.steps().is_empty();
    assert!(changed, "what is not valid was changed to be: {mended:?}");
    let written = mended.value.to_string();
    // A control character is written with six bytes, and a number may gain a fraction.
    let most = 8 * text.len() + 64;
    assert!(written.len() <= most, "it says more than it was told");
    let read = json::parse(written.as_bytes(), most).expect("what was mended is strict JSON");
    assert!(is_same(&read, &mended.value), "{read} {}", mended.value);
    let again = repair(&written).expect("what was mended can be read");
    assert_eq!(again.value, read, "mending again changes nothing");
    assert_eq!(again.steps(), [""; 0], "there is nothing left to mend");
}

/// Whether two values are the same but for the last digit of fractions, which reading
/// rounds.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && (left.iter().zip(right)).all(|((k, a), (l, b))| k == l && is_same(a, b))
        }
        (Value::Number(left), Value::Number(right)) => {
            let (a, b) = (left.as_f64(), right.as_f64());
            left == right
                || (a.zip(b)).is_some_and(|(a, b)| (a - b).abs() <= a.abs() * f64::EPSILON * 4.0)
        }
        _ => left == right,
    }
}
