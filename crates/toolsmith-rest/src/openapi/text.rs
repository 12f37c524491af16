//! Texts of a document as models and people may see them: clean and of bounded length.

use toolsmith_core::clean::clean;

/// Removes what hides text or steers a terminal, and cuts what is too long.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    // What is beyond is not seen, however much of the rest goes.
    let end = text.floor_char_boundary(limit.saturating_mul(64));
    let text = clean(text[..end].trim());
    let mut rest = text.chars();
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
