//! Places: paths and addresses, in the ways they can be written.
//!
//! No disk and no network is asked. A rule that allows sees a place as it was written and
//! with its dots resolved; one that forbids also sees how whoever fetches an address reads
//! it, which is what the standard for URLs says and not what the text looks like.

use std::path::{Component, Path};

/// An address in its parts.
struct Address<'t> {
    scheme: &'t str,
    /// With the name of a user before it and the port behind it.
    server: &'t str,
    path: &'t str,
    /// From the `?` or `#` on.
    rest: &'t str,
}

impl<'t> Address<'t> {
    /// What has something else before `://` than a scheme, such as a folder, is none.
    fn of(text: &'t str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        Self::behind(scheme, rest)
    }

    fn behind(scheme: &'t str, rest: &'t str) -> Option<Self> {
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(is_scheme)
        {
            return None;
        }
        let is_end = |c: char| matches!(c, '/' | '?' | '#') || (c == '\\' && is_web(scheme));
        let (server, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        let (path, rest) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        Some(Self {
            scheme,
            server,
            path,
            rest,
        })
    }

    /// The path with its dots resolved. Where a browser goes, a backslash is a slash, and
    /// nothing stands between a server and a query.
    fn resolved_path(&self) -> String {
        // Whoever fetches it takes these for dots.
        let path = self.path.replace("%2e", ".").replace("%2E", ".");
        match (path.as_str(), is_web(self.scheme)) {
            ("", true) if !self.rest.is_empty() => "/".to_owned(),
            ("", _) => path,
            (path, true) => resolved_text(&path.replace('\\', "/")),
            (path, false) => resolved_text(path),
        }
    }
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
}

/// Tells whether addresses of a scheme are read as browsers read them.
fn is_web(scheme: &str) -> bool {
    let mut schemes = ["http", "https", "ws", "wss", "ftp"].iter();
    schemes.any(|web| scheme.eq_ignore_ascii_case(web))
}

/// A text with the `.` and `..` of its path taken out; an address keeps its scheme and its
/// server, which no `..` leads out of.
pub(super) fn resolved(text: &str) -> String {
    match Address::of(text) {
        Some(it) => {
            let path = it.resolved_path();
            format!("{}://{}{path}{}", it.scheme, it.server, it.rest)
        }
        None => resolved_text(text),
    }
}

/// An address as whoever fetches it reads it: blanks, slashes that are missing or too many,
/// the name of a user, capitals, the usual port, the last dot of a name and escapes make no
/// other address of it.
pub(super) fn fetched(text: &str) -> Option<String> {
    if let Some(path) = of_file(text) {
        return Some(format!("file://{path}"));
    }
    let text = without_blanks(text);
    let (scheme, rest) = text.split_once(':')?;
    let rest = match is_web(scheme) {
        true => rest.trim_start_matches(['/', '\\']),
        false => rest.strip_prefix("//")?,
    };
    let address = Address::behind(scheme, rest)?;
    let scheme = scheme.to_ascii_lowercase();
    if !is_web(&scheme) {
        let (server, path) = (address.server.to_lowercase(), address.resolved_path());
        return Some(format!("{scheme}://{server}{path}{}", address.rest));
    }
    let host = address.server.rsplit('@').next().unwrap_or_default();
    let host = unescaped(host).to_lowercase();
    let host = without_usual_port(&scheme, &host);
    let path = match address.resolved_path().as_str() {
        "" => "/".to_owned(),
        path => resolved_text(&unescaped(path)),
    };
    Some(format!("{scheme}://{host}{path}{}", address.rest))
}

/// The path that the address of a file means.
fn of_file(text: &str) -> Option<String> {
    let text = without_blanks(text);
    let (scheme, rest) = text.split_once(':')?;
    let local = rest.strip_prefix("//").unwrap_or(rest);
    let (server, path) = local.split_at(local.find('/')?);
    let is_here = server.is_empty() || server.eq_ignore_ascii_case("localhost");
    let is_file = scheme.eq_ignore_ascii_case("file") && is_here;
    is_file.then(|| resolved_text(&unescaped(path)))
}

/// A text without what is passed over wherever an address is read.
fn without_blanks(text: &str) -> String {
    let text = text.trim_matches(|c: char| c <= ' ');
    text.replace(['\t', '\n', '\r'], "")
}

/// A host without the port its scheme means anyway, and without the dot at its end.
fn without_usual_port(scheme: &str, host: &str) -> String {
    let usual = match scheme {
        "http" | "ws" => "80",
        "ftp" => "21",
        _ => "443",
    };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    match port.trim_start_matches('0') {
        "" => name.to_owned(),
        port if port == usual => name.to_owned(),
        port => format!("{name}:{port}"),
    }
}

/// A text with what is escaped in it written out.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where what is written like an address leads as a path.
pub(super) fn as_path(text: &str) -> Option<String> {
    of_file(text).or_else(|| {
        Address::of(text)?;
        Some(resolved_path(Path::new(text)))
    })
}

/// An address, or a pattern of some, with its scheme and server in lower case, where they
/// are not.
pub(super) fn lower(text: &str) -> Option<String> {
    let begin = text.find("://")? + "://".len();
    let end = text[begin..]
        .find('/')
        .map_or(text.len(), |end| begin + end);
    let lower = text[..end].to_lowercase();
    (lower != text[..end]).then(|| lower + &text[end..])
}

/// What stands before an address in a word of a command, such as `--url=`, and the address;
/// or nothing and the word. What has a folder before it is a path.
pub(super) fn in_word(word: &str) -> (&str, &str) {
    let Some(end) = word.find("://") else {
        return ("", word);
    };
    let scheme = &word[..end];
    let begin = scheme.rfind(|c: char| !c.is_ascii() || !is_scheme(c as u8));
    let begin = begin.map_or(0, |at| scheme.ceil_char_boundary(at + 1));
    let letter = scheme[begin..].find(|c: char| c.is_ascii_alphabetic());
    let begin = begin + letter.unwrap_or(0);
    match scheme[..begin].contains('/') {
        true => ("", word),
        false => word.split_at(begin),
    }
}

/// The address of a server in its other spelling: with its last slash, or without it, as
/// people write it most.
pub(super) fn server(text: &str) -> Option<String> {
    let name = text
        .strip_prefix("https://")
        .or(text.strip_prefix("http://"));
    let is_bare = |name: &str| !name.is_empty() && !name.contains(['/', '?', '#', '\\']);
    let name = name?;
    match name.strip_suffix('/') {
        Some(host) => is_bare(host).then(|| text[..text.len() - 1].to_owned()),
        None => is_bare(name).then(|| format!("{text}/")),
    }
}

/// As [`resolved_path`], but what ends in a slash still does.
fn resolved_text(text: &str) -> String {
    let mut resolved = resolved_path(Path::new(text));
    if text.ends_with('/') && !resolved.ends_with('/') {
        resolved.push('/');
    }
    resolved
}

/// A path with `.` and `..` taken out, as far as that goes without looking at any
/// disk. A `..` that leads out stays in front, where no pattern overlooks it.
pub(super) fn resolved_path(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut root = "";
    for component in path.components() {
        match component {
            Component::RootDir => root = "/",
            Component::CurDir => {}
            Component::ParentDir => match parts.last() {
                Some(last) if last != ".." => {
                    parts.pop();
                }
                _ if root.is_empty() => parts.push("..".to_owned()),
                _ => {}
            },
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::Prefix(prefix) => {
                parts.push(prefix.as_os_str().to_string_lossy().into_owned())
            }
        }
    }
    match (root, parts.is_empty()) {
        ("", true) => ".".to_owned(),
        _ => format!("{root}{}", parts.join("/")),
    }
}
