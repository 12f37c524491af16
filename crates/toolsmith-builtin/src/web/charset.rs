//! From bytes to text: what the header says, else a mark at the beginning, else what the
//! page says of itself, else what the bytes look like.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// How far a page is searched for what it says of itself.
const LOOKED_AT: usize = 4 << 10;

/// The text, and the name of the encoding it was in.
pub(crate) fn decode(bytes: &[u8], content_type: &str, is_markup: bool) -> (String, &'static str) {
    let said =
        parameter(content_type, "charset").and_then(|label| Encoding::for_label(label.as_bytes()));
    // A mark at the beginning beats the header, as in browsers: it cannot be wrong.
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let meta = || is_markup.then(|| in_page(bytes)).flatten();
    let encoding = marked
        .or(said)
        .or_else(meta)
        .unwrap_or_else(|| guess(bytes));
    let (text, used, _) = encoding.decode(bytes);
    (text.into_owned(), used.name())
}

/// The value of a parameter of a header, in lower case and without quotes.
pub(crate) fn parameter(header: &str, name: &str) -> Option<String> {
    let mut parts = header.split(';').skip(1);
    parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let is_it = key.trim().eq_ignore_ascii_case(name);
        is_it.then(|| value.trim().trim_matches(['"', '\'']).to_ascii_lowercase())
    })
}

/// `<meta charset="…">`, or the longer form, or that of XML.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let head = head.to_ascii_lowercase();
    let starts = memchr::memmem::find_iter(&head, b"charset")
        .chain(memchr::memmem::find_iter(&head, b"encoding"));
    for start in starts {
        let after = &head[start..];
        let Some(sign) = after.iter().take(20).position(|byte| *byte == b'=') else {
            continue;
        };
        let value = after[sign + 1..].iter().copied();
        let value = value.skip_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\t'));
        let is_label =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.');
        let label: Vec<u8> = value.take_while(is_label).take(40).collect();
        if let Some(encoding) = Encoding::for_label(&label) {
            // What can be read to here is not in two bytes a character.
            let is_wide = encoding.name().starts_with("UTF-16");
            return Some(if is_wide { UTF_8 } else { encoding });
        }
    }
    None
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(256 << 10)], true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_told_by_the_first_that_says_it() {
        let latin = b"<meta charset=iso-8859-1><p>caf\xe9";
        for (bytes, header, name, text) in [
            (
                &b"caf\xc3\xa9"[..],
                "text/plain; charset=utf-8",
                "UTF-8",
                "caf\u{e9}",
            ),
            (
                b"caf\xe9",
                "text/plain; Charset=\"ISO-8859-1\"",
                "windows-1252",
                "caf\u{e9}",
            ),
            (
                b"\xef\xbb\xbfcaf\xc3\xa9",
                "text/plain; charset=latin1",
                "UTF-8",
                "caf\u{e9}",
            ),
            (b"\xff\xfea\0b\0", "text/plain", "UTF-16LE", "ab"),
            (
                latin,
                "text/html",
                "windows-1252",
                "<meta charset=iso-8859-1><p>caf\u{e9}",
            ),
            (
                b"<?xml encoding='shift_jis'?>\x83e\x83X\x83g",
                "text/xml",
                "Shift_JIS",
                "<?xml encoding='shift_jis'?>テスト",
            ),
            (
                b"caf\xc3\xa9",
                "text/plain; charset=nonsense",
                "UTF-8",
                "caf\u{e9}",
            ),
            (
                "привет мир, это обычный текст".as_bytes(),
                "",
                "UTF-8",
                "привет мир, это обычный текст",
            ),
        ] {
            let (found, encoding) = decode(bytes, header, header != "text/plain");
            assert_eq!((found.as_str(), encoding), (text, name), "{header}");
        }
        let (cyrillic, _, _) =
            encoding_rs::WINDOWS_1251.encode("привет мир, это обычный русский текст");
        let (found, _) = decode(&cyrillic, "text/plain", false);
        assert!(found.starts_with("привет мир"), "{found}");
    }
}
