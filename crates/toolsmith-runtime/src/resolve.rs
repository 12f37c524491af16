//! Resolve: which tool a call means.
//!
//! A caller with an offer can reach what is in it and nothing else; what is not
//! there is unknown to it, and no hint tells otherwise.

use std::sync::Arc;

use serde_json::json;
use toolsmith_core::call::RawArguments;
use toolsmith_core::{ErrorKind, Offer, RawCall, ToolError, json as strict};

use crate::registry::{Entry, Registry, nearest};

/// A call whose tool is known.
#[derive(Debug)]
pub struct ResolvedCall {
    pub(crate) entry: Arc<Entry>,
    pub(crate) arguments: RawArguments,
    pub(crate) repairs: Vec<String>,
}

pub(crate) fn resolve(
    call: RawCall,
    registry: &Registry,
    offer: Option<&Offer>,
) -> Result<ResolvedCall, ToolError> {
    let entry = match offer {
        Some(offer) => offer
            .find(&call.name)
            .and_then(|offered| registry.find(offered.tool.name.as_str())),
        None => registry.find_called(&call.name),
    };
    // Nobody has measured the call yet, so what is not carried on is taken apart
    // with care.
    let responses = call.answers.map(|answers| answers.responses);
    for (_, response) in responses.into_iter().flatten() {
        strict::dismantle(response);
    }
    match entry {
        Some(entry) => Ok(ResolvedCall {
            entry,
            arguments: call.arguments,
            repairs: call.repairs,
        }),
        None => match call.arguments {
            // A call that could not even be read may have no name at all.
            RawArguments::Malformed(reason) => Err(ToolError::new(
                ErrorKind::InvalidParameters,
                format!("the call cannot be read: {reason}"),
            )),
            RawArguments::Json(value) => {
                strict::dismantle(value);
                Err(absent(&call.name, registry, offer))
            }
            _ => Err(absent(&call.name, registry, offer)),
        },
    }
}

/// Why there is no such tool: it is withheld, or its source could not tell it, where the
/// caller would have been offered it; or it is unknown.
fn absent(name: &str, registry: &Registry, offer: Option<&Offer>) -> ToolError {
    let withheld = registry
        .withheld_called(name)
        .filter(|withheld| offer.is_none_or(|offer| offer.withholds(&withheld.name)));
    if let Some(withheld) = withheld {
        return withheld.refusal();
    }
    match registry.missing_called(name) {
        Some((bare, error)) if offer.is_none_or(|offer| offer.misses(&bare)) => error,
        _ => unknown(name, registry, offer),
    }
}

fn unknown(name: &str, registry: &Registry, offer: Option<&Offer>) -> ToolError {
    let names: Vec<String> = match offer {
        Some(offer) => offer.tools().iter().map(|t| t.wire_name.clone()).collect(),
        None => registry
            .entries()
            .iter()
            .map(|e| e.wire_name.clone())
            .collect(),
    };
    let near = nearest(name, names.iter().map(String::as_str));
    let shown: String = name.chars().take(80).collect();
    let message = match near.as_slice() {
        [] => format!("there is no tool {shown:?}"),
        near => format!(
            "there is no tool {shown:?}; the nearest are {}",
            near.join(", ")
        ),
    };
    ToolError::new(ErrorKind::UnknownTool, message).with_details(json!({ "nearest": near }))
}
