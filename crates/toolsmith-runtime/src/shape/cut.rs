//! Cuts long texts in the middle: beginnings say what a text is, ends say how it
//! came out.

/// The share of the room that the head gets, in percent.
const HEAD_PERCENT: usize = 40;

/// How many bytes of the head stay.
pub(super) fn head_bytes(text: &str, limit: usize) -> usize {
    let share = (limit / 100).saturating_mul(HEAD_PERCENT) + limit % 100 * HEAD_PERCENT / 100;
    text.floor_char_boundary(share.min(text.len()))
}

/// The text in at most about `limit` bytes, with a note in the middle, and how many
/// bytes are missing.
pub(super) fn shorten(text: &str, limit: usize, how_to_read_on: &str) -> (String, u64) {
    if text.len() <= limit {
        return (text.to_owned(), 0);
    }
    let head = head_bytes(text, limit);
    let tail = text.ceil_char_boundary(text.len() - (limit - head).min(text.len()));
    let tail = tail.max(head);
    let omitted = tail - head;
    let how = if how_to_read_on.is_empty() {
        String::new()
    } else {
        format!("; {how_to_read_on}")
    };
    let note = format!("\n[… {omitted} of {} bytes left out{how} …]\n", text.len());
    let shortened = [&text[..head], &note, &text[tail..]].concat();
    (shortened, omitted as u64)
}
