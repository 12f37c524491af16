//! What a step is as an answer over HTTP, in the words of whoever was asked.

use bytes::Bytes;
use serde_json::{Value, json};
use toolsmith_core::RawCall;
use toolsmith_provider::parse::parse;
use toolsmith_provider::{Dictionary, Provider, Usage, script};

use super::body::End;
use super::request::Seen;
use super::script::Step;

/// An answer, or none.
#[derive(Debug)]
pub(super) enum Reply {
    Answer(Answer),
    /// The connection drops.
    Drop,
    /// Nothing comes.
    Hang,
}

/// A head, pieces of a body, and how that ends.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Bytes>,
    pub(super) end: End,
}

/// How much text an endless answer repeats.
const AGAIN: &str = "and so on ";

/// The answer to a request, which is the `number`th.
pub(super) fn reply(seen: &Seen, number: usize, step: Option<Step>) -> Reply {
    let Some(provider) = seen.provider else {
        let message = format!("no model is at {:?}", seen.path);
        return error(Provider::OpenAi, 404, &message);
    };
    let Some(step) = step else {
        return error(provider, 500, "the script has ended");
    };
    let asked = Asked {
        provider,
        seen,
        number,
    };
    asked.reply(step)
}

struct Asked<'s> {
    provider: Provider,
    seen: &'s Seen,
    number: usize,
}

