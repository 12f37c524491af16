//! Processes of a soak that outlived it.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::place::Place;

/// How long the last of them may take to be gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tells whether nothing lives that was started in a place; what does is printed.
pub(crate) fn none(place: &Place) -> bool {
    let start = Instant::now();
    loop {
        let left = living(place);
        if left.is_empty() {
            println!("no process is left");
            return true;
        }
        if start.elapsed() > PATIENCE {
            for line in left {
                println!("NOT flat: a process is left: {line}");
            }
            return false;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Those that carry the mark in their words or their environment, or work in the folder.
fn living(place: &Place) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ourselves = std::process::id().to_string();
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let others =
        names.filter(|name| name.bytes().all(|b| b.is_ascii_digit()) && *name != ourselves);
    let described = |name: String| {
        let process = PathBuf::from("/proc").join(&name);
        let read = |file: &str| fs::read(process.join(file)).unwrap_or_default();
        let words = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        let folder = fs::read_link(process.join("cwd")).unwrap_or_default();
        let is_of_it = words.contains(place.mark())
            || environment.contains(place.mark())
            || folder.starts_with(place.path());
        is_of_it.then(|| format!("{name} {words}"))
    };
    others.filter_map(described).collect()
}
