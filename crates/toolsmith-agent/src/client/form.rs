//! How each form of request is sent: to which path, and with what beside the caller's own
//! words.

use serde_json::{Map, Value, json};
use toolsmith_provider::Provider;
use url::Url;

/// A form of requests and their paths. Several providers share the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Gemini's `generateContent`.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

/// How the answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Whole,
    Streamed,
}

impl Form {
    /// The address a request goes to.
    pub(super) fn url(self, base: &Url, model: &str, way: Way) -> Url {
        let mut url = base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
        }
        // Some write the version into the address, some do not.
        let has = |version: &str| url.path().split('/').next_back() == Some(version);
        let mut segments: Vec<&str> = Vec::new();
        let action;
        match self {
            Self::Chat => segments.extend(["chat", "completions"]),
            Self::Responses => segments.push("responses"),
            Self::Messages if has("v1") => segments.push("messages"),
            Self::Messages => segments.extend(["v1", "messages"]),
            Self::Ollama if has("api") => segments.push("chat"),
            Self::Ollama => segments.extend(["api", "chat"]),
            Self::Gemini => {
                if !has("v1beta") && !has("v1") {
                    segments.push("v1beta");
                }
                let (kind, name) = match model.split_once('/') {
                    Some((kind @ ("models" | "tunedModels"), name)) => (kind, name),
                    _ => ("models", model),
                };
                action = match way {
                    Way::Whole => format!("{name}:generateContent"),
                    Way::Streamed => format!("{name}:streamGenerateContent"),
                };
                segments.extend([kind, &action]);
            }
        }
        if let Ok(mut path) = url.path_segments_mut() {
            // What a name holds that has a meaning in addresses is escaped by this.
            path.extend(segments);
        }
        if self == Self::Gemini && way == Way::Streamed {
            url.set_query(Some("alt=sse"));
        }
        url
    }

    /// The body of a request: the caller's, with the name of the model and with what asks
    /// for a stream, or for none.
    pub(super) fn body(
        self,
        provider: Provider,
        model: &str,
        mut request: Map<String, Value>,
        way: Way,
        max_tokens: u64,
    ) -> Map<String, Value> {
        let streamed = way == Way::Streamed;
        request.remove("stream");
        if self != Self::Gemini {
            request.insert("model".to_owned(), model.into());
        }
        match self {
            Self::Chat | Self::Responses | Self::Messages if streamed => {
                request.insert("stream".to_owned(), true.into());
            }
            // It streams unless it is told not to.
            Self::Ollama => {
                request.insert("stream".to_owned(), streamed.into());
            }
            _ => {}
        }
        if self == Self::Chat {
            match streamed {
                // Mistral tells usage unasked, and refuses fields it does not know.
                true if provider == Provider::Mistral => {}
                true => match request.get_mut("stream_options") {
                    Some(Value::Object(options)) => {
                        options.insert("include_usage".to_owned(), true.into());
                    }
                    _ => {
                        let options = json!({ "include_usage": true });
                        request.insert("stream_options".to_owned(), options);
                    }
                },
                false => {
                    request.remove("stream_options");
                }
            }
        }
        if self == Self::Messages {
            (request.entry("max_tokens")).or_insert_with(|| max_tokens.into());
        }
        request
    }
}
