//! An import as a file.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::import::Imported;
use super::read::OpenApiError;
use super::text;

/// How many of the operations left out are named for each reason, and in all.
const NAMED: usize = 200;
/// How many notes are written down.
const NOTES: usize = 50;
/// How long a line of comment is.
const LINE: usize = 300;

/// Writes an import as YAML: the given header, what was left out and why, what else
/// there is to know, and the tools.
///
/// # Errors
/// Where something cannot be written, which is not expected.
pub fn to_yaml(imported: &Imported, header_comment: &str) -> Result<String, OpenApiError> {
    let mut file = String::new();
    for line in header_comment.lines() {
        comment(&mut file, "", line);
    }
    left_out(&mut file, imported);
    if !imported.notes.is_empty() {
        gap(&mut file);
        comment(&mut file, "", "Notes:");
        for note in imported.notes.iter().take(NOTES) {
            comment(&mut file, "- ", note);
        }
        if let Some(more) = imported
            .notes
            .len()
            .checked_sub(NOTES)
            .filter(|more| *more > 0)
        {
            comment(&mut file, "- ", &format!("and {more} more"));
        }
    }
    if !file.is_empty() {
        file.push('\n');
    }
    let entry = serde_saphyr::to_string(&imported.entry)
        .map_err(|error| OpenApiError::Write(text::line(&error.to_string(), LINE)))?;
    file.push_str(&entry);
    Ok(file)
}

fn left_out(file: &mut String, imported: &Imported) {
    if imported.left_out.is_empty() {
        return;
    }
    gap(file);
    let total = imported.left_out.len() + imported.entry.tools.len();
    comment(
        file,
        "",
        &format!(
            "Left out: {} of {total} operations.",
            imported.left_out.len()
        ),
    );
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for left in &imported.left_out {
        let name = format!("{} {}", left.method, left.path);
        reasons.entry(&left.reason).or_default().push(name);
    }
    let mut named = 0;
    for (reason, operations) in reasons {
        if named >= NAMED {
            comment(file, "", "And more of them for other reasons.");
            return;
        }
        comment(file, "- ", &format!("{reason}:"));
        let shown = operations.len().min(NAMED - named);
        for operation in &operations[..shown] {
            comment(file, "    ", operation);
        }
        if let Some(more) = operations.len().checked_sub(shown).filter(|more| *more > 0) {
            comment(file, "    ", &format!("and {more} more"));
        }
        named += shown;
    }
}

/// An empty line between comments.
fn gap(file: &mut String) {
    if !file.is_empty() {
        comment(file, "", "");
    }
}

/// A line that stays one, whatever it says.
fn comment(file: &mut String, lead: &str, line: &str) {
    let line = format!("# {lead}{}", text::line(line, LINE));
    let _ = writeln!(file, "{}", line.trim_end());
}
