//! What `toolsmith.yaml` may say.
//!
//! Every key is optional, unknown keys are errors, and rules and durations are
//! parsed while the file is read, so that a mistake in them has a line and a column
//! like any other.
//!
//! ```yaml
//! serve:
//!   prefix: acme            # offered names become acme_read, acme_write …
//! descriptions: brief       # or full
//! limits:
//!   timeout: 30s
//!   output_bytes: 51200
//! bindings:
//!   "mcp__*": { timeout: 60s, retries: 1 }
//!   "mcp__docs__*": { cache: 10m }    # answers of tools that only look
//! sources:
//!   git: { concurrency: 4, rate: 10/s, circuit: { failures: 3, pause: 30s } }
//! callers: { rate: 50/s, quota: 5000/h }
//! records:
//!   files: 5                # of 10 MiB each; enabled: false for none
//! telemetry:
//!   otlp: { endpoint: "http://127.0.0.1:4318" }
//! web:
//!   allow_hosts: [intranet.example]   # reached although it is not public
//! sandbox:
//!   mode: workspace-write   # read-only, workspace-write, full
//!   network: off            # on
//!   writable: [~/.cache]    # beside the roots
//! guide:
//!   title: Acme             # Acme Tools Usage Guide
//! tool_sets: [reading]      # what is offered; configs/tool_sets/reading.yaml
//! tools: [write]            # and this
//! servers:
//!   git: { command: uvx mcp-server-git, allow: ["git_*"] }
//! pins: first-use           # or strict, or off: what servers say of their tools
//! output_strategy: { function_calling: true, fallback_to_structured_output: true }
//! models:
//!   "ollama/tiny*": { function_calling: false, text_format: xml }
//! providers:
//!   openai-compatible: { url: "http://127.0.0.1:8000/v1", key: "${env:LOCAL_KEY}" }
//! ask:
//!   instructions: Answer briefly.
//!   turns: 30
//! hosted_tools:             # run by the model's provider, never here
//!   anthropic: [{ type: web_search_20250305, name: web_search }]
//! policy:
//!   mode: ask               # plan, ask, auto-edit, auto
//!   allow: ["read(file_path: docs/**)"]
//!   deny: ["effect:execute"]
//!   rules:
//!     - { effect: deny, tool: write, args: { file_path: { beneath: secrets } } }
//! ```

mod ask;
mod limits;
mod models;
mod openapi;
mod policy;
mod protection;
mod providers;
mod records;
mod sandbox;
mod telemetry;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toolsmith_core::rate::Rate;
use toolsmith_core::{Binding, Detail, Exposure};
use toolsmith_provider::OutputStrategy;

pub use ask::AskConfig;
pub use limits::{LimitsConfig, Parallel, Positive};
pub use models::{HostedTools, ModelsConfig};
pub use openapi::{DocumentPlace, OpenApiConfig};
pub use policy::{Allow, Ask, Deny, PolicyConfig, Says, Short};
pub(crate) use protection::protection;
pub use protection::{CallersConfig, SourcesConfig};
pub use providers::{ProviderConfig, ProvidersConfig};
pub use records::RecordsConfig;
pub use sandbox::{SandboxConfig, SandboxLimits};
pub use telemetry::{OtlpConfig, TelemetryConfig};
pub use toolsmith_core::duration::Span;
pub use web::{
    RedirectScope, RobotsMode, SecretTerms, UserAgent, WebConfig, WebHost, WebSecretConfig,
    WebTerms,
};

use crate::pins::PinMode;
use crate::servers::{self, ServerEntry};
use crate::sets::{Member, SetName};

