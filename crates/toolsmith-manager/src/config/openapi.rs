//! APIs whose OpenAPI documents are read as they are, without writing a file of tools.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toolsmith_core::duration::Span;
use toolsmith_core::reference::Template;
use toolsmith_core::{Effect, Exposure};
use toolsmith_rest::form::{AuthForm, AuthMethod, Entry, HttpMethod, Placed, Rate};
use toolsmith_rest::openapi::{Filter, Options};

use crate::servers::check_url;

/// An API whose operations are tools.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpenApiConfig {
    /// Where its document is.
    pub document: DocumentPlace,
    /// What of it is used.
    form: Form,
}

/// Where a document is.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentPlace {
    /// In a file, seen from the root.
    File(PathBuf),
    /// At an address.
    Url(Placed<Template>),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    file: Option<PathBuf>,
    url: Option<Placed<Template>>,
    api_url: Option<Placed<Template>>,
    prefix: Option<String>,
    #[serde(default)]
    include: Operations,
    #[serde(default)]
    exclude: Operations,
    auth_method: Option<Placed<AuthMethod>>,
    auth: Option<AuthForm>,
    api_key: Option<Placed<Template>>,
    #[serde(default)]
    headers: BTreeMap<String, Placed<Template>>,
    rate_limit: Option<Rate>,
    retries: Option<u8>,
    timeout: Option<Span>,
    effect: Option<Effect>,
    exposure: Option<Exposure>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Operations {
    tags: Vec<String>,
    paths: Vec<String>,
    methods: Vec<HttpMethod>,
}

impl<'de> Deserialize<'de> for OpenApiConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let document = match (&form.file, &form.url) {
            (Some(file), None) => DocumentPlace::File(file.clone()),
            (None, Some(url)) => {
                // With a reference in it, it is known only once that is looked up.
                if let Some(plain) = url.value.plain() {
                    let checked = check_url(&plain);
                    checked.map_err(|error| D::Error::custom(format!("`url`: {error}")))?;
                }
                DocumentPlace::Url(url.clone())
            }
            _ => {
                let message = "give the `file` of the document, or its `url`";
                return Err(D::Error::custom(message));
            }
        };
        Ok(Self { document, form })
    }
}

impl OpenApiConfig {
    /// How the document is imported, under the name it has in the configuration.
    pub(crate) fn options(&self, name: &str) -> Options {
        let mut options = Options::default();
        options.name = Some(name.to_owned());
        // Two APIs often have operations of one name.
        options.prefix = match self.form.prefix.as_deref().unwrap_or(name) {
            prefix if prefix.is_empty() || prefix.ends_with('_') => prefix.to_owned(),
            prefix => format!("{prefix}_"),
        };
        options.include = (&self.form.include).into();
        options.exclude = (&self.form.exclude).into();
        if let DocumentPlace::Url(url) = &self.document {
            options.base = url.value.plain();
        }
        options
    }

    /// What the user says about the API beside its document.
    pub(crate) fn over(&self) -> Entry {
        let form = &self.form;
        let mut entry = Entry::default();
        entry.api_url.clone_from(&form.api_url);
        entry.auth_method.clone_from(&form.auth_method);
        entry.auth.clone_from(&form.auth);
        entry.api_key.clone_from(&form.api_key);
        entry.headers.clone_from(&form.headers);
        (entry.rate_limit, entry.retries) = (form.rate_limit, form.retries);
        (entry.timeout, entry.effect) = (form.timeout, form.effect);
        entry.exposure = form.exposure;
        entry
    }
}

impl From<&Operations> for Filter {
    fn from(operations: &Operations) -> Self {
        let mut filter = Self::default();
        filter.tags.clone_from(&operations.tags);
        filter.paths.clone_from(&operations.paths);
        filter.methods.clone_from(&operations.methods);
        filter
    }
}

impl fmt::Display for DocumentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Url(_) => f.write_str("the address of the document"),
        }
    }
}
