//! Operations as they are meant, with a call of each and the request that must come of
//! it.
//!
//! Nothing here knows the importer, so that it can be held against a real sender as
//! well; `sent` reads an entry as its form says.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolsmith_rest::form::{BodyForm, Entry, ListStyle, ObjectStyle, PlaceForm, PlaceName};

/// What reaches the server, decoded. Headers and cookies are compared without order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) segments: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) body: Option<Sent>,
}

/// A body, decoded. The pairs of a form are in order of name and value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sent {
    Json(Value),
    Form(Vec<(String, String)>),
    Multipart(Vec<(String, String)>),
    Text(String),
}

/// An operation, a call of it, and what must come of that.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: &'static str,
    /// Texts and parameters of each segment, in turn.
    pub(crate) path: Vec<(String, Option<Parameter>, String)>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) place: &'static str,
    pub(crate) is_required: bool,
    pub(crate) style: Style,
    /// What the call gives, if it gives it.
    pub(crate) value: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Repeat,
    Comma,
    Space,
    Pipe,
    Form,
    Deep,
    Json,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    None,
    /// Fields, of which the call gives some.
    Fields(BTreeMap<String, (Value, bool)>),
    Whole(Value),
    /// Fields of a form: texts, lists of texts and objects.
    Form(BTreeMap<String, (Value, bool)>),
    Multipart(BTreeMap<String, (Value, bool)>),
    Text(String),
}

impl Parameter {
    fn described(&self) -> Value {
        let schema = match self.style {
            Style::Plain => json!({ "type": ["string", "integer", "boolean"] }),
            Style::Repeat | Style::Comma | Style::Space | Style::Pipe => {
                json!({ "type": "array", "items": { "type": "string" } })
            }
            Style::Form | Style::Deep | Style::Json => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
        };
        if self.style == Style::Json {
            return json!({
                "name": self.name, "in": self.place, "required": self.is_required,
                "content": { "application/json": { "schema": schema } },
            });
        }
        let mut parameter = json!({
            "name": self.name, "in": self.place, "required": self.is_required, "schema": schema,
        });
        match self.style {
            Style::Comma if self.place == "query" => parameter["explode"] = false.into(),
            Style::Space => parameter["style"] = "spaceDelimited".into(),
            Style::Pipe => parameter["style"] = "pipeDelimited".into(),
            Style::Deep => parameter["style"] = "deepObject".into(),
            _ => {}
        }
        parameter
    }

    /// The pairs it is written as.
    fn pairs(&self) -> Vec<(String, String)> {
        let Some(value) = &self.value else {
            return Vec::new();
        };
        let name = || self.name.clone();
        let texts = || {
            value
                .as_array()
                .into_iter()
                .flatten()
                .map(text)
                .collect::<Vec<_>>()
        };
        let fields = || value.as_object().into_iter().flatten();
        match self.style {
            Style::Plain | Style::Json => vec![(name(), text(value))],
            Style::Repeat => texts().into_iter().map(|text| (name(), text)).collect(),
            Style::Comma => vec![(name(), texts().join(","))],
            Style::Space => vec![(name(), texts().join(" "))],
            Style::Pipe => vec![(name(), texts().join("|"))],
            Style::Form => fields()
                .map(|(field, value)| (field.clone(), text(value)))
                .collect(),
            Style::Deep => fields()
                .map(|(field, value)| (format!("{}[{field}]", self.name), text(value)))
                .collect(),
        }
    }
}

impl Operation {
    fn all(&self) -> impl Iterator<Item = &Parameter> {
        let path = self
            .path
            .iter()
            .filter_map(|(_, parameter, _)| parameter.as_ref());
        path.chain(&self.parameters)
    }

    pub(crate) fn template(&self) -> String {
        let segment = |(before, parameter, after): &(String, Option<Parameter>, String)| {
            let name = parameter
                .as_ref()
                .map_or(String::new(), |p| format!("{{{}}}", p.name));
            format!("/{before}{name}{after}")
        };
        self.path.iter().map(segment).collect()
    }

