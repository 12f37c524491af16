//! The parameters of an operation: merged with its path's, and each in its place.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::arguments::Argument;
use super::notes::Notes;
use super::outline::Place;
use super::read::kind_of;
use super::schema::{Piece, Pool};
use super::{refer, text};
use crate::form::{ListStyle, ObjectStyle, PlaceName};
use crate::http::{is_reserved, is_token};

/// How many parameters one operation has at most.
const MAX: usize = 500;

/// Headers that are no parameters: the standard names three, and cookies have a place of
/// their own. Others belong to the client alone.
const IGNORED: [&str; 4] = ["accept", "content-type", "authorization", "cookie"];

/// The parameters of an operation, or why it cannot be a tool.
pub(super) fn parameters<'d>(
    root: &'d Value,
    place: &Place<'d>,
    whole: &str,
    pool: &mut Pool<'d>,
    notes: &mut Notes,
) -> Result<Vec<Argument>, String> {
    let mut arguments = Vec::new();
    for parameter in merged(root, place)? {
        let given = match Given::of(parameter) {
            Ok(Some(given)) => given,
            Ok(None) => continue,
            // Nothing is lost with a parameter that need not be, and has no name.
            Err(reason) if parameter.get("required") == Some(&Value::Bool(false)) => {
                notes.add(format!("{whole}: {reason}; it is optional and left out"));
                continue;
            }
            Err(reason) => return Err(reason),
        };
        match given.argument(root, pool, notes) {
            Ok(Some(argument)) => arguments.push(argument),
            Ok(None) => {}
            Err(reason) if given.is_required => return Err(reason),
            Err(reason) => notes.add(format!("{whole}: {reason}; it is optional and left out")),
        }
    }
    Ok(arguments)
}

/// The operation's own parameters in place of the path's of the same name and place.
fn merged<'d>(root: &'d Value, place: &Place<'d>) -> Result<Vec<&'d Value>, String> {
    let mut order: Vec<&'d Value> = Vec::new();
    let mut known: HashMap<(String, &str), usize> = HashMap::new();
    for holder in [place.item, place.operation] {
        let list = match holder.get("parameters") {
            None | Some(Value::Null) => continue,
            Some(Value::Array(list)) => list,
            Some(other) => {
                return Err(format!(
                    "its `parameters` are {}, not a list",
                    kind_of(other)
                ));
            }
        };
        if list.len() > MAX {
            return Err(format!("it has more than {MAX} parameters"));
        }
        for parameter in list {
            let parameter = refer::follow(root, parameter)
                .map_err(|problem| format!("a parameter cannot be found: {problem}"))?;
            let text = |field| {
                parameter
                    .get(field)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let (name, place) = (text("name"), text("in"));
            let name = match place {
                // Headers are the same whatever their case.
                "header" => name.to_ascii_lowercase(),
                _ => name.to_owned(),
            };
            match known.get(&(name.clone(), place)) {
                Some(index) => order[*index] = parameter,
                None => {
                    known.insert((name, place), order.len());
                    order.push(parameter);
                }
            }
            if order.len() > MAX {
                return Err(format!("it has more than {MAX} parameters"));
            }
        }
    }
    Ok(order)
}

/// A parameter as it is written.
struct Given<'d> {
    parameter: &'d Value,
    name: &'d str,
    place: PlaceName,
    is_required: bool,
}

impl<'d> Given<'d> {
    /// A parameter that is one; nothing for those that are not sent.
    fn of(parameter: &'d Value) -> Result<Option<Self>, String> {
        let Some(name) = parameter.get("name").and_then(Value::as_str) else {
            return Err(format!(
                "a parameter is {} without a name",
                kind_of(parameter)
            ));
        };
        let shown = || text::line(name, 60);
        if name.is_empty() || name.chars().any(char::is_control) || name.len() > 500 {
            return Err(format!(
                "the parameter {:?} has a name that cannot be sent",
                shown()
            ));
        }
        let place = match parameter.get("in").and_then(Value::as_str) {
            Some("path") => PlaceName::Path,
            Some("query") => PlaceName::Query,
            Some("header") => PlaceName::Header,
            Some("cookie") => PlaceName::Cookie,
            Some("querystring") => {
                return Err("its whole query is one parameter, which is not supported".to_owned());
            }
            _ => {
                return Err(format!(
                    "the parameter {:?} has no place that is known",
                    shown()
                ));
            }
        };
        let is_ignored = |header: &str| {
            IGNORED.iter().any(|it| it.eq_ignore_ascii_case(header)) || is_reserved(header)
        };
        if place == PlaceName::Header && is_ignored(name) {
            return Ok(None);
        }
        let is_required = place == PlaceName::Path || refer::is_true(parameter, "required");
        Ok(Some(Self {
            parameter,
            name,
            place,
            is_required,
        }))
    }

