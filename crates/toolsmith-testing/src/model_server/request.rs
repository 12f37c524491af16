//! A request: whose words it is in, which tools it declares, and what is kept of it.

use hyper::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use toolsmith_provider::Provider;

/// Headers whose values are kept apart.
const KEYS: &[&str] = &["authorization", "x-api-key", "x-goog-api-key"];

/// A request as it came.
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Seen {
    /// The path and the query.
    pub path: String,
    /// Whose words it is in; none where the path is nobody's.
    pub provider: Option<Provider>,
    /// The headers, by names in lower case. What keys are is not shown.
    pub headers: Vec<(String, String)>,
    /// The body; null where it is no JSON.
    pub body: Value,
    /// Whether it asks for a stream.
    pub streamed: bool,
    #[serde(skip)]
    shown: Vec<(String, String)>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen")
            .field("path", &self.path)
            .field("headers", &self.headers)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

impl Seen {
    pub(super) fn new(path: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let provider = provider(path, &body);
        let shown: Vec<(String, String)> = (headers.iter())
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes());
                (name.as_str().to_owned(), value.into_owned())
            })
            .collect();
        let hide = |(name, value): &(String, String)| {
            let value = match KEYS.contains(&name.as_str()) {
                true => "[hidden]".to_owned(),
                false => value.clone(),
            };
            (name.clone(), value)
        };
        Self {
            path: path.to_owned(),
            provider,
            headers: shown.iter().map(hide).collect(),
            streamed: provider.is_some_and(|provider| streamed(provider, path, &body)),
            body,
            shown,
        }
    }

    /// The value of a header, hidden where it is a key.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(each, _)| each == name)?;
        Some(value)
    }

    /// Tells whether it came with a header of this value, be it a key.
    pub fn carries(&self, header: &str, value: &str) -> bool {
        let is_it = |(name, held): &(String, String)| name == header && held == value;
        self.shown.iter().any(is_it)
    }

    /// The names of the tools it declares.
    pub fn tools(&self) -> Vec<&str> {
        let listed = |key: &str| self.body[key].as_array().into_iter().flatten();
        let mut names = Vec::new();
        for tool in listed("tools").chain(listed("functions")) {
            let several = [
                &tool["functionDeclarations"],
                &tool["function_declarations"],
            ];
            let several = several.into_iter().filter_map(Value::as_array).flatten();
            let each = [tool, &tool["function"]].into_iter().chain(several);
            names.extend(each.filter_map(|it| it["name"].as_str()));
        }
        names
    }

    /// The name by which the request declares a tool; its own where it does not.
    pub(super) fn declared<'n>(&'n self, name: &'n str) -> &'n str {
        let tools = self.tools();
        if tools.contains(&name) {
            return name;
        }
        let plain = plain(name);
        let renamed = tools.iter().find(|tool| **tool == plain);
        // Names that were too long, or would have met, are cut and end with a hash.
        let hashed = || {
            tools.iter().find(|tool| {
                let cut = tool.rsplit_once('_');
                cut.is_some_and(|(start, hash)| {
                    hash.len() >= 8
                        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
                        && plain.starts_with(start)
                })
            })
        };
        renamed.or_else(hashed).copied().unwrap_or(name)
    }
}

fn plain(name: &str) -> String {
    let keep = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => c,
        _ => '_',
    };
    name.chars().map(keep).collect()
}

/// Whose path it is.
fn provider(path: &str, body: &Value) -> Option<Provider> {
    let path = path.split('?').next().unwrap_or_default();
    match path {
        "/v1/chat/completions" if body.get("functions").is_some() => {
            Some(Provider::OpenAiFunctions)
        }
        "/v1/chat/completions" => Some(Provider::OpenAi),
        "/v1/responses" => Some(Provider::OpenAiResponses),
        "/v1/messages" => Some(Provider::Anthropic),
        "/api/chat" => Some(Provider::Ollama),
        _ => {
            let (_, action) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
            let known = ["generateContent", "streamGenerateContent"].contains(&action);
            known.then_some(Provider::Gemini)
        }
    }
}

fn streamed(provider: Provider, path: &str, body: &Value) -> bool {
    match provider {
        Provider::Gemini => path.contains(":streamGenerateContent"),
        Provider::Ollama => body["stream"] != false,
        _ => body["stream"] == true,
    }
}
