//! A request as a tool: from an address with braces to `tools/native/NAME.yaml`.

mod address;

use tokio::runtime::Handle;
use toolsmith_manager::NATIVE_FOLDER;
use toolsmith_manager::edit::scalar;
use toolsmith_manager::servers::sounds_secret;
use toolsmith_rest::form::HttpMethod;

use self::address::{Address, Argument, Goes};
use super::Fresh;
use crate::cli::{AddRest, Cli};
use crate::command::user_file::Privacy;
use crate::failure::Failure;

pub(super) fn run(cli: &Cli, options: &AddRest, tools: &Handle) -> Result<u8, Failure> {
    let address = Address::read(&options.url).map_err(|why| {
        // The address itself is not repeated: it may hold a key.
        Failure::usage(format!("the URL: {why}"))
    })?;
    check_key(options, &address)?;
    let written: Vec<&str> = address
        .fixed
        .iter()
        .map(String::as_str)
        .filter(|name| sounds_secret(name) || *name == "key")
        .collect();
    let warnings = written.iter().map(|name| {
        format!(
            "the query's `{name}` is written out; name the variable it is in instead, with \
             --api-key VARIABLE --api-key-query {name}"
        )
    });
    let is_private = !written.is_empty();
    let name = options.name.as_str();
    let complete = match options.description.is_some() && address.arguments.is_empty() {
        true => String::new(),
        false => "complete its descriptions, then ".to_owned(),
    };
    let arguments: String = address
        .arguments
        .iter()
        .map(|argument| format!(" {}=…", argument.name))
        .collect();
    let file = Fresh {
        sort: "native",
        folder: NATIVE_FOLDER,
        name,
        body: body(options, &address),
        privacy: match is_private {
            true => Privacy::OwnerOnly,
            false => Privacy::AsUsual,
        },
        force: options.force,
        warnings: warnings.collect(),
        next: format!("Next: {complete}try `toolsmith call {name}{arguments}`."),
    };
    file.write(cli, tools)
}

/// Checks where a key goes. Loading the file shows it only where the key is there.
fn check_key(options: &AddRest, address: &Address) -> Result<(), Failure> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if let Some(name) = &options.api_key_header
        && (name.is_empty() || !name.chars().all(is_token))
    {
        return Err(Failure::usage(format!(
            "--api-key-header: {name:?} is no name of a header"
        )));
    }
    let Some(name) = &options.api_key_query else {
        return Ok(());
    };
    let is_there = |argument: &Argument| argument.goes == Goes::Query(name.clone());
    if name.is_empty() {
        return Err(Failure::usage("--api-key-query: the name is empty"));
    }
    if address.fixed.contains(name) || address.arguments.iter().any(is_there) {
        return Err(Failure::usage(format!(
            "--api-key-query: {name:?} stands in the URL already; take it out there"
        )));
    }
    Ok(())
}

/// What the file says.
fn body(options: &AddRest, address: &Address) -> String {
    let method = word(options.method);
    let mut lines = vec![format!("name: {}", options.name.as_str())];
    let description = options.description.clone().unwrap_or_else(|| {
        // Of the address only what cannot hold a key.
        let path = address.path.split('?').next().unwrap_or_default();
        format!("Sends {method} {path}. To be completed: what it is for, and when to use it.")
    });
    lines.push(format!("description: {}", scalar(&description)));
    lines.push(format!("api_url: {}", scalar(&address.origin)));
    lines.push(format!("method: {method}"));
    if !address.path.is_empty() {
        lines.push(format!("path: {}", scalar(&address.path)));
    }
    lines.extend(auth(options));
    if !address.arguments.is_empty() {
        lines.push("parameters:\n  properties:".to_owned());
        lines.extend(address.arguments.iter().map(parameter));
        let names = address.arguments.iter().map(|argument| &*argument.name);
        let names: Vec<String> = names.map(scalar).collect();
        lines.push(format!("  required: [{}]", names.join(", ")));
    }
    let places: Vec<String> = address.arguments.iter().filter_map(placed).collect();
    if !places.is_empty() {
        lines.push("places:".to_owned());
        lines.extend(places);
    }
    lines.join("\n") + "\n"
}

fn parameter(argument: &Argument) -> String {
    let name = &argument.name;
    let description = scalar(&format!("To be completed: what `{name}` is."));
    let name = scalar(name);
    format!("    {name}:\n      type: string\n      description: {description}")
}

/// Where an argument goes, if its name in the path does not say so.
fn placed(argument: &Argument) -> Option<String> {
    let Goes::Query(there) = &argument.goes else {
        return None;
    };
    let (name, there) = (scalar(&argument.name), scalar(there));
    Some(match name == there {
        true => format!("  {name}: query"),
        false => format!("  {name}: {{ in: query, name: {there} }}"),
    })
}

fn auth(options: &AddRest) -> Vec<String> {
    let from = |variable: &String| format!("\"${{env:{variable}}}\"");
    if let Some(token) = &options.bearer {
        let token = from(token);
        return vec![format!("auth_method: bearer\nauth:\n  token: {token}")];
    }
    if let Some((user, password)) = &options.basic {
        let (user, password) = (from(user), from(password));
        return vec![format!(
            "auth_method: basic\nauth:\n  username: {user}\n  password: {password}"
        )];
    }
    let Some(key) = &options.api_key else {
        return Vec::new();
    };
    let (place, name) = match (&options.api_key_header, &options.api_key_query) {
        (_, Some(name)) => ("query", name.as_str()),
        (Some(name), None) => ("header", name.as_str()),
        (None, None) => ("header", "X-API-Key"),
    };
    let (key, name) = (from(key), scalar(name));
    vec![format!(
        "auth_method: api_key\nauth:\n  key: {key}\n  in: {place}\n  name: {name}"
    )]
}

fn word(method: HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Head => "HEAD",
        HttpMethod::Options => "OPTIONS",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
    }
}
