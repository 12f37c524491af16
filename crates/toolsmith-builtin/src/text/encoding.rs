//! How a text was written down, and how it is written again.
//!
//! What is read must come out byte for byte when it is written unchanged; where that
//! does not hold, a file is not edited rather than damaged.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// How a text was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    how: How,
    has_bom: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Utf8,
    Utf16Le,
    Utf16Be,
    Legacy(&'static encoding_rs::Encoding),
}

/// How sure it is that an encoding is the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confidence {
    /// The file says so, or nothing else is possible.
    Sure,
    /// It reads best that way, and might be another.
    Likely,
}

impl Confidence {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Likely => "likely",
        }
    }
}

/// A character the encoding has no bytes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unwritable {
    pub(crate) character: char,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Encoding {
    pub(crate) const UTF8: Self = Self {
        how: How::Utf8,
        has_bom: false,
    };

    /// The encoding of that name, if there is one that can be written as well.
    pub(crate) fn named(label: &str) -> Option<Self> {
        let found = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())?;
        let how = if found == encoding_rs::UTF_8 {
            How::Utf8
        } else if found == encoding_rs::UTF_16LE {
            How::Utf16Le
        } else if found == encoding_rs::UTF_16BE {
            How::Utf16Be
        } else {
            How::Legacy(found)
        };
        Some(Self {
            how,
            has_bom: false,
        })
    }

    /// Finds out how bytes were written, from all of them or their beginning.
    pub(crate) fn of(bytes: &[u8], is_whole: bool) -> (Self, Confidence) {
        let marked = |how| {
            let encoding = Self { how, has_bom: true };
            (encoding, Confidence::Sure)
        };
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => return marked(How::Utf8),
            [0xff, 0xfe, ..] => return marked(How::Utf16Le),
            [0xfe, 0xff, ..] => return marked(How::Utf16Be),
            _ => {}
        }
        let unmarked = |how| Self {
            how,
            has_bom: false,
        };
        if let Some(how) = utf16_by_zeros(bytes) {
            return (unmarked(how), Confidence::Likely);
        }
        if is_utf8(bytes, is_whole) {
            return (Self::UTF8, Confidence::Sure);
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(bytes, is_whole);
        let mut found = detector.guess(None, Utf8Detection::Deny);
        if found == encoding_rs::GBK && is_whole && !gbk_has_all_of(bytes) {
            found = encoding_rs::GB18030;
        }
        (unmarked(How::Legacy(found)), Confidence::Likely)
    }

    /// Its name, in small letters.
    pub(crate) fn name(&self) -> String {
        match self.how {
            How::Utf8 => "utf-8".to_owned(),
            How::Utf16Le => "utf-16le".to_owned(),
            How::Utf16Be => "utf-16be".to_owned(),
            How::Legacy(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }

    pub(crate) fn has_bom(&self) -> bool {
        self.has_bom
    }

    /// How many bytes a unit has: two in UTF-16, else one.
    pub(crate) fn unit(&self) -> usize {
        match self.how {
            How::Utf16Le | How::Utf16Be => 2,
            How::Utf8 | How::Legacy(_) => 1,
        }
    }

    /// The bytes of an ASCII character.
    pub(crate) fn ascii(&self, byte: u8) -> Vec<u8> {
        match self.how {
            How::Utf16Le => vec![byte, 0],
            How::Utf16Be => vec![0, byte],
            How::Utf8 | How::Legacy(_) => vec![byte],
        }
    }

    /// Reads bytes; what cannot be read becomes a replacement character. A mark at the
    /// beginning is left out.
    pub(crate) fn read_lossy(&self, bytes: &[u8]) -> String {
        let bytes = self.without_bom(bytes);
        let text = match self.how {
            How::Utf8 => return String::from_utf8_lossy(bytes).into_owned(),
            How::Utf16Le => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0,
            How::Utf16Be => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
            How::Legacy(encoding) => encoding.decode_without_bom_handling(bytes).0,
        };
        text.into_owned()
    }

    /// Reads bytes, if writing the text again gives the same bytes.
    pub(crate) fn read(&self, bytes: &[u8]) -> Option<String> {
        let text = match self.how {
            // The common case needs no second look.
            How::Utf8 => return String::from_utf8(self.without_bom(bytes).to_vec()).ok(),
            _ => self.read_lossy(bytes),
        };
        (self.write(&text).as_deref() == Ok(bytes)).then_some(text)
    }

    /// Writes a text down, with the mark if there was one.
    pub(crate) fn write(&self, text: &str) -> Result<Vec<u8>, Unwritable> {
        let units = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let bom = self.has_bom.then_some(0xfeff);
            let units = bom.into_iter().chain(text.encode_utf16());
            units.flat_map(to_bytes).collect()
        };
        match self.how {
            How::Utf8 => {
                let bom: &[u8] = if self.has_bom { UTF8_BOM } else { b"" };
                Ok([bom, text.as_bytes()].concat())
            }
            How::Utf16Le => Ok(units(u16::to_le_bytes)),
            How::Utf16Be => Ok(units(u16::to_be_bytes)),
            How::Legacy(encoding) => legacy(encoding, text),
        }
    }

    fn without_bom<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let bom: &[u8] = match (self.has_bom, self.how) {
            (false, _) | (_, How::Legacy(_)) => b"",
            (true, How::Utf8) => UTF8_BOM,
            (true, How::Utf16Le) => b"\xff\xfe",
            (true, How::Utf16Be) => b"\xfe\xff",
        };
        bytes.strip_prefix(bom).unwrap_or(bytes)
    }
}

