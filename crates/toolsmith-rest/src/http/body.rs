//! The body of a request: fields, one argument, or what the file writes out.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolsmith_core::{Arguments, ToolError};

use super::encode;
use super::pairs::Pairs;
use super::place::Placement;
use super::written::Written;
use crate::form::{BodyForm, ListStyle, ObjectStyle, PlaceName};

/// A body, ready to be sent.
#[derive(Clone)]
pub(crate) struct Body {
    /// Its media type, where the file names no other.
    pub(crate) content_type: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Body {
    /// A value as JSON.
    pub(crate) fn json(value: &Value) -> Self {
        Self {
            content_type: "application/json".to_owned(),
            bytes: value.to_string().into_bytes(),
        }
    }
}

/// What a body is made of.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// There is none.
    Nothing,
    /// The arguments that are placed in it.
    Fields,
    /// One argument.
    Whole(String),
    /// What the file writes out.
    Written(Written),
}

/// An argument that is a field of the body.
pub(crate) type Field<'a> = (Placement, &'a Value);

impl Content {
    /// Writes the body; none where there is nothing to say. The names of all fields there
    /// can be are kept for those.
    ///
    /// # Errors
    /// When the arguments cannot be written in the form.
    pub(crate) fn write(
        &self,
        form: BodyForm,
        fields: Vec<Field<'_>>,
        kept: HashSet<String>,
        arguments: &Arguments,
    ) -> Result<Option<Body>, ToolError> {
        let whole = match self {
            Self::Nothing => return Ok(None),
            Self::Fields => None,
            Self::Whole(name) => match arguments.get(name) {
                Some(value) => Some(value.clone()),
                None => return Ok(None),
            },
            Self::Written(written) => match written.fill(arguments) {
                Some(value) => Some(value),
                None => return Ok(None),
            },
        };
        let body = match (form, whole) {
            (BodyForm::Json, Some(value)) => Body::json(&value),
            (BodyForm::Json, None) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(placement, value)| (placement.name, value.clone()));
                Body::json(&Value::Object(fields.collect::<Map<_, _>>()))
            }
            (BodyForm::Text, Some(value)) => text(&value),
            (BodyForm::Text, None) => match fields.first() {
                Some((_, value)) => text(value),
                None => return Ok(None),
            },
            (BodyForm::Form, Some(value)) => web_form(&spread(&value)?, HashSet::new())?,
            (BodyForm::Form, None) => web_form(&fields, kept)?,
            (BodyForm::Multipart, Some(value)) => multipart(&spread(&value)?)?,
            (BodyForm::Multipart, None) => multipart(&fields)?,
        };
        Ok(Some(body))
    }
}

/// The fields of an object, each under its own name.
fn spread(value: &Value) -> Result<Vec<Field<'_>>, ToolError> {
    let Value::Object(fields) = value else {
        let message = "the body must be an object: it is sent as the fields of a form";
        return Err(ToolError::invalid(message));
    };
    let field = |(name, value)| {
        let placement = Placement {
            place: PlaceName::Body,
            name: String::clone(name),
            list: ListStyle::default(),
            object: ObjectStyle::Json,
        };
        (placement, value)
    };
    Ok(fields.iter().map(field).collect())
}

fn text(value: &Value) -> Body {
    Body {
        content_type: "text/plain; charset=utf-8".to_owned(),
        bytes: encode::text(value).into_owned().into_bytes(),
    }
}

fn web_form(fields: &[Field<'_>], mut kept: HashSet<String>) -> Result<Body, ToolError> {
    kept.extend(fields.iter().map(|(placement, _)| placement.name.clone()));
    let mut pairs = Pairs::keeping(kept);
    for (placement, value) in fields {
        pairs.add(placement, value)?;
    }
    Ok(Body {
        content_type: "application/x-www-form-urlencoded".to_owned(),
        bytes: pairs.write().into_bytes(),
    })
}

fn multipart(fields: &[Field<'_>]) -> Result<Body, ToolError> {
    let mut parts = Vec::new();
    for (placement, value) in fields {
        let name = placement.name.as_str();
        match value {
            Value::Null => {}
            Value::Array(items) => parts.extend(items.iter().map(|item| (name, item))),
            value => parts.push((name, *value)),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(name, value)| part(name, value))
        .collect();
    let boundary = boundary(&parts)?;
    let mut body = String::new();
    for part in parts {
        let _ = write!(body, "--{boundary}\r\n{part}\r\n");
    }
    let _ = write!(body, "--{boundary}--\r\n");
    Ok(Body {
        content_type: format!("multipart/form-data; boundary={boundary}"),
        bytes: body.into_bytes(),
    })
}

/// One part, without what stands between parts.
fn part(name: &str, value: &Value) -> String {
    let mut quoted = String::new();
    for c in name.chars() {
        match c {
            '"' | '\\' => encode::push_encoded(&mut quoted, c as u8),
            c if c.is_ascii_control() => encode::push_encoded(&mut quoted, c as u8),
            c => quoted.push(c),
        }
    }
    let kind = match value {
        Value::Object(_) => "Content-Type: application/json\r\n",
        _ => "",
    };
    let text = encode::text(value);
    format!("Content-Disposition: form-data; name=\"{quoted}\"\r\n{kind}\r\n{text}")
}

/// A line that no part holds. Nobody can guess it, so one try is as good as certain.
fn boundary(parts: &[String]) -> Result<String, ToolError> {
    for _ in 0..4 {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random)
            .map_err(|error| ToolError::internal(format!("no random numbers: {error}")))?;
        let mut boundary = "toolsmith-".to_owned();
        for byte in random {
            let _ = write!(boundary, "{byte:02x}");
        }
        if !parts.iter().any(|part| part.contains(&boundary)) {
            return Ok(boundary);
        }
    }
    Err(ToolError::internal(
        "no boundary could be found for the parts of the body",
    ))
}
