//! `toolsmith.yaml`.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use toolsmith_core::Exposure;
use toolsmith_core::rate::Rate;
use toolsmith_rest::form::{Network, SandboxMode};

use super::defaults;
use super::openapi::OpenApi;
use super::policy::Policy;
use super::server::Server;
use super::words::{
    Asking, Count, Detail, Duration, HostedTools, ModelProviders, OutputStrategy, Pins, Prefix,
    SetList, TextFormat, ToolList,
};

/// The settings of a project.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Toolsmith: toolsmith.yaml")]
pub(super) struct ConfigFile {
    /// How tools are offered.
    serve: Option<Serve>,
    /// Short for `serve: { prefix: … }`.
    prefix: Option<Prefix>,
    /// How much of the descriptions models are sent; `brief` unless set.
    descriptions: Option<Detail>,
    /// Ceilings of calls: time, sizes, how many at once.
    limits: Option<Limits>,
    /// How tools are run, by name or glob.
    bindings: Option<BTreeMap<String, Binding>>,
    /// How sources of tools are held within bounds, by name or glob. MCP servers and APIs
    /// go by their names, tools in files by the file.
    sources: Option<BTreeMap<String, Source>>,
    /// How each caller is held within bounds.
    callers: Option<Callers>,
    /// What is allowed, asked for and denied.
    policy: Option<Policy>,
    /// How calls are recorded.
    records: Option<Records>,
    /// Who is told of calls beside that.
    telemetry: Option<Telemetry>,
    /// What the web tools may do.
    web: Option<Web>,
    /// How programs are confined.
    sandbox: Option<Sandbox>,
    /// How the usage guide is written.
    guide: Option<Guide>,
    /// MCP servers, by name.
    servers: Option<BTreeMap<String, Server>>,
    /// APIs that are described by OpenAPI documents, by name.
    openapi: Option<BTreeMap<String, OpenApi>>,
    /// The tools that are offered: names, globs, and sets as `set:NAME`.
    tools: ToolList,
    /// The tool sets that are offered.
    tool_sets: SetList,
    /// What happens to tools of servers that are not as they were pinned.
    pins: Option<Pins>,
    /// How calls are put to a model.
    output_strategy: Option<OutputStrategy>,
    /// The model that `ask` asks and declarations are for, as `PROVIDER/MODEL`.
    model: Option<String>,
    /// What is said of models, by `PROVIDER/MODEL` or `MODEL`, with `*` for anything; the
    /// longest that fits decides.
    models: Option<BTreeMap<String, Model>>,
    /// Where providers of models are reached, and with which keys, where the variables of
    /// their own libraries do not say.
    providers: Option<ModelProviders>,
    /// How questions are answered, where an agent does not say otherwise.
    ask: Option<Asking>,
    /// Tools that providers run themselves, in their own words, where no agent is named.
    hosted_tools: Option<HostedTools>,
}

/// What is said of a model.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Model {
    /// Whether it can call functions, whatever is known of it otherwise.
    function_calling: Option<bool>,
    /// The format it is asked for calls in where they come as text.
    text_format: Option<TextFormat>,
    /// What a million of its tokens cost.
    price: Option<Price>,
}

/// What a million tokens cost, in any currency.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Price {
    /// Of those that are read.
    #[schemars(range(min = 0))]
    input: f64,
    /// Of those that are written.
    #[schemars(range(min = 0))]
    output: f64,
}

/// How tools are offered.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Serve {
    /// What offered names begin with.
    prefix: Option<Prefix>,
}

/// How the usage guide is written.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Guide {
    /// Whose tools its title speaks of.
    title: Option<String>,
    /// The template it is written by, seen from the folder of this file.
    template: Option<String>,
}

/// What the web tools may do.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Web {
    /// Hosts that may be reached although they are not public: `intranet.example`,
    /// `127.0.0.1:8080`, or with a scheme.
    allow_hosts: Option<Vec<String>>,
    /// Which redirects are followed: to every host that may be reached, which is the
    /// default, or within one.
    redirects: Option<RedirectScope>,
    /// Whether every call respects robots.txt, or, as is the default, only those that ask
    /// for it.
    robots: Option<Robots>,
    /// What requests say they come from, as the header `User-Agent`.
    #[schemars(length(min = 1, max = 200))]
    user_agent: Option<String>,
    /// Secrets that `api_call` may refer to as `${secret:NAME}`, by name.
    secrets: Option<BTreeMap<String, WebSecret>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum RedirectScope {
    Any,
    SameHost,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum Robots {
    Ignore,
    Respect,
}

/// A secret, and where it may be sent.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct WebSecret {
    /// What it stands for, such as `${env:TOKEN}`.
    value: String,
    /// Where it may be sent; without a scheme over https only.
    #[schemars(length(min = 1))]
    hosts: Vec<String>,
}

/// How calls are recorded; what is not set keeps its default.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults::records)]
struct Records {
    /// Whether calls are recorded.
    enabled: Option<bool>,
    /// How many bytes a file may grow to before another is begun.
    #[schemars(range(min = 65_536, max = 1_073_741_824))]
    bytes: Option<u64>,
    /// How many files are kept.
    #[schemars(range(min = 2, max = 100))]
    files: Option<u64>,
    /// Whether a bounded and redacted part of arguments and results is kept.
    keep_arguments: Option<bool>,
}

