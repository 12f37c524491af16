//! The path of a request, with places for arguments: `/users/{id}/posts`.
//!
//! It is read once. What an argument adds stays within its segment; how many segments
//! there are is settled here.

use toolsmith_core::ToolError;
use url::form_urlencoded;

use super::encode;

/// A path with places for arguments, and what its query always says.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathTemplate {
    segments: Vec<Vec<Piece>>,
    query: Vec<(String, String)>,
}

/// A piece of a segment.
#[derive(Clone, Debug)]
enum Piece {
    /// A text, encoded.
    Text(String),
    /// An argument.
    Argument(String),
}

impl PathTemplate {
    /// Reads a path, with or without its first slash.
    ///
    /// # Errors
    /// Says what no path may hold.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains('#') {
            return Err("it holds a `#`: what follows is never sent to a server".to_owned());
        }
        if let Some(found) = text.chars().find(|c| *c == '\\' || c.is_control()) {
            return Err(format!("it holds {found:?}, which no path may"));
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        if query.contains(['{', '}']) {
            let message = "an argument of the query stands under `places`, not in the path";
            return Err(message.to_owned());
        }
        let query = form_urlencoded::parse(query.as_bytes());
        let query = query.into_owned().collect();
        if path.is_empty() {
            let segments = Vec::new();
            return Ok(Self { segments, query });
        }
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments = path.split('/').map(segment).collect::<Result<_, _>>()?;
        Ok(Self { segments, query })
    }

    /// This path and another one below it.
    pub(crate) fn join(&self, below: &Self) -> Self {
        let mut joined = self.clone();
        if !below.segments.is_empty() {
            // `/v1/` and `/users` are `/v1/users`.
            if joined.segments.last().is_some_and(Vec::is_empty) {
                joined.segments.pop();
            }
            joined.segments.extend_from_slice(&below.segments);
        }
        joined.query.extend_from_slice(&below.query);
        joined
    }

    /// The arguments it names, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.segments
            .iter()
            .flatten()
            .filter_map(|piece| match piece {
                Piece::Text(_) => None,
                Piece::Argument(name) => Some(name.as_str()),
            })
    }

    /// What the query always says.
    pub(crate) fn query(&self) -> &[(String, String)] {
        &self.query
    }

    /// How many segments the path has, whatever the arguments are.
    pub(crate) fn length(&self) -> usize {
        self.segments.len().max(1)
    }

    /// The path with every argument in its place, encoded.
    ///
    /// # Errors
    /// When an argument is missing or empty, or makes a segment that servers take for
    /// a step up or no step.
    pub(crate) fn fill(
        &self,
        mut argument: impl FnMut(&str) -> Result<String, ToolError>,
    ) -> Result<String, ToolError> {
        let mut path = String::new();
        for pieces in &self.segments {
            let mut segment = String::new();
            let mut last = None;
            for piece in pieces {
                match piece {
                    Piece::Text(text) => segment.push_str(text),
                    Piece::Argument(name) => {
                        let value = argument(name)?;
                        if value.is_empty() {
                            let message =
                                format!("`{name}` must not be empty: it is a part of the path");
                            return Err(ToolError::invalid(message));
                        }
                        segment.push_str(&value);
                        last = Some(name);
                    }
                }
            }
            if let Some(name) = last
                && is_dots(&segment)
            {
                let message = format!(
                    "`{name}` makes {segment:?} of a segment of the path, which leads elsewhere"
                );
                return Err(ToolError::invalid(message));
            }
            path.push('/');
            path.push_str(&segment);
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(path)
    }
}

fn segment(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        // Nothing of the text is repeated: that of an address may hold a secret.
        let unpaired = || "a brace without its other half; write {name}".to_owned();
        let inside = rest[at..].strip_prefix('{').ok_or_else(unpaired)?;
        let (name, after) = inside.split_once('}').ok_or_else(unpaired)?;
        if name.is_empty() || name.contains('{') {
            return Err(unpaired());
        }
        if at > 0 {
            pieces.push(Piece::Text(encode::literal(&rest[..at])));
        }
        pieces.push(Piece::Argument(name.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(encode::literal(rest)));
    }
    if let [Piece::Text(only)] = pieces.as_slice()
        && is_dots(only)
    {
        return Err("a segment of dots leads elsewhere; write the path without it".to_owned());
    }
    Ok(pieces)
}

/// Tells whether a segment is a dot segment, which servers and libraries resolve, in
/// any spelling.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}
