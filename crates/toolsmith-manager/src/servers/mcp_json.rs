//! The `.mcp.json` that other clients use: `mcpServers`, and the `servers` of VS Code.
//!
//! It is written for others, so keys we do not know are warnings; what makes a server
//! unusable is an error of that server alone. Our own entry, by which those others start
//! us, is passed over: we would start ourselves without end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};
use toolsmith_core::json::{self, JsonError};

use super::entry::{EntryError, check_command, check_headers, check_template_url, check_variables};
use super::form::MOST;
use super::{Origin, Place, ServerEntry, ServerName, Template, Transport};
use crate::yaml::{MAX_BYTES, YamlError};

/// What a file holds, and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct McpJson {
    pub(super) servers: Vec<ServerEntry>,
    pub(super) errors: Vec<YamlError>,
    pub(super) warnings: Vec<String>,
}

/// The keys that list servers.
const LISTS: [&str; 2] = ["mcpServers", "servers"];
/// The keys of a server that mean something here.
const KNOWN: [&str; 9] = [
    "args", "command", "cwd", "disabled", "enabled", "env", "headers", "type", "url",
];

/// Reads a file.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<McpJson, YamlError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value = json::parse(bytes, MAX_BYTES).map_err(|error| placed(file, bytes, &error))?;
    let Value::Object(root) = value else {
        return Err(YamlError::whole(
            file,
            "expected an object with `mcpServers`",
        ));
    };
    let mut found = McpJson::default();
    for list in LISTS {
        match root.get(list) {
            None | Some(Value::Null) => {}
            Some(Value::Object(servers)) => {
                if servers.len() > MOST {
                    let message = format!("`{list}`: more than {MOST} servers are not accepted");
                    return Err(YamlError::whole(file, message));
                }
                found.read_list(file, list, servers);
            }
            Some(_) => {
                let message = format!("`{list}`: expected an object of servers");
                found.errors.push(YamlError::whole(file, message));
            }
        }
    }
    if !LISTS.iter().any(|list| root.contains_key(*list)) {
        let warning = format!("{file}: it has neither `mcpServers` nor `servers`");
        found.warnings.push(warning);
    }
    Ok(found)
}

impl McpJson {
    fn read_list(&mut self, file: &str, list: &str, servers: &Map<String, Value>) {
        for (name, value) in servers {
            match entry(name, value) {
                Ok((entry, _)) if is_ourselves(&entry) => {}
                Ok((mut entry, unknown)) => {
                    entry.origin = Origin {
                        file: file.to_owned(),
                        place: Place::default(),
                    };
                    let said = unknown.iter().map(|key| {
                        format!("{file}: {list}.{name}: the key {key:?} means nothing here")
                    });
                    self.warnings.extend(said);
                    self.servers.push(entry);
                }
                Err(message) => {
                    let message = format!("{list}.{name}: {message}");
                    self.errors.push(YamlError::whole(file, message));
                }
            }
        }
    }
}

/// A server, and the keys of it that mean nothing here.
fn entry(name: &str, value: &Value) -> Result<(ServerEntry, Vec<String>), String> {
    let name: ServerName = name.parse().map_err(|error| format!("{error}"))?;
    let fields = value.as_object().ok_or("expected an object")?;
    let command = template(fields, "command")?;
    let url = template(fields, "url")?;
    let transport = match (kind(fields)?, command, url) {
        (_, Some(_), Some(_)) => Err(EntryError::Both)?,
        (_, None, None) => Err(EntryError::Neither)?,
        (Some(Kind::Http), Some(_), None) => Err("its type is http, and it has a `command`")?,
        (Some(Kind::Stdio), None, Some(_)) => Err("its type is stdio, and it has a `url`")?,
        (_, Some(command), None) => {
            check_command(&command)?;
            Transport::Stdio {
                command,
                args: templates(fields, "args")?,
                cwd: text(fields, "cwd")?.map(PathBuf::from),
            }
        }
        (_, None, Some(url)) => {
            check_template_url(&url)?;
            let headers = template_map(fields, "headers")?;
            check_headers(&headers, None)?;
            Transport::Http { url, headers }
        }
    };
    let idle: &[&str] = match transport {
        Transport::Stdio { .. } => &["headers"],
        Transport::Http { .. } => &["args", "cwd", "env"],
    };
    let unknown = fields
        .keys()
        .filter(|key| !KNOWN.contains(&key.as_str()) || idle.contains(&key.as_str()))
        .map(|key| key.chars().take(60).collect())
        .collect();
    let mut entry = ServerEntry::new(name, transport);
    if let Transport::Stdio { .. } = entry.transport {
        entry.env = template_map(fields, "env")?;
        check_variables(entry.env.keys())?;
    }
    entry.disabled =
        flag(fields, "disabled")?.unwrap_or(false) || !flag(fields, "enabled")?.unwrap_or(true);
    Ok((entry, unknown))
}