/// How programs are confined; what is not set keeps its default.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Sandbox {
    /// Which files they may write; the workspace unless set.
    mode: Option<SandboxMode>,
    /// Whether they may use the network; off unless set.
    network: Option<Network>,
    /// Folders they may write beside the roots: seen from the root, full, or beneath `~`.
    /// One that is protected by itself is not when it stands here.
    writable: Option<Vec<String>>,
    /// Paths they may not write, beside those that are protected by themselves.
    protected: Option<Vec<String>>,
    /// Paths they may not even read, beside those that are hidden by themselves.
    hidden: Option<Vec<String>>,
    /// How much they may use.
    limits: Option<SandboxLimits>,
}

/// How much a program may use; what is not set keeps its default.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults::sandbox_limits)]
struct SandboxLimits {
    /// How many files each process may have open at once.
    open_files: Option<Count>,
    /// How many processes may live at once.
    processes: Option<Count>,
    /// How many mebibytes each file may have.
    file_megabytes: Option<Count>,
}

/// Who is told of calls; read when the program starts.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Telemetry {
    /// What the service is called; `toolsmith` unless set.
    service: Option<String>,
    /// An OpenTelemetry collector.
    otlp: Option<Otlp>,
}

/// An OpenTelemetry collector that takes JSON over HTTP.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Otlp {
    /// Where it is, such as `http://127.0.0.1:4318`.
    endpoint: String,
    /// Headers of every request, such as `authorization: Bearer ${env:TOKEN}`.
    headers: Option<BTreeMap<String, String>>,
    /// Whether spans are sent; true unless set.
    traces: Option<bool>,
    /// Whether metrics are sent; true unless set.
    metrics: Option<bool>,
    /// How often metrics and spans are sent; every ten seconds unless set.
    interval: Option<Duration>,
}

/// How a tool is run.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Binding {
    /// The time limit of a call.
    timeout: Option<Duration>,
    /// Whether and how it is offered to models.
    exposure: Option<Exposure>,
    /// What its offered name begins with.
    prefix: Option<Prefix>,
    /// How often a call is made again that may succeed then and does no harm twice.
    #[schemars(range(min = 0, max = 10))]
    retries: Option<u8>,
    /// For how long an answer of a tool that only looks is given again.
    cache: Option<Duration>,
    /// How fast it may be called.
    rate: Option<Rate>,
    /// How often it may be called in a period.
    quota: Option<Rate>,
}

/// How a source is held within bounds.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Source {
    /// How many calls it gets at once.
    concurrency: Option<Count>,
    /// How many more may wait for their turn.
    #[schemars(range(min = 0, max = 1_000_000))]
    queue: Option<u32>,
    /// How fast it may be called.
    rate: Option<Rate>,
    /// How often it may be called in a period.
    quota: Option<Rate>,
    /// When it is left alone because it fails; or `off`.
    circuit: Option<Circuit>,
}

/// When a source is left alone.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Circuit {
    /// Never.
    Word(Off),
    /// After so many failures.
    Settings(CircuitSettings),
}

#[derive(JsonSchema)]
enum Off {
    #[schemars(rename = "off")]
    Off,
}

/// When a source is left alone, and for how long.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults::circuit)]
struct CircuitSettings {
    /// After so many failures in a row it is.
    #[schemars(range(min = 1, max = 1_000_000))]
    failures: Option<u32>,
    /// Or when this share of the calls within `window` failed.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    share: Option<f64>,
    /// How many calls there must have been for `share` to count.
    #[schemars(range(min = 1, max = 1_000_000))]
    least: Option<u32>,
    /// The time whose calls `share` speaks of.
    window: Option<Duration>,
    /// How long it is left alone, until one call is let through to see.
    pause: Option<Duration>,
}

/// How each caller is held within bounds.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Callers {
    /// How fast it may call.
    rate: Option<Rate>,
    /// How often it may call in a period.
    quota: Option<Rate>,
}

/// How many calls run at once.
#[derive(JsonSchema)]
#[schemars(inline, untagged)]
enum Parallel {
    /// One after the other, or the usual number.
    Switch(bool),
    /// So many.
    Calls(Count),
}

/// Ceilings of calls; what is not set keeps its default.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults::limits)]
struct Limits {
    /// How many calls of one batch run at once; `false` for one after the other, `true` for
    /// the usual number.
    parallel: Option<Parallel>,
    /// The time limit of a call.
    timeout: Option<Duration>,
    /// The longest time limit anything may ask for.
    longest: Option<Duration>,
    /// How long a cancelled tool may take to stop by itself.
    grace: Option<Duration>,
    /// How long planning and each guard may take.
    judging: Option<Duration>,
    /// How long people may take to answer, all questions of a call together.
    approval: Option<Duration>,
    /// How many bytes of arguments a call may have.
    argument_bytes: Option<Count>,
    /// How many bytes of text a model gets from one call.
    output_bytes: Option<Count>,
    /// How many bytes a call may ask for instead.
    most_output_bytes: Option<Count>,
    /// How many bytes of images and sounds one call may return.
    blob_bytes: Option<Count>,
    /// How many bytes one call may stream while it runs.
    streamed_bytes: Option<Count>,
    /// How many bytes of arguments and result a log line holds.
    log_bytes: Option<Count>,
    /// How many threads blocking tools share.
    blocking_threads: Option<Count>,
    /// How many bytes of answers are kept for calls to come.
    cache_bytes: Option<Count>,
    /// How many answers are kept for calls to come.
    cache_entries: Option<Count>,
}
