//! The files of the repository, read once and handed to every check.
//!
//! Owns what counts as a file of the project and what a path says about it. The
//! checks see only this, so that their tests can hand them a tree of two lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::source::{self, Layers, TestParts};

/// All files of the project by path, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, File>,
    test_modules: BTreeSet<String>,
}

/// One file: its path from the root with `/`, its text, and its layers if it is Rust.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    /// Empty for what is not text.
    pub(crate) text: String,
    pub(crate) layers: Layers,
    pub(crate) tests: TestParts,
}

impl Tree {
    /// Builds a tree of paths and texts.
    pub(crate) fn new<P: Into<String>, T: Into<String>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let files: BTreeMap<String, File> = files
            .into_iter()
            .map(|(path, text)| File::new(path.into(), text.into()))
            .map(|file| (file.path.clone(), file))
            .collect();
        let declared = |file: &File| -> Vec<String> {
            let folder = file.module_folder();
            let modules = file.tests.modules.iter();
            modules.map(|module| format!("{folder}/{module}")).collect()
        };
        let test_modules = files.values().flat_map(declared).collect();
        Self {
            files,
            test_modules,
        }
    }

    /// Reads the project: what git tracks or would track, or every file where there is no git.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => listed_by_walking(root)?,
        };
        let mut files = Vec::new();
        for path in paths {
            let full = root.join(&path);
            // Git still lists a file that was just deleted, and links are looked at where they lead.
            if !full.is_file() || full.is_symlink() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("failed to read {path}"))?;
            files.push((path, String::from_utf8(bytes).unwrap_or_default()));
        }
        Ok(Self::new(files))
    }

    /// Returns every file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    /// Returns the file at a path.
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Returns whether a path is a file or a folder of the project.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|other| other.starts_with(&folder))
    }

    /// Returns every Rust file that a person wrote for this project, fixtures left out.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files()
            .filter(|file| file.is_rust() && !file.lies_in(&["fixtures", "ui"]))
    }

    /// Returns the Rust files that are compiled into libraries, binaries or examples.
    pub(crate) fn production(&self) -> impl Iterator<Item = &File> {
        self.rust()
            .filter(|file| !file.lies_in(&["tests", "benches"]) && !self.is_test_module(file))
    }

    fn is_test_module(&self, file: &File) -> bool {
        let path = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        // The module itself and every module below it.
        let mut ends = path
            .match_indices('/')
            .map(|(end, _)| end)
            .chain([path.len()]);
        ends.any(|end| self.test_modules.contains(&path[..end]))
    }
}

impl File {
    fn new(path: String, text: String) -> Self {
        let layers = match path.ends_with(".rs") {
            true => source::split(&text),
            false => Layers::default(),
        };
        let tests = source::test_parts(&layers.code);
        Self {
            path,
            text,
            layers,
            tests,
        }
    }

    /// Returns whether this is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns whether a folder of one of these names is on the way to this file.
    pub(crate) fn lies_in(&self, folders: &[&str]) -> bool {
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folder.split('/').any(|part| folders.contains(&part))
    }

    /// Returns the last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path
            .rsplit_once('/')
            .map_or(&self.path, |(_, name)| name)
    }

    /// Returns the crate this file belongs to, by its folder; nothing outside crates.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        let (first, rest) = self.path.split_once('/')?;
        match first {
            "crates" => rest.split_once('/').map(|(name, _)| name),
            "xtask" => Some(first),
            _ => None,
        }
    }

    /// Returns whether an offset lies in an item under `#[cfg(test)]`.
    pub(crate) fn is_test_code(&self, offset: usize) -> bool {
        self.tests
            .ranges
            .iter()
            .any(|range| range.contains(&offset))
    }

    /// Returns the number of the line, from one, on which an offset lies.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// Returns the folder in which the modules that this file declares lie.
    fn module_folder(&self) -> &str {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        match name {
            "mod.rs" | "lib.rs" | "main.rs" => folder,
            _ => self.path.trim_end_matches(".rs"),
        }
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// Lists a source archive, which has no `.git`.
fn listed_by_walking(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let full = root.join(&folder);
        let entries =
            std::fs::read_dir(&full).with_context(|| format!("failed to list '{folder}'"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("failed to list '{folder}'"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}{name}");
            match entry.file_type()? {
                kind if kind.is_dir() && !matches!(path.as_str(), "target" | ".git") => {
                    folders.push(format!("{path}/"));
                }
                kind if kind.is_file() => paths.push(path),
                _ => {}
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_declared_for_tests_is_no_production_code() {
        let tree = Tree::new([
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests;\nmod b;"),
            ("crates/a/src/tests.rs", "mod deep;"),
            ("crates/a/src/tests/deep.rs", ""),
            ("crates/a/src/b.rs", "#[cfg(test)] mod cases;"),
            ("crates/a/src/b/cases.rs", ""),
            ("crates/a/src/b/more.rs", ""),
        ]);
        let paths: Vec<&str> = tree.production().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "crates/a/src/b.rs",
                "crates/a/src/b/more.rs",
                "crates/a/src/lib.rs"
            ]
        );
    }

    #[test]
    fn walking_finds_what_git_lists() {
        let root = crate::workspace_root().unwrap();
        let walked = listed_by_walking(&root).unwrap();
        assert!(walked.contains(&"xtask/src/main.rs".to_owned()));
        assert!(walked.iter().all(|path| !path.starts_with("target/")));
    }
}
