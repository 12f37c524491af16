//! The URL of a call, in the one spelling that rules can speak of.
//!
//! Permission is decided on the text a model wrote. A text that a browser would read as
//! another address than it seems to be is refused, with the spelling that says it.

use std::borrow::Cow;

use url::Url;

use super::secrets::refuse_reference;
use crate::refusal::{Reason, Refusal};

/// The longest URL.
const LONGEST: usize = 8 << 10;

/// Reads a URL that means what it says.
pub(crate) fn address(text: &str) -> Result<Url, Refusal> {
    let bad = |message: String| Refusal::new(Reason::BadArgument, message);
    if text.len() > LONGEST {
        return Err(bad(format!("the URL is longer than {LONGEST} bytes"))
            .next("Send long data as the body"));
    }
    refuse_reference(text, "the URL")?;
    if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(bad("the URL holds blanks or control characters".to_owned())
            .next("Write it without them, and blanks within it as %20"));
    }
    let url = Url::parse(text).map_err(|error| {
        bad(format!("the URL cannot be read: {error}")).next("Write it as https://host/path")
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("the scheme `{}` is not supported", url.scheme());
        return Err(bad(message).next("Use http or https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("the URL holds a user name or a password".to_owned())
            .next("Leave them out; api_call sends credentials as auth"));
    }
    // A rule on `https://host/**` must see every way to that host: the usual port and the dot
    // at the end of a name are written in one way only, and so is the first slash, unless
    // nothing follows it: rules know a server with and without it.
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_end_matches('.');
    let origin = url.origin().ascii_serialization();
    let after = text.strip_prefix(&origin);
    let is_plain = after.is_some_and(|after| after.is_empty() || after.starts_with('/'))
        && bare.len() == host.len();
    let path = after
        .unwrap_or_default()
        .split(['?', '#'])
        .next()
        .unwrap_or_default();
    let unescaped = unescaped(path);
    if !is_plain || path.contains('\\') || path.split('/').any(is_dots) || unescaped != path {
        let normal = url.as_str().replacen(host, bare, 1);
        let normal = normal.replacen(path, &unescaped, usize::from(unescaped != path));
        let normal: String = normal.chars().take(300).collect();
        return Err(bad("the URL is not spelled as it is meant".to_owned())
            .next(format!("Write it as {normal}")));
    }
    Ok(url)
}

/// The URL as a plan and a record may show it.
pub(crate) fn shown(url: &Url) -> String {
    let text = url.as_str();
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A path with the characters that need no escape written as they are: `%61dmin` is the
/// same place as `admin`, and a rule on it must see it.
fn unescaped(path: &str) -> Cow<'_, str> {
    let needs_none = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = |at: usize| -> Option<char> {
        let digits = path.get(at + 1..at + 3)?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        (digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && needs_none(byte))
            .then_some(char::from(byte))
    };
    let (mut plain, mut told) = (String::new(), 0);
    for (at, _) in path.match_indices('%') {
        if let Some(c) = escaped(at) {
            plain.push_str(&path[told..at]);
            plain.push(c);
            told = at + 3;
        }
    }
    if told == 0 {
        return Cow::Borrowed(path);
    }
    plain.push_str(&path[told..]);
    Cow::Owned(plain)
}

/// A step that stays or leads up, in any spelling.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_what_it_means() {
        for text in [
            "https://example.com",
            "http://127.0.0.1:8080",
            "https://example.com/",
            "https://example.com/?q=1",
            "https://example.com:8443/a",
            "http://example.com:8080/a/%20b?x=/../y#z",
            "http://[2606:4700::1111]/",
            "https://example.com/ä",
            "http://127.0.0.1:81/",
            "https://example.com/...",
            "https://example.com/a%2Fb%20c%zz%C3%A4?q=%61",
        ] {
            assert!(address(text).is_ok(), "{text}");
        }
        for text in [
            "HTTPS://example.com/",
            "https://EXAMPLE.com/",
            "https:example.com",
            "https:///example.com/",
            "https:\\\\example.com\\",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://１２７.0.0.1/",
            "http://bücher.example/",
            "http://example.com@evil.example/",
            "https://example.com/a/../b",
            "https://example.com/a/%2E%2e/b",
            "https://example.com/a\\b",
            "https://example.com /",
            " https://example.com/",
            "https://exam\tple.com/",
            "https://example.com/\r\nHost: x",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://${secret:X}/",
            "https://example.com:99999/",
            "//example.com/",
            "",
        ] {
            let refusal = address(text).unwrap_err();
            assert_eq!(refusal.reason, Reason::BadArgument, "{text}");
            assert!(refusal.next.is_some(), "{text}");
        }
        for (text, normal) in [
            ("http://bücher.example/x", "http://xn--bcher-kva.example/x"),
            ("https://example.com?q=1", "https://example.com/?q=1"),
            ("https://example.com#a", "https://example.com/#a"),
            ("https://example.com:443/x", "https://example.com/x"),
            ("http://example.com:80/x", "http://example.com/x"),
            ("http://example.com:080/x", "http://example.com/x"),
            ("https://example.com./x", "https://example.com/x"),
            ("https://example.com.:443", "https://example.com/"),
            (
                "https://example.com/%61dmin/%2Egit?q=%61",
                "https://example.com/admin/.git?q=%61",
            ),
        ] {
            let refusal = address(text).unwrap_err();
            let next = refusal.next.unwrap_or_default();
            assert_eq!(next, format!("Write it as {normal}"), "{text}");
            assert!(address(normal).is_ok(), "{normal}");
        }
    }
}
