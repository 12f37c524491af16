//! What a server says of its tools, read within bounds.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use toolsmith_core::json::size_exceeds;
use toolsmith_core::name::MAX_NAME_LENGTH;
use toolsmith_core::{Schema, ToolError};

/// How many tools one server may have.
const MOST_TOOLS: usize = 500;

/// How large the schema of one may be.
const LARGEST_SCHEMA: usize = 128 << 10;

/// How long a description may be.
const LONGEST_DESCRIPTION: usize = 16 << 10;

/// How many of those that were left out are named.
const MOST_NAMED: usize = 50;

/// A tool as its server tells it.
#[derive(Debug)]
pub(super) struct Listed {
    /// What it is called here.
    pub(super) name: String,
    /// What the server calls it.
    pub(super) remote: String,
    pub(super) description: String,
    pub(super) input: Schema,
}

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    /// What cannot be a tool, and why.
    pub(super) left_out: Vec<String>,
}

/// Reads a list of tools, an object that holds one under `tools`, or a single tool.
///
/// # Errors
/// When it is none of these.
pub(super) fn read(server: &str, value: Value) -> Result<Listing, ToolError> {
    let tools = match value {
        Value::Array(tools) => tools,
        Value::Object(mut object) => match object.shift_remove("tools") {
            Some(Value::Array(tools)) => tools,
            Some(_) => return Err(ToolError::failed("what it tells under `tools` is no list")),
            None if object.contains_key("name") => vec![Value::Object(object)],
            None => return Err(ToolError::failed("it tells no tools: there is no `tools`")),
        },
        _ => {
            return Err(ToolError::failed(
                "it tells no tools: its answer is no list",
            ));
        }
    };
    let mut listing = Listing::default();
    let mut taken = HashSet::new();
    let count = tools.len();
    for tool in tools.into_iter().take(MOST_TOOLS) {
        match one(server, tool, &mut taken) {
            Ok(tool) => listing.tools.push(tool),
            Err(why) if listing.left_out.len() < MOST_NAMED => listing.left_out.push(why),
            Err(_) => {}
        }
    }
    if count > MOST_TOOLS {
        let more = count - MOST_TOOLS;
        listing
            .left_out
            .push(format!("{more} more: at most {MOST_TOOLS} are taken"));
    }
    Ok(listing)
}

fn one(server: &str, tool: Value, taken: &mut HashSet<String>) -> Result<Listed, String> {
    let Value::Object(mut tool) = tool else {
        return Err("something that is no object".to_owned());
    };
    let Some(Value::String(remote)) = tool.shift_remove("name") else {
        return Err("a tool without a name".to_owned());
    };
    let shown: String = remote.chars().take(80).collect();
    if remote.len() > 1024 || clean(&remote).is_empty() {
        return Err(format!("{shown:?}: no name can be made of it"));
    }
    let parameters = ["parameters", "input_schema", "inputSchema"];
    let parameters = parameters
        .into_iter()
        .find_map(|key| tool.shift_remove(key));
    let input = input(parameters.unwrap_or_default()).map_err(|why| format!("{shown:?}: {why}"))?;
    let description = match tool.shift_remove("description") {
        Some(Value::String(text)) if !text.trim().is_empty() => text,
        _ => format!("A tool of the server {server}: {shown}"),
    };
    let end = description.floor_char_boundary(LONGEST_DESCRIPTION);
    let name = name(server, &remote, taken);
    taken.insert(name.clone());
    Ok(Listed {
        name,
        remote,
        description: description[..end].to_owned(),
        input,
    })
}

