//! What the checks need, installed in exact versions into `target/interop/`.
//!
//! A set is a folder with the packages it was made of written into a marker file; it
//! is made anew when the pins change and left alone when they have not. Which sets
//! there are is said in `node.rs`, `python.rs`, `searchers.rs` and `mdbook.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::process::finish;

/// Registries may be slow; a download that hangs is ended all the same.
const INSTALL_LIMIT: Duration = Duration::from_secs(600);

/// Programs of crates.io are built here, which takes minutes.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

const MARKER: &str = "installed.txt";

/// Packages that are installed together, each as `name@version` or `name==version`, and options
/// they are built with.
#[derive(Debug)]
pub(crate) struct Set {
    pub(super) name: &'static str,
    pub(super) packages: &'static [&'static str],
}

/// The folder all of it lives in.
#[derive(Debug)]
pub(crate) struct Home {
    target: PathBuf,
}

impl Home {
    /// Returns the home beneath the folder cargo builds into.
    pub(crate) fn of(root: &Path) -> anyhow::Result<Self> {
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        let home = Self { target };
        std::fs::create_dir_all(home.logs()).context("failed to make target/interop")?;
        Ok(home)
    }

    /// Returns the folder cargo builds into.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the folder for what programs say while a check runs.
    pub(super) fn logs(&self) -> PathBuf {
        self.folder("logs")
    }

    /// Returns a folder of the given name, whether it is there or not.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.target.join("interop").join(name)
    }

    /// Returns an empty folder of the given name.
    pub(super) fn fresh_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("failed to empty {folder:?}"))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {folder:?}"))?;
        Ok(folder)
    }

    /// Installs packages of npm, unless they are, and returns their folder.
    pub(super) fn npm(&self, set: &Set) -> anyhow::Result<PathBuf> {
        self.install(set, |folder| {
            let mut command = Command::new("npm");
            command
                .arg("install")
                .arg("--prefix")
                .arg(folder)
                .args(["--no-save", "--no-package-lock", "--no-audit", "--no-fund"])
                .args(set.packages);
            finish(&mut command, INSTALL_LIMIT)?.successful()?;
            Ok(())
        })
    }

    /// Installs packages of PyPI into an environment of their own, unless they are, and returns its Python.
    pub(super) fn venv(&self, set: &Set) -> anyhow::Result<PathBuf> {
        let folder = self.install(set, |folder| {
            let mut make = Command::new("python3");
            make.args(["-m", "venv"]).arg(folder);
            finish(&mut make, INSTALL_LIMIT)?.successful()?;
            let mut install = Command::new(folder.join("bin/python"));
            install
                .args(["-m", "pip", "install", "--quiet"])
                .arg("--disable-pip-version-check")
                .args(set.packages);
            finish(&mut install, INSTALL_LIMIT)?.successful()?;
            Ok(())
        })?;
        Ok(folder.join("bin/python"))
    }

    /// Builds and installs programs of crates.io, unless they are, and returns their folder.
    pub(super) fn cargo(&self, set: &Set) -> anyhow::Result<PathBuf> {
        self.install(set, |folder| {
            let mut command = crate::step::cargo(folder);
            command
                .args(["install", "--locked", "--root"])
                .arg(folder)
                .args(set.packages)
                .env("CARGO_TARGET_DIR", self.folder("build"));
            finish(&mut command, BUILD_LIMIT)?.successful()?;
            Ok(())
        })
    }

    fn install(
        &self,
        set: &Set,
        work: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        let folder = self.folder(set.name);
        let pins = set.packages.join("\n");
        let marker = folder.join(MARKER);
        if std::fs::read_to_string(&marker).is_ok_and(|text| text == pins) {
            return Ok(folder);
        }
        println!("    installing {}: {}", set.name, set.packages.join(" "));
        self.fresh_folder(set.name)?;
        work(&folder).with_context(|| {
            format!("cannot install '{}' ({})", set.name, set.packages.join(" "))
        })?;
        std::fs::write(&marker, pins).with_context(|| format!("failed to write {marker:?}"))?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_installed_once_and_again_when_its_pins_change() {
        let target = std::env::temp_dir().join(format!("xtask-home-{}", std::process::id()));
        let home = Home {
            target: target.clone(),
        };
        let old = Set {
            name: "set",
            packages: &["a@1"],
        };
        let new = Set {
            name: "set",
            packages: &["a@2"],
        };
        let mut runs = Vec::new();
        for set in [&old, &old, &new, &new] {
            let mut ran = false;
            home.install(set, |_| {
                ran = true;
                Ok(())
            })
            .unwrap();
            runs.push(ran);
        }
        assert_eq!(runs, [true, false, true, false]);
        std::fs::remove_dir_all(target).unwrap();
    }

    #[test]
    fn a_failed_installation_names_the_set_and_is_tried_again() {
        let target = std::env::temp_dir().join(format!("xtask-fail-{}", std::process::id()));
        let home = Home {
            target: target.clone(),
        };
        let set = Set {
            name: "set",
            packages: &["a@1"],
        };
        for _ in 0..2 {
            let error = home.install(&set, |_| anyhow::bail!("no network"));
            let text = format!("{:#}", error.unwrap_err());
            assert_eq!(text, "cannot install 'set' (a@1): no network");
        }
        std::fs::remove_dir_all(target).unwrap();
    }
}
