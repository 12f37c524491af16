//! The arguments of a call as models write them: an object, or a text that should be one.

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::json;

use crate::repair;

/// Arguments that were read, or the reason why not.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) arguments: RawArguments,
    pub(crate) repairs: Vec<String>,
    /// Whether the text went on to its end.
    pub(crate) complete: bool,
}

impl Read {
    /// Arguments that needed no reading.
    pub(crate) fn value(value: Value) -> Self {
        Self {
            arguments: RawArguments::Json(value),
            repairs: Vec::new(),
            complete: true,
        }
    }

    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Self {
            arguments: RawArguments::Malformed(reason.into()),
            repairs: Vec::new(),
            complete: true,
        }
    }

    /// What was begun and not told to its end. It must not run.
    pub(crate) fn cut_off() -> Self {
        Self {
            complete: false,
            ..Self::malformed(CUT_OFF)
        }
    }
}

/// What a model reads whose call was cut off.
const CUT_OFF: &str = "the arguments were cut off before their end, so nothing was run; make the \
                       call again, with less in it where it was too long";

/// Reads a text that should be a JSON object, mending it where that is needed.
pub(crate) fn read(text: &str) -> Read {
    read_until(text, Told::Unknown)
}

/// Reads a text whose end was marked: brackets that are missing there were forgotten.
pub(crate) fn read_whole(text: &str) -> Read {
    read_until(text, Told::ToTheEnd)
}

/// Reads a text whose end was to be marked and was not: nothing at all is not enough.
pub(crate) fn read_open(text: &str) -> Read {
    if text.trim().is_empty() {
        return Read::cut_off();
    }
    read(text)
}

/// What is known of the end of a text from elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    ToTheEnd,
    Unknown,
}

fn read_until(text: &str, told: Told) -> Read {
    // Providers send nothing at all for tools that take nothing.
    if text.trim().is_empty() {
        return Read::value(Value::Object(Map::new()));
    }
    let strict = if repair::ends_otherwise(text) {
        "it has no end".to_owned()
    } else {
        match json::parse(text.as_bytes(), repair::LONGEST) {
            Ok(value) => return Read::value(value),
            Err(error) => error.to_string(),
        }
    };
    match repair::mend(text) {
        Ok(repaired) => {
            let forgotten = told == Told::ToTheEnd && repaired.brackets_only;
            let repairs = repaired.steps();
            let read = if repaired.truncated && !forgotten {
                Read::cut_off()
            } else {
                Read::value(repaired.value)
            };
            Read { repairs, ..read }
        }
        Err(error) => Read::malformed(format!("the arguments are not JSON: {strict} ({error})")),
    }
}
