//! One operation, and the tool it becomes.

use std::collections::BTreeSet;

use serde_json::Value;
use toolsmith_core::reference::Template;
use url::Url;

use super::arguments::{Argument, Arguments};
use super::body::body;
use super::notes::Notes;
use super::options::Options;
use super::outline::Place;
use super::parameters::parameters;
use super::response::response;
use super::schema::{Cut, Piece, Pool};
use super::security::{Auth, Schemes};
use super::{servers, text, words};
use crate::form::{Entry, HttpMethod, PlaceName, Placed};

/// How long a path is at most.
const MAX_PATH: usize = 2000;

/// What all operations of a document share while they are imported.
pub(super) struct Workshop<'d> {
    pub(super) root: &'d Value,
    pub(super) options: &'d Options,
    pub(super) title: String,
    pub(super) base: Option<Url>,
    /// Where the API is, if that is known.
    pub(super) server: Option<Url>,
    pub(super) requests: Pool<'d>,
    pub(super) responses: Pool<'d>,
    pub(super) schemes: Schemes<'d>,
    pub(super) notes: Notes,
    /// Which variables go where.
    pub(super) sent: BTreeSet<String>,
    /// How many bytes of schemas there may be yet.
    pub(super) room: usize,
}

/// A tool, and how its requests show who makes them.
pub(super) struct Made {
    pub(super) entry: Entry,
    pub(super) auth: Auth,
}

impl<'d> Workshop<'d> {
    /// Makes a tool, or says why there is none.
    pub(super) fn make(
        &mut self,
        place: &Place<'d>,
        method: HttpMethod,
        name: &str,
    ) -> Result<Made, String> {
        let whole = format!("{} {}", place.method, text::line(place.path, 120));
        let made = self.try_make(place, method, name, &whole);
        if made.is_err() {
            self.notes.forget(&whole);
        }
        made
    }

    fn try_make(
        &mut self,
        place: &Place<'d>,
        method: HttpMethod,
        name: &str,
        whole: &str,
    ) -> Result<Made, String> {
        let (root, notes) = (self.root, &mut self.notes);
        let path = Path::parse(place.path)?;
        let mut arguments = parameters(root, place, whole, &mut self.requests, notes)?;
        path.complete(&mut arguments, whole, notes);
        let own = [place.operation, place.item];
        let own = own
            .into_iter()
            .find(|holder| holder.get("servers").is_some());
        let own = own.filter(|_| self.options.api_url.is_none());
        let api_url = own.and_then(|own| servers::address(own, self.base.as_ref(), notes));
        let server = api_url.as_ref().and_then(servers::location);
        let server = server.as_ref().or(self.server.as_ref());
        let mut auth = self.schemes.of(place.operation, server, whole, notes);
        let scopes = api_url.as_ref().map_or(0, |_| auth.scope_bytes());
        self.room = self.room.saturating_sub(auth.header_bytes() + scopes);
        if self.room == 0 {
            return Err(full(self.options));
        }
        // What shows who makes a request is no argument, though documents say so.
        arguments.retain(|argument| !auth.fills(argument.place, &argument.wire));
        let body = body(root, place, whole, &mut self.requests, notes)?;
        arguments.extend(body.arguments);
        let arguments = Arguments::name(arguments, whole, notes);

        let mut entry = Entry::default();
        entry.name = Some(Placed::nowhere(name.to_owned()));
        entry.description = Some(words::description(place, &self.title));
        entry.tags = words::tags(place.operation);
        entry.category = entry.tags.first().cloned();
        entry.documentation_url = words::documentation(place.operation);
        entry.method = Some(method);
        entry.path = Some(Placed::nowhere(path.written(&arguments)));
        entry.places = arguments.places();
        entry.body = body.form;
        entry.api_url = api_url;
        if let Some(kind) = body.content_type
            && let Ok(kind) = kind.parse::<Template>()
        {
            entry
                .headers
                .insert("Content-Type".to_owned(), Placed::nowhere(kind));
        }
        let limit = self.options.max_schema_bytes.min(512 << 10);
        if let Some(piece) = arguments.schema() {
            let schema = self.gather(&piece, limit, whole)?;
            entry.parameters = Some(schema);
        }
        self.respond(place, &mut entry);
        entry.headers.extend(std::mem::take(&mut auth.headers));
        self.sent.append(&mut auth.sent);
        Ok(Made { entry, auth })
    }

