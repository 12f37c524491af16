//! Reads `/proc`: which processes there are, whose children, since when, with which mark.
//!
//! A process may vanish between two reads; then there is nothing to say about it. Where
//! this process lacks what a read takes, nobody can say anything, and that is an error.

use std::fs::{self, File};
use std::io::{self, Read as _};

use super::MARK;

/// How much of an environment is looked through.
const MAX_ENVIRONMENT: u64 = 4 << 20;

/// One process at one moment. Number and start together are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    /// In ticks of the system's clock since it booted.
    pub(crate) start: u64,
    /// Dead with all its threads, but its parent has not taken notice.
    pub(crate) is_zombie: bool,
}

/// Returns the processes that started at this tick or later; none where there is no `/proc`.
///
/// # Errors
/// When this process has no descriptor or memory left to look with.
pub(crate) fn since(start: u64) -> io::Result<Vec<Process>> {
    let Some(entries) = unless_short(fs::read_dir("/proc"))? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        found.extend(read(id)?.filter(|process| process.start >= start));
    }
    Ok(found)
}

/// Returns one process, if it exists.
///
/// # Errors
/// When this process has no descriptor or memory left to look with.
pub(crate) fn read(id: u32) -> io::Result<Option<Process>> {
    // The name is whatever the program says, not always UTF-8.
    let stat = unless_short(fs::read(format!("/proc/{id}/stat")))?;
    Ok(stat.and_then(|stat| parse(id, &String::from_utf8_lossy(&stat))))
}

/// Takes what cannot be read for what is not there, unless we are at fault ourselves.
fn unless_short<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Err(error),
            _ => Ok(None),
        },
    }
}

fn parse(id: u32, stat: &str) -> Option<Process> {
    // A name may hold spaces and brackets; nothing after it does.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let threads: u64 = fields.nth(13)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    Some(Process {
        id,
        parent,
        session,
        start,
        // A process whose first thread has ended is listed as dead while the others live.
        is_zombie: matches!(state, "Z" | "X" | "x") && threads <= 1,
    })
}

/// Returns what a process is called, which is whatever it says; nothing when it is gone.
pub(crate) fn name(id: u32) -> String {
    let name = fs::read(format!("/proc/{id}/comm")).unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

/// Returns the mark that a process got with its environment, if it lets us see it.
pub(crate) fn mark(id: u32) -> Option<String> {
    let file = File::open(format!("/proc/{id}/environ")).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
    bytes.split(|byte| *byte == 0).find_map(|pair| {
        let value = pair.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pretend_to_be_other_fields() {
        let stat = "7 (a) R 1 1 (b) S 5 7 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let expected = Process {
            id: 7,
            parent: 5,
            session: 9,
            start: 4242,
            is_zombie: false,
        };
        assert_eq!(parse(7, stat), Some(expected));
        assert_eq!(parse(7, "7 (a"), None);
    }
}
