//! The name of a model: `PROVIDER/MODEL`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toolsmith_provider::Provider;

use super::table;

/// Which model of which provider.
///
/// ```
/// use toolsmith_agent::client::ModelName;
///
/// // The model may have slashes of its own.
/// let name: ModelName = "openai-compatible/meta-llama/Llama-3.3-70B".parse().unwrap();
/// assert_eq!(name.model, "meta-llama/Llama-3.3-70B");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct ModelName {
    /// Whom it is reached through.
    pub provider: Provider,
    /// What it is called there.
    pub model: String,
}

/// Why a text names no model that can be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelNameError {
    /// One of the two parts is missing.
    #[error("{0:?} names no model; write it as PROVIDER/MODEL, where PROVIDER is one of {known}", known = table::known())]
    Form(String),
    /// The first part is no provider.
    #[error("unknown provider {0:?}; known are {known}", known = table::known())]
    Unknown(String),
    /// Its format is known, and there is no client for it.
    #[error("models of {0} cannot be reached from here; those that can are {known}", known = table::known())]
    WithoutClient(Provider),
}

/// The longest text that is repeated in an error, and the longest name there is.
const LONGEST: usize = 256;

impl ModelName {
    /// Names a model of a provider.
    ///
    /// # Errors
    /// When there is no client for the provider, or no model is named.
    pub fn new(provider: Provider, model: impl Into<String>) -> Result<Self, ModelNameError> {
        let model = model.into();
        if table::row(provider).is_none() {
            return Err(ModelNameError::WithoutClient(provider));
        }
        if !is_name(&model) {
            return Err(ModelNameError::Form(shown(&format!("{provider}/{model}"))));
        }
        Ok(Self { provider, model })
    }
}

/// A name goes into bodies, addresses and messages to people.
pub(super) fn is_name(model: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace();
    !model.is_empty() && model.len() <= LONGEST && model.chars().all(is_plain)
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

impl FromStr for ModelName {
    type Err = ModelNameError;
    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let Some((word, model)) = text.split_once('/') else {
            return Err(ModelNameError::Form(shown(text)));
        };
        let provider = (word.parse()).map_err(|_| ModelNameError::Unknown(shown(word)))?;
        Self::new(provider, model)
    }
}

impl TryFrom<String> for ModelName {
    type Error = ModelNameError;
    fn try_from(text: String) -> Result<Self, ModelNameError> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.to_string()
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
