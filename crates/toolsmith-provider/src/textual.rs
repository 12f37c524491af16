//! Calls in the text of an answer, whoever served it.
//!
//! Where tools were told of in a prompt, that is where all calls are. Where they were
//! declared, a server that has no parser for its model leaves them there all the same:
//! then they count if there are no others, and only between the marks models are trained
//! to write around calls. JSON that merely looks like a call is none.

use serde_json::Value;
use toolsmith_core::RawCall;
use toolsmith_core::call::RawArguments;

use crate::answer::{Answer, ParsedCall, Stop};
use crate::dictionary::Dictionary;
use crate::parse::{Ids, declared_name};
use crate::provider::Provider;
use crate::render;
use crate::stream::Delta;
use crate::text::{self, Piece, Reader, TextCall, TextFormat, Tools};

/// How calls in text are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Textual {
    tools: Tools,
    reads: Reads,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// In every format: nobody declared anything.
    Everything,
    /// Between marks, where there are no other calls.
    Marks,
}

/// The formats with marks of their own.
const MARKED: &[TextFormat] = &[
    TextFormat::Hermes,
    TextFormat::QwenCoder,
    TextFormat::Glm,
    TextFormat::Xml,
    TextFormat::Mistral,
    TextFormat::DeepSeekV3,
    TextFormat::DeepSeekV31,
    TextFormat::Kimi,
];

/// What Llama writes before calls that are otherwise plain JSON.
const PYTHON_TAG: &str = "<|python_tag|>";

impl Textual {
    /// All calls are in the text.
    pub(crate) fn always(tools: Tools) -> Self {
        Self {
            tools,
            reads: Reads::Everything,
        }
    }

    /// Calls may be in the text, since the server may not know how its model writes them.
    /// `declared` is the field for tools as OpenAI shapes it.
    pub(crate) fn leftover(declared: &Value) -> Self {
        let tool = |tool: &Value| {
            let function = tool.get("function")?;
            let name = function.get("name")?.as_str()?;
            Some((name.to_owned(), function.get("parameters")?.clone()))
        };
        let declared = declared.as_array().map_or(&[][..], Vec::as_slice);
        Self {
            tools: declared.iter().filter_map(tool).collect(),
            reads: Reads::Marks,
        }
    }

    fn formats(&self, text: &str) -> Vec<TextFormat> {
        match self.reads {
            Reads::Everything => TextFormat::ALL.to_vec(),
            Reads::Marks if text.trim_start().starts_with(PYTHON_TAG) => {
                [MARKED, &[TextFormat::Llama3]].concat()
            }
            Reads::Marks => MARKED.to_vec(),
        }
    }

    /// What shows an answer while it grows.
    pub(crate) fn shown(&self) -> Shown {
        Shown {
            reader: Some(Reader::new(&self.formats(""), self.tools.clone())),
            calls: 0,
            natively: false,
        }
    }

    /// The answer with the calls of its text among its calls.
    pub(crate) fn adopt(
        &self,
        mut answer: Answer,
        provider: Provider,
        dictionary: &Dictionary,
    ) -> Answer {
        if !answer.calls.is_empty() {
            return answer;
        }
        let read = text::read(&answer.text, &self.formats(&answer.text), &self.tools);
        if read.calls.is_empty() && self.reads == Reads::Marks {
            return answer;
        }
        let mut ids = Ids::new(provider, &answer.text);
        let count = read.calls.len();
        for (position, call) in read.calls.into_iter().enumerate() {
            let cut = position + 1 == count && answer.stop != Stop::Done;
            answer.calls.push(parsed(call, cut, &mut ids, dictionary));
        }
        answer.text = read.text;
        if !answer.reasoning.is_empty() && !read.reasoning.is_empty() {
            answer.reasoning.push_str("\n\n");
        }
        answer.reasoning.push_str(&read.reasoning);
        match self.reads {
            Reads::Everything => answer.in_text = !answer.calls.is_empty(),
            Reads::Marks => declare_calls(&mut answer, provider, dictionary),
        }
        answer
    }
}

