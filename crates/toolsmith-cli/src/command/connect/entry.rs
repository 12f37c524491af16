//! The entry itself, in each client's own words.

use serde_json::{Map, Value, json};

use super::link::{Link, Token};
use crate::cli::Client;
use crate::failure::Failure;

/// The entry of a client.
pub(super) fn entry(client: Client, link: &Link) -> Value {
    match link {
        Link::Stdio { command, args } => stdio(client, command, args),
        Link::Http { url, token } => http(client, url, token),
    }
}

fn stdio(client: Client, command: &str, args: &[String]) -> Value {
    match client {
        Client::ClaudeCode | Client::VsCode => {
            json!({ "type": "stdio", "command": command, "args": args })
        }
        Client::ClaudeDesktop | Client::Cursor | Client::Codex | Client::Gemini | Client::Zed => {
            json!({ "command": command, "args": args })
        }
        Client::OpenCode => {
            let words: Vec<&str> = std::iter::once(command)
                .chain(args.iter().map(String::as_str))
                .collect();
            json!({ "type": "local", "command": words, "enabled": true })
        }
    }
}

fn http(client: Client, url: &str, token: &Token) -> Value {
    let headers = json!({ "Authorization": bearer(client, token) });
    match client {
        Client::ClaudeCode | Client::VsCode => {
            json!({ "type": "http", "url": url, "headers": headers })
        }
        Client::ClaudeDesktop | Client::Cursor | Client::Zed => {
            json!({ "url": url, "headers": headers })
        }
        Client::Codex => match token {
            Token::Variable(name) => json!({ "url": url, "bearer_token_env_var": name }),
            Token::Asked(_) | Token::Written(_) => json!({ "url": url, "http_headers": headers }),
        },
        // Its `url` means the old SSE transport.
        Client::Gemini => json!({ "httpUrl": url, "headers": headers }),
        Client::OpenCode => {
            json!({ "type": "remote", "url": url, "headers": headers, "enabled": true })
        }
    }
}

/// The value of the header `Authorization`.
pub(super) fn bearer(client: Client, token: &Token) -> String {
    match (token, client) {
        (Token::Written(token), _) => format!("Bearer {token}"),
        (Token::Asked(id), _) => format!("Bearer ${{input:{id}}}"),
        (Token::Variable(name), Client::Cursor | Client::VsCode) => {
            format!("Bearer ${{env:{name}}}")
        }
        (Token::Variable(name), Client::OpenCode) => format!("Bearer {{env:{name}}}"),
        (
            Token::Variable(name),
            Client::ClaudeCode
            | Client::ClaudeDesktop
            | Client::Codex
            | Client::Gemini
            | Client::Zed,
        ) => format!("Bearer ${{{name}}}"),
    }
}

/// Refuses paths that the client would read as references: it would start something
/// else than was asked for.
pub(super) fn check(client: Client, entry: &Value) -> Result<(), Failure> {
    let marks: &[&str] = match client {
        Client::ClaudeCode | Client::Cursor | Client::VsCode => &["${"],
        Client::Gemini => &["$"],
        Client::OpenCode => &["{env:", "{file:"],
        Client::ClaudeDesktop | Client::Codex | Client::Zed => &[],
    };
    let command = entry.get("command").into_iter();
    let words = command
        .chain(entry.get("args"))
        .flat_map(|value| match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            other => Vec::from_iter(other.as_str()),
        });
    for word in words {
        if let Some(mark) = marks.iter().find(|mark| word.contains(*mark)) {
            return Err(Failure::usage(format!(
                "{word:?} holds `{mark}`, which the client would take for a variable"
            )));
        }
    }
    Ok(())
}

/// An entry as it may be shown: others' entries hold others' secrets.
pub(super) fn masked(entry: &Value) -> Value {
    const SECRET: [&str; 5] = [
        "env",
        "environment",
        "headers",
        "http_headers",
        "env_http_headers",
    ];
    let Value::Object(fields) = entry else {
        return entry.clone();
    };
    let mask = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Object(secrets) if SECRET.contains(&key.as_str()) => {
                let names = secrets.keys();
                Value::Object(names.map(|name| (name.clone(), json!("…"))).collect())
            }
            Value::Array(items) => items.iter().map(masked_text).collect(),
            other => masked_text(other),
        };
        (key.clone(), value)
    };
    Value::Object(fields.iter().map(mask).collect::<Map<_, _>>())
}

/// A text without the token or the query that stands in it.
fn masked_text(value: &Value) -> Value {
    let Value::String(text) = value else {
        return value.clone();
    };
    let end = ["Bearer ", "?"].iter().filter_map(|mark| {
        let at = text.find(mark)?;
        Some(at + mark.len())
    });
    match end.min() {
        Some(end) => json!(format!("{}…", &text[..end])),
        None => value.clone(),
    }
}
