//! What in a text would be read as Markdown, escaped so that it is not.

/// A text as Markdown that shows it.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for (at, character) in text.char_indices() {
        let is_special = match character {
            '\\' | '*' | '`' | '[' | ']' | '_' => true,
            '-' | '=' | '>' => at == 0,
            '+' => at == 0 && text[1..].starts_with(' '),
            '~' => at == 0 && text.starts_with("~~~"),
            '#' => at == 0 && is_heading(text),
            '.' => is_number(&text[..at]) && text[at + 1..].starts_with(' '),
            _ => false,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn is_heading(text: &str) -> bool {
    let after = text.trim_start_matches('#');
    text.len() - after.len() <= 6 && after.starts_with(' ')
}

/// Whether all that comes before is digits. Long ones are no list.
fn is_number(before: &str) -> bool {
    (1..=20).contains(&before.len()) && before.bytes().all(|byte| byte.is_ascii_digit())
}

/// An address as it stands in a link.
pub(super) fn destination(address: &str) -> String {
    let mut escaped = String::with_capacity(address.len());
    for character in address.chars() {
        match character {
            '<' | '>' | '(' | ')' => {
                escaped.push('\\');
                escaped.push(character);
            }
            // An address has no line breaks; a browser leaves them out.
            '\n' | '\r' | '\t' => {}
            _ => escaped.push(character),
        }
    }
    match escaped.contains(' ') {
        true => format!("<{escaped}>"),
        false => escaped,
    }
}

/// The title of a link with its blank and quotes; nothing where there is none.
pub(super) fn title(title: Option<&str>) -> String {
    let title = attribute(title);
    match title.is_empty() {
        true => String::new(),
        false => format!(" \"{}\"", title.replace('"', "\\\"")),
    }
}

/// The text of an attribute without its empty lines.
pub(super) fn attribute(text: Option<&str>) -> String {
    let mut lines = text.unwrap_or_default().split('\n');
    let mut joined = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let line = line.trim_start();
        if !line.is_empty() {
            joined.push('\n');
            joined.push_str(line);
        }
    }
    joined
}

/// A text as code within a line.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = text.replace("\r\n", " ").replace(['\n', '\r'], " ");
    let inner = text.trim_matches(' ');
    let is_flanked = text.len() > inner.len() + 1 && text.starts_with(' ') && text.ends_with(' ');
    let needs_blank =
        text.starts_with('`') || text.ends_with('`') || (is_flanked && !inner.is_empty());
    let blank = if needs_blank { " " } else { "" };
    let runs = runs_of_ticks(&text);
    let length = (1..).find(|length| !runs.contains(length)).unwrap_or(1);
    let ticks = "`".repeat(length);
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// The lengths of all runs of backticks.
fn runs_of_ticks(text: &str) -> std::collections::BTreeSet<usize> {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).filter(|length| *length > 0).collect()
}

/// A fence that no line of the code ends.
pub(super) fn fence(code: &str, wanted: &str) -> String {
    let character = wanted.chars().next().unwrap_or('`');
    let longest = code.lines().map(|line| {
        let after = line.trim_start_matches(character);
        (line.len() - after.len()) / character.len_utf8()
    });
    let longest = longest.filter(|length| *length >= 3).max();
    let length = longest.map_or(3, |length| length + 1);
    character.to_string().repeat(length)
}
