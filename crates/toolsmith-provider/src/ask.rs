//! One question to a model: declared the way it can take, and asked again as text where it
//! refuses tools.

use serde_json::{Map, Value};
use toolsmith_core::Offer;

use crate::answer::Answer;
use crate::client::{ModelClient, ModelError};
use crate::declare::{Declared, FormatError};
use crate::formatter::Formatter;
use crate::instruct::instruct;
use crate::parse::ParseError;
use crate::strategy::{StrategyError, Way};

/// What a model answered, and in which words it was asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The answer.
    pub answer: Answer,
    /// The words: results go back in the same.
    pub declared: Declared,
    /// The way it was asked.
    pub way: Way,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// There is no way to ask it for calls.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The tools cannot be declared.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// It could not be reached.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It said something else.
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// Asks a model, with the tools of an offer.
///
/// `request` is the provider's own, without its fields for tools.
pub async fn ask(
    formatter: &dyn Formatter,
    client: &dyn ModelClient,
    offer: &Offer,
    request: &Map<String, Value>,
) -> Result<Asked, AskError> {
    let way = formatter.detect_strategy(client)?;
    match ask_by(way, formatter, client, offer, request).await {
        Err(AskError::Parse(refusal)) if way == Way::Native && refusal.refuses_tools() => {
            // The refusal says more than a table can: what is left is tried.
            let way = formatter.after_refusal(client)?;
            ask_by(way, formatter, client, offer, request).await
        }
        answered => answered,
    }
}

async fn ask_by(
    way: Way,
    formatter: &dyn Formatter,
    client: &dyn ModelClient,
    offer: &Offer,
    request: &Map<String, Value>,
) -> Result<Asked, AskError> {
    let declared = formatter.format(client, way, offer)?;
    let mut request = request.clone();
    if let Some(structured) = &declared.structured {
        let prompt = &structured.prompt;
        instruct(declared.provider, client.model(), &mut request, prompt);
    }
    request.extend(declared.request.clone());
    let body = client.complete(Value::Object(request)).await?;
    let answer = declared.parse(&body)?;
    Ok(Asked {
        answer,
        declared,
        way,
    })
}
