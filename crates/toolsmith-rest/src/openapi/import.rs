//! From a document to an entry: every operation a tool, or listed with its reason.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use url::Url;

use super::notes::Notes;
use super::operation::{Made, Workshop};
use super::options::{Chosen, Options};
use super::outline::{Place, operations};
use super::read::{Document, OpenApiError};
use super::schema::{Pool, Side};
use super::security::{Auth, Schemes};
use super::variables::Variables;
use super::{naming, refer, servers, text, words};
use crate::form::{AuthMethod, DescriptionForm, Entry, HttpMethod, Placed};
use crate::make::{self, Surroundings};

/// How many schemas are converted for one document. Real ones come to a few hundred
/// thousand; what needs more repeats itself.
const MAX_WORK: usize = 4_000_000;
/// How many variables a person is told about.
const MAX_SENT: usize = 50;

/// What a document came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The tools, in the order of the document.
    pub entry: Entry,
    /// The operations that are none.
    pub left_out: Vec<LeftOut>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl Imported {
    /// Makes the tools. A document without operations has none: what says no `tools` would
    /// be a tool itself.
    pub fn make(&self, surroundings: &Surroundings) -> make::Made {
        if self.entry.tools.is_empty() {
            return make::Made::default();
        }
        make::make(&self.entry, surroundings)
    }
}

/// An operation that is no tool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The method; `*` where the path as a whole cannot be read.
    pub method: String,
    /// The path.
    pub path: String,
    /// What the document calls it.
    pub operation_id: Option<String>,
    /// Why.
    pub reason: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, path) = (self.method.to_uppercase(), &self.path);
        write!(f, "{method} {path}: {}", self.reason)
    }
}

/// Makes tools of a document's operations.
///
/// # Errors
/// Only where an option cannot be used; whatever is wrong with the document is told in
/// what is returned.
pub fn import(document: &Document, options: &Options) -> Result<Imported, OpenApiError> {
    let root = &document.root;
    let chosen = Chosen::new(options)?;
    check(options)?;
    let base = options.base.as_deref().map(Url::parse).transpose();
    let base = base.map_err(|error| {
        OpenApiError::Option(format!("the document's own address is none: {error}"))
    })?;
    let mut notes = Notes::default();
    let (places, broken) = operations(root, &mut notes);
    let called: Vec<_> = places.iter().map(Place::called).collect();
    let names = naming::name_all(&called, &options.prefix, &mut notes);

    let info = root.get("info").unwrap_or(&Value::Null);
    let title = refer::string(info, "title")
        .map_or_else(|| "the API".to_owned(), |title| text::line(title, 100));
    let api = naming::api(options.name.as_deref().unwrap_or(&title));
    let mut entry = Entry {
        api_url: api_url(root, options, base.as_ref(), &mut notes)?,
        ..Entry::default()
    };
    let server = entry.api_url.as_ref().and_then(servers::location);
    let bodies = places.iter().map(|place| place.operation);
    let variables = Variables::new(&api, options.name.is_some(), server.clone());
    let token_base = server.clone().or_else(|| base.clone());
    let schemes = Schemes::new(root, variables, token_base, bodies);
    entry.name = Some(Placed::nowhere(api));
    entry.description = about(info);
    entry.version = refer::string(info, "version").map(|version| text::line(version, 40));
    entry.documentation_url = words::documentation(root);

    let mut workshop = Workshop {
        root,
        options,
        title,
        base,
        server,
        requests: Pool::new(root, document.version, Side::Request),
        responses: Pool::new(root, document.version, Side::Response),
        schemes,
        notes,
        sent: BTreeSet::new(),
        room: options.max_total_bytes,
    };
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut made: Vec<Made> = Vec::new();
    let mut callbacks = 0;
    for (place, name) in places.iter().zip(&names) {
        let outcome = admit(place, &chosen).and_then(|method| {
            if made.len() >= options.max_tools {
                return Err(format!(
                    "there are {} tools before it already",
                    options.max_tools
                ));
            }
            if workshop.requests.work + workshop.responses.work > MAX_WORK {
                return Err(
                    "the schemas of those before it took all the work that is allowed".to_owned(),
                );
            }
            workshop.make(place, method, name)
        });
        match outcome {
            Ok(tool) => {
                callbacks +=
                    refer::object(place.operation, "callbacks").map_or(0, serde_json::Map::len);
                made.push(tool);
            }
            Err(reason) => left_out.push(LeftOut {
                method: text::line(&place.method, 40),
                path: text::line(place.path, 300),
                operation_id: place.id().map(|id| text::line(id, 100)),
                reason: text::line(&reason, 300),
            }),
        }
    }
    left_out.extend(broken.into_iter().map(|broken| LeftOut {
        method: "*".to_owned(),
        path: text::line(broken.path, 300),
        operation_id: None,
        reason: broken.reason,
    }));
    if callbacks > 0 {
        let note = format!("{callbacks} callbacks are requests the API makes, and no tools");
        workshop.notes.add(note);
    }
    if made.is_empty() {
        // An entry without others beneath it would be a tool itself.
        entry.disabled = true;
        workshop
            .notes
            .add("there is no operation that became a tool");
    }
    let mut notes = sent(&workshop.sent);
    notes.extend(workshop.notes.finish());
    authenticate(&mut entry, made);
    Ok(Imported {
        entry,
        left_out,
        notes,
    })
}