impl Asked<'_> {
    fn reply(&self, step: Step) -> Reply {
        match step {
            Step::Say(text) => self.say(&self.body(&text, &[])),
            Step::Call(text, calls) => self.say(&self.body(&text, &calls)),
            Step::Write(format, text, calls) => {
                let calls = self.declared(&calls);
                let text = script::written(format, &Dictionary::default(), &text, &calls);
                self.say(&self.body(&text, &[]))
            }
            Step::Truncated(text, call) => {
                let mut body = self.body(&text, &[*call]);
                script::cut(self.provider, &mut body);
                self.say(&body)
            }
            Step::Status(status, headers, body) => answer(status, headers, vec![body.into()]),
            Step::RefuseTools => error(self.provider, 400, "this model does not support tools"),
            Step::Raw(bytes) => answer(200, self.content_type(), vec![bytes.into()]),
            Step::DropAfter(bytes, step) => self.cut(bytes, *step, End::Drop),
            Step::HangAfter(bytes, step) => self.cut(bytes, *step, End::Hang),
            Step::Drop => Reply::Drop,
            Step::Hang => Reply::Hang,
            Step::Endless => self.endless(),
            Step::Answer(answering) => self.reply(answering.answer(&self.seen.body)),
        }
    }

    /// The calls by the names the request declares, with numbers that fit every provider
    /// and are those of no other answer.
    fn declared(&self, calls: &[RawCall]) -> Vec<RawCall> {
        let one = |(index, call): (usize, &RawCall)| {
            let mut call = call.clone();
            call.name = self.seen.declared(&call.name).to_owned();
            match call.id {
                Some(_) => call,
                None => call.with_id(format!("c{:04}{index:04}", self.number).as_str()),
            }
        };
        calls.iter().enumerate().map(one).collect()
    }

    fn body(&self, text: &str, calls: &[RawCall]) -> Value {
        let provider = self.provider;
        let none = Dictionary::default();
        let mut body = script::body(provider, &none, text, &self.declared(calls));
        let written = parse(provider, body.to_string().as_bytes(), &none);
        let written = written.map_or(0, |answer| answer.usage.output_tokens);
        let read = script::tokens(self.seen.body.to_string().len());
        script::tell_usage(provider, &mut body, &Usage::new(read, written));
        self.sign(&mut body);
        body
    }

    /// Adds what the providers' own packages want to find in a body beside the answer.
    fn sign(&self, body: &mut Value) {
        let (number, model) = (self.number, &self.seen.body["model"]);
        let fields = match self.provider {
            Provider::OpenAiResponses => json!({
                "id": format!("resp_{number}"), "created_at": 1_767_225_600, "model": model,
                "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "error": null,
            }),
            Provider::Anthropic => json!({
                "id": format!("msg_{number}"), "model": model, "stop_sequence": null,
            }),
            Provider::Gemini => json!({"responseId": format!("response-{number}")}),
            Provider::Ollama => json!({
                "model": model, "created_at": format!("2026-01-01T00:00:00.{number:06}Z"),
            }),
            _ => json!({
                "id": format!("chatcmpl-{number}"), "created": 1_767_225_600, "model": model,
            }),
        };
        if let Value::Object(fields) = fields {
            for (key, value) in fields {
                body[key] = value;
            }
        }
    }

    /// A body, in pieces where they were asked for.
    fn say(&self, body: &Value) -> Reply {
        let pieces = match self.seen.streamed {
            true => self.events(body.clone()),
            false => vec![body.to_string().into()],
        };
        answer(200, self.content_type(), pieces)
    }

    fn events(&self, mut body: Value) -> Vec<Bytes> {
        let wants_usage = self.seen.body["stream_options"]["include_usage"] == true;
        let is_chat = matches!(self.provider, Provider::OpenAi | Provider::OpenAiFunctions);
        if let (true, false, Value::Object(body)) = (is_chat, wants_usage, &mut body) {
            body.remove("usage");
        }
        let bytes = script::streamed(self.provider, &body);
        let text = String::from_utf8_lossy(&bytes);
        let end = if self.provider == Provider::Ollama {
            "\n"
        } else {
            "\n\n"
        };
        let events = text.split_inclusive(end);
        events.map(|event| Bytes::from(event.to_owned())).collect()
    }

    fn content_type(&self) -> Vec<(String, String)> {
        let kind = match (self.seen.streamed, self.provider) {
            (false, _) => "application/json",
            (true, Provider::Ollama) => "application/x-ndjson",
            (true, _) => "text/event-stream",
        };
        vec![("content-type".to_owned(), kind.to_owned())]
    }

    /// The beginning of a step, which ends otherwise.
    fn cut(&self, bytes: usize, step: Step, end: End) -> Reply {
        let mut reply = self.reply(step);
        if let Reply::Answer(answer) = &mut reply {
            let mut left = bytes;
            for piece in &mut answer.pieces {
                piece.truncate(left);
                left -= piece.len();
            }
            answer.pieces.retain(|piece| !piece.is_empty());
            answer.end = end;
        }
        reply
    }

    fn endless(&self) -> Reply {
        let body = self.body(&AGAIN.repeat(300), &[]);
        let is_text = |piece: &Bytes| piece.windows(AGAIN.len()).any(|at| at == AGAIN.as_bytes());
        let (pieces, again) = if self.seen.streamed {
            let mut pieces = self.events(body);
            let at = pieces.iter().position(is_text).unwrap_or_default();
            pieces.truncate(at + 1);
            let again = pieces.pop().unwrap_or_default();
            (pieces, again)
        } else {
            let text = body.to_string();
            let (start, _) = text.split_once(AGAIN).unwrap_or_default();
            (vec![start.to_owned().into()], AGAIN.repeat(300).into())
        };
        Reply::Answer(Answer {
            status: 200,
            headers: self.content_type(),
            pieces,
            end: End::Again(again),
        })
    }
}

fn answer(status: u16, headers: Vec<(String, String)>, pieces: Vec<Bytes>) -> Reply {
    Reply::Answer(Answer {
        status,
        headers,
        pieces,
        end: End::Whole,
    })
}

/// An error as the provider reports it.
fn error(provider: Provider, status: u16, message: &str) -> Reply {
    let kind = match status {
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let body = match provider {
        Provider::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Provider::Gemini => {
            let word = if status < 500 {
                "INVALID_ARGUMENT"
            } else {
                "INTERNAL"
            };
            json!({"error": {"code": status, "message": message, "status": word}})
        }
        Provider::Ollama => json!({ "error": message }),
        _ => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
    };
    answer(status, Vec::new(), vec![body.to_string().into()])
}
