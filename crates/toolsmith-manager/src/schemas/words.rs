//! The words and small forms that several files share.

#![expect(
    dead_code,
    reason = "a schema is made from the types; nothing is of them"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toolsmith_agent::client;
use toolsmith_provider::Provider;
use toolsmith_provider::text::TextFormat as Format;

/// A duration such as `500ms`, `30s` or `5m`.
#[derive(JsonSchema)]
#[schemars(inline, title = "duration")]
pub(super) struct Duration(#[schemars(regex(pattern = r"^\s*[0-9]"))] String);

/// A whole number of at least one.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct Count(#[schemars(range(min = 1, max = 1_073_741_824))] u64);

/// What offered names begin with: at most 32 letters, digits, `_`, `.` and `-`.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(super) struct Prefix(#[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{0,32}$"))] String);

/// How much of the descriptions models are sent.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum Detail {
    /// The short form and what is important.
    Brief,
    /// Everything.
    Full,
}

/// What happens to tools of other people's servers.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Pins {
    /// A server's tools are pinned when it is first used; what is other afterwards is
    /// withheld until it is approved.
    FirstUse,
    /// Nothing is used before it is approved.
    Strict,
    /// Nothing is compared.
    Off,
}

/// How calls are put to a model.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct OutputStrategy {
    /// Whether the model's own function calling is used; true unless set.
    function_calling: Option<bool>,
    /// Whether calls are asked for as JSON in the text where there is none; true unless
    /// set.
    fallback_to_structured_output: Option<bool>,
}

/// Tools that a provider runs itself, by provider, in its own words.
pub(super) struct HostedTools;

impl JsonSchema for HostedTools {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "HostedTools".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let providers = Provider::ALL.map(Provider::word);
        json_schema!({
            "type": "object",
            "propertyNames": { "enum": providers },
            "additionalProperties": { "type": "array", "items": { "type": "object" } }
        })
    }
}

/// Where providers of models are reached, by their names.
pub(super) struct ModelProviders;

impl JsonSchema for ModelProviders {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ModelProviders".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = client::providers().map(Provider::word).collect();
        json_schema!({
            "type": "object",
            "propertyNames": { "enum": words },
            "additionalProperties": generator.subschema_for::<ModelProvider>()
        })
    }
}

/// Where a provider of models is reached.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ModelProvider {
    /// The address, as the provider's own libraries take it.
    url: Option<String>,
    /// The key, such as `${env:MY_KEY}`.
    key: Option<String>,
    /// Headers that go with every request.
    headers: Option<BTreeMap<String, String>>,
}

/// How questions are answered.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Asking {
    /// What the model is told before everything else.
    instructions: Option<String>,
    /// How many turns it may have [default: 50].
    turns: Option<Count>,
    /// How long it may take [default: 1h].
    time: Option<Duration>,
    /// How many tokens it may take, those of tasks it gives to others included.
    tokens: Option<Count>,
    /// How much it may cost, in the currency of the prices under `models`.
    #[schemars(range(min = 0))]
    cost: Option<f64>,
    /// How many tokens of conversation a request may hold, as they are estimated
    /// [default: 100000]: older results are shortened.
    context_tokens: Option<Count>,
    /// Fields of every request, in the provider's own words, such as `temperature`.
    settings: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A format in which models write calls into their text.
pub(super) struct TextFormat;

impl JsonSchema for TextFormat {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TextFormat".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = Format::ALL.map(Format::word);
        json_schema!({ "type": "string", "enum": words })
    }
}

/// Tools: names, globs such as `mcp__git__*`, and sets as `set:NAME`.
pub(super) type ToolList = Option<Vec<String>>;
/// Names of tool sets.
pub(super) type SetList = Option<Vec<String>>;
