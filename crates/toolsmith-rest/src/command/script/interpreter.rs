//! What starts a script: the file itself, or what its first line names.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// How much of the first line the system reads.
const FIRST_LINE: usize = 256;

/// The program and the arguments that run a script.
///
/// # Errors
/// Says in words why nothing can, and what to do about it.
pub(super) fn command(path: &Path) -> Result<Vec<OsString>, String> {
    let unreadable = |error: io::Error| format!("the script cannot be read: {error}");
    // Before it is opened: a pipe in its place would hold up whoever does.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("the script is no regular file".to_owned());
    }
    let mut beginning = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FIRST_LINE as u64).read_to_end(&mut beginning))
        .map_err(unreadable)?;
    let mut interpreter = interpreter(&beginning)?;
    if metadata.permissions().mode() & 0o111 != 0 {
        interpreter.clear();
    }
    interpreter.push(path.into());
    Ok(interpreter)
}

/// What the first line names, read as the system reads it: a path, and all that follows
/// as at most one argument.
fn interpreter(beginning: &[u8]) -> Result<Vec<OsString>, String> {
    let Some(line) = beginning.strip_prefix(b"#!") else {
        return Err(
            "the script does not say what runs it; begin its first line with `#!` and the path \
             of an interpreter, such as `#!/bin/sh` or `#!/usr/bin/env python3`"
                .to_owned(),
        );
    };
    let end = line.iter().position(|byte| *byte == b'\n');
    if end.is_none() && beginning.len() == FIRST_LINE {
        return Err(format!(
            "the first line is longer than the {FIRST_LINE} bytes the system reads of it"
        ));
    }
    let line = &line[..end.unwrap_or(line.len())];
    if line.ends_with(b"\r") {
        return Err(
            "the first line ends with a carriage return, which the system takes for a part of \
             it; save the file with line feeds only"
                .to_owned(),
        );
    }
    let line = line.trim_ascii();
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().position(is_space).unwrap_or(line.len());
    let (path, argument) = (&line[..end], line[end..].trim_ascii());
    if !path.starts_with(b"/") {
        return Err(format!(
            "the first line names {:?}, which is no full path; write `#!/usr/bin/env NAME` for a \
             program that is looked for",
            String::from_utf8_lossy(path)
        ));
    }
    let words = [path, argument].into_iter().filter(|word| !word.is_empty());
    Ok(words.map(|word| OsStr::from_bytes(word).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_is_read_as_the_system_reads_it() {
        for (line, words) in [
            ("#!/bin/sh\n", vec!["/bin/sh"]),
            ("#!/bin/sh", vec!["/bin/sh"]),
            ("#! \t/bin/sh -e  \nrest", vec!["/bin/sh", "-e"]),
            ("#!/usr/bin/env python3\n", vec!["/usr/bin/env", "python3"]),
            ("#!/usr/bin/env -S a  b\n", vec!["/usr/bin/env", "-S a  b"]),
        ] {
            let expected: Vec<OsString> = words.into_iter().map(Into::into).collect();
            assert_eq!(interpreter(line.as_bytes()), Ok(expected), "{line:?}");
        }
    }

    #[test]
    fn a_first_line_that_names_nothing() {
        for (line, message) in [
            ("", "does not say what runs it"),
            ("echo hello\n", "does not say what runs it"),
            ("#!\n", "which is no full path"),
            ("#!sh\n", "names \"sh\", which is no full path"),
            ("#!/bin/sh\r\n", "carriage return"),
            (&format!("#!/bin/{}", "x".repeat(249)), "longer than"),
        ] {
            let error = interpreter(line.as_bytes()).unwrap_err();
            assert!(error.contains(message), "{line:?}: {error}");
        }
    }
}
