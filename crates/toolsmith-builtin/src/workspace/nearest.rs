//! What a path that leads nowhere may have meant.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Dir, OFlags};

use super::Workspace;
use crate::refusal::{Reason, Refusal};

/// How many names are looked at.
const LOOKED_AT: usize = 10_000;

/// How many are told.
const TOLD: usize = 3;

impl Workspace {
    /// Adds to a refusal that says `NOT_FOUND` the names in that folder that are nearest.
    pub(crate) fn with_nearest(&self, refusal: Refusal, path: &str) -> Refusal {
        if refusal.reason != Reason::NotFound {
            return refusal;
        }
        let nearest = self.nearest(path);
        if nearest.is_empty() {
            return refusal.next("Look for it with glob or find, or list a folder");
        }
        let named: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
        refusal
            .next(format!("Perhaps {} is meant", named.join(" or ")))
            .detail("nearest", nearest)
    }

    fn nearest(&self, path: &str) -> Vec<String> {
        let path = Path::new(path);
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Vec::new();
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let place = folder.to_str().and_then(|folder| self.place(folder).ok());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let opened = place.and_then(|place| self.open_at(&place, flags).ok());
        let Some((handle, _)) = opened else {
            return Vec::new();
        };
        let Ok(entries) = Dir::read_from(handle.as_fd()) else {
            return Vec::new();
        };
        let wanted = name.to_lowercase();
        let mut scored: Vec<(usize, String)> = entries
            .flatten()
            .take(LOOKED_AT)
            .filter_map(|entry| {
                let name = entry.file_name().to_str().ok()?;
                if matches!(name, "." | "..") {
                    return None;
                }
                let distance = strsim::osa_distance(&wanted, &name.to_lowercase());
                // Half of it may be wrong; more is another name.
                (distance * 2 <= wanted.chars().count().max(2)).then(|| (distance, name.to_owned()))
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
}
