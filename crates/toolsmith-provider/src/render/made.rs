//! Calls in a provider's terms, on their way out.

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{RawCall, json};

use crate::dictionary::Dictionary;
use crate::parse::Ids;
use crate::provider::Provider;

/// A call as a provider would send it.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
}

impl Made {
    pub(super) fn arguments_text(&self) -> String {
        Value::Object(self.arguments.clone()).to_string()
    }
}

/// The calls by the names the provider knows, with numbers it takes. Arguments that are
/// no object, or nest deeper than anything is read, are left out.
pub(crate) fn made(provider: Provider, dictionary: &Dictionary, calls: &[RawCall]) -> Vec<Made> {
    let mut ids = Ids::new(provider, "");
    let one = |call: &RawCall| {
        let declared = dictionary.declared(&call.name);
        let arguments = match &call.arguments {
            RawArguments::Json(value) if !json::depth_exceeds(value, json::MAX_DEPTH) => {
                dictionary.declared_arguments(&call.name, value.clone())
            }
            _ => Value::Null,
        };
        Made {
            id: ids.give(call.id.as_ref().map(|id| id.as_str()), declared),
            name: declared.to_owned(),
            arguments: match arguments {
                Value::Object(arguments) => arguments,
                _ => Map::new(),
            },
        }
    };
    calls.iter().map(one).collect()
}