/// Tells whether this is what `toolsmith connect` writes.
fn is_ourselves(entry: &ServerEntry) -> bool {
    match &entry.transport {
        Transport::Stdio { command, args, .. } => {
            let command = command.expose_written();
            let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
            let is_serve = |word: &Template| word.expose_written() == "serve";
            matches!(program, "toolsmith" | "toolsmith.exe") && args.iter().any(is_serve)
        }
        Transport::Http { url, .. } => {
            let url = url.expose_written();
            let hosts = ["127.0.0.1", "localhost", "[::1]"];
            hosts
                .iter()
                .any(|host| url.starts_with(&format!("http://{host}:8765/")))
        }
    }
}

impl From<EntryError> for String {
    fn from(error: EntryError) -> Self {
        error.to_string()
    }
}

enum Kind {
    Stdio,
    Http,
}

fn kind(fields: &Map<String, Value>) -> Result<Option<Kind>, String> {
    match text(fields, "type")?.as_deref() {
        None => Ok(None),
        Some("stdio") => Ok(Some(Kind::Stdio)),
        Some("http" | "streamable-http" | "streamableHttp") => Ok(Some(Kind::Http)),
        Some("sse") => Err(
            "the transport `sse` is not spoken here; most such servers have a streamable HTTP \
             address too: give that as `url`, with the type `http`"
                .to_owned(),
        ),
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            Err(format!("type: expected stdio or http, found {other:?}"))
        }
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{key}: expected a text")),
    }
}

fn flag(fields: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{key}: expected true or false")),
    }
}

fn parsed(key: &str, text: &str) -> Result<Template, String> {
    text.parse().map_err(|error| format!("{key}: {error}"))
}

fn template(fields: &Map<String, Value>, key: &str) -> Result<Option<Template>, String> {
    let text = text(fields, key)?;
    text.map(|text| parsed(key, &text)).transpose()
}

fn templates(fields: &Map<String, Value>, key: &str) -> Result<Vec<Template>, String> {
    let items = match fields.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(format!("{key}: expected a list of texts")),
    };
    let template = |item: &Value| match item {
        Value::String(text) => parsed(key, text),
        _ => Err(format!("{key}: expected a list of texts")),
    };
    items.iter().map(template).collect()
}

fn template_map(
    fields: &Map<String, Value>,
    key: &str,
) -> Result<BTreeMap<String, Template>, String> {
    let pairs = match fields.get(key) {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(pairs)) => pairs,
        Some(_) => return Err(format!("{key}: expected an object of texts")),
    };
    let template = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            // Whoever writes a port or a switch means its text.
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return Err(format!("{key}.{name}: expected a text")),
        };
        Ok((name.clone(), parsed(&format!("{key}.{name}"), &text)?))
    };
    pairs.iter().map(template).collect()
}

/// The error with its place, if it has one.
fn placed(file: &str, bytes: &[u8], error: &JsonError) -> YamlError {
    match error {
        JsonError::Malformed(malformed) if malformed.line() > 0 => {
            let text = String::from_utf8_lossy(bytes);
            let (line, column) = (malformed.line(), malformed.column());
            let message = malformed.to_string();
            // The place stands in front already.
            let place = format!(" at line {line} column {column}");
            let message = message.strip_suffix(&place).unwrap_or(&message);
            // The parser counts bytes, people count characters.
            let source = text.lines().nth(line - 1).unwrap_or_default();
            let end = source.floor_char_boundary(column.saturating_sub(1));
            let column = source[..end].chars().count() + 1;
            YamlError::at(file, &text, line, column, message)
        }
        error => YamlError::whole(file, error.to_string()),
    }
}
