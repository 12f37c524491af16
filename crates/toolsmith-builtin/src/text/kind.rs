//! Telling text from other things, by the beginning of a file.

use super::encoding::Encoding;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Text,
    /// An image models can be shown, and its type.
    Image(&'static str),
    /// Anything else, and its type.
    Binary(&'static str),
}

/// How many bytes are searched for a NUL.
const LOOKED_AT: usize = 8 << 10;

/// Tells what a file is, from its beginning.
pub(crate) fn kind_of(head: &[u8]) -> FileKind {
    let known = infer::get(head);
    if let Some(known) = known {
        match (known.matcher_type(), known.mime_type()) {
            (_, mime @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp")) => {
                return FileKind::Image(mime);
            }
            // Markup and scripts are text with a beginning of their own.
            (infer::MatcherType::Text, _) => {}
            (_, "text/x-shellscript" | "text/html" | "text/xml" | "image/svg+xml") => {}
            (_, mime) if is_binary(head) => return FileKind::Binary(mime),
            (
                infer::MatcherType::Archive
                | infer::MatcherType::Image
                | infer::MatcherType::Audio
                | infer::MatcherType::Video
                | infer::MatcherType::Font,
                mime,
            ) if !head.is_ascii() => return FileKind::Binary(mime),
            _ => {}
        }
    }
    if is_binary(head) {
        return FileKind::Binary("application/octet-stream");
    }
    FileKind::Text
}

fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(LOOKED_AT)];
    // Four bytes a character, which no editor writes any more.
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return true;
    }
    if Encoding::of(head, false).0.unit() == 2 {
        return false;
    }
    if head.contains(&0) {
        return true;
    }
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(**byte, 0x08..=0x0d | 0x1b);
    let controls = head.iter().filter(is_control).count();
    controls * 10 > head.len() * 3
}
