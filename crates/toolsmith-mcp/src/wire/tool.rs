//! Tools of upstream servers, as ours.

use rmcp::model::Tool;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use toolsmith_core::clean::clean;
use toolsmith_core::{Description, Hints, Kind, Meta, Schema, Source, ToolDef};

use super::readable::hidden_name;

/// The longest name every model and client takes.
const LONGEST: usize = 64;

/// How much of a digest tells shortened names apart.
const DIGEST: usize = 10;

/// How much is told of a name that is not taken.
const SHOWN: usize = 100;

/// The name a tool of a server goes by: `mcp__server__tool`. What does not fit or is
/// no name keeps its beginning and ends in a digest of the whole, so that two tools
/// never share one.
pub(crate) fn name(server: &str, tool: &str) -> String {
    let plain = format!("{}{tool}", beginning(server));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // A name that ends like a shortened one might be taken for one.
    if plain.len() <= LONGEST && plain.chars().all(fits) && !looks_shortened(&plain) {
        return plain;
    }
    let digest = Sha256::digest(format!("{server}\0{tool}"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept: String = plain
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(LONGEST - DIGEST - 1)
        .collect();
    format!("{kept}.{}", &digest[..DIGEST])
}

/// How the names of a server's tools begin.
pub(crate) fn beginning(server: &str) -> String {
    format!("mcp__{server}__")
}

/// Tells whether a name ends in a point and a digest.
fn looks_shortened(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| {
        end.len() == DIGEST
            && end
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// The definition of a server's tool. Its schemas and annotations stay exactly as
/// they came; what they claim widens nothing. Names in a schema that hide something make no
/// tool, since they could neither be shown nor be changed.
pub(crate) fn definition(server: &str, tool: &Tool) -> Result<ToolDef, String> {
    let name = name(server, &tool.name);
    let schema = |object: &Map<String, Value>| {
        let schema = Schema::as_received(Value::Object(object.clone()));
        let schema = schema.map_err(|error| error.to_string())?;
        match hidden_name(schema.as_value()) {
            Some(name) => Err(format!(
                "the name {:?} in its schema has hidden characters",
                clean(name).chars().take(SHOWN).collect::<String>()
            )),
            None => Ok(schema),
        }
    };
    let written = tool
        .description
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let description = match written {
        Some(text) => text.to_owned(),
        None => format!("MCP tool: {}", tool.name),
    };
    // All of it counts, also where only brief descriptions are sent.
    let mut words = Description::default();
    words.short = description;
    words
        .important
        .push(format!("This tool belongs to the MCP server `{server}`."));
    let annotations = tool.annotations.as_ref();
    let mut hints = Hints::default();
    hints.read_only = annotations.and_then(|hints| hints.read_only_hint);
    hints.destructive = annotations.and_then(|hints| hints.destructive_hint);
    hints.idempotent = annotations.and_then(|hints| hints.idempotent_hint);
    hints.open_world = annotations.and_then(|hints| hints.open_world_hint);
    let mut meta = Meta::new(name.clone());
    meta.category = Some(server.to_owned());
    meta.extra.insert("mcp".to_owned(), received(tool));
    let mut definition = ToolDef::new(&name)
        .map_err(|error| error.to_string())?
        .with_title(format!(
            "{server}: {}",
            tool.title.as_deref().unwrap_or(&tool.name)
        ))
        .with_source(Source::Mcp {
            server: server.to_owned(),
        })
        .with_kind(Kind::External)
        .with_hints(hints)
        .with_description(words)
        .with_input(schema(&tool.input_schema)?)
        .with_meta(meta);
    if let Some(output) = &tool.output_schema {
        definition = definition.with_output(schema(output)?);
    }
    Ok(definition)
}

/// What came with the tool and has no place in a definition, exactly as it came: it is
/// compared with what was pinned, and cleaned when it is registered.
fn received(tool: &Tool) -> Value {
    let mut received = Map::new();
    received.insert("name".to_owned(), tool.name.clone().into());
    let parts = [
        ("title", serde_json::to_value(&tool.title)),
        ("annotations", serde_json::to_value(&tool.annotations)),
        ("icons", serde_json::to_value(&tool.icons)),
        ("_meta", serde_json::to_value(&tool.meta)),
    ];
    for (key, value) in parts {
        if let Ok(value) = value
            && !value.is_null()
        {
            received.insert(key.to_owned(), value);
        }
    }
    Value::Object(received)
}