fn parsed(mut call: TextCall, cut: bool, ids: &mut Ids, dictionary: &Dictionary) -> ParsedCall {
    let declared = declared_name(dictionary, &call.name, &mut call.repairs);
    let arguments = match call.arguments {
        RawArguments::Json(value) => RawArguments::Json(dictionary.arguments(&declared, value)),
        malformed => malformed,
    };
    // Where the text breaks off after a call that had to be mended, it may not be whole.
    let doubtful = cut && !call.repairs.is_empty();
    let read = match doubtful {
        true => crate::arguments::Read::cut_off().arguments,
        false => arguments,
    };
    let id = ids.give(call.id.as_deref(), &declared);
    let mut raw = RawCall::with_arguments(dictionary.name(&declared), read).with_id(id.as_str());
    raw.repairs = call.repairs;
    ParsedCall {
        call: raw,
        complete: call.complete && !doubtful,
        declared_name: declared,
    }
}

/// Makes of a turn with calls in its text one with calls beside it, which is what results
/// can be sent for.
fn declare_calls(answer: &mut Answer, provider: Provider, dictionary: &Dictionary) {
    let mut turn = render::calls(provider, dictionary, &answer.text, &answer.raw_calls());
    let thoughts = match provider {
        Provider::Ollama => Some("thinking"),
        Provider::DeepSeek | Provider::Qwen | Provider::OpenAiCompatible => {
            Some("reasoning_content")
        }
        _ => None,
    };
    if let (Some(key), Some(message)) = (thoughts, turn.first_mut())
        && !answer.reasoning.is_empty()
    {
        message[key] = answer.reasoning.clone().into();
    }
    answer.turn = turn;
}

/// Shows an answer while it grows: names as the tools are offered by, and calls in the
/// text as calls.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    reader: Option<Reader>,
    calls: usize,
    /// Whether calls came beside the text, so that those in it count no more.
    natively: bool,
}

impl Shown {
    pub(crate) fn pass(&mut self, deltas: Vec<Delta>, dictionary: &Dictionary) -> Vec<Delta> {
        let mut shown = Vec::with_capacity(deltas.len());
        for delta in deltas {
            match (delta, &mut self.reader) {
                (Delta::Text(text), Some(reader)) => {
                    let pieces = reader.push(&text);
                    self.show(pieces, dictionary, &mut shown);
                }
                (Delta::Call { index, name }, _) => {
                    self.natively = true;
                    let name = dictionary.name(&name).to_owned();
                    shown.push(Delta::Call { index, name });
                }
                (delta, _) => shown.push(delta),
            }
        }
        shown
    }

    pub(crate) fn finish(&mut self, dictionary: &Dictionary) -> Vec<Delta> {
        let mut shown = Vec::new();
        if let Some(reader) = self.reader.take() {
            let (pieces, _) = reader.finish_with_pieces();
            self.show(pieces, dictionary, &mut shown);
        }
        shown
    }

    fn show(&mut self, pieces: Vec<Piece>, dictionary: &Dictionary, shown: &mut Vec<Delta>) {
        for piece in pieces {
            match piece {
                Piece::Prose(text) if !text.is_empty() => shown.push(Delta::Text(text)),
                Piece::Reasoning(text) if !text.is_empty() => shown.push(Delta::Reasoning(text)),
                Piece::Call(call) if !self.natively => {
                    let index = self.calls;
                    self.calls += 1;
                    let declared = declared_name(dictionary, &call.name, &mut Vec::new());
                    let name = dictionary.name(&declared).to_owned();
                    shown.push(Delta::Call { index, name });
                    if let RawArguments::Json(arguments) = call.arguments {
                        let text = arguments.to_string();
                        shown.push(Delta::Arguments { index, text });
                    }
                }
                _ => {}
            }
        }
    }
}
