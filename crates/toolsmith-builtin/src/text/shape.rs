//! What a text looks like: its line endings, its indentation, its end.

use std::fmt;

/// How lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eol {
    Lf,
    Crlf,
    Cr,
    Mixed,
    /// There is but one line, and it has no end.
    None,
}

impl Eol {
    /// How the lines of a text end.
    pub(crate) fn of(text: &str) -> Self {
        let (mut lf, mut crlf, mut cr) = (false, false, false);
        let bytes = text.as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if index > 0 && bytes[index - 1] == b'\r' => crlf = true,
                b'\n' => lf = true,
                b'\r' if bytes.get(index + 1) != Some(&b'\n') => cr = true,
                _ => {}
            }
        }
        match (lf, crlf, cr) {
            (false, false, false) => Self::None,
            (true, false, false) => Self::Lf,
            (false, true, false) => Self::Crlf,
            (false, false, true) => Self::Cr,
            _ => Self::Mixed,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Lf => "lf",
            Self::Crlf => "crlf",
            Self::Cr => "cr",
            Self::Mixed => "mixed",
            Self::None => "none",
        }
    }
}

/// How lines begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indent {
    Tabs,
    Spaces(usize),
    Mixed,
    None,
}

impl fmt::Display for Indent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tabs => f.write_str("tabs"),
            Self::Spaces(1) => f.write_str("1 space"),
            Self::Spaces(count) => write!(f, "{count} spaces"),
            Self::Mixed => f.write_str("tabs and spaces"),
            Self::None => f.write_str("none"),
        }
    }
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) eol: Eol,
    pub(crate) indent: Indent,
}

impl Shape {
    /// The shape of a text, or of a good part of it.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            eol: Eol::of(text),
            indent: indent_of(text),
        }
    }
}

/// The indentation most lines agree on: of lines indented by spaces, the step from one
/// to the next that comes most often.
fn indent_of(text: &str) -> Indent {
    const WIDEST: usize = 8;
    let (mut tabs, mut spaces) = (0_usize, 0_usize);
    let mut steps = [0_usize; WIDEST + 1];
    let mut before = 0;
    for line in text.lines().take(4096) {
        let rest = line.trim_start_matches(' ');
        let width = line.len() - rest.len();
        if rest.trim().is_empty() {
            continue;
        }
        if line.starts_with('\t') {
            tabs += 1;
            continue;
        }
        // One space before a star is the inside of a comment.
        if width > 0 && !(width % 2 == 1 && rest.starts_with('*')) {
            spaces += 1;
        }
        let step = width.abs_diff(before);
        if (1..=WIDEST).contains(&step) {
            steps[step] += 1;
        }
        before = width;
    }
    let is_few = |few: usize, many: usize| few * 10 < many;
    match (tabs, spaces) {
        (0, 0) => Indent::None,
        (tabs, spaces) if is_few(spaces, tabs) => Indent::Tabs,
        (tabs, spaces) if is_few(tabs, spaces) => {
            let most = (1..=WIDEST).max_by_key(|step| (steps[*step], WIDEST - step));
            match most {
                Some(step) if steps[step] > 0 => Indent::Spaces(step),
                _ => Indent::Mixed,
            }
        }
        _ => Indent::Mixed,
    }
}
