//! Scripts as JSON, for programs that are no Rust.
//!
//! A script is a list of steps, or `{"steps": […], "always": step}`. A step is written as its
//! name in [`Step`] is, with underscores: `{"say": "Hello."}`, `"hang"`,
//! `{"call": {"text": "", "calls": [{"name": "weather", "arguments": {}}]}}`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::Error;
use serde_json::Value;
use toolsmith_core::RawCall;

use super::script::{Script, Step};

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenScript {
    Steps(Vec<WrittenStep>),
    Whole(WholeScript),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeScript {
    steps: Vec<WrittenStep>,
    always: Option<WrittenStep>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum WrittenStep {
    Say(String),
    Call(Calls),
    Write(Calls),
    Truncated {
        #[serde(default)]
        text: String,
        call: WrittenCall,
    },
    Status {
        code: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: Value,
    },
    RefuseTools,
    Raw(String),
    DropAfter(After),
    HangAfter(After),
    Drop,
    Hang,
    Endless,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calls {
    #[serde(default)]
    text: String,
    calls: Vec<WrittenCall>,
    /// Counts for calls that are written into the text.
    #[serde(default = "json_format")]
    format: String,
}

fn json_format() -> String {
    "json".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    bytes: usize,
    step: Box<WrittenStep>,
}

impl Script {
    /// Reads a script from JSON.
    ///
    /// ```
    /// use toolsmith_testing::model_server::Script;
    ///
    /// Script::read(r#"[{"status": {"code": 429, "headers": {"retry-after": "1"}}}, {"say": "Hello."}]"#).unwrap();
    /// assert!(Script::read(r#"[{"shout": "Hello."}]"#).is_err());
    /// ```
    ///
    /// # Errors
    /// When it is no script.
    pub fn read(json: &str) -> Result<Self, serde_json::Error> {
        let (steps, always) = match serde_json::from_str(json)? {
            WrittenScript::Steps(steps) => (steps, None),
            WrittenScript::Whole(whole) => (whole.steps, whole.always),
        };
        let steps: Result<Vec<Step>, _> = steps.into_iter().map(step).collect();
        let script = Self::new(steps?);
        match always {
            Some(always) => Ok(script.then_always(step(always)?)),
            None => Ok(script),
        }
    }
}

fn step(written: WrittenStep) -> Result<Step, serde_json::Error> {
    let after = |after: After| Ok((after.bytes, Box::new(step(*after.step)?)));
    Ok(match written {
        WrittenStep::Say(text) => Step::Say(text),
        WrittenStep::Call(calls) => {
            Step::Call(calls.text, calls.calls.into_iter().map(call).collect())
        }
        WrittenStep::Write(calls) => {
            let format = calls.format.parse().map_err(serde_json::Error::custom)?;
            let made = calls.calls.into_iter().map(call).collect();
            Step::Write(format, calls.text, made)
        }
        WrittenStep::Truncated { text, call: cut } => Step::truncated(text, call(cut)),
        WrittenStep::Status {
            code,
            headers,
            body,
        } => {
            let body = match body {
                Value::String(text) => text,
                Value::Null => String::new(),
                body => body.to_string(),
            };
            Step::Status(code, headers.into_iter().collect(), body)
        }
        WrittenStep::RefuseTools => Step::RefuseTools,
        WrittenStep::Raw(text) => Step::Raw(text.into_bytes()),
        WrittenStep::DropAfter(it) => {
            let (bytes, step) = after(it)?;
            Step::DropAfter(bytes, step)
        }
        WrittenStep::HangAfter(it) => {
            let (bytes, step) = after(it)?;
            Step::HangAfter(bytes, step)
        }
        WrittenStep::Drop => Step::Drop,
        WrittenStep::Hang => Step::Hang,
        WrittenStep::Endless => Step::Endless,
    })
}

fn call(written: WrittenCall) -> RawCall {
    let call = RawCall::new(written.name, written.arguments);
    match written.id {
        Some(id) => call.with_id(id.as_str()),
        None => call,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_written() {
        let steps = r#"[
            {"say": "Hello."},
            {"call": {"calls": [{"name": "now"}, {"id": "c1", "name": "weather", "arguments": {"city": "Bern"}}]}},
            {"write": {"format": "hermes", "text": "So:", "calls": [{"name": "now", "arguments": {}}]}},
            {"truncated": {"text": "I write.", "call": {"name": "write", "arguments": {"text": "a"}}}},
            {"status": {"code": 429, "headers": {"retry-after": "1"}, "body": {"error": "Later."}}},
            {"status": {"code": 500}},
            {"raw": "data: {}"},
            {"drop_after": {"bytes": 40, "step": {"hang_after": {"bytes": 50, "step": {"say": "Hello."}}}}},
            "refuse_tools", "drop", "hang", "endless"
        ]"#;
        let whole = format!(r#"{{"steps": {steps}, "always": {{"say": "Enough."}}}}"#);
        let mut script = Script::read(&whole).unwrap();
        assert_eq!(script.left(), 12);
        let said: Vec<String> = std::iter::from_fn(|| script.take())
            .take(13)
            .map(|step| format!("{step:?}"))
            .collect();
        assert_eq!(
            said[4],
            r#"Status(429, [("retry-after", "1")], "{\"error\":\"Later.\"}")"#
        );
        assert_eq!(said[7], r#"DropAfter(40, HangAfter(50, Say("Hello.")))"#);
        assert!(said[1].contains(r#"id: Some("c1")"#), "{}", said[1]);
        assert!(said[2].starts_with(r#"Write(Hermes, "So:""#), "{}", said[2]);
        assert_eq!(said[12], r#"Say("Enough.")"#);
        assert_eq!(Script::read(steps).unwrap().left(), 12);
    }

    #[test]
    fn what_is_no_script_is_refused() {
        for text in [
            "",
            "{}",
            "[\"shout\"]",
            r#"[{"say": 1}]"#,
            r#"[{"say": "a", "call": {}}]"#,
            r#"[{"call": {"calls": [{"name": "a", "argument": {}}]}}]"#,
            r#"[{"write": {"format": "cuneiform", "calls": []}}]"#,
            r#"{"steps": [], "step": []}"#,
        ] {
            assert!(Script::read(text).is_err(), "{text}");
        }
    }
}
