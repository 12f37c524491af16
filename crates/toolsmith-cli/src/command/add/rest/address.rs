//! An address with braces: where it begins, what path it has, and which arguments stand in
//! it. How arguments are kept in their places is settled where requests are made.

/// How long an address may be.
const LONGEST: usize = 8000;

/// An address in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Scheme, host and port; may refer to the environment.
    pub(super) origin: String,
    /// The path, with what its query always says.
    pub(super) path: String,
    /// The arguments, in the order they stand.
    pub(super) arguments: Vec<Argument>,
    /// The names in the query whose values are written out.
    pub(super) fixed: Vec<String>,
}

/// An argument that stands in an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) goes: Goes,
}

/// Where an argument goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Goes {
    Path,
    /// Under a name in the query.
    Query(String),
}

impl Address {
    /// Reads an address, and repeats nothing of it in what it says.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        let (origin, rest) = text.split_at(end_of_origin(text));
        let lower = origin.to_ascii_lowercase();
        let is_reached = ["http://", "https://", "${"];
        if !is_reached.iter().any(|begin| lower.starts_with(begin)) {
            return Err("it begins with neither http:// nor https://".to_owned());
        }
        if rest.contains("${") {
            return Err(
                "what refers to the environment stands before the path; a key in the query is \
                 named with --api-key VARIABLE --api-key-query NAME"
                    .to_owned(),
            );
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut arguments = Vec::new();
        for name in names(path)? {
            let is_known = |known: &Argument| known.name == name;
            if !arguments.iter().any(is_known) {
                let goes = Goes::Path;
                arguments.push(Argument { name, goes });
            }
        }
        let (mut kept, mut fixed) = (Vec::new(), Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !value.contains(['{', '}']) && !key.contains(['{', '}']) {
                kept.push(pair);
                fixed.push(key.to_owned());
                continue;
            }
            let argument = in_query(key, value)?;
            if arguments.iter().any(|known| known.name == argument.name) {
                let name = argument.name;
                return Err(format!("`{{{name}}}` stands in it twice; use two names"));
            }
            arguments.push(argument);
        }
        let path = match kept.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{}", kept.join("&")),
        };
        Ok(Self {
            origin: origin.to_owned(),
            path,
            arguments,
            fixed,
        })
    }
}

/// Where scheme, host and port end. A reference may hold anything.
fn end_of_origin(text: &str) -> usize {
    let mut at = text.find("://").map_or(0, |found| found + 3);
    if text.starts_with("${") {
        at = 0;
    }
    while let Some(found) = text[at..].find(['/', '?', '#', '$']) {
        let here = at + found;
        if !text[here..].starts_with('$') {
            return here;
        }
        let is_reference = text[here..].starts_with("${");
        at = match text[here..].find('}') {
            Some(end) if is_reference => here + end + 1,
            _ => here + 1,
        };
    }
    text.len()
}

/// The names in braces of a path.
fn names(path: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let (name, after) = after
            .split_once('}')
            .ok_or("a brace in it does not end; write {name}")?;
        names.push(argument_name(name)?);
        rest = after;
    }
    Ok(names)
}

/// An argument of the query: `key={name}`.
fn in_query(key: &str, value: &str) -> Result<Argument, String> {
    let name = value
        .strip_prefix('{')
        .and_then(|value| value.strip_suffix('}'))
        .ok_or("in a query, an argument is the whole of a value: ?key={name}")?;
    let is_plain = |c: char| !matches!(c, '{' | '}' | '%' | '+') && !c.is_control();
    if key.is_empty() || !key.chars().all(is_plain) {
        return Err("write the names in the query plainly, without braces, `%` and `+`".to_owned());
    }
    Ok(Argument {
        name: argument_name(name)?,
        goes: Goes::Query(key.to_owned()),
    })
}

fn argument_name(name: &str) -> Result<String, String> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match begins_well && name.len() <= 64 && name.chars().all(is_fit) {
        true => Ok(name.to_owned()),
        false => Err(
            "an argument in braces has up to 64 letters, digits and `_`, and begins with no digit"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, Vec<(String, Option<String>)>) {
        let address = Address::read(text).unwrap();
        let arguments = address.arguments.into_iter().map(|argument| {
            let there = match argument.goes {
                Goes::Path => None,
                Goes::Query(there) => Some(there),
            };
            (argument.name, there)
        });
        (address.origin, address.path, arguments.collect())
    }

    #[test]
    fn addresses_in_their_parts() {
        let path = |name: &str| (name.to_owned(), None);
        let query = |name: &str, there: &str| (name.to_owned(), Some(there.to_owned()));
        for (text, origin, below, arguments) in [
            ("https://a.b", "https://a.b", "", vec![]),
            ("https://a.b/", "https://a.b", "/", vec![]),
            ("HTTP://a.b:8/c", "HTTP://a.b:8", "/c", vec![]),
            (
                "https://a.b/u/{id}/p/{id}?x=1&q={q}&per-page={size}",
                "https://a.b",
                "/u/{id}/p/{id}?x=1",
                vec![path("id"), query("q", "q"), query("size", "per-page")],
            ),
            (
                "https://a.b?q={q}",
                "https://a.b",
                "",
                vec![query("q", "q")],
            ),
            (
                "https://${env:A/B}.c/d/{e}",
                "https://${env:A/B}.c",
                "/d/{e}",
                vec![path("e")],
            ),
            (
                "${env:BASE}/d/{e}",
                "${env:BASE}",
                "/d/{e}",
                vec![path("e")],
            ),
            ("https://a$b/c", "https://a$b", "/c", vec![]),
        ] {
            let expected = (origin.to_owned(), below.to_owned(), arguments);
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address() {
        for (text, why) in [
            ("", "neither http:// nor"),
            ("ftp://a.b", "neither http:// nor"),
            ("a.b/c", "neither http:// nor"),
            ("https://a.b/{c", "does not end"),
            ("https://a.b/{}", "begins with no digit"),
            ("https://a.b/{1}", "begins with no digit"),
            ("https://a.b/{+c}", "begins with no digit"),
            ("https://a.b/?c=x{d}", "the whole of a value"),
            ("https://a.b/?{c}=d", "the whole of a value"),
            ("https://a.b/?{c}={d}", "plainly"),
            ("https://a.b/?c%20={d}", "plainly"),
            ("https://a.b/{c}?c={c}", "twice"),
            ("https://a.b/?c={e}&d={e}", "twice"),
            ("https://a.b/?key=${env:KEY}", "--api-key-query"),
        ] {
            let error = Address::read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let long = format!("https://a.b/{}", "x".repeat(9000));
        assert!(Address::read(&long).unwrap_err().contains("longer"));
    }
}
