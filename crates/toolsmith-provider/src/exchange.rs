//! The way there and back for tools that were declared: reads answers and writes results
//! in whatever way the model was told to call.

use serde_json::Value;
use toolsmith_core::{RawCall, Reply};

use crate::answer::{Answer, ParsedCall};
use crate::declare::Declared;
use crate::parse::{self, ParseError};
use crate::provider::Provider;
use crate::render;
use crate::script;
use crate::stream::Stream;
use crate::textual::Textual;

impl Declared {
    /// Reads the body of an answer to a request that declared these tools.
    ///
    /// ```
    /// use toolsmith_core::Offer;
    /// use toolsmith_provider::{Options, Provider, declare};
    ///
    /// let declared = declare(Provider::Ollama, &Offer::default(), &Options::default()).unwrap();
    /// let body = br#"{"message": {"role": "assistant", "content": "Hello."}, "done": true}"#;
    /// assert_eq!(declared.parse(body).unwrap().text, "Hello.");
    /// ```
    pub fn parse(&self, body: &[u8]) -> Result<Answer, ParseError> {
        let answer = match self.provider {
            Provider::Text => parse::plain(body),
            provider => parse::parse(provider, body, &self.dictionary)?,
        };
        Ok(match self.textual() {
            Some(textual) => textual.adopt(answer, self.provider, &self.dictionary),
            None => answer,
        })
    }

    /// Reads an answer while it arrives.
    pub fn stream(&self) -> Stream {
        Stream::new(self.provider, &self.dictionary).reading_text(self.textual())
    }

    /// The messages that tell a model what came of its calls: see [`render::results`].
    pub fn render(&self, answer: &Answer, replies: &[Reply]) -> Vec<Value> {
        render::results(self.provider, answer, replies)
    }

    /// The turn of a model that says `text` and makes these calls: see [`render::calls`].
    pub fn render_calls(&self, text: &str, calls: &[RawCall]) -> Vec<Value> {
        match &self.structured {
            Some(structured) => {
                let said = script::written(structured.format, &self.dictionary, text, calls);
                render::spoken(self.provider, &said, Vec::new())
            }
            None => render::calls(self.provider, &self.dictionary, text, calls),
        }
    }

    /// The turn of a model that said `text` and made these calls, as if it had been told
    /// of these tools: what another model, or this one asked another way, said before.
    pub fn retell(&self, text: &str, calls: &[RawCall]) -> Answer {
        let made = render::made(self.provider, &self.dictionary, calls);
        let ids: Vec<RawCall> = (calls.iter().zip(&made))
            .map(|(call, made)| call.clone().with_id(made.id.as_str()))
            .collect();
        let turn = self.render_calls(text, &ids);
        let calls = ids.into_iter().zip(made).map(|(call, made)| ParsedCall {
            call,
            complete: true,
            declared_name: made.name,
        });
        Answer {
            calls: calls.collect(),
            text: text.to_owned(),
            turn,
            in_text: self.structured.is_some(),
            ..Answer::default()
        }
    }

    /// Where calls are looked for in the text, if anywhere.
    fn textual(&self) -> Option<Textual> {
        if self.structured.is_some() || self.provider == Provider::Text {
            return Some(Textual::always(self.schemas.clone()));
        }
        let leaves_calls = matches!(
            self.provider,
            Provider::OpenAiCompatible
                | Provider::Ollama
                | Provider::Qwen
                | Provider::DeepSeek
                | Provider::Mistral
        );
        let declared = self
            .tools()
            .as_array()
            .is_some_and(|tools| !tools.is_empty());
        (leaves_calls && declared).then(|| Textual::leftover(self.tools()))
    }
}
