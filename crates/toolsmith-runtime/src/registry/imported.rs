//! Definitions that come from elsewhere: their texts are somebody else's words.
//!
//! What a model and a terminal get to see of them is cleaned once, at
//! registration. Schemas stay exactly as they were received.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolsmith_core::{Source, ToolDef};

use crate::shape::clean;

/// How many bytes one text of an imported definition may have.
const MAX_TEXT: usize = 16 << 10;

/// The definition with the texts of an imported tool cleaned and bounded; an own
/// one as it is.
pub(super) fn cleaned(definition: Arc<ToolDef>) -> Arc<ToolDef> {
    if definition.source == Source::Builtin {
        return definition;
    }
    let mut definition = Arc::unwrap_or_clone(definition);
    let description = &mut definition.description;
    let texts = [&mut description.short, &mut description.long]
        .into_iter()
        .chain(&mut description.usage_notes)
        .chain(&mut description.important)
        .chain(&mut definition.title)
        .chain(&mut definition.returns)
        .chain(&mut definition.meta.category)
        .chain(&mut definition.meta.version)
        .chain(&mut definition.meta.documentation_url)
        .chain(&mut definition.meta.tags);
    for text in texts {
        let mut tidy = clean(text).into_owned();
        tidy.truncate(tidy.floor_char_boundary(MAX_TEXT.min(tidy.len())));
        *text = tidy;
    }
    for example in &mut definition.examples {
        let texts = example.comment.iter_mut();
        texts.for_each(|text| *text = clean(text).into_owned());
        clean_fields(&mut example.arguments);
    }
    // What came with it and has no place in a definition is shown all the same.
    clean_fields(&mut definition.meta.extra);
    Arc::new(definition)
}

/// Takes what hides or steers out of every text of a value, which is no deeper than JSON
/// is read.
fn clean_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(clean_all),
        Value::Object(object) => clean_fields(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same for fields, whose names are texts as well.
fn clean_fields(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(clean_all);
    if fields.keys().any(|name| clean(name) != *name) {
        let held = std::mem::take(fields).into_iter();
        fields.extend(held.map(|(name, value)| (clean(&name).into_owned(), value)));
    }
}
