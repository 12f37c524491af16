//! Where an API is.

use serde_json::Value;
use toolsmith_core::reference::Template;
use url::Url;

use super::notes::Notes;
use super::{refer, text};
use crate::form::Placed;

/// How long the name of a server can be.
const MAX_HOST: usize = 255;

/// The address of the first server a holder names, if it names any that can be used.
pub(super) fn address(
    holder: &Value,
    base: Option<&Url>,
    notes: &mut Notes,
) -> Option<Placed<Template>> {
    let servers = holder.get("servers")?.as_array()?;
    let first = servers.first()?;
    let written = refer::string(first, "url")?;
    if servers.len() > 1 {
        notes.add(format!(
            "of {} servers the first is used: {}",
            servers.len(),
            text::line(written, 120)
        ));
    }
    let filled = fill(written, first, notes);
    match resolve(&filled, base) {
        Ok(address) => template(&address),
        Err(reason) => {
            notes.add(format!(
                "the server {:?} cannot be used: {reason}",
                text::line(&filled, 120)
            ));
            None
        }
    }
}

/// An address within the API, such as that of its tokens.
pub(super) fn resolve(written: &str, base: Option<&Url>) -> Result<String, String> {
    let written = written.trim();
    let parsed = match (Url::parse(written), base) {
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => base.join(written),
        (Err(url::ParseError::RelativeUrlWithoutBase), None) => {
            return Err("it is relative, and it is not known to what".to_owned());
        }
        (parsed, _) => parsed,
    };
    let mut address = parsed.map_err(|error| error.to_string())?;
    if !matches!(address.scheme(), "http" | "https") || !address.has_host() {
        return Err("it is no address of HTTP".to_owned());
    }
    if address.host_str().is_some_and(|host| host.len() > MAX_HOST) {
        return Err("no server has so long a name".to_owned());
    }
    if written.contains(['{', '}']) {
        return Err("a variable in it has no value".to_owned());
    }
    // Secrets have a place of their own, and the rest is no part of where an API is.
    let _ = address.set_username("");
    let _ = address.set_password(None);
    address.set_query(None);
    address.set_fragment(None);
    Ok(address.as_str().trim_end_matches('/').to_owned())
}

/// The address a text is, unless it refers to what is known only later.
pub(super) fn location(address: &Placed<Template>) -> Option<Url> {
    Url::parse(&address.value.plain()?).ok()
}

/// A text that refers to nothing.
pub(super) fn template(text: &str) -> Option<Placed<Template>> {
    let escaped = text.replace("${", "$${");
    escaped.parse().ok().map(Placed::nowhere)
}

/// Puts the defaults of a server's variables into its address.
fn fill(written: &str, server: &Value, notes: &mut Notes) -> String {
    let mut filled = text::line(written, 2000);
    let Some(variables) = refer::object(server, "variables") else {
        return filled;
    };
    for (name, variable) in variables.iter().take(50) {
        let default = match variable.get("default") {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            _ => continue,
        };
        let place = format!("{{{name}}}");
        if filled.contains(&place) && default.len() <= 500 && filled.len() <= 4000 {
            notes.add(format!(
                "the server's `{}` is {:?}, its default",
                text::line(name, 60),
                text::line(&default, 60)
            ));
            filled = filled.replace(&place, &default);
        }
    }
    filled
}