fn check(options: &Options) -> Result<(), OpenApiError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let prefix = &options.prefix;
    let begins_well = prefix.is_empty() || prefix.starts_with(|c: char| c.is_ascii_lowercase());
    if prefix.len() > 32 || !begins_well || !prefix.chars().all(is_plain) {
        return Err(OpenApiError::Option(format!(
            "the prefix {:?} cannot begin names; use up to 32 lower-case letters, digits and underscores",
            text::line(prefix, 60)
        )));
    }
    Ok(())
}

fn api_url(
    root: &Value,
    options: &Options,
    base: Option<&Url>,
    notes: &mut Notes,
) -> Result<Option<Placed<toolsmith_core::reference::Template>>, OpenApiError> {
    if let Some(given) = &options.api_url {
        let wrong =
            |error| OpenApiError::Option(format!("the address of the API cannot be used: {error}"));
        return Ok(Some(Placed::nowhere(given.parse().map_err(wrong)?)));
    }
    let found = servers::address(root, base, notes);
    if found.is_none() {
        notes.add("the document does not say where the API is; set `api_url`");
    }
    Ok(found)
}

fn about(info: &Value) -> Option<DescriptionForm> {
    let text = refer::string(info, "description").or_else(|| refer::string(info, "title"))?;
    let text = text.split("\n\n").next().unwrap_or_default();
    Some(DescriptionForm::Text(text::line(text, 500)))
}

/// The method of an operation that is wanted and can be read, or why it is not.
fn admit(place: &Place<'_>, chosen: &Chosen<'_>) -> Result<HttpMethod, String> {
    let method = place.method.parse().map_err(|_| {
        let method = text::line(&place.method, 40);
        format!("the method {method} is not supported")
    })?;
    if !place.operation.is_object() {
        return Err(format!(
            "it is {}, not an object",
            super::read::kind_of(place.operation)
        ));
    }
    match chosen.refusal(method, place.path, &words::tags(place.operation)) {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(method),
    }
}

/// Which variables go where. It is told apart from all else there is to know, which a
/// document can make so much of that the end is not told.
fn sent(all: &BTreeSet<String>) -> Vec<String> {
    let mut told: Vec<String> = all.iter().take(MAX_SENT).cloned().collect();
    if all.len() > MAX_SENT {
        let more = all.len() - MAX_SENT;
        told.push(format!("and {more} variables more, to other servers"));
    }
    told
}

/// Says once for the file how most tools authenticate, and at the others what is theirs.
fn authenticate(entry: &mut Entry, made: Vec<Made>) {
    let mut counts: Vec<(&Auth, usize)> = Vec::new();
    for tool in &made {
        let known = counts
            .iter()
            .position(|(auth, _)| is_same(auth, &tool.auth));
        match known {
            Some(index) => counts[index].1 += 1,
            // What is rare is said where it is needed.
            None if counts.len() < 100 => counts.push((&tool.auth, 1)),
            None => {}
        }
    }
    // The first of those that are as many.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    let most = most.map(|(auth, _)| (*auth).clone()).unwrap_or_default();
    if most.method != AuthMethod::None {
        entry.auth_method = Some(Placed::nowhere(most.method));
        entry.auth.clone_from(&most.form);
    }
    for mut tool in made {
        if !is_same(&tool.auth, &most) {
            tool.entry.auth_method = Some(Placed::nowhere(tool.auth.method));
            tool.entry.auth = tool.auth.form;
        }
        entry.tools.push(Placed::nowhere(tool.entry));
    }
}

fn is_same(one: &Auth, other: &Auth) -> bool {
    one.method == other.method && one.form == other.form
}
