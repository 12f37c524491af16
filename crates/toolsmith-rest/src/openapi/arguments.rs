//! The arguments of a tool while they are collected.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::naming;
use super::notes::Notes;
use super::schema::Piece;
use crate::form::{ListStyle, ObjectStyle, PlaceForm, PlaceName};

/// A parameter or a field that becomes an argument.
#[derive(Debug)]
pub(super) struct Argument {
    /// What it is called in the request.
    pub(super) wire: String,
    pub(super) place: PlaceName,
    pub(super) list: Option<ListStyle>,
    pub(super) object: Option<ObjectStyle>,
    pub(super) is_required: bool,
    pub(super) piece: Piece,
}

/// Arguments with the names they have got.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    named: Vec<(String, Argument)>,
}

impl Arguments {
    /// Names arguments. Those in the path come first, and keep their names.
    pub(super) fn name(mut arguments: Vec<Argument>, whole: &str, notes: &mut Notes) -> Self {
        arguments.sort_by_key(|argument| rank(argument.place));
        let mut taken = HashSet::new();
        // Where counting goes on, so that many of one name are not counted through.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut named = Vec::new();
        for argument in arguments {
            let plain = naming::argument(&argument.wire);
            let mut name = plain.clone();
            if taken.contains(&name) {
                name = naming::argument(&format!("{}_{plain}", word(argument.place)));
            }
            let number = numbers.entry(plain.clone()).or_insert(2_usize);
            while !taken.insert(name.clone()) {
                name = naming::with_suffix(&plain, &number.to_string());
                *number += 1;
            }
            if name != plain {
                let place = word(argument.place);
                notes.add(format!(
                    "{whole}: `{plain}` of the {place} is the argument `{name}`"
                ));
            }
            named.push((name, argument));
        }
        Self { named }
    }

    /// The name an argument in the path has got.
    pub(super) fn in_path(&self, wire: &str) -> Option<&str> {
        let is_it =
            |argument: &Argument| argument.place == PlaceName::Path && argument.wire == wire;
        let found = self.named.iter().find(|(_, argument)| is_it(argument));
        found.map(|(name, _)| name.as_str())
    }

    /// Where arguments go that the path does not name.
    pub(super) fn places(&self) -> BTreeMap<String, PlaceForm> {
        let forms = self.named.iter().filter_map(|(name, argument)| {
            let Argument {
                wire,
                place,
                list,
                object,
                ..
            } = argument;
            let is_named = matches!(place, PlaceName::Path | PlaceName::WholeBody);
            let wire = (!is_named && wire != name).then(|| wire.clone());
            let is_plain = wire.is_none() && list.is_none() && object.is_none();
            let form = match (place, is_plain) {
                (PlaceName::Path, true) => return None,
                (place, true) => PlaceForm::Plain(*place),
                (place, false) => PlaceForm::Detailed {
                    place: *place,
                    name: wire,
                    list: *list,
                    object: *object,
                },
            };
            Some((name.clone(), form))
        });
        forms.collect()
    }

    /// The schema of all of them together.
    pub(super) fn schema(&self) -> Option<Piece> {
        if self.named.is_empty() {
            return None;
        }
        let piece = Piece::joined(self.named.iter().map(|(_, argument)| &argument.piece));
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, argument) in &self.named {
            properties.insert(name.clone(), argument.piece.value.clone());
            if argument.is_required {
                required.push(Value::from(name.as_str()));
            }
        }
        let mut schema = Map::new();
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        Some(piece.with_value(Value::Object(schema)))
    }
}

fn rank(place: PlaceName) -> u8 {
    match place {
        PlaceName::Path => 0,
        PlaceName::Query => 1,
        PlaceName::Header => 2,
        PlaceName::Cookie => 3,
        PlaceName::Body => 4,
        PlaceName::WholeBody => 5,
    }
}

fn word(place: PlaceName) -> &'static str {
    match place {
        PlaceName::Path => "path",
        PlaceName::Query => "query",
        PlaceName::Header => "header",
        PlaceName::Cookie => "cookie",
        PlaceName::Body => "body",
        PlaceName::WholeBody => "request",
    }
}
