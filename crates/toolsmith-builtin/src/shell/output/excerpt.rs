//! Picks what an answer shows of an output: its beginning and, since errors stand there,
//! more of its end.

use super::Capture;

/// How many characters are shown unless the caller says otherwise.
pub(crate) const USUAL: usize = 30_000;

/// How much of what is shown is the beginning, in hundredths.
const BEGINNING: usize = 40;

/// What a caller wants to see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// How many characters.
    pub(crate) characters: usize,
    /// How many lines of the beginning; with either of both, nothing else is shown.
    pub(crate) first: Option<usize>,
    /// How many lines of the end.
    pub(crate) last: Option<usize>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            characters: USUAL,
            first: None,
            last: None,
        }
    }
}

/// What is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) head: String,
    pub(crate) tail: String,
    /// How many bytes are left out between both.
    pub(crate) omitted: u64,
    /// How many lines.
    pub(crate) omitted_lines: u64,
}

impl Excerpt {
    /// Picks from an output.
    pub(crate) fn of(capture: &Capture, view: View) -> Self {
        let (head, tail) = capture.parts();
        let whole;
        // Where nothing is gone, both views are of the same text.
        let (head, tail) = match capture.whole() {
            Some(text) => {
                whole = text;
                (whole.as_str(), whole.as_str())
            }
            None => (head, tail),
        };
        let is_complete = capture.gap() == 0;
        let (beginning, end) = match (view.first, view.last) {
            (None, None) => {
                let fits = head.len() <= view.characters || characters(head) <= view.characters;
                if is_complete && fits {
                    (head, "")
                } else {
                    let room = view.characters * BEGINNING / 100;
                    (
                        first_characters(head, room),
                        last_characters(tail, view.characters - room),
                    )
                }
            }
            (first, last) => {
                let beginning = first_lines(head, first.unwrap_or(0));
                let room = view.characters * BEGINNING / 100;
                let room = if last.is_none() {
                    view.characters
                } else {
                    room
                };
                let beginning = first_characters(beginning, room);
                let end = last_lines(tail, last.unwrap_or(0));
                let room = view.characters.saturating_sub(characters(beginning));
                (beginning, last_characters(end, room))
            }
        };
        // Where both overlap, there is nothing between them.
        if is_complete && beginning.len() + end.len() >= head.len() {
            return Self {
                head: head.to_owned(),
                tail: String::new(),
                omitted: 0,
                omitted_lines: 0,
            };
        }
        let shown = (beginning.len() + end.len()) as u64;
        Self {
            omitted: capture.total() - shown,
            omitted_lines: capture
                .lines()
                .saturating_sub(lines(beginning) + lines(end)),
            head: beginning.to_owned(),
            tail: end.to_owned(),
        }
    }

    /// Both parts with what is said of the middle between them.
    pub(crate) fn text(&self, where_it_is: &str) -> String {
        if self.omitted == 0 {
            return self.head.clone();
        }
        let mut text = self.head.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let lines = match self.omitted_lines {
            0 => String::new(),
            1 => "1 line, ".to_owned(),
            many => format!("{many} lines, "),
        };
        text += &format!(
            "[… {lines}{} bytes are left out here; {where_it_is} …]",
            self.omitted
        );
        if !self.tail.is_empty() {
            text.push('\n');
            text += &self.tail;
        }
        text
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

fn lines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The first characters, in whole lines if one fits.
fn first_characters(text: &str, count: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(count) else {
        return text;
    };
    let cut = &text[..end];
    cut.rfind('\n').map_or(cut, |newline| &cut[..=newline])
}

/// The last characters, in whole lines if one fits.
fn last_characters(text: &str, count: usize) -> &str {
    if count == 0 {
        return "";
    }
    let Some((start, _)) = text.char_indices().rev().nth(count - 1) else {
        return text;
    };
    if start == 0 || text[..start].ends_with('\n') {
        return &text[start..];
    }
    let cut = &text[start..];
    match cut.find('\n') {
        Some(newline) if newline + 1 < cut.len() => &cut[newline + 1..],
        _ => cut,
    }
}

fn first_lines(text: &str, count: usize) -> &str {
    if count == 0 {
        return "";
    }
    let end = text.match_indices('\n').nth(count - 1);
    end.map_or(text, |(end, _)| &text[..=end])
}

fn last_lines(text: &str, count: usize) -> &str {
    if count == 0 {
        return "";
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let before = body.rmatch_indices('\n').nth(count - 1);
    before.map_or(text, |(end, _)| &text[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(
        text: &str,
        characters: usize,
        first: Option<usize>,
        last: Option<usize>,
    ) -> Excerpt {
        let mut capture = Capture::default();
        capture.push(text);
        let view = View {
            characters,
            first,
            last,
        };
        Excerpt::of(&capture, view)
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let shown = excerpt("é\né\n", 4, None, None);
        assert_eq!((shown.head.as_str(), shown.omitted), ("é\né\n", 0));
        let shown = excerpt("1\n2\n3\n", 100, Some(2), Some(2));
        assert_eq!((shown.head.as_str(), shown.omitted), ("1\n2\n3\n", 0));
    }

    #[test]
    fn the_middle_is_left_out_at_line_borders() {
        let text: String = (0..100)
            .map(|number| format!("line {number:03}\n"))
            .collect();
        let shown = excerpt(&text, 100, None, None);
        assert_eq!(shown.head, "line 000\nline 001\nline 002\nline 003\n");
        assert!(shown.tail.starts_with("line 09") && shown.tail.ends_with("line 099\n"));
        assert_eq!(shown.tail.len(), 54);
        assert_eq!(shown.omitted as usize, text.len() - 36 - 54);
        assert_eq!(shown.omitted_lines, 100 - 4 - 6);
        let text = shown.text("nothing kept it");
        assert!(
            text.contains(
                "line 003\n[… 90 lines, 810 bytes are left out here; nothing kept it …]\nline 094\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let shown = excerpt(&"é".repeat(1000), 10, None, None);
        assert_eq!(
            (shown.head.as_str(), shown.tail.as_str()),
            ("éééé", "éééééé")
        );
        assert_eq!(shown.omitted, 2 * 990);
    }

    #[test]
    fn lines_can_be_asked_for() {
        let text = "1\n2\n3\n4\n5\n";
        let shown = excerpt(text, 100, Some(1), None);
        assert_eq!((shown.head.as_str(), shown.tail.as_str()), ("1\n", ""));
        let shown = excerpt(text, 100, None, Some(2));
        assert_eq!((shown.head.as_str(), shown.tail.as_str()), ("", "4\n5\n"));
        let shown = excerpt(text, 100, Some(1), Some(1));
        assert_eq!((shown.head.as_str(), shown.tail.as_str()), ("1\n", "5\n"));
        assert_eq!(shown.omitted, 6);
    }
}
