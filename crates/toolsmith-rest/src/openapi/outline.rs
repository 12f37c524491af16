//! Every operation there is in a document, whatever state it is in.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::naming::Called;
use super::notes::Notes;
use super::read::kind_of;
use super::{refer, text};

/// Fields of a path that are methods.
const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

/// How many paths share what they refer to: each is as much work as if it were written
/// out.
const MAX_USES: usize = 16;

/// An operation and where it stands.
#[derive(Debug)]
pub(super) struct Place<'d> {
    /// The method, in upper case.
    pub(super) method: String,
    pub(super) path: &'d str,
    /// What the path says for all its methods.
    pub(super) item: &'d Value,
    pub(super) operation: &'d Value,
}

impl<'d> Place<'d> {
    pub(super) fn id(&self) -> Option<&'d str> {
        refer::string(self.operation, "operationId")
    }

    pub(super) fn called(&self) -> Called<'_> {
        Called {
            id: self.id(),
            method: &self.method,
            path: self.path,
        }
    }
}

/// A path nothing can be made of, and why.
#[derive(Debug)]
pub(super) struct Broken<'d> {
    pub(super) path: &'d str,
    pub(super) reason: String,
}

/// The operations of a document, and the paths that have none because they are broken.
pub(super) fn operations<'d>(
    root: &'d Value,
    notes: &mut Notes,
) -> (Vec<Place<'d>>, Vec<Broken<'d>>) {
    let (mut places, mut broken) = (Vec::new(), Vec::new());
    let mut used: HashMap<*const Value, usize> = HashMap::new();
    match root.get("paths") {
        Some(Value::Object(paths)) => {
            for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
                let found = refer::follow(root, item);
                let uses = found
                    .as_ref()
                    .map(|found| used.entry(std::ptr::from_ref(*found)).or_insert(0));
                if uses.is_ok_and(|uses| {
                    *uses += 1;
                    *uses > MAX_USES
                }) {
                    let reason = format!("what it refers to is used by {MAX_USES} paths before it");
                    broken.push(Broken { path, reason });
                    continue;
                }
                match found {
                    Ok(found @ Value::Object(fields)) => add(&mut places, path, found, fields),
                    Ok(other) => broken.push(Broken {
                        path,
                        reason: format!("the path is {}, not an object", kind_of(other)),
                    }),
                    Err(reason) => broken.push(Broken { path, reason }),
                }
            }
        }
        Some(other) => notes.add(format!("`/paths` is {}, not an object", kind_of(other))),
        None => notes.add("the document has no `paths`"),
    }
    for field in ["webhooks", "x-webhooks"] {
        if let Some(Value::Object(hooks)) = root.get(field) {
            let names: Vec<String> = hooks
                .keys()
                .take(20)
                .map(|name| text::line(name, 60))
                .collect();
            notes.add(format!(
                "{} webhooks are requests the API makes, and no tools: {}",
                hooks.len(),
                names.join(", ")
            ));
        }
    }
    (places, broken)
}

fn add<'d>(
    places: &mut Vec<Place<'d>>,
    path: &'d str,
    item: &'d Value,
    fields: &'d Map<String, Value>,
) {
    for (field, operation) in fields {
        if METHODS.contains(&field.as_str()) {
            places.push(Place {
                method: field.to_uppercase(),
                path,
                item,
                operation,
            });
        }
    }
    let additional = fields
        .get("additionalOperations")
        .and_then(Value::as_object);
    for (method, operation) in additional.into_iter().flatten() {
        places.push(Place {
            method: method.clone(),
            path,
            item,
            operation,
        });
    }
}
