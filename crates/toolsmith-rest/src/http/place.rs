//! Where each argument goes, settled when the tool is made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolsmith_core::ToolDef;
use toolsmith_core::reference::Place;

use super::body::Content;
use super::template::PathTemplate;
use crate::form::{Entry, HttpMethod, ListStyle, ObjectStyle, PlaceForm, PlaceName};
use crate::make::Problem;

/// Headers that say how a message is put together or where it goes, or that only the
/// client may write.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Where an argument goes.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// Which sort of place.
    pub(crate) place: PlaceName,
    /// What it is called there.
    pub(crate) name: String,
    /// How a list is written.
    pub(crate) list: ListStyle,
    /// How an object is written.
    pub(crate) object: ObjectStyle,
}

/// Where all arguments go.
#[derive(Debug)]
pub(crate) struct Places {
    placed: BTreeMap<String, Placement>,
    /// Where an argument goes that the schema permits and does not name.
    rest: PlaceName,
    /// Whether there can be such arguments.
    is_open: bool,
    /// The argument that is for the runtime alone.
    consent: Option<String>,
}

impl Placement {
    fn plain(place: PlaceName, argument: &str) -> Self {
        Self {
            place,
            name: argument.to_owned(),
            list: ListStyle::default(),
            object: ObjectStyle::default(),
        }
    }
}

impl From<(&String, &PlaceForm)> for Placement {
    fn from((argument, form): (&String, &PlaceForm)) -> Self {
        match form {
            PlaceForm::Plain(place) => Self::plain(*place, argument),
            PlaceForm::Detailed {
                place,
                name,
                list,
                object,
            } => Self {
                place: *place,
                name: name.as_ref().unwrap_or(argument).clone(),
                list: list.unwrap_or_default(),
                object: object.unwrap_or_default(),
            },
        }
    }
}

impl Places {
    /// Settles the places of a tool's arguments; `templated` are those of its request.
    ///
    /// # Errors
    /// Every argument that has no place or two, and every place without an argument.
    pub(crate) fn settle(
        entry: &Entry,
        definition: &ToolDef,
        (path, is_known): (&PathTemplate, bool),
        templated: Option<&BTreeSet<String>>,
    ) -> Result<Self, Vec<Problem>> {
        let mut settling = Settling {
            problems: Vec::new(),
            declared: declared(definition),
            path_is_known: is_known,
            path_place: entry
                .path
                .as_ref()
                .map(|path| path.place)
                .unwrap_or_default(),
        };
        let mut placed: BTreeMap<String, Placement> = entry
            .places
            .iter()
            .map(|pair| (pair.0.clone(), pair.into()))
            .collect();
        let in_path: BTreeSet<&str> = path.names().collect();
        settling.check(&placed, &in_path);
        let has_body = matches!(
            entry.method.unwrap_or_default(),
            HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch
        );
        let rest = if has_body && templated.is_none() {
            PlaceName::Body
        } else {
            PlaceName::Query
        };
        let consent = definition
            .consent
            .as_ref()
            .map(|consent| consent.argument.clone());
        for argument in &settling.declared {
            if placed.contains_key(argument) {
                continue;
            }
            let place = if in_path.contains(argument.as_str()) {
                PlaceName::Path
            } else if templated.is_some_and(|names| names.contains(argument))
                || consent.as_ref() == Some(argument)
            {
                continue;
            } else if templated.is_some() && has_body {
                let message = format!(
                    "the argument `{argument}` goes nowhere; name it in `request` or under `places`"
                );
                settling.problems.push(Problem::new(message));
                continue;
            } else {
                rest
            };
            placed.insert(argument.clone(), Placement::plain(place, argument));
        }
        settling.check_shared(&placed);
        if settling.problems.is_empty() {
            Ok(Self {
                placed,
                rest,
                is_open: definition.input.as_value().get("additionalProperties")
                    != Some(&Value::Bool(false)),
                consent,
            })
        } else {
            Err(settling.problems)
        }
    }

    /// Where an argument goes; nowhere where it is not for the server, or stands in the
    /// request's own template.
    pub(crate) fn of(&self, argument: &str, is_templated: bool) -> Option<Placement> {
        if let Some(placement) = self.placed.get(argument) {
            return Some(placement.clone());
        }
        if is_templated || self.consent.as_deref() == Some(argument) {
            return None;
        }
        Some(Placement::plain(self.rest, argument))
    }

