//! Lines as a model reads them: numbered, with overlong ones cut and told of, within a
//! budget.

/// How many characters of a line are shown.
pub(crate) const LINE: usize = 2000;

/// How lines are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// The number of the first line, where lines are numbered.
    pub(crate) first: Option<u64>,
    /// The column lines begin at, counted from 1.
    pub(crate) column: usize,
    /// How many bytes there may be.
    pub(crate) budget: usize,
    /// The character lines end with.
    pub(crate) end: char,
}

/// Lines that were shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// The same without numbers.
    pub(crate) plain: String,
    /// How many lines.
    pub(crate) lines: u64,
    /// Whether lines were left out for want of room.
    pub(crate) is_short: bool,
    /// The first line that was cut, counted from 0.
    pub(crate) first_cut: Option<u64>,
}

/// Shows lines of a text.
pub(crate) fn show(text: &str, style: Style) -> Shown {
    let mut shown = Shown {
        text: String::new(),
        plain: String::new(),
        lines: 0,
        is_short: false,
        first_cut: None,
    };
    for line in lines(text, style.end) {
        let (line, is_cut) = cut(line, style.column);
        // One tab after the number, so that those of the line stay what they are.
        let number = style
            .first
            .map(|first| format!("{:6}\t", first + shown.lines));
        let number = number.unwrap_or_default();
        let length = number.len() + line.len() + 1;
        if shown.text.len() + length > style.budget && shown.lines > 0 {
            shown.is_short = true;
            break;
        }
        for piece in [&number, &line, "\n"] {
            shown.text.push_str(piece);
        }
        for piece in [&line, "\n"] {
            shown.plain.push_str(piece);
        }
        if is_cut {
            shown.first_cut.get_or_insert(shown.lines);
        }
        shown.lines += 1;
    }
    shown
}

/// The lines of a text, without their ends.
pub(crate) fn lines(text: &str, end: char) -> impl Iterator<Item = &str> {
    let is_empty = text.is_empty();
    let text = text.strip_suffix(end).unwrap_or(text);
    text.split(end)
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .filter(move |_| !is_empty)
}

/// A line from a column on, and whether some of it was left out at its end.
fn cut(line: &str, column: usize) -> (String, bool) {
    let skipped = column.saturating_sub(1);
    // Most lines are short, and need not be counted.
    if skipped == 0 && line.len() <= LINE {
        return (line.to_owned(), false);
    }
    let mut characters = line.char_indices().map(|(index, _)| index);
    let from = match skipped {
        0 => 0,
        skipped => characters.nth(skipped - 1).map_or(line.len(), |index| {
            index + line[index..].chars().next().map_or(0, char::len_utf8)
        }),
    };
    let rest = &line[from..];
    let Some((end, _)) = rest.char_indices().nth(LINE) else {
        return (rest.to_owned(), false);
    };
    let total = skipped + rest.chars().count();
    let next = column.max(1) + LINE;
    let marked = format!(
        "{} … [line of {total} characters; go on with column={next}]",
        &rest[..end]
    );
    (marked, true)
}
