//! What a tool is, as a file says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::{
    Binding, Consent, Description, Example, Hints, Kind, Meta, Schema, Source, ToolDef,
};

use super::entry::Entry;
use crate::make::Problem;

/// A description: a text, or its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a text, or `short` with `long`, `usage_notes` and `important`"
)]
pub enum DescriptionForm {
    /// The first paragraph is the short form, the rest the long one.
    Text(String),
    /// The parts by themselves.
    Parts {
        /// One or two sentences.
        short: String,
        /// Everything else there is to say.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        long: String,
        /// Hints for using it well.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        usage_notes: Vec<String>,
        /// What must not be overlooked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        important: Vec<String>,
    },
}

impl From<&DescriptionForm> for Description {
    fn from(form: &DescriptionForm) -> Self {
        match form {
            DescriptionForm::Text(text) => text.as_str().into(),
            DescriptionForm::Parts {
                short,
                long,
                usage_notes,
                important,
            } => {
                let mut description = Self::default();
                description.short.clone_from(short);
                description.long.clone_from(long);
                description.usage_notes.clone_from(usage_notes);
                description.important.clone_from(important);
                description
            }
        }
    }
}

/// Which sort of tool a file describes. An API is a `rest` tool, and `native` is another
/// word for the same: an ability the vendor of the API has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolType {
    /// An API, or a local command.
    #[serde(alias = "NATIVE")]
    Native,
    /// An API.
    #[serde(alias = "REST")]
    Rest,
}

/// Category, tags and whatever else is known about a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MetadataForm {
    /// Its group in lists and guides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Where more is written about it.
    #[serde(alias = "documentationUrl", skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// Anything else.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A call that shows how a tool is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleForm {
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// The arguments of the call.
    arguments: Map<String, Value>,
}

/// The literal that must be said: itself, or with details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a text, or `literal` with `argument` and `reason`"
)]
pub enum ConsentForm {
    /// In the argument `consent`.
    Literal(String),
    /// The literal with the argument that carries it and the reason it is needed.
    Detailed {
        /// What must stand there.
        literal: String,
        /// The argument that carries it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argument: Option<String>,
        /// Why it is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl From<&ConsentForm> for Consent {
    fn from(form: &ConsentForm) -> Self {
        match form {
            ConsentForm::Literal(literal) => Self::new(literal),
            ConsentForm::Detailed {
                literal,
                argument,
                reason,
            } => {
                let mut consent = Self::new(literal);
                if let Some(argument) = argument {
                    consent.argument.clone_from(argument);
                }
                consent.reason.clone_from(reason);
                consent
            }
        }
    }
}

impl Entry {
    /// The definition of the tool: what the entry says, and for the rest what goes with
    /// its source.
    pub(crate) fn definition(
        &self,
        source: Source,
        kind: Kind,
        hints: Hints,
    ) -> Result<ToolDef, Problem> {
        let Some(name) = &self.name else {
            return Err(Problem::new("the tool has no `name`"));
        };
        let problem = |message: String| Problem::at(name.place, message);
        let mut definition =
            ToolDef::new(&name.value).map_err(|error| problem(error.to_string()))?;
        definition = definition
            .with_source(source)
            .with_kind(self.kind.unwrap_or(kind));
        if let Some(effect) = self.effect {
            // Who says only what it does to the world says what sort of thing it is.
            if self.kind.is_none() && effect != kind.effect() {
                definition = definition.with_kind(Kind::of_effect(effect));
            }
            definition = definition.with_effect(effect);
        }
        definition.hints = hints;
        definition.hints.destructive = self.destructive.or(definition.hints.destructive);
        definition.hints.idempotent = self.idempotent.or(definition.hints.idempotent);
        definition.hints.open_world = self.open_world.or(definition.hints.open_world);
        definition.title.clone_from(&self.title);
        definition.returns.clone_from(&self.returns);
        if let Some(description) = &self.description {
            definition.description = description.into();
        }
        if let Some(parameters) = &self.parameters {
            let schema = Value::Object(parameters.value.clone());
            definition.input = Schema::input(schema)
                .map_err(|error| Problem::at(parameters.place, error.to_string()))?;
        }
        if let Some(schema) = self.response.as_ref().and_then(|form| form.schema.as_ref()) {
            let output = Schema::as_received(schema.value.clone());
            let output = output.map_err(|error| Problem::at(schema.place, error.to_string()))?;
            definition.output = Some(output);
        }
        definition.examples = self.examples.iter().map(Into::into).collect();
        definition.meta = self.meta(&name.value);
        if let Some(consent) = &self.consent {
            definition = definition.with_consent(consent.into());
        }
        Ok(definition)
    }

    fn meta(&self, name: &str) -> Meta {
        let mut meta = Meta::new(self.id.as_deref().unwrap_or(name));
        let also = self.metadata.clone().unwrap_or_default();
        meta.version.clone_from(&self.version);
        meta.category = self.category.clone().or(also.category);
        meta.tags.clone_from(&self.tags);
        let further = also.tags.into_iter().filter(|tag| !self.tags.contains(tag));
        meta.tags.extend(further);
        let documentation = self.documentation_url.clone();
        meta.documentation_url = documentation.or(also.documentation_url);
        meta.extra = also.extra;
        meta
    }

    /// How the tool is run.
    pub(crate) fn binding(&self) -> Binding {
        let mut binding = Binding::default();
        binding.timeout = self.timeout.map(|span| span.0);
        binding.exposure = self.exposure;
        binding.retries = self.retries;
        binding.repeatable = self.idempotency_header.as_ref().map(|_| true);
        binding
    }
}

impl From<&ExampleForm> for Example {
    fn from(form: &ExampleForm) -> Self {
        let mut example = Self::new(form.arguments.clone());
        example.comment.clone_from(&form.comment);
        example
    }
}