/// Tells whether GBK can write what it reads. It reads all of GB18030, which has the same bytes
/// for its own characters and more for others.
fn gbk_has_all_of(bytes: &[u8]) -> bool {
    let (text, _) = encoding_rs::GBK.decode_without_bom_handling(bytes);
    let (_, _, has_others) = encoding_rs::GBK.encode(&text);
    !has_others
}

/// Writes in an encoding that has not every character.
fn legacy(encoding: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>, Unwritable> {
    let mut encoder = encoding.new_encoder();
    let most = encoder
        .max_buffer_length_from_utf8_without_replacement(text.len())
        .unwrap_or(text.len().saturating_mul(4));
    let mut bytes = Vec::with_capacity(most);
    let (result, read) =
        encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
    match result {
        encoding_rs::EncoderResult::Unmappable(character) => {
            let before = &text[..read];
            let line = before.matches('\n').count() + 1;
            Err(Unwritable { character, line })
        }
        _ => Ok(bytes),
    }
}

/// Tells whether bytes are UTF-8; the beginning of a file may end within a character.
fn is_utf8(bytes: &[u8], is_whole: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => !is_whole && error.error_len().is_none(),
    }
}

/// UTF-16 without a mark: mostly ASCII has a zero in every other byte.
fn utf16_by_zeros(bytes: &[u8]) -> Option<How> {
    let bytes = &bytes[..bytes.len().min(8 << 10)];
    let units = bytes.len() / 2;
    if units < 2 {
        return None;
    }
    let zeros = |first: usize| {
        bytes
            .iter()
            .skip(first)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let how = match (even, odd) {
        (0, odd) if odd * 10 >= units * 4 => How::Utf16Le,
        (even, 0) if even * 10 >= units * 4 => How::Utf16Be,
        _ => return None,
    };
    // Other things have zeros too, but what lies between them is no text.
    let unit = |pair: &[u8]| match how {
        How::Utf16Le => u16::from_le_bytes([pair[0], pair[1]]),
        _ => u16::from_be_bytes([pair[0], pair[1]]),
    };
    let is_text = |unit: u16| (0x20..0xfff0).contains(&unit) || matches!(unit, 0x09..=0x0d);
    let all_text = bytes.chunks_exact(2).all(|pair| is_text(unit(pair)));
    all_text.then_some(how)
}
