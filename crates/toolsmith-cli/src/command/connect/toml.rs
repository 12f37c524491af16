//! Edits a TOML file, comments, order and form of which stay as they are.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::edit::{Edit, EditError, Spot, Taken, misread, place};

/// Puts an entry in.
pub(super) fn add(
    text: &str,
    spot: &Spot<'_>,
    entry: &Value,
    taken: Taken,
) -> Result<Edit, EditError> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in spot.keys {
        let item = table.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            // `[mcp_servers]` alone on a line says nothing.
            table.set_implicit(true);
            Item::Table(table)
        });
        table = item
            .as_table_like_mut()
            .ok_or_else(|| EditError::Shape(format!("`{key}` is no table")))?;
    }
    if let Some(there) = table.get(spot.name) {
        let found = to_json(there);
        if found == *entry {
            return Ok(Edit::Same);
        }
        if taken == Taken::Refuse {
            return Err(EditError::Taken(found));
        }
        // Its own comment and its place stay.
        if let (Some(table), Value::Object(fields)) =
            (table.get_mut(spot.name).and_then(Item::as_table_mut), entry)
        {
            table.clear();
            for (key, value) in fields {
                table.insert(key, Item::Value(to_toml(value)));
            }
            return finish(&document);
        }
    }
    let mut fresh = Table::new();
    if let Value::Object(fields) = entry {
        for (key, value) in fields {
            fresh.insert(key, Item::Value(to_toml(value)));
        }
    }
    if !text.trim().is_empty() {
        fresh.decor_mut().set_prefix("\n");
    }
    table.insert(spot.name, Item::Table(fresh));
    finish(&document)
}

/// Takes an entry out.
pub(super) fn remove(text: &str, spot: &Spot<'_>) -> Result<Edit, EditError> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in spot.keys {
        match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(Edit::Same),
        }
    }
    if table.remove(spot.name).is_none() {
        return Ok(Edit::Same);
    }
    // A table that only its entries spell out is gone with the last of them.
    let root = document.as_table_mut();
    if let [key] = spot.keys
        && let Some(Item::Table(servers)) = root.get(key)
        && servers.is_implicit()
        && servers.is_empty()
    {
        root.remove(key);
    }
    finish(&document)
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let (line, column) = place(text, start);
        EditError::Syntax {
            line,
            column,
            message: error.message().replace('\n', ", "),
        }
    })
}

/// The new text, once it was read again.
fn finish(document: &DocumentMut) -> Result<Edit, EditError> {
    let edited = document.to_string();
    let again = parse(&edited)?;
    if to_json(again.as_item()) != to_json(document.as_item()) {
        return Err(misread());
    }
    Ok(Edit::Changed(edited))
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Array(items) => items.iter().map(to_toml).collect::<Array>().into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.as_str(), to_toml(value)))
            .collect::<InlineTable>()
            .into(),
        Value::String(text) => text.as_str().into(),
        // No entry of ours holds any.
        Value::Null | Value::Number(_) => value.to_string().into(),
    }
}

fn to_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let pairs = table.iter();
        return pairs
            .map(|(key, item)| (key.to_owned(), to_json(item)))
            .collect();
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables.iter();
        return tables
            .map(|table| to_json(&Item::Table(table.clone())))
            .collect();
    }
    match item.as_value() {
        Some(toml_edit::Value::Array(items)) => {
            let items = items.iter();
            items
                .map(|value| to_json(&Item::Value(value.clone())))
                .collect()
        }
        Some(toml_edit::Value::String(text)) => Value::String(text.value().clone()),
        Some(toml_edit::Value::Boolean(flag)) => Value::Bool(*flag.value()),
        Some(other) => Value::String(other.to_string().trim().to_owned()),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::command::connect::edit::damaged;

    const SPOT: Spot<'_> = Spot {
        keys: &["mcp_servers"],
        name: "a",
    };

    #[test]
    fn damaged_files_are_refused_or_edited_well() {
        let entry = json!({ "url": "http://h", "http_headers": { "A": "b\"\\" }, "args": ["x"] });
        for text in [
            "# \u{e9}\na = 1\n[mcp_servers.b]\nc = 'd' # e\n[[f]]\ng = 1979-05-27\n[mcp_servers.b.env]\nh = \"\"\"\ni\"\"\"\n",
            "mcp_servers.b.command = 'c'\nd = { e = 1 }\n[f]\n",
            "mcp_servers = { b = { command = 'c' } }\r\n[d]\r\n",
        ] {
            for text in damaged(text) {
                let Ok(Edit::Changed(added)) = add(&text, &SPOT, &entry, Taken::Replace) else {
                    continue;
                };
                let again = add(&added, &SPOT, &entry, Taken::Refuse).unwrap();
                assert_eq!(again, Edit::Same, "{text}");
                let Edit::Changed(removed) = remove(&added, &SPOT).unwrap() else {
                    panic!("nothing to take out of {added}");
                };
                let comments = |text: &str| text.matches('#').count();
                assert_eq!(comments(&removed), comments(&text), "{text}");
            }
        }
    }
}
