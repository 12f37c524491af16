//! Undoes what `Content-Encoding` names, piece by piece and within bounds.
//!
//! A bomb costs what is kept of it: output goes to a sink that takes so many bytes and
//! no more, and that stops early where far more comes out than went in. Codings stacked
//! deeper than servers have a reason for are refused.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What [`Decoder`] can undo, as a request asks for it.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br";

/// How many codings may lie over each other.
const MOST_CODINGS: usize = 2;

/// How many times as long as what was sent the text may be, once it is of some length.
const MOST_RATIO: usize = 200;

/// Up to this length nothing is said about the ratio: a page of blanks is no bomb.
const FREE: usize = 1 << 20;

/// Why a body could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("it is encoded as {0:?}, which is not supported")]
    Unknown(String),
    #[error("it is encoded more than {MOST_CODINGS} times over")]
    Stacked,
    #[error("it unpacks to more than {MOST_RATIO} times its size")]
    Bomb,
    #[error("it is not what its content-encoding says: {0}")]
    Broken(String),
}

/// Undoes the codings of one body.
pub(crate) struct Decoder {
    stage: Stage,
    codings: usize,
    out: Arc<Mutex<Out>>,
}

/// What came out so far.
#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
    limit: usize,
    /// How many bytes were sent so far.
    sent: usize,
    is_full: bool,
    is_bomb: bool,
}

/// One coding over the next.
enum Stage {
    Sink(Sink),
    Gzip(Box<MultiGzDecoder<Stage>>),
    /// `deflate` is zlib, or plain deflate: the first two bytes tell.
    Undecided(Vec<u8>, Option<Box<Stage>>),
    Zlib(Box<ZlibDecoder<Stage>>),
    Deflate(Box<DeflateDecoder<Stage>>),
    Brotli(Box<Brotli>),
}

/// The last stage: keeps what comes out.
struct Sink(Arc<Mutex<Out>>);

/// Brotli, whose first byte is looked at before a decoder is made.
struct Brotli {
    inner: Option<DecompressorWriter<Stage>>,
    next: Option<Stage>,
}

