//! From an entry to the tool that makes its request.
//!
//! Everything that can be wrong with an entry is found here, with its place, before the
//! tool is ever called.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use toolsmith_core::{AnyTool, Hints, Kind, Source};

use super::body::Content;
use super::fill::{Filler, Gathered};
use super::pages::Pages;
use super::place::Places;
use super::request::Pattern;
use super::service::Service;
use super::shape::Shape;
use super::shared::Shared;
use super::template::PathTemplate;
use super::tool::HttpTool;
use super::written::Written;
use crate::form::{BodyForm, Entry, HttpMethod, PlaceName, Placed};
use crate::make::{Made, Problem, Surroundings};

/// Makes the tool of an entry that has an `api_url`.
pub(crate) fn add(
    entry: &Entry,
    surroundings: &Surroundings,
    filler: &mut Filler<'_>,
    shared: &mut Shared,
    made: &mut Made,
) {
    let mut gathered = Gathered::default();
    match tool(entry, surroundings, filler, shared, &mut gathered) {
        Ok(tool) => made.tools.push(tool),
        Err(mut problems) => gathered.problems.append(&mut problems),
    }
    gathered.note(made);
}

fn tool(
    entry: &Entry,
    surroundings: &Surroundings,
    filler: &mut Filler<'_>,
    shared: &mut Shared,
    gathered: &mut Gathered,
) -> Result<AnyTool, Vec<Problem>> {
    let method = entry.method.unwrap_or_default();
    let definition = entry
        .definition(Source::Rest, Kind::Network, hints(method))
        .map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let service = Service::read(entry, surroundings, filler, shared, gathered);
    let below = entry.path.as_ref().map(|path| {
        let below = PathTemplate::parse(&path.value);
        below.map_err(|message| Problem::at(path.place, format!("`path`: {message}")))
    });
    let below = note(below.transpose(), &mut problems)
        .flatten()
        .unwrap_or_default();
    let path = match &service {
        Some(service) => service.address.base.join(&below),
        None => below,
    };
    let written = entry
        .request
        .as_ref()
        .map(|request| Written::read(&request.value));
    let templated = written.as_ref().map(Written::names);
    let places = Places::settle(
        entry,
        &definition,
        (&path, service.is_some()),
        templated.as_ref(),
    );
    let places = note_all(places, &mut problems);
    let shape = note_all(Shape::read(entry.response.as_ref()), &mut problems);
    let select = shape.as_ref().and_then(|shape| shape.select.as_deref());
    let pages = entry
        .pagination
        .as_ref()
        .map(|form| Pages::read(form, select));
    let pages = note_all(pages.transpose(), &mut problems).flatten();
    if let (Some(request), Some(names)) = (&entry.request, &templated) {
        let declared = definition.input.as_value().get("properties");
        let unknown = names
            .iter()
            .filter(|name| declared.and_then(|it| it.get(name)).is_none());
        problems.extend(unknown.map(|name| undeclared(request, name)));
    }
    if let (Some(places), Some(service)) = (&places, &service) {
        problems.extend(contested(places, service));
    }
    let (Some(places), Some(shape), true) = (places, shape, problems.is_empty()) else {
        return Err(problems);
    };
    let content = match written {
        Some(written) => Content::Written(written),
        None => places.content(),
    };
    let form = entry.body.unwrap_or_default();
    let fields = places.names_in(PlaceName::Body).count();
    if form == BodyForm::Text && matches!(content, Content::Fields) && fields != 1 {
        let message = "`body: text` is one argument; place it as `whole_body`";
        return Err(vec![Problem::new(message)]);
    }
    if !gathered.problems.is_empty() {
        // They are told by whoever gathered them.
        return Err(Vec::new());
    }
    let key = service.as_ref().and_then(|service| service.auth.query());
    let pattern = Pattern {
        method,
        path,
        places,
        content,
        form,
        templated: templated.unwrap_or_default(),
        kept: key.map(str::to_owned).into_iter().collect(),
    };
    let missing = || {
        gathered
            .told()
            .unwrap_or_else(|| "its address is not known".to_owned())
    };
    Ok(AnyTool::new(HttpTool {
        definition: Arc::new(definition),
        binding: entry.binding(),
        pattern,
        shape,
        pages,
        service: service.ok_or_else(missing),
    }))
}

fn hints(method: HttpMethod) -> Hints {
    let mut hints = Hints::default();
    hints.open_world = Some(true);
    match method {
        HttpMethod::Get | HttpMethod::Head | HttpMethod::Options => {
            hints.read_only = Some(true);
            hints.idempotent = Some(true);
            hints.destructive = Some(false);
        }
        HttpMethod::Put => hints.idempotent = Some(true),
        HttpMethod::Delete => {
            hints.idempotent = Some(true);
            hints.destructive = Some(true);
        }
        HttpMethod::Post | HttpMethod::Patch => {}
    }
    hints
}

fn undeclared(request: &Placed<Value>, name: &str) -> Problem {
    let message = format!(
        "`request` names `{{{name}}}`, which is no parameter; declare it under `parameters`, or \
         write `{{{{{name}}}}}` for the characters"
    );
    Problem::at(request.place, message)
}

/// Arguments in places that the file itself fills.
fn contested(places: &Places, service: &Service) -> Vec<Problem> {
    let own_headers = service.headers.iter().map(|(name, _)| name.as_str());
    let own_headers: BTreeSet<String> = own_headers
        .chain(service.auth.header())
        .chain(service.key_header.as_deref())
        .chain(["content-type", "cookie"])
        .map(str::to_ascii_lowercase)
        .collect();
    let base = service
        .address
        .base
        .query()
        .iter()
        .map(|(name, _)| name.as_str());
    let own_query: BTreeSet<&str> = base.chain(service.auth.query()).collect();
    let headers = places.names_in(PlaceName::Header);
    let headers = headers.filter(|(_, name)| own_headers.contains(&name.to_ascii_lowercase()));
    let query = places.names_in(PlaceName::Query);
    let query = query.filter(|(_, name)| own_query.contains(name));
    let contested = headers.chain(query).map(|(argument, name)| {
        let message =
            format!("the argument `{argument}` would go to `{name}`, which the file fills itself");
        Problem::new(message)
    });
    contested.collect()
}

fn note<T>(result: Result<T, Problem>, problems: &mut Vec<Problem>) -> Option<T> {
    note_all(result.map_err(|problem| vec![problem]), problems)
}

fn note_all<T>(result: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|mut found| problems.append(&mut found)).ok()
}
