//! Remarks that stand for code a model left out.

/// The first line that is such a remark, its number and its text.
pub(crate) fn find(content: &str) -> Option<(usize, &str)> {
    let mut lines = content.lines().enumerate();
    lines.find_map(|(index, line)| is_placeholder(line).then(|| (index + 1, line.trim())))
}

/// A comment that says, with dots, that something stays as it was: `// ... rest of the
/// code`, `# … existing code …`, `<!-- rest unchanged ... -->`.
fn is_placeholder(line: &str) -> bool {
    let line = line.trim();
    if line.len() > 120 {
        return false;
    }
    let openings = ["//", "#", "/*", "<!--", "--", ";", "%", "(*", "{/*"];
    let comment = openings
        .iter()
        .find_map(|opening| line.strip_prefix(opening));
    let bare = line.starts_with("...") || line.starts_with('…') || line.starts_with("[...");
    let Some(text) = comment.or_else(|| bare.then_some(line)) else {
        return false;
    };
    let has_dots = text.contains("...") || text.contains('…');
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let of_what = says(&[
        "code",
        "file",
        "content",
        "function",
        "method",
        "implementation",
        "class",
        "lines",
    ]);
    let stays = says(&[
        "rest of",
        "remaining",
        "existing",
        "unchanged",
        "same as before",
        "as before",
    ]);
    (has_dots && stays)
        || (has_dots && of_what && says(&["other", "previous"]))
        || (stays
            && of_what
            && says(&["omitted", "unchanged", "stays the same", "remains the same"]))
}
