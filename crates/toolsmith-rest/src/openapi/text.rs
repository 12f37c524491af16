//! Texts of a document as models and people may see them: clean and of bounded length.

/// Removes what hides text or steers a terminal, and cuts what is too long.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    let text = text.trim();
    let mut rest = text.chars().filter(|c| is_plain(*c));
    let mut bounded: String = rest.by_ref().take(limit).collect();
    if rest.next().is_some() {
        bounded.pop();
        bounded.truncate(bounded.trim_end().len());
        bounded.push('…');
    }
    bounded
}

/// The same in one line.
pub(super) fn line(text: &str, limit: usize) -> String {
    // What is beyond cannot be seen, whatever white space there is.
    let cut: String = text.chars().take(limit.saturating_mul(4)).collect();
    let words: Vec<&str> = cut.split_whitespace().collect();
    bounded(&words.join(" "), limit)
}

/// Tells whether a character can stand anywhere: no control, no direction, no width of
/// zero, no tag.
fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}
