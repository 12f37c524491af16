//! Takes line numbers off that were copied along with the text.

/// What stands between a number and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Tab,
    Arrow,
    Colon,
    Bar,
}

/// Both texts without line numbers, if every line of the old one has one, ascending.
/// The new one's lines lose theirs where they have any: a model adds lines without.
pub(super) fn without_numbers(old: &str, new: &str) -> Option<(String, String)> {
    let (_, separator, _) = cut(old.split('\n').next()?)?;
    let mut last = None;
    let mut stripped = String::with_capacity(old.len());
    for piece in old.split_inclusive('\n') {
        let (number, found, _) = cut(piece.trim_end_matches('\n'))?;
        if found != separator || last.is_some_and(|last| last >= number) {
            return None;
        }
        last = Some(number);
        stripped.push_str(rest(piece, separator));
    }
    let new = new
        .split_inclusive('\n')
        .map(|piece| rest(piece, separator));
    Some((stripped, new.collect()))
}

fn rest(piece: &str, separator: Separator) -> &str {
    let line = piece.trim_end_matches('\n');
    match cut(line) {
        Some((_, found, start)) if found == separator => &piece[start..],
        _ => piece,
    }
}

/// A line's number, what follows it, and where the line itself starts.
fn cut(line: &str) -> Option<(u32, Separator, usize)> {
    let number = line.trim_start_matches(' ');
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = number.split_at(digits);
    // Nine digits are more lines than any text here has, and fit.
    let number = number.parse().ok().filter(|_| digits <= 9)?;
    let (separator, content) = separator(after)?;
    Some((number, separator, line.len() - content.len()))
}

fn separator(after: &str) -> Option<(Separator, &str)> {
    if let Some(content) = after.strip_prefix('\t') {
        return Some((Separator::Tab, content));
    }
    if let Some(content) = after.strip_prefix('→') {
        return Some((Separator::Arrow, content));
    }
    if let Some(content) = after.strip_prefix(": ") {
        return Some((Separator::Colon, content));
    }
    if after == ":" {
        return Some((Separator::Colon, ""));
    }
    let bar = after.strip_prefix(' ').unwrap_or(after).strip_prefix('|')?;
    Some((Separator::Bar, bar.strip_prefix(' ').unwrap_or(bar)))
}
