//! What is checked before a tool gets in: its name, its schemas, its consent.

use serde_json::Value;
use toolsmith_core::{Schema, Source, ToolDef, ToolName};

use super::measure::{self, Measure};
use crate::validate::{Dialect, bounded, compile};

/// How much is shown of what others say about a schema.
const MESSAGE: usize = 300;

/// Why a tool could not be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A tool the user wrote down, and the file it stands in.
    #[error("{file}: {error}")]
    InFile {
        /// The file.
        file: String,
        /// What is wrong.
        error: Box<RegistryError>,
    },
    /// Another tool has the name.
    #[error("tool `{name}` is registered already, by `{by}`; give one of them another name")]
    Duplicate {
        /// The name both have.
        name: ToolName,
        /// Where the first one comes from.
        by: String,
    },
    /// An own tool whose name is not lower case with underscores.
    #[error(
        "tool name `{name}` must be lower case with underscores and begin with a letter, such as `{suggestion}`"
    )]
    Name {
        /// The name.
        name: ToolName,
        /// How it could be written.
        suggestion: String,
    },
    /// A schema that is none, or that is not safe to use.
    #[error("the {which} schema of tool `{name}` cannot be used: {fault}")]
    Schema {
        /// The tool.
        name: ToolName,
        /// `input` or `output`.
        which: &'static str,
        /// What is wrong.
        fault: SchemaFault,
    },
    /// A tool that panicked when asked what it is.
    #[error("a tool of `{origin}` panicked when asked for its definition")]
    Panicked {
        /// Where it comes from.
        origin: String,
    },
    /// A consent literal its own schema does not demand.
    #[error(
        "tool `{name}` wants consent in `{argument}`, but its schema does not demand the literal there"
    )]
    Consent {
        /// The tool.
        name: ToolName,
        /// The argument.
        argument: String,
    },
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaFault {
    /// Nested too deep.
    #[error("it nests deeper than {limit} levels")]
    Depth {
        /// The limit.
        limit: usize,
    },
    /// Too many bytes.
    #[error("it is larger than {limit} bytes")]
    Size {
        /// The limit.
        limit: usize,
    },
    /// Small, but enormous once its references are followed.
    #[error("it expands to more than {limit} schemas")]
    Expansion {
        /// The limit.
        limit: u64,
    },
    /// A schema that applies itself to the very same value, without end.
    #[error("`{pointer}` applies itself to the same value without end")]
    Endless {
        /// Where the circle was noticed.
        pointer: String,
    },
    /// A reference that leads outside the document.
    #[error(
        "`$ref` to {reference:?} leads outside the schema; only references such as \"#/$defs/name\" are followed"
    )]
    Reference {
        /// The reference.
        reference: String,
    },
    /// A part with an identity of its own.
    #[error("a part of it has an `$id` of its own, {id}; only the whole may have one")]
    Embedded {
        /// The identity.
        id: String,
    },
    /// Valid JSON that is no valid JSON Schema.
    #[error("at `{pointer}`: {message}")]
    Invalid {
        /// Where.
        pointer: String,
        /// What the meta-schema says.
        message: String,
    },
    /// A version of JSON Schema this one does not follow.
    #[error(
        "its `$schema` is {dialect}; only draft 2020-12 (the default) and draft-07 are followed"
    )]
    Dialect {
        /// What `$schema` says.
        dialect: String,
    },
    /// Arguments are always an object.
    #[error("arguments are an object, so its `type` must be \"object\"")]
    NotAnObject,
}

/// Checks a definition and measures its input schema.
pub(super) fn definition(tool: &ToolDef) -> Result<Measure, RegistryError> {
    let own = !matches!(tool.source, Source::Mcp { .. });
    if own && !tool.name.is_own_form() {
        return Err(RegistryError::Name {
            name: tool.name.clone(),
            suggestion: own_form(tool.name.as_str()),
        });
    }
    let fault = |which, fault| RegistryError::Schema {
        name: tool.name.clone(),
        which,
        fault,
    };
    let measure = schema(&tool.input).map_err(|f| fault("input", f))?;
    if let Value::Object(object) = tool.input.as_value()
        && object.get("type").is_some_and(|kind| kind != "object")
    {
        return Err(fault("input", SchemaFault::NotAnObject));
    }
    if let Some(output) = &tool.output {
        schema(output).map_err(|f| fault("output", f))?;
    }
    consent(tool)?;
    Ok(measure)
}

fn schema(schema: &Schema) -> Result<Measure, SchemaFault> {
    let value = schema.as_value();
    let Some(dialect) = Dialect::of(value) else {
        return Err(SchemaFault::Dialect {
            dialect: bounded(&value["$schema"].to_string(), MESSAGE),
        });
    };
    let measure = measure::measure(value)?;
    let checked = match dialect {
        Dialect::Draft202012 => jsonschema::draft202012::meta::validate(value),
        Dialect::Draft07 => jsonschema::draft7::meta::validate(value),
    };
    if let Err(error) = checked {
        return Err(SchemaFault::Invalid {
            pointer: bounded(&pointer(error.instance_path().as_str()), MESSAGE),
            message: bounded(&error.to_string(), MESSAGE),
        });
    }
    // Patterns the linear engine cannot run are found now rather than at the
    // first call; other schemas are compiled only when they are needed.
    if measure.has_patterns {
        compile(value).map_err(|message| SchemaFault::Invalid {
            pointer: "/".to_owned(),
            message: bounded(&message, MESSAGE),
        })?;
    }
    Ok(measure)
}

fn consent(tool: &ToolDef) -> Result<(), RegistryError> {
    let Some(consent) = &tool.consent else {
        return Ok(());
    };
    let schema = tool.input.as_value();
    let property = &schema["properties"][&consent.argument];
    // A default would be filled in, and say for the user what only the user may.
    let is_said = property["const"] == *consent.literal && property.get("default").is_none();
    let required = schema["required"]
        .as_array()
        .is_some_and(|names| names.iter().any(|name| *name == consent.argument));
    if is_said && required && !consent.literal.is_empty() {
        return Ok(());
    }
    Err(RegistryError::Consent {
        name: tool.name.clone(),
        argument: consent.argument.clone(),
    })
}

/// A name as it could have been written.
fn own_form(name: &str) -> String {
    let mut text = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            text.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        text.push(if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        });
    }
    let text = text.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    if text.is_empty() { "my_tool" } else { text }.to_owned()
}

fn pointer(path: &str) -> String {
    if path.is_empty() { "/" } else { path }.to_owned()
}
