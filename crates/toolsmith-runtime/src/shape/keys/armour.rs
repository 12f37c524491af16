//! Private keys in lines of Base64 between two marks, also where the lines are written
//! into one, quoted, numbered or cut.

use std::ops::Range;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// No private key has more bytes, however its lines are written.
const LONGEST: usize = 32 << 10;
/// How many letters of a mark lie between its hyphens at most.
const LONGEST_NAME: usize = 48;
/// Lines of a key have runs of Base64 that are longer than words.
const SHORTEST_RUN: usize = 20;

/// The key that begins with this mark.
pub(super) fn find(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let body = hit.end + mark(&text[hit.end..])?;
    let rest = &text[body..];
    let rest = &rest[..rest.floor_char_boundary(LONGEST)];
    let rest = &rest[..rest.find(BEGIN).unwrap_or(rest.len())];
    if let Some(end) = rest.find(END) {
        let is_key = longest_run(&rest[..end]) >= SHORTEST_RUN;
        let close = end + END.len();
        let close = close + mark(&rest[close..]).unwrap_or(0);
        return is_key.then_some(hit.start..body + close);
    }
    let (length, run) = cut_key(rest);
    let is_cut = body + length == text.len();
    let holds_some = run >= if is_cut { 1 } else { SHORTEST_RUN };
    holds_some.then_some(hit.start..body + length)
}

/// How much of a text without an end mark belongs to a key, and how many letters of Base64
/// stand side by side in that.
fn cut_key(text: &str) -> (usize, usize) {
    let (mut at, mut end, mut longest) = (0, 0, 0);
    while at < text.len() {
        let rest = &text[at..];
        // A line break may be written as two letters.
        let length = rest.find(['\n', '\\']).unwrap_or(rest.len());
        let step = if rest[length..].starts_with("\\n") {
            2
        } else {
            1
        };
        let line = &rest[..length];
        let coded = line.trim_start_matches(is_before_line);
        let run = coded.find(|c| !is_coded(c)).unwrap_or(coded.len());
        let run_end = at + (line.len() - coded.len()) + run;
        let is_whole = coded[run..].trim_end_matches(is_behind_line).is_empty();
        let is_of_key = is_whole || run >= SHORTEST_RUN || longest >= SHORTEST_RUN;
        if is_of_key && run > 0 {
            (end, longest) = (run_end, longest.max(run));
        }
        if !is_whole && !is_header(line) {
            break;
        }
        at += length + step;
    }
    (end, longest)
}

/// Where the private key begins that a text ends within.
pub(in super::super) fn open_armour(text: &str) -> Option<usize> {
    let begin = text.rfind(BEGIN)?;
    let name = begin + BEGIN.len();
    let rest = &text[name + mark(&text[name..])?..];
    (!rest.contains(END) && rest.lines().all(goes_on_armour)).then_some(begin)
}

/// How much of a text that begins within a private key belongs to it.
pub(in super::super) fn rest_of_armour(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if line.contains(END) {
            return length + line.trim_end_matches(['\n', '\r']).len();
        }
        if !goes_on_armour(line) {
            break;
        }
        length += line.len();
    }
    length
}

/// Tells whether a line may be one of a private key that was not closed: Base64, maybe
/// numbered or quoted, or one of the lines such a key may begin with.
fn goes_on_armour(line: &str) -> bool {
    let coded = line.trim_start_matches(is_before_line);
    let coded = coded.trim_end_matches(is_behind_line);
    coded.chars().all(|c| is_coded(c) || c == '\\') || is_header(line)
}

/// What may stand before a line: its number, a quote, the sign of a difference.
fn is_before_line(c: char) -> bool {
    c.is_ascii_digit() || " \t\r|:+-\"'>".contains(c)
}

/// What may stand behind a line of a text that is quoted in a program.
fn is_behind_line(c: char) -> bool {
    c.is_whitespace() || "\"',+\\;".contains(c)
}

fn is_coded(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=".contains(c)
}

fn is_header(line: &str) -> bool {
    let (name, _) = line
        .trim_start_matches(is_before_line)
        .split_once(": ")
        .unwrap_or_default();
    matches!(
        name,
        "Proc-Type" | "DEK-Info" | "Version" | "Comment" | "Hash" | "Charset"
    )
}

/// The length of the rest of a mark of a private key, from behind its first word.
fn mark(text: &str) -> Option<usize> {
    let text = &text[..text.floor_char_boundary(LONGEST_NAME)];
    let name = text.find("-----")?;
    let is_private =
        text[..name].ends_with("PRIVATE KEY") || text[..name].ends_with("PRIVATE KEY BLOCK");
    is_private.then_some(name + "-----".len())
}

/// How many letters of Base64 stand side by side at most.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c: char| !is_coded(c));
    runs.map(str::len).max().unwrap_or(0)
}
