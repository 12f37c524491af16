//! Trace contexts in the W3C form: which trace a call belongs to, and what it is part of.
//!
//! What comes from outside counts only where it is exactly of that form; everything else
//! is as if nothing had been said, and goes no further.

use std::fmt;
use std::str::FromStr;

/// How many bytes of vendors' notes are carried along.
const MOST_STATE_BYTES: usize = 512;
/// How many vendors' notes are carried along.
const MOST_STATES: usize = 32;
/// The flag that says a trace is kept.
const SAMPLED: u8 = 1;

/// One span of a trace, as `traceparent` writes it.
///
/// ```
/// use toolsmith_core::trace::TraceParent;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let parent: TraceParent = text.parse()?;
/// assert!(parent.is_sampled());
/// assert_eq!(parent.to_string(), text);
/// assert!("00-00000000000000000000000000000000-00f067aa0ba902b7-01".parse::<TraceParent>().is_err());
/// # Ok::<(), toolsmith_core::trace::TraceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace: u128,
    span: u64,
    flags: u8,
}

/// What came is no trace context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no trace context of the form `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`")]
pub struct TraceError;

impl TraceParent {
    /// The first span of a trace that is kept. Neither number may be zero; a zero
    /// becomes one.
    pub fn root(trace: u128, span: u64) -> Self {
        Self {
            trace: trace.max(1),
            span: span.max(1),
            flags: SAMPLED,
        }
    }

    /// A span of this number within the same trace, kept if its trace is.
    #[must_use]
    pub fn child(self, span: u64) -> Self {
        Self {
            span: span.max(1),
            flags: self.flags & SAMPLED,
            ..self
        }
    }

    /// Tells whether whoever began the trace keeps it.
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The trace's number as 32 hexadecimal digits.
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.trace)
    }

    /// The span's number as 16 hexadecimal digits.
    pub fn span_id(self) -> String {
        format!("{:016x}", self.span)
    }
}

impl FromStr for TraceParent {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let bytes = text.as_bytes();
        let is_dash = |at: usize| bytes[at] == b'-';
        if bytes.len() < 55 || !(is_dash(2) && is_dash(35) && is_dash(52)) {
            return Err(TraceError);
        }
        let version = hex(&bytes[..2])?;
        // Later versions may say more behind another dash; this one must not.
        let is_whole = match version {
            0 => bytes.len() == 55,
            0xff => false,
            _ => bytes.len() == 55 || (bytes.len() <= 512 && bytes[55] == b'-'),
        };
        let parent = Self {
            trace: hex(&bytes[3..35])?,
            span: u64::try_from(hex(&bytes[36..52])?).map_err(|_| TraceError)?,
            flags: u8::try_from(hex(&bytes[53..55])?).map_err(|_| TraceError)?,
        };
        match is_whole && parent.trace != 0 && parent.span != 0 {
            true => Ok(parent),
            false => Err(TraceError),
        }
    }
}

/// Always in the form of the first version, which later ones include.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, span, flags } = self;
        write!(f, "00-{trace:032x}-{span:016x}-{flags:02x}")
    }
}

/// Tells whether a text may go along as `tracestate`: a short list of `key=value`.
pub fn is_state(text: &str) -> bool {
    let is_key = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_-*/@".contains(&c);
    let is_value = |c: u8| (0x20..=0x7e).contains(&c) && c != b',' && c != b'=';
    let is_member = |member: &str| match member.trim_matches([' ', '\t']).split_once('=') {
        Some((key, value)) => {
            let is_long = key.is_empty() || key.len() > 256 || value.is_empty();
            !is_long && key.bytes().all(is_key) && value.bytes().all(is_value)
        }
        None => false,
    };
    let is_short = !text.is_empty() && text.len() <= MOST_STATE_BYTES;
    is_short && text.split(',').count() <= MOST_STATES && text.split(',').all(is_member)
}

/// Reads digits in lower case, as the form has them.
fn hex(digits: &[u8]) -> Result<u128, TraceError> {
    digits.iter().try_fold(0u128, |number, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return Err(TraceError),
        };
        Ok(number << 4 | u128::from(digit))
    })
}
