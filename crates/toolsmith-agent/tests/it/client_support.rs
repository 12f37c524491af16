//! What the tests of clients share: a model at a scripted server, and a clock that stands
//! still until a test moves it.

use std::collections::HashMap;
use std::future::Future;

use secrecy::SecretString;
use serde_json::{Value, json};
use toolsmith_agent::client::{Endpoint, HttpModel, HttpSettings};
use toolsmith_core::reference::Lookup;
use toolsmith_provider::client::ModelError;
use toolsmith_provider::parse::parse;
use toolsmith_provider::render::{conversation_field, user_text};
use toolsmith_provider::{Answer, Dictionary, ModelClient, ParseError, Provider, Stream};
use toolsmith_testing::model_server::ModelServer;

/// One of each form.
pub(crate) const PROVIDERS: [Provider; 5] = [
    Provider::OpenAiCompatible,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Gemini,
    Provider::Ollama,
];

pub(crate) const MODEL: &str = "some-model";

/// A key that stands nowhere else.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";

pub(crate) fn model(server: &ModelServer, provider: Provider, settings: HttpSettings) -> HttpModel {
    let endpoint = Endpoint::new(provider).unwrap();
    let endpoint = endpoint.with_url(&server.url(provider)).unwrap();
    let endpoint = endpoint.with_key(SecretString::from(KEY));
    HttpModel::new(endpoint, MODEL, settings).unwrap()
}

/// A request in the provider's words.
pub(crate) fn question(provider: Provider) -> Value {
    json!({conversation_field(provider): [user_text(provider, "How is the weather in Bern?")]})
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Asked {
    Answer(Box<Answer>),
    Unread(ParseError),
    Failed(ModelError),
}

impl Asked {
    fn of(read: Result<Answer, ParseError>) -> Self {
        match read {
            Ok(answer) => Self::Answer(Box::new(answer)),
            Err(error) => Self::Unread(error),
        }
    }

    pub(crate) fn answer(self) -> Answer {
        match self {
            Self::Answer(answer) => *answer,
            other => panic!("there is no answer: {other:?}"),
        }
    }

    pub(crate) fn error(self) -> ModelError {
        match self {
            Self::Failed(error) => error,
            other => panic!("it did not fail: {other:?}"),
        }
    }

    pub(crate) fn unread(self) -> ParseError {
        match self {
            Self::Unread(error) => error,
            other => panic!("it could be read: {other:?}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Whole,
    Streamed,
}

pub(crate) const WAYS: [Way; 2] = [Way::Whole, Way::Streamed];

/// Asks and reads the answer, whole or as it comes.
pub(crate) async fn ask(model: &HttpModel, way: Way) -> Asked {
    let provider = model.provider();
    let none = Dictionary::default();
    match way {
        Way::Whole => match model.complete(question(provider)).await {
            Ok(body) => Asked::of(parse(provider, &body, &none)),
            Err(error) => Asked::Failed(error),
        },
        Way::Streamed => {
            let mut stream = Stream::new(provider, &none);
            let mut push = |piece: &[u8]| drop(stream.push(piece));
            match model.stream(question(provider), &mut push).await {
                Ok(()) => Asked::of(stream.finish()),
                Err(error) => Asked::Failed(error),
            }
        }
    }
}

/// Runs a test on a clock that only the test moves. A runtime whose clock stands moves it on
/// by itself when nothing is left to do, and waiting for a server looks like that; not so
/// while something blocks.
pub(crate) fn with_still_clock<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (end, until) = std::sync::mpsc::channel::<()>();
        let blocking = tokio::task::spawn_blocking(move || until.recv());
        let outcome = test.await;
        drop(end);
        let _ = blocking.await;
        outcome
    })
}

/// An environment of a test's own.
#[derive(Debug, Default)]
pub(crate) struct Variables(HashMap<&'static str, &'static str>);

impl From<&[(&'static str, &'static str)]> for Variables {
    fn from(variables: &[(&'static str, &'static str)]) -> Self {
        Self(variables.iter().copied().collect())
    }
}

impl Lookup for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| (*value).to_owned())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        Err(format!("no file is asked for: {path}"))
    }
}
