//! Resources beside the tools: what a host implements to serve some.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolsmith_core::ToolError;
use toolsmith_core::outcome::ResourceContent;

use crate::BoxFuture;

/// A source of resources. Implemented by hosts and by the gateway; several can be
/// served side by side.
pub trait Resources: Send + Sync + 'static {
    /// The resources there are, in an order that does not change by itself.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>>;

    /// The families of resources there are.
    fn templates(&self) -> BoxFuture<'_, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Reads a resource; none where the address is not this source's.
    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>>;

    /// Tells whether changes of a resource can be followed.
    fn can_follow<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, bool> {
        let _ = uri;
        Box::pin(std::future::ready(false))
    }

    /// Completes a variable of a template; none where the template is not this
    /// source's.
    fn complete<'a>(
        &'a self,
        template: &'a str,
        variable: &'a str,
        value: &'a str,
    ) -> BoxFuture<'a, Option<Completion>> {
        let _ = (template, variable, value);
        Box::pin(std::future::ready(None))
    }
}

/// What a variable or an argument can be completed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The values, best first.
    pub values: Vec<String>,
    /// How many there are in all, if that is known.
    pub total: Option<u32>,
}

impl Completion {
    /// Those choices that begin with what was typed, whatever the case.
    pub fn among<'a>(choices: impl IntoIterator<Item = &'a str>, typed: &str) -> Self {
        let typed = typed.to_lowercase();
        let values: Vec<String> = choices
            .into_iter()
            .filter(|choice| choice.to_lowercase().starts_with(&typed))
            .map(str::to_owned)
            .collect();
        Self {
            total: u32::try_from(values.len()).ok(),
            values,
        }
    }

    /// The same behind the last comma: what stands before it stays, and comes no second time.
    pub fn in_list<'a>(choices: impl IntoIterator<Item = &'a str>, typed: &str) -> Self {
        let end = typed.rfind(',').map_or(0, |comma| comma + 1);
        let last = typed[end..].trim_start();
        let (before, last) = typed.split_at(typed.len() - last.len());
        let named: Vec<&str> = before.split(',').map(str::trim).collect();
        let others = choices.into_iter().filter(|it| !named.contains(it));
        let mut completion = Self::among(others, last);
        for value in &mut completion.values {
            value.insert_str(0, before);
        }
        completion
    }

    /// These values, of which there may be more.
    pub fn of(values: Vec<String>, total: Option<u32>) -> Self {
        Self { values, total }
    }
}

/// A resource that can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Whatever else the protocol knows of resources.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Resource {
    /// A resource at an address.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            more: Map::new(),
        }
    }

    /// Says what it is.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// A family of resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// Their address, with variables as RFC 6570 writes them.
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Their media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Whatever else the protocol knows of templates.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl ResourceTemplate {
    /// A family of resources.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            more: Map::new(),
        }
    }

    /// Says what they are.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// The content of a resource, or of one of its parts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// The address.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The content.
    pub content: ResourceContent,
}

impl Contents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: Some("text/plain".to_owned()),
            content: ResourceContent::Text(text.into()),
        }
    }

    /// Bytes in base64.
    pub fn blob(uri: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            content: ResourceContent::Blob(data.into()),
        }
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}
