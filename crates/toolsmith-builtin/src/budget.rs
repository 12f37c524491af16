//! How much an answer tells at once: what is usual, and the most a caller may ask for.

/// How many bytes an answer has unless the caller asks for more.
const USUAL: usize = 50 << 10;

/// The most a caller may ask for.
pub(crate) const MOST: usize = 1 << 20;

/// What an answer has beside what was asked for: its head, its notes, names of fields.
pub(crate) const BESIDE: usize = 8 << 10;

/// How many bytes an answer has unless the caller asks for more.
pub(crate) fn usual() -> usize {
    USUAL
}

/// The room the runtime has to leave for an answer of so many bytes. Written as JSON a
/// text is longer, and hardly ever twice as long.
pub(crate) fn room(bytes: usize) -> usize {
    2 * bytes.min(MOST) + BESIDE
}
