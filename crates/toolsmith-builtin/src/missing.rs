//! What a path that leads nowhere may have meant.

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::Dir;
use toolsmith_core::ToolContext;

use crate::refusal::{Reason, Refusal};
use crate::search::{self, Case, Glob, Names, Start, Stop};
use crate::workspace::{OpenDirectory, Workspace};

/// How many names are looked at.
const LOOKED_AT: usize = 10_000;

/// How many are told.
const TOLD: usize = 3;

/// How long the rest of the tree is looked through.
const PATIENCE: Duration = Duration::from_millis(200);

/// Opens the folder a path means, or says what may have been meant.
pub(crate) fn open_directory(
    workspace: &Workspace,
    path: &str,
    context: &ToolContext,
) -> Result<OpenDirectory, Refusal> {
    let opened = workspace.open_directory(path);
    opened.map_err(|refusal| explained(refusal, workspace, path, context))
}

/// Adds to a refusal that says `NOT_FOUND` the names in that folder that are nearest, and
/// where else there is something of the same name.
pub(crate) fn explained(
    refusal: Refusal,
    workspace: &Workspace,
    path: &str,
    context: &ToolContext,
) -> Refusal {
    if refusal.reason != Reason::NotFound {
        return refusal;
    }
    let mut refusal = refusal;
    let mut nearest = nearest(workspace, path);
    let itself = Path::new(path).strip_prefix(".").unwrap_or(Path::new(path));
    // It is there, and what it leads to is not.
    if nearest.iter().any(|name| Path::new(name) == itself) {
        nearest.retain(|name| Path::new(name) != itself);
        refusal.message += " (it is a link, and what it leads to is not there)";
    }
    let elsewhere = elsewhere(workspace, path, context);
    let listed = |names: &[String]| {
        let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        named.join(" or ")
    };
    let next = match (nearest.as_slice(), elsewhere.as_slice()) {
        ([], []) => return refusal.next("Look for it with glob or find, or list a folder"),
        (near, []) => format!("Perhaps {} is meant", listed(near)),
        ([], far) => format!("There is {}", listed(far)),
        (near, far) => format!(
            "Perhaps {} is meant; there is also {}",
            listed(near),
            listed(far)
        ),
    };
    refusal
        .next(next)
        .detail("nearest", nearest)
        .detail("elsewhere", elsewhere)
}

/// Where in the tree there is something of the same name.
fn elsewhere(workspace: &Workspace, path: &str, context: &ToolContext) -> Vec<String> {
    let Some(name) = Path::new(path).file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let mut literal = String::new();
    for character in name.chars() {
        if "*?[]{}\\!".contains(character) {
            literal.push('\\');
        }
        literal.push(character);
    }
    let glob = Glob::new("path", &literal, Case::Insensitive);
    let start = Start::in_workspace(workspace);
    let (Ok(glob), Ok(start)) = (glob, start) else {
        return Vec::new();
    };
    let names = Names {
        glob: Some(glob),
        folders: true,
        keep: TOLD,
        ..Names::default()
    };
    let findings = search::look(&start, &names, &Stop::after(PATIENCE, context));
    let found = findings.found.iter().map(|found| start.show(&found.path));
    found.collect()
}

/// The names in its folder that are nearest to that of a path.
fn nearest(workspace: &Workspace, path: &str) -> Vec<String> {
    let path = Path::new(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let opened = folder
        .to_str()
        .and_then(|folder| workspace.open_directory(folder).ok());
    let Some(entries) = opened.and_then(|opened| Dir::read_from(opened.as_fd()).ok()) else {
        return Vec::new();
    };
    let wanted = name.to_lowercase();
    // Half of it may be wrong; more is another name.
    let most = wanted.chars().count().max(2) / 2;
    let mut scored: Vec<(usize, String)> = entries
        .flatten()
        .take(LOOKED_AT)
        .filter_map(|entry| {
            let name = entry.file_name().to_str().ok()?;
            if matches!(name, "." | "..") {
                return None;
            }
            let lower = name.to_lowercase();
            // Comparing takes the product of both lengths.
            if lower.chars().count().abs_diff(wanted.chars().count()) > most {
                return None;
            }
            let distance = strsim::osa_distance(&wanted, &lower);
            (distance <= most).then(|| (distance, name.to_owned()))
        })
        .collect();
    scored.sort();
    scored.truncate(TOLD);
    let told = scored.into_iter().map(|(_, name)| match folder {
        here if here == Path::new(".") => name,
        folder => folder.join(name).to_string_lossy().into_owned(),
    });
    told.collect()
}