/// The content of `toolsmith.yaml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// How tools are offered.
    pub serve: Serve,
    /// Short for `serve.prefix`.
    pub prefix: Option<Prefix>,
    /// How much of the descriptions models are sent.
    pub descriptions: Detail,
    /// Ceilings.
    pub limits: LimitsConfig,
    /// How tools are run, by name or glob.
    #[serde(deserialize_with = "bindings")]
    pub bindings: BTreeMap<String, Binding>,
    /// How sources of tools are held within bounds, by name or glob.
    pub sources: SourcesConfig,
    /// How each caller is.
    pub callers: CallersConfig,
    /// What is allowed, asked for and denied.
    pub policy: PolicyConfig,
    /// How calls are recorded.
    pub records: RecordsConfig,
    /// Who is told of calls beside that.
    pub telemetry: TelemetryConfig,
    /// What the web tools may do.
    pub web: WebConfig,
    /// How programs are confined.
    pub sandbox: SandboxConfig,
    /// How the usage guide is written.
    pub guide: GuideConfig,
    /// Upstream servers, in the order of the file.
    #[serde(deserialize_with = "servers::servers")]
    pub servers: Vec<ServerEntry>,
    /// The tools that are offered where no agent or set is named; all of them where
    /// neither this nor `tool_sets` is written.
    pub tools: Option<Vec<Member>>,
    /// The sets that are offered there, before the tools.
    pub tool_sets: Option<Vec<SetName>>,
    /// APIs whose documents are read as they are, by name.
    #[serde(deserialize_with = "documents")]
    pub openapi: BTreeMap<String, OpenApiConfig>,
    /// What happens to tools of servers that are not as they were pinned.
    pub pins: PinMode,
    /// How models are told to call tools.
    pub output_strategy: OutputStrategy,
    /// The model that is asked where none is named.
    pub model: Option<String>,
    /// What is said of models, by provider and name.
    pub models: ModelsConfig,
    /// Where providers of models are reached, and with which keys.
    pub providers: ProvidersConfig,
    /// How questions are answered, where an agent does not say otherwise.
    pub ask: AskConfig,
    /// Tools that providers run themselves, where no agent is named.
    pub hosted_tools: HostedTools,
}

/// How tools are offered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Serve {
    /// The prefix of offered names.
    pub prefix: Option<Prefix>,
}

impl Config {
    /// The prefix the file sets, if it sets one.
    pub fn prefix(&self) -> Option<&str> {
        let prefix = self.serve.prefix.as_ref().or(self.prefix.as_ref());
        prefix.map(|prefix| prefix.0.as_str())
    }
}

/// How the usage guide is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GuideConfig {
    /// Whose tools its title speaks of.
    pub title: Option<String>,
    /// The template it is written by, seen from the folder of this file.
    pub template: Option<PathBuf>,
}

/// A prefix of tool names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(pub String);

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if text.len() > 32 || !text.chars().all(fits) {
            return Err(D::Error::custom(
                "a prefix has at most 32 letters, digits, `_`, `.` and `-`",
            ));
        }
        Ok(Self(text))
    }
}

/// APIs by names that can stand in front of their tools'.
fn documents<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, OpenApiConfig>, D::Error> {
    let documents = Option::<BTreeMap<SetName, OpenApiConfig>>::deserialize(deserializer)?;
    let documents = documents.unwrap_or_default();
    few(documents.len(), "documents")?;
    let pairs = documents.into_iter();
    Ok(pairs
        .map(|(name, document)| (name.as_str().to_owned(), document))
        .collect())
}

/// Bindings whose patterns and prefixes were checked while there was still a place
/// to point at.
fn bindings<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Binding>, D::Error> {
    let forms = Option::<BTreeMap<Pattern, BindingForm>>::deserialize(deserializer)?;
    let forms = forms.unwrap_or_default();
    few(forms.len(), "bindings")?;
    let pairs = forms.into_iter();
    Ok(pairs.map(|(name, form)| (name.0, form.into())).collect())
}

/// How many rules or bindings one list may hold. Each is compiled, and a thousand
/// times as many would take a gigabyte.
const MOST: usize = 500;

pub(super) fn few<E: Error>(count: usize, what: &str) -> Result<(), E> {
    if count > MOST {
        let message = format!("{count} {what} are more than the {MOST} that are accepted");
        return Err(E::custom(message));
    }
    Ok(())
}

/// A name or glob that means tools.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pattern(pub(crate) String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        globset::Glob::new(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

/// A binding as the file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingForm {
    timeout: Option<Span>,
    exposure: Option<Exposure>,
    prefix: Option<Prefix>,
    retries: Option<Retries>,
    cache: Option<Span>,
    rate: Option<Rate>,
    quota: Option<Rate>,
}

/// How often a call is repeated: a few times.
struct Retries(u8);

impl<'de> Deserialize<'de> for Retries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let retries = u32::deserialize(deserializer)?;
        match u8::try_from(retries) {
            Ok(retries) if retries <= 10 => Ok(Self(retries)),
            _ => Err(D::Error::custom("expected a number from 0 to 10")),
        }
    }
}

impl From<BindingForm> for Binding {
    fn from(form: BindingForm) -> Self {
        let mut binding = Self::default();
        binding.timeout = form.timeout.map(|span| span.0);
        binding.exposure = form.exposure;
        binding.prefix = form.prefix.map(|prefix| prefix.0);
        binding.retries = form.retries.map(|retries| retries.0);
        binding.cache = form.cache.map(|span| span.0);
        (binding.rate, binding.quota) = (form.rate, form.quota);
        binding
    }
}
