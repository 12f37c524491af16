//! Everything a file may say about a tool. This is a catalogue.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::duration::Span;
use toolsmith_core::reference::Template;
use toolsmith_core::{Effect, Exposure, Kind};

use super::command::{Command, ExitCodes, OutputForm};
use super::definition::{ConsentForm, DescriptionForm, ExampleForm, MetadataForm, ToolType};
use super::http::{Adapter, BodyForm, HttpMethod, PaginationForm, PlaceForm, ResponseForm};
use super::placed::Placed;
use super::sandbox::Sandbox;
use super::{AuthForm, AuthMethod};
use toolsmith_core::rate::Rate;

/// A tool, or what several tools under `tools` share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Toolsmith: a file in tools/native")]
#[non_exhaustive]
pub struct Entry {
    // What it is.
    /// What the tool is called; for a file with several, what the API is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Placed<String>>,
    /// What identifies it across changes of name; the name unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Which sort of tool it is, for who reads the file; the other keys tell it too.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind_of_tool: Option<ToolType>,
    /// What people see instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<DescriptionForm>,
    /// The JSON Schema of the arguments: `properties` and `required` are enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Placed<Map<String, Value>>>,
    /// What it returns, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// Calls that show how it is used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleForm>,
    /// Its group in lists and guides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where more is written about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// Category, tags and whatever else, all in one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataForm>,
    /// What sort of thing it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What it does to the world, which rules and modes speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Whether it may destroy what was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether doing it twice does no more than doing it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether it deals with an open world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// The literal that must be said to call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentForm>,

    // How it is run.
    /// The time limit of one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Whether and how it is offered to models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<Exposure>,
    /// Whether it is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,

    // An API over HTTP.
    /// Where the API is.
    #[serde(alias = "base_url", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub api_url: Option<Placed<Template>>,
    /// How requests show who makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<Placed<AuthMethod>>,
    /// What that takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthForm>,
    /// Short for `auth: { key: … }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub api_key: Option<Placed<Template>>,
    /// Headers of every request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub headers: BTreeMap<String, Placed<Template>>,
    /// How many requests may be made of one host in which time, such as `5/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<Rate>,
    /// How often a call is made again that may succeed then and does no harm twice: one
    /// that was put off with 429 or 503, or got no answer; two times unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u8>,
    /// The header that names a call to the API, so that one which comes twice is done
    /// once; such as `Idempotency-Key`. Calls may then be made again whatever the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_header: Option<Placed<String>>,
    /// The method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<HttpMethod>,
    /// The path after `api_url`; `{name}` stands for an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Placed<String>>,
    /// Where arguments go that are not in the path: by default into the query, or into
    /// the body where the method has one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, PlaceForm>,
    /// How the body is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyForm>,
    /// The body, as JSON in which `"{name}"` stands for an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Placed<Value>>,
    /// What becomes of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseForm>,
    /// How the pages of a list are gone through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pagination: Option<PaginationForm>,
    /// Which sort of server it is, where requests are not written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Placed<Adapter>>,
    /// Where such a server tells its tools; `/schema` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_path: Option<String>,
    /// Where such a server runs them; `/execute` unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execute_path: Option<String>,

    // A local command.
    /// The program and its arguments; `{name}` stands for an argument of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<super::CommandWord>>")]
    pub command: Option<Command>,
    /// What the program reads from its standard input; `{name}` stands for an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Placed<String>>,
    /// The folder it runs in, seen from the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Variables it is given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub env: BTreeMap<String, Placed<Template>>,
    /// Names of variables it is given as they are here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_passthrough: Vec<String>,
    /// What its exit statuses mean: `ok`, or what is told of a failure.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exit_codes: ExitCodes,
    /// What the program writes; text unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputForm>,
    /// What it is kept within: a word, or settings; the project's own sandbox unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Placed<Sandbox>>,

    /// Several tools, each of which says what is its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Placed<Entry>>,
}

impl Entry {
    /// What a tool under `tools` comes to: what it says itself, and for the rest what its
    /// file says about where the API is and how it is spoken to. What a tool is — its
    /// name, description and parameters — is its own alone.
    #[must_use]
    pub fn over(&self, file: &Self) -> Self {
        let mut entry = self.clone();
        macro_rules! inherit {
            ($($field:ident),+) => { $(
                if entry.$field.is_none() {
                    entry.$field.clone_from(&file.$field);
                }
            )+ };
        }
        inherit!(
            category,
            version,
            documentation_url,
            kind,
            effect,
            destructive,
            idempotent,
            open_world,
            timeout,
            exposure,
            api_url,
            auth_method,
            auth,
            api_key,
            rate_limit,
            retries,
            idempotency_header,
            body,
            response,
            pagination,
            cwd,
            output,
            sandbox
        );
        for (name, value) in &file.headers {
            let is_other = |own: &String| !own.eq_ignore_ascii_case(name);
            if entry.headers.keys().all(is_other) {
                entry.headers.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in &file.env {
            let own = entry.env.entry(name.clone());
            own.or_insert_with(|| value.clone());
        }
        let tags = file.tags.iter().filter(|tag| !self.tags.contains(tag));
        entry.tags.extend(tags.cloned());
        entry.disabled |= file.disabled;
        entry
    }
}