/// The schema as it came; only what every schema of arguments says is added.
fn input(parameters: Value) -> Result<Schema, String> {
    if size_exceeds(&parameters, LARGEST_SCHEMA) {
        return Err(format!("its schema is larger than {LARGEST_SCHEMA} bytes"));
    }
    let parameters = match parameters {
        Value::Null => json!({ "type": "object", "properties": {} }),
        Value::Object(object) if object.contains_key("type") => Value::Object(object),
        Value::Object(object) => {
            let mut complete = Map::new();
            complete.insert("type".to_owned(), "object".into());
            complete.extend(object);
            Value::Object(complete)
        }
        other => other,
    };
    Schema::as_received(parameters).map_err(|error| error.to_string())
}

/// `<server>_<tool>`. Where that is too long, or taken by another tool that looks the
/// same, it ends in a digest of what the server calls it.
fn name(server: &str, remote: &str, taken: &HashSet<String>) -> String {
    let whole = format!("{}_{}", clean(server), clean(remote));
    if whole.len() <= MAX_NAME_LENGTH && !taken.contains(&whole) {
        return whole;
    }
    let mut salt = String::new();
    loop {
        let end = format!("_{:08x}", digest(&format!("{remote}{salt}")));
        let name = format!(
            "{}{end}",
            &whole[..whole.len().min(MAX_NAME_LENGTH - end.len())]
        );
        if !taken.contains(&name) {
            return name;
        }
        salt.push('+');
    }
}

/// Small letters, digits and underscores, beginning with a letter.
pub(super) fn clean(name: &str) -> String {
    let mut clean = String::new();
    let mut before = ' ';
    for c in name.chars().take(200) {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
                clean.push('_');
            }
            clean.push(c.to_ascii_lowercase());
        } else if !clean.is_empty() && !clean.ends_with('_') {
            clean.push('_');
        }
        before = c;
    }
    let clean = clean.trim_end_matches('_');
    let begins = clean.starts_with(|c: char| c.is_ascii_lowercase());
    match clean {
        "" => String::new(),
        clean if begins => clean.to_owned(),
        clean => format!("n{clean}"),
    }
}

/// FNV-1a: the same everywhere and always. It tells names apart and protects nothing.
fn digest(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_and_told_apart() {
        let tools = json!([
            { "name": "getUser" }, { "name": "get-user" }, { "name": "get user" },
            { "name": "2fa" }, { "name": "x".repeat(100) }, { "name": "X".repeat(100) },
            { "name": "…" }, { "name": 5 }, 7,
        ]);
        let listing = read("My API", tools).unwrap();
        let names: Vec<&str> = listing
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(names[..3].iter().collect::<HashSet<_>>().len(), 3);
        assert_eq!(names[0], "my_api_get_user");
        assert!(names[1].starts_with("my_api_get_user_"), "{names:?}");
        assert_eq!(names[3], "my_api_n2fa");
        assert!(names.iter().all(|name| name.len() <= 64));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 6);
        assert_eq!(listing.left_out.len(), 3);
    }

    #[test]
    fn the_forms_a_list_may_have() {
        for (told, expected) in [
            (json!([{ "name": "a" }, { "name": "b" }]), Some(2)),
            (json!({ "tools": [{ "name": "a" }] }), Some(1)),
            (
                json!({ "name": "a", "parameters": { "properties": {} } }),
                Some(1),
            ),
            (json!([]), Some(0)),
            (json!({ "tools": {} }), None),
            (json!({}), None),
            (json!("tools"), None),
            (Value::Null, None),
        ] {
            let read = read("s", told.clone())
                .ok()
                .map(|listing| listing.tools.len());
            assert_eq!(read, expected, "{told}");
        }
    }

    #[test]
    fn no_server_has_tools_without_end() {
        let many: Value = (0..600)
            .map(|n| json!({ "name": format!("t{n}") }))
            .collect();
        let listing = read("s", many).unwrap();
        assert_eq!(listing.tools.len(), 500);
        assert_eq!(listing.left_out, ["100 more: at most 500 are taken"]);
        let bomb = json!([{ "name": "a", "parameters": { "x": "y".repeat(200_000) } }]);
        assert!(read("s", bomb).unwrap().left_out[0].contains("larger than"));
    }
}
