//! An MCP server: under `servers` of `toolsmith.yaml`, or a file in `tools/mcp`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::words::{Duration, Pins};

/// An MCP server: a program that is started, or an address.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Server {
    /// The program and its arguments, as one text or as a list.
    command: Option<Command>,
    /// More arguments.
    args: Option<Vec<String>>,
    /// The folder it runs in, seen from the root.
    cwd: Option<String>,
    /// Variables it is given.
    env: Option<BTreeMap<String, Scalar>>,
    /// Names of variables it is given as they are here.
    env_passthrough: Option<Vec<String>>,
    /// Its address.
    url: Option<String>,
    /// Its address, by another name.
    mcp_server_url: Option<String>,
    /// Headers of every request.
    headers: Option<BTreeMap<String, Scalar>>,
    /// Its key, such as `${env:KEY}`, alone or with the header it goes into.
    mcp_api_key: Option<Key>,
    /// The time limit of a call.
    timeout: Option<Duration>,
    /// The tools that are used, by name or glob; all of them unless set.
    allow: Option<Vec<String>>,
    /// The tools that are not, by name or glob.
    deny: Option<Vec<String>>,
    /// Whether it is left out.
    #[schemars(default)]
    disabled: bool,
    /// How it is spoken to.
    #[schemars(default)]
    protocol: Protocol,
    /// What happens to its tools where they are not as they were pinned; as with the
    /// other servers unless set.
    pins: Option<Pins>,
}

/// A file with one server, whose name is the file's unless set.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Toolsmith: a file in tools/mcp")]
pub(super) struct ServerFile {
    /// What the server is called; as the file unless set.
    name: Option<String>,
    #[schemars(flatten)]
    server: Server,
}

/// A program and its arguments.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Command {
    /// One text, split as a shell would.
    Line(String),
    /// Word by word.
    Words(Vec<Scalar>),
}

/// A text; what looks like a number or a boolean is one too.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
enum Scalar {
    Text(String),
    Number(f64),
    Boolean(bool),
}

/// A key, alone or with the header it goes into.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Key {
    /// In the header `Authorization`.
    Bearer(String),
    /// In a header of its own.
    Header(KeyHeader),
}

/// A key and the header it goes into.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct KeyHeader {
    /// The header.
    header: String,
    /// The key.
    value: String,
}

/// How a server is spoken to.
#[derive(Default, JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Protocol {
    /// As it is found to want.
    #[default]
    Auto,
    /// Without a session.
    Stateless,
    /// With the handshake and the session of the older versions.
    Legacy,
}