    fn argument(
        &self,
        root: &'d Value,
        pool: &mut Pool<'d>,
        notes: &mut Notes,
    ) -> Result<Option<Argument>, String> {
        let problem = |what: &str| {
            let place = format!("{:?}", self.place).to_lowercase();
            format!(
                "the {place} parameter {:?} {what}",
                text::line(self.name, 60)
            )
        };
        if self.place == PlaceName::Header && !is_token(self.name) {
            return Err(problem("has a name that is none of a header"));
        }
        if self.place == PlaceName::Cookie && !is_token(self.name) {
            return Err(problem("has a name that is none of a cookie"));
        }
        let (schema, is_json) = self.schema();
        let mut piece = match schema {
            Some(schema) => pool.convert(schema, notes),
            None => text_piece(),
        };
        let shape = schema.map_or(Shape::Plain, |schema| shape(root, schema));
        let (mut list, mut object) = (None, None);
        match (shape, is_json) {
            (Shape::Object, true) if self.place == PlaceName::Query => {
                object = Some(ObjectStyle::Json);
            }
            (Shape::List | Shape::Object, true) => piece = json_text(),
            (Shape::Plain, _) => self.only_style(&problem)?,
            (Shape::List, false) => list = self.list_style(&problem)?,
            (Shape::Object, false) => object = self.object_style(&problem)?,
        }
        self.describe(&mut piece);
        Ok(Some(Argument {
            wire: self.name.to_owned(),
            place: self.place,
            list,
            object,
            is_required: self.is_required,
            piece,
        }))
    }

    /// The schema, and whether what is sent is JSON.
    fn schema(&self) -> (Option<&'d Value>, bool) {
        if let Some(schema) = self.parameter.get("schema") {
            return (Some(schema), false);
        }
        let content = refer::object(self.parameter, "content");
        let Some((kind, media)) = content.and_then(|content| content.iter().next()) else {
            return (None, false);
        };
        (
            media.get("schema"),
            kind.to_ascii_lowercase().contains("json"),
        )
    }

    fn style(&self) -> &'d str {
        let default = match self.place {
            PlaceName::Path | PlaceName::Header => "simple",
            _ => "form",
        };
        refer::string(self.parameter, "style").unwrap_or(default)
    }

    fn explodes(&self) -> bool {
        let explode = self.parameter.get("explode").and_then(Value::as_bool);
        explode.unwrap_or_else(|| self.style() == "form")
    }

    fn only_style(&self, problem: &dyn Fn(&str) -> String) -> Result<(), String> {
        match self.style() {
            "label" | "matrix" => Err(problem("is written in a style that is not supported")),
            _ => Ok(()),
        }
    }

    fn list_style(&self, problem: &dyn Fn(&str) -> String) -> Result<Option<ListStyle>, String> {
        self.only_style(problem)?;
        if self.place != PlaceName::Query {
            return Ok(Some(ListStyle::Comma));
        }
        let is_told = self.parameter.get("explode") == Some(&Value::Bool(true));
        Ok(match self.style() {
            "spaceDelimited" if !is_told => Some(ListStyle::Space),
            "pipeDelimited" if !is_told => Some(ListStyle::Pipe),
            "form" if !self.explodes() => Some(ListStyle::Comma),
            // Not defined, and what servers that ask for it read.
            "deepObject" => Some(ListStyle::Brackets),
            _ => None,
        })
    }

    fn object_style(
        &self,
        problem: &dyn Fn(&str) -> String,
    ) -> Result<Option<ObjectStyle>, String> {
        match (self.place, self.style(), self.explodes()) {
            (PlaceName::Query, "deepObject", _) => Ok(Some(ObjectStyle::Deep)),
            (PlaceName::Query, "form", true) => Ok(Some(ObjectStyle::Form)),
            _ => Err(problem("is an object in a style that is not supported")),
        }
    }

    /// What is said of a parameter goes before what is said of its schema.
    fn describe(&self, piece: &mut Piece) {
        let mut value = std::mem::take(&mut piece.value);
        if let Value::Bool(true) = value {
            value = json!({});
        }
        if let Value::Object(object) = &mut value {
            if let Some(description) = refer::string(self.parameter, "description") {
                let description = text::bounded(description, 1000);
                object.insert("description".to_owned(), description.into());
            }
            if refer::is_true(self.parameter, "deprecated") {
                object.insert("deprecated".to_owned(), true.into());
            }
        }
        piece.value = value;
    }
}

/// What sort of value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    List,
    Object,
}

/// What sort of value a schema describes, as far as it says so at first sight.
pub(super) fn shape(root: &Value, schema: &Value) -> Shape {
    let mut waiting = vec![schema];
    for _ in 0..16 {
        let Some(schema) = waiting.pop() else { break };
        let Ok(schema) = refer::follow(root, schema) else {
            continue;
        };
        let is = |name: &str| match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().take(16).any(|kind| kind == name),
            Some(kind) => kind == name,
            None => false,
        };
        if is("array") || (schema.get("type").is_none() && schema.get("items").is_some()) {
            return Shape::List;
        }
        if is("object") || (schema.get("type").is_none() && schema.get("properties").is_some()) {
            return Shape::Object;
        }
        if schema.get("type").is_some() {
            continue;
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array);
            waiting.extend(branches.into_iter().flatten().take(8));
        }
    }
    Shape::Plain
}

fn text_piece() -> Piece {
    Piece::default().with_value(json!({ "type": "string" }))
}

/// Where JSON has to be written out by whoever makes the call.
fn json_text() -> Piece {
    let schema = json!({
        "type": "string",
        "contentMediaType": "application/json",
        "description": "JSON, as text.",
    });
    Piece::default().with_value(schema)
}
