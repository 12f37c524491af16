//! Which version of JSON Schema a schema is written in.

use jsonschema::Draft;
use serde_json::Value;

/// The versions that are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dialect {
    Draft202012,
    Draft07,
}

impl Dialect {
    /// What `$schema` names, 2020-12 where it names nothing, and `None` for any
    /// other version: half understood, a schema lets through what it forbids.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let Some(named) = schema.get("$schema") else {
            return Some(Self::Draft202012);
        };
        let address = named.as_str()?;
        let address = address.strip_suffix('#').unwrap_or(address);
        let (_, place) = address
            .split_once("://")
            .filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
        match place {
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            "json-schema.org/draft-07/schema" => Some(Self::Draft07),
            _ => None,
        }
    }

    pub(super) fn draft(self) -> Draft {
        match self {
            Self::Draft202012 => Draft::Draft202012,
            Self::Draft07 => Draft::Draft7,
        }
    }
}