    pub(crate) fn described(&self) -> Value {
        let parameters: Vec<Value> = self.all().map(Parameter::described).collect();
        let mut operation =
            json!({ "operationId": self.id, "parameters": parameters, "responses": {} });
        let (kind, schema) = match &self.body {
            Body::None => return operation,
            Body::Fields(fields) => ("application/json", object_of(fields, |_| json!({}))),
            Body::Whole(_) => ("application/json", json!({ "type": "array" })),
            Body::Form(fields) => (
                "application/x-www-form-urlencoded",
                object_of(fields, schema_of),
            ),
            Body::Multipart(fields) => ("multipart/form-data", object_of(fields, schema_of)),
            Body::Text(_) => ("text/plain", json!({ "type": "string" })),
        };
        operation["requestBody"] =
            json!({ "required": true, "content": { kind: { "schema": schema } } });
        operation
    }

    /// What must reach the server.
    pub(crate) fn expected(&self) -> Request {
        let mut request = Request {
            method: self.method.to_uppercase(),
            ..Request::default()
        };
        for (before, parameter, after) in &self.path {
            let value = parameter.as_ref().and_then(|p| p.value.as_ref());
            let value = match value {
                Some(Value::Array(items)) => items.iter().map(text).collect::<Vec<_>>().join(","),
                value => value.map(text).unwrap_or_default(),
            };
            request.segments.push(format!("{before}{value}{after}"));
        }
        for parameter in &self.parameters {
            match parameter.place {
                "query" => request.query.extend(parameter.pairs()),
                "header" => request.headers.extend(
                    parameter
                        .pairs()
                        .into_iter()
                        .map(|(name, value)| (name.to_lowercase(), value)),
                ),
                _ => request.cookies.extend(parameter.pairs()),
            }
        }
        request.query.sort();
        request.body = match &self.body {
            Body::None => None,
            Body::Whole(value) => Some(Sent::Json(value.clone())),
            Body::Fields(fields) => Some(Sent::Json(Value::Object(given(fields)))),
            Body::Form(fields) => Some(Sent::Form(parts(&given(fields)))),
            Body::Multipart(fields) => Some(Sent::Multipart(parts(&given(fields)))),
            Body::Text(text) => Some(Sent::Text(text.clone())),
        };
        request
    }

    /// The arguments of the call, under the names the entry gives them.
    pub(crate) fn arguments(&self, entry: &Entry) -> Map<String, Value> {
        let mut arguments = Map::new();
        let mut give = |place: PlaceName, wire: &str, value: &Value| {
            let name = named(entry, place, wire);
            assert!(
                arguments.insert(name, value.clone()).is_none(),
                "{wire} is there twice"
            );
        };
        let names = holes(&entry.path.as_ref().unwrap().value);
        let path = self
            .path
            .iter()
            .filter_map(|(_, parameter, _)| parameter.as_ref());
        let path: Vec<(String, Value)> = names
            .into_iter()
            .zip(path.filter_map(|p| p.value.clone()))
            .collect();
        for parameter in &self.parameters {
            let place = match parameter.place {
                "query" => PlaceName::Query,
                "header" => PlaceName::Header,
                _ => PlaceName::Cookie,
            };
            if let Some(value) = &parameter.value {
                give(place, &parameter.name, value);
            }
        }
        match &self.body {
            Body::None => {}
            Body::Whole(value) => give(PlaceName::WholeBody, "", value),
            Body::Text(text) => give(PlaceName::WholeBody, "", &text.as_str().into()),
            Body::Fields(fields) | Body::Form(fields) | Body::Multipart(fields) => {
                for (name, (value, is_given)) in fields {
                    if *is_given {
                        give(PlaceName::Body, name, value);
                    }
                }
            }
        }
        for (name, value) in path {
            assert!(arguments.insert(name, value).is_none());
        }
        arguments
    }
}

/// The fields of a body that the call gives.
fn given(fields: &BTreeMap<String, (Value, bool)>) -> Map<String, Value> {
    let given = fields.iter().filter(|(_, (_, is_given))| *is_given);
    given
        .map(|(name, (value, _))| (name.clone(), value.clone()))
        .collect()
}

/// The fields of a form, as pairs.
fn parts(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) => {
                pairs.extend(items.iter().map(|item| (name.clone(), text(item))));
            }
            value => pairs.push((name.clone(), text(value))),
        }
    }
    pairs.sort();
    pairs
}

fn object_of(fields: &BTreeMap<String, (Value, bool)>, schema: impl Fn(&Value) -> Value) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, (value, _))| (name.clone(), schema(value)))
        .collect();
    json!({ "type": "object", "properties": properties })
}