    /// What a body is made of where the file does not write it out.
    pub(crate) fn content(&self) -> Content {
        if let Some((argument, _)) = self.names_in(PlaceName::WholeBody).next() {
            return Content::Whole(argument.to_owned());
        }
        let has_fields = self.names_in(PlaceName::Body).next().is_some();
        if has_fields || (self.is_open && self.rest == PlaceName::Body) {
            Content::Fields
        } else {
            Content::Nothing
        }
    }

    /// What is called what in one sort of place.
    pub(crate) fn names_in(&self, place: PlaceName) -> impl Iterator<Item = (&str, &str)> {
        let there = self.placed.iter().filter(move |(_, it)| it.place == place);
        there.map(|(argument, it)| (argument.as_str(), it.name.as_str()))
    }
}

struct Settling {
    problems: Vec<Problem>,
    declared: Vec<String>,
    path_place: Place,
    /// Whether the whole path is known, or only what stands after an address that is not.
    path_is_known: bool,
}

impl Settling {
    /// Looks at what the file says by itself.
    fn check(&mut self, placed: &BTreeMap<String, Placement>, in_path: &BTreeSet<&str>) {
        for name in in_path {
            if !self.declared.iter().any(|declared| declared == name) {
                let message = format!(
                    "the path names `{{{name}}}`, which is no parameter; declare it under `parameters`"
                );
                self.problems.push(Problem::at(self.path_place, message));
            }
        }
        for (argument, placement) in placed {
            let problem = if !self.declared.contains(argument) {
                Some("is no parameter; declare it under `parameters`".to_owned())
            } else if placement.place == PlaceName::Path
                && self.path_is_known
                && !in_path.contains(argument.as_str())
            {
                Some(format!(
                    "is in no path; write `{{{argument}}}` where it goes"
                ))
            } else if placement.place != PlaceName::Path && in_path.contains(argument.as_str()) {
                Some("is in the path already; take it out of one".to_owned())
            } else {
                match placement.place {
                    PlaceName::Header => header_problem(&placement.name),
                    PlaceName::Cookie if !is_token(&placement.name) => Some(format!(
                        "is called {:?}, which is no cookie's name",
                        placement.name
                    )),
                    _ => None,
                }
            };
            let problem = problem.map(|problem| format!("under `places`, `{argument}` {problem}"));
            self.problems.extend(problem.map(Problem::new));
        }
    }

    /// Looks for two arguments in one place.
    fn check_shared(&mut self, placed: &BTreeMap<String, Placement>) {
        let mut seen = BTreeMap::new();
        for (argument, placement) in placed {
            let name = match placement.place {
                PlaceName::Path => continue,
                PlaceName::Header => placement.name.to_ascii_lowercase(),
                PlaceName::WholeBody => String::new(),
                _ => placement.name.clone(),
            };
            let key = (format!("{:?}", placement.place), name);
            if let Some(other) = seen.insert(key, argument) {
                let message = format!("`{other}` and `{argument}` go to the same place");
                self.problems.push(Problem::new(message));
            }
        }
        let has = |place: PlaceName| placed.values().any(|it| it.place == place);
        if has(PlaceName::WholeBody) && has(PlaceName::Body) {
            let message = "one argument is the whole body, and others are fields of it; \
                           place those in the query or the headers";
            self.problems.push(Problem::new(message));
        }
    }
}

/// Says why a header cannot be sent by a file.
pub(crate) fn header_problem(name: &str) -> Option<String> {
    if !is_token(name) {
        return Some(format!("is called {name:?}, which is no header's name"));
    }
    is_reserved(name).then(|| format!("is the header {name:?}, which only the client writes"))
}

/// Tells whether only the client writes a header.
pub(crate) fn is_reserved(header: &str) -> bool {
    RESERVED.iter().any(|it| it.eq_ignore_ascii_case(header))
}

/// Tells whether a text can be the name of a header or a cookie.
pub(crate) fn is_token(name: &str) -> bool {
    let is_mark = |c: char| "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || is_mark(c))
}

fn declared(definition: &ToolDef) -> Vec<String> {
    let properties = definition.input.as_value().get("properties");
    let properties = properties.and_then(|it| it.as_object());
    properties
        .map(|it| it.keys().cloned().collect())
        .unwrap_or_default()
}