    fn gather(
        &mut self,
        piece: &Piece,
        limit: usize,
        whole: &str,
    ) -> Result<Placed<serde_json::Map<String, Value>>, String> {
        let total = self.options.max_total_bytes;
        // So little is left that looking what would fit takes more than it gives.
        if self.room < limit.min(total) / 8 {
            return Err(full(self.options));
        }
        let gathered = self.requests.gather(piece, limit, &mut self.notes);
        let Some((Value::Object(schema), cut)) = gathered else {
            return Err(format!("its arguments take more than {limit} bytes"));
        };
        match cut {
            Cut::Nothing => {}
            Cut::Descriptions => self.notes.add(format!(
                "{whole}: descriptions within its arguments are left out to keep them small"
            )),
            Cut::Parts => self.notes.add(format!(
                "{whole}: its arguments are large; their depths accept anything"
            )),
        }
        let schema = Value::Object(schema);
        let bytes = schema.to_string().len();
        // Once one is left out, so are all that follow: a document is not gone through to
        // its end for the small ones.
        self.room = self.room.saturating_sub(bytes);
        if self.room == 0 {
            return Err(full(self.options));
        }
        let Value::Object(schema) = schema else {
            return Err("its arguments are no object".to_owned());
        };
        Ok(Placed::nowhere(schema))
    }

    fn respond(&mut self, place: &Place<'d>, entry: &mut Entry) {
        let limit = self.options.max_response_bytes.min(512 << 10);
        if limit == 0 || self.room < self.options.max_total_bytes / 2 {
            return;
        }
        let form = response(
            self.root,
            place.operation,
            limit,
            &mut self.responses,
            &mut self.notes,
        );
        if let Some(form) = form {
            let schema = form.schema.as_ref();
            let bytes = schema.map_or(0, |schema| schema.value.to_string().len());
            self.room = self.room.saturating_sub(bytes);
            entry.response = Some(form);
        }
    }
}

fn full(options: &Options) -> String {
    let total = options.max_total_bytes;
    format!("the tools before it take up the {total} bytes there are for all")
}

/// A path with its parameters apart.
struct Path<'d> {
    parts: Vec<Part<'d>>,
}

enum Part<'d> {
    Text(&'d str),
    Parameter(&'d str),
}

impl<'d> Path<'d> {
    fn parse(path: &'d str) -> Result<Self, String> {
        if !path.starts_with('/') {
            return Err("its path does not begin with a slash".to_owned());
        }
        if path.len() > MAX_PATH || path.chars().any(|c| c.is_control() || c == '\\') {
            return Err("its path cannot be sent".to_owned());
        }
        let mut parts = Vec::new();
        // A fragment tells operations apart in a document, and is never sent.
        let mut rest = path.split('#').next().unwrap_or_default();
        while let Some(start) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(start);
            let inside = after
                .strip_prefix('{')
                .and_then(|inside| inside.split_once('}'));
            let Some((name, after)) =
                inside.filter(|(name, _)| !name.is_empty() && !name.contains('{'))
            else {
                return Err("the braces of its path do not match".to_owned());
            };
            parts.extend([Part::Text(before), Part::Parameter(name)]);
            rest = after;
        }
        parts.push(Part::Text(rest));
        // What a query always says can stand in the path; arguments of it cannot.
        let has_query = |part: &Part<'_>| matches!(part, Part::Text(text) if text.contains('?'));
        let before_last = parts.len().saturating_sub(1);
        if parts[..before_last].iter().any(has_query) {
            return Err("its path has parameters in a query, which is not supported".to_owned());
        }
        Ok(Self { parts })
    }

    /// Sees to it that parameters are what the path names: those it does not name are
    /// nowhere to be put, and those nobody describes are texts.
    fn complete(&self, arguments: &mut Vec<Argument>, whole: &str, notes: &mut Notes) {
        let names = || {
            self.parts.iter().filter_map(|part| match part {
                Part::Parameter(name) => Some(*name),
                Part::Text(_) => None,
            })
        };
        arguments.retain(|argument| {
            let is_named =
                argument.place != PlaceName::Path || names().any(|name| name == argument.wire);
            if !is_named {
                let name = text::line(&argument.wire, 60);
                notes.add(format!(
                    "{whole}: the path does not name its parameter `{name}`, which is left out"
                ));
            }
            is_named
        });
        for name in names() {
            let is_it =
                |argument: &Argument| argument.place == PlaceName::Path && argument.wire == name;
            if arguments.iter().any(is_it) {
                continue;
            }
            let shown = text::line(name, 60);
            notes.add(format!(
                "{whole}: the parameter `{shown}` of the path is not described; it is a text"
            ));
            arguments.push(Argument {
                wire: name.to_owned(),
                place: PlaceName::Path,
                list: None,
                object: None,
                is_required: true,
                piece: Piece::default().with_value(serde_json::json!({ "type": "string" })),
            });
        }
    }

    /// The path with the names of arguments.
    fn written(&self, arguments: &Arguments) -> String {
        let mut path = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => path.push_str(text),
                Part::Parameter(name) => {
                    let name = arguments.in_path(name).unwrap_or(name);
                    path.push('{');
                    path.push_str(name);
                    path.push('}');
                }
            }
        }
        path
    }
}