fn schema_of(value: &Value) -> Value {
    match value {
        Value::Array(_) => json!({ "type": "array" }),
        Value::Object(_) => json!({ "type": "object" }),
        _ => json!({ "type": ["string", "integer", "boolean"] }),
    }
}

/// The name of the argument that goes to a place under a name.
fn named(entry: &Entry, place: PlaceName, wire: &str) -> String {
    let is_it = |(argument, form): &(&String, &PlaceForm)| {
        let (at, name) = match form {
            PlaceForm::Plain(at) => (*at, *argument),
            PlaceForm::Detailed { place, name, .. } => (*place, name.as_ref().unwrap_or(argument)),
        };
        at == place && (place == PlaceName::WholeBody || name == wire)
    };
    let found: Vec<&String> = entry
        .places
        .iter()
        .filter(is_it)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(found.len(), 1, "{place:?} {wire:?} in {:?}", entry.places);
    found[0].clone()
}

fn holes(path: &str) -> Vec<String> {
    let parts = path.split('{').skip(1);
    parts
        .filter_map(|part| Some(part.split_once('}')?.0.to_owned()))
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What an entry says is sent for these arguments.
pub(crate) fn sent(entry: &Entry, arguments: &Map<String, Value>) -> Request {
    let mut request = Request {
        method: json!(entry.method).as_str().unwrap().to_owned(),
        ..Request::default()
    };
    let path = &entry.path.as_ref().unwrap().value;
    let in_path = holes(path);
    for segment in path.split('/').skip(1) {
        let mut filled = segment.to_owned();
        for name in holes(segment) {
            let value = match &arguments[&name] {
                Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
                value => text(value),
            };
            filled = filled.replace(&format!("{{{name}}}"), &value);
        }
        request.segments.push(filled);
    }
    let mut fields = Map::new();
    for (argument, value) in arguments.iter().filter(|(name, _)| !in_path.contains(name)) {
        let (place, name, list, object) = match &entry.places[argument] {
            PlaceForm::Plain(place) => (*place, argument.clone(), None, None),
            PlaceForm::Detailed {
                place,
                name,
                list,
                object,
            } => (
                *place,
                name.clone().unwrap_or_else(|| argument.clone()),
                *list,
                *object,
            ),
        };
        let style = match (value, list, object) {
            (Value::Array(_), Some(ListStyle::Comma), _) => Style::Comma,
            (Value::Array(_), Some(ListStyle::Space), _) => Style::Space,
            (Value::Array(_), Some(ListStyle::Pipe), _) => Style::Pipe,
            (Value::Array(_), None, _) => Style::Repeat,
            (Value::Object(_), _, Some(ObjectStyle::Deep)) => Style::Deep,
            (Value::Object(_), _, Some(ObjectStyle::Json)) => Style::Json,
            (Value::Object(_), _, _) => Style::Form,
            _ => Style::Plain,
        };
        let value = Some(value.clone());
        let parameter = Parameter {
            name: name.clone(),
            place: "",
            is_required: false,
            style,
            value,
        };
        match place {
            PlaceName::Query => request.query.extend(parameter.pairs()),
            PlaceName::Header => {
                let pairs = parameter.pairs().into_iter();
                request
                    .headers
                    .extend(pairs.map(|(name, value)| (name.to_lowercase(), value)));
            }
            PlaceName::Cookie => request.cookies.extend(parameter.pairs()),
            PlaceName::WholeBody => {
                let value = parameter.value.unwrap_or_default();
                request.body = Some(match entry.body {
                    Some(BodyForm::Text) => Sent::Text(text(&value)),
                    _ => Sent::Json(value),
                });
            }
            PlaceName::Body => {
                fields.insert(name, parameter.value.unwrap_or_default());
            }
            other => panic!("{other:?}"),
        }
    }
    let has_fields = entry.places.values().any(|form| match form {
        PlaceForm::Plain(place) | PlaceForm::Detailed { place, .. } => *place == PlaceName::Body,
    });
    if has_fields {
        request.body = Some(match entry.body {
            Some(BodyForm::Form) => Sent::Form(parts(&fields)),
            Some(BodyForm::Multipart) => Sent::Multipart(parts(&fields)),
            _ => Sent::Json(Value::Object(fields)),
        });
    }
    request.query.sort();
    request
}