impl Decoder {
    /// A decoder for what a header names, in the order it was applied.
    pub(crate) fn new(encoding: &str, limit: usize) -> Result<Self, DecodeError> {
        let out = Arc::new(Mutex::new(Out {
            limit,
            ..Out::default()
        }));
        let names = encoding.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        let mut stage = Stage::Sink(Sink(Arc::clone(&out)));
        let mut codings = 0;
        for name in names {
            if codings >= MOST_CODINGS {
                return Err(DecodeError::Stacked);
            }
            codings += 1;
            // What was applied last is undone first, and so lies outermost.
            stage = match name.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => Stage::Gzip(Box::new(MultiGzDecoder::new(stage))),
                "deflate" => Stage::Undecided(Vec::new(), Some(Box::new(stage))),
                "br" => Stage::Brotli(Box::new(Brotli {
                    inner: None,
                    next: Some(stage),
                })),
                other => return Err(DecodeError::Unknown(other.chars().take(40).collect())),
            };
        }
        Ok(Self {
            stage,
            codings,
            out,
        })
    }

    /// How many codings lie over each other.
    pub(crate) fn codings(&self) -> usize {
        self.codings
    }

    /// About how much memory it takes: what came out, and what Brotli keeps of that.
    pub(crate) fn size(&self) -> usize {
        let copies = match self.stage {
            Stage::Brotli(_) => 2,
            _ => 1,
        };
        copies * self.with_out(|out| out.bytes.capacity())
    }

    /// Takes a piece of what was sent. Tells whether more is wanted.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<bool, DecodeError> {
        self.with_out(|out| out.sent += piece.len());
        let written = self.stage.write_all(piece);
        self.judge(written)
    }

    /// Says that all was sent.
    pub(crate) fn finish(&mut self) -> Result<(), DecodeError> {
        let nothing_came = self.with_out(|out| out.sent == 0);
        if nothing_came {
            return Ok(());
        }
        let finished = self.stage.finish();
        self.judge(finished).map(drop)
    }

    /// What came out so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.with_out(|out| std::mem::take(&mut out.bytes))
    }

    fn judge(&self, written: io::Result<()>) -> Result<bool, DecodeError> {
        let (is_full, is_bomb) = self.with_out(|out| (out.is_full, out.is_bomb));
        match written {
            _ if is_bomb => Err(DecodeError::Bomb),
            _ if is_full => Ok(false),
            Ok(()) => Ok(true),
            Err(error) => Err(DecodeError::Broken(error.to_string())),
        }
    }

    fn with_out<T>(&self, look: impl FnOnce(&mut Out) -> T) -> T {
        look(&mut self.out.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = out.limit.saturating_sub(out.bytes.len());
        let taken = piece.len().min(room);
        // Not twice what is needed, as a vector grows by itself.
        if out.bytes.capacity() - out.bytes.len() < taken {
            let more = taken.max(out.bytes.len() / 4).min(room);
            out.bytes.reserve_exact(more);
        }
        out.bytes.extend_from_slice(&piece[..taken]);
        out.is_full |= taken < piece.len();
        let long = out.bytes.len() > FREE;
        out.is_bomb |= long && out.bytes.len() / MOST_RATIO > out.sent;
        match out.is_full || out.is_bomb {
            true => Err(io::Error::other("no more is taken")),
            false => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage {
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Sink(_) => Ok(()),
            Self::Gzip(gzip) => {
                gzip.try_finish()?;
                gzip.get_mut().finish()
            }
            Self::Zlib(zlib) => {
                zlib.try_finish()?;
                zlib.get_mut().finish()
            }
            Self::Deflate(deflate) => {
                deflate.try_finish()?;
                deflate.get_mut().finish()
            }
            Self::Undecided(head, _) => match head.is_empty() {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            },
            Self::Brotli(brotli) => match &mut brotli.inner {
                None => Ok(()),
                Some(inner) => {
                    inner.close()?;
                    inner.get_mut().finish()
                }
            },
        }
    }
}

impl Write for Stage {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self {
            Self::Sink(sink) => sink.write(piece),
            Self::Gzip(gzip) => gzip.write(piece),
            Self::Zlib(zlib) => zlib.write(piece),
            Self::Deflate(deflate) => deflate.write(piece),
            Self::Brotli(brotli) => brotli.write(piece),
            Self::Undecided(head, next) => {
                head.extend_from_slice(piece);
                let [first, second, ..] = head[..] else {
                    return Ok(piece.len());
                };
                let Some(next) = next.take() else {
                    return Err(io::ErrorKind::InvalidData.into());
                };
                let head = std::mem::take(head);
                let check = u16::from_be_bytes([first, second]);
                *self = match first & 0x0f == 8 && check % 31 == 0 {
                    true => Self::Zlib(Box::new(ZlibDecoder::new(*next))),
                    false => Self::Deflate(Box::new(DeflateDecoder::new(*next))),
                };
                self.write_all(&head)?;
                Ok(piece.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Brotli {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if let (Some(first), Some(next)) = (piece.first(), self.next.take()) {
            // A window of up to a gigabyte, which no server of the web uses.
            if first & 0x7f == 0x11 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.inner = Some(DecompressorWriter::new(next, 16 << 10));
        }
        match &mut self.inner {
            Some(inner) => inner.write(piece),
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const LIMIT: usize = 10 << 20;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(encoding: &str, bytes: &[u8], piece: usize) -> Result<Vec<u8>, DecodeError> {
        let mut decoder = Decoder::new(encoding, LIMIT)?;
        for piece in bytes.chunks(piece) {
            if !decoder.push(piece)? {
                return Ok(decoder.take());
            }
        }
        decoder.finish()?;
        Ok(decoder.take())
    }

    #[test]
    fn every_coding_in_pieces_of_any_size() {
        let text: Vec<u8> = (0..5000_u32)
            .flat_map(|n| n.to_string().into_bytes())
            .collect();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(&text).unwrap();
        let deflate = deflate.finish().unwrap();
        let several = [gzip(&text[..100]), gzip(&text[100..])].concat();
        for piece in [1, 2, 7, 4096, 1 << 20] {
            assert_eq!(decode("", &text, piece).unwrap(), text);
            assert_eq!(decode("gzip", &gzip(&text), piece).unwrap(), text);
            assert_eq!(decode("X-GZIP", &several, piece).unwrap(), text);
            assert_eq!(decode("deflate", &zlib, piece).unwrap(), text);
            assert_eq!(decode("deflate", &deflate, piece).unwrap(), text);
            let twice = gzip(&gzip(&text));
            assert_eq!(decode("gzip, gzip", &twice, piece).unwrap(), text);
        }
    }

    #[test]
    fn a_text_in_brotli() {
        // An uncompressed meta-block: "hello", then the last, empty one.
        let packed = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(decode("br", &packed, 1).unwrap(), b"hello");
        assert_eq!(decode("br", &packed, 64).unwrap(), b"hello");
        assert!(decode("br", &packed[..6], 64).is_err());
        assert!(decode("br", &[0x11, 0x1e, 0, 0], 64).is_err());
    }

    #[test]
    fn what_has_no_end_is_cut_and_what_explodes_is_refused() {
        let long: Vec<u8> = (0..4_000_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes())
            .collect();
        assert_eq!(decode("gzip", &gzip(&long), 4096).unwrap(), &long[..LIMIT]);
        assert_eq!(decode("", &long, 4096).unwrap(), &long[..LIMIT]);
        let bomb = gzip(&vec![0; 64 << 20]);
        assert_eq!(decode("gzip", &bomb, 4096), Err(DecodeError::Bomb));
        assert_eq!(
            decode("gzip, gzip", &gzip(&bomb), 4096),
            Err(DecodeError::Bomb)
        );
    }

    #[test]
    fn what_is_not_as_it_says_is_told() {
        let whole = gzip(b"hello");
        for (encoding, bytes) in [
            ("gzip", &b"hello"[..]),
            ("gzip", &whole[..whole.len() - 1]),
            ("deflate", b"h"),
            ("br", b"hello"),
            ("gzip, br", b"\x8b\x02\x80hello\x03"),
        ] {
            let error = decode(encoding, bytes, 4096).unwrap_err();
            assert!(
                matches!(error, DecodeError::Broken(_)),
                "{encoding}: {error}"
            );
        }
        assert!(matches!(
            Decoder::new("zstd", 1).err(),
            Some(DecodeError::Unknown(_))
        ));
        let three = Decoder::new("gzip, br, gzip", 1).err();
        assert_eq!(three, Some(DecodeError::Stacked));
        assert_eq!(decode("gzip", b"", 1).unwrap(), b"");
    }
}
