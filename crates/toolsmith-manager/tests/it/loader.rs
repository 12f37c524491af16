//! Where configuration comes from: the file system, carefully, or a host's own place.

use std::path::Path;
use std::sync::Arc;

use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, FileLoader, IfMissing, Setup};

fn opened(path: &Path) -> Result<Setup, String> {
    Setup::open_file(path).map_err(|error| error.to_string())
}

#[track_caller]
fn is_refused(path: &Path, message: &str) {
    let error = opened(path).expect_err("it cannot be read");
    assert_eq!(error, format!("{}: {message}", path.display()));
}

#[test]
fn a_missing_file_matters_only_to_who_asked_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let manager = Setup::open(folder.path()).unwrap();
    assert_eq!(manager.file(), None);
    is_refused(&folder.path().join("none.yaml"), "there is no such file");
    assert_eq!(FileLoader.load(&folder.path().join("none.yaml")), Ok(None));
}

#[test]
fn a_folder_in_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("toolsmith.yaml")).unwrap();
    is_refused(&folder.path().join("toolsmith.yaml"), "it is a folder");
    let error = Setup::open(folder.path()).expect_err("it is a folder");
    assert!(
        error
            .to_string()
            .ends_with("toolsmith.yaml: it is a folder"),
        "{error}"
    );
}

#[test]
fn a_file_below_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = opened(&folder.path().join("file/toolsmith.yaml")).expect_err("no folder");
    assert!(error.contains("it cannot be read: "), "{error}");
}

#[cfg(target_os = "linux")]
mod special {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{is_refused, opened};

    /// Nobody writes into it, so opening it the usual way would wait for ever.
    #[test]
    fn a_fifo_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        is_refused(&fifo, "it is no regular file");
        let link = folder.path().join("link");
        symlink(&fifo, &link).unwrap();
        is_refused(&link, "it is no regular file");
    }

    #[test]
    fn devices_are_not_read() {
        is_refused(Path::new("/dev/zero"), "it is no regular file");
        is_refused(Path::new("/dev/null"), "it is no regular file");
    }

    #[test]
    fn links_that_lead_in_circles_or_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("circle");
        symlink("circle", &link).unwrap();
        let error = opened(&link).expect_err("a circle");
        assert!(error.contains("it cannot be read: "), "{error}");
        let dangling = folder.path().join("dangling");
        symlink("nowhere", &dangling).unwrap();
        is_refused(
            &dangling,
            "it is a link that leads nowhere; mend or remove it",
        );
    }

    #[test]
    fn a_file_nobody_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("closed.yaml");
        std::fs::write(&file, "prefix: a\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
        // For the superuser there is no such file.
        if std::fs::File::open(&file).is_err() {
            let error = opened(&file).expect_err("it is closed");
            assert!(error.contains("it cannot be read: "), "{error}");
        }
    }

    /// `/proc` files have no size and any length.
    #[test]
    fn a_file_without_a_size_is_bounded_too() {
        let error = opened(Path::new("/proc/kallsyms")).expect_err("it is no configuration");
        assert!(error.starts_with("/proc/kallsyms: ") || error.starts_with("/proc/kallsyms:1:"));
    }
}

#[test]
fn a_file_larger_than_allowed_is_not_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yaml");
    // Sparse: it takes no room, and reading it whole would take a gigabyte.
    let created = std::fs::File::create(&file).unwrap();
    created.set_len(1 << 30).unwrap();
    is_refused(&file, "it is larger than 16777216 bytes");
}

/// A host that keeps its configuration in memory.
struct Memory(Option<&'static str>);

impl ConfigLoader for Memory {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        match path.to_str() {
            Some("db:broken") => Err(YamlError::whole("db:broken", "the database is down")),
            Some("db:main") => Ok(self.0.map(|text| text.as_bytes().to_vec())),
            _ => Ok(None),
        }
    }
}

#[test]
fn a_host_can_replace_the_loader() {
    let path = Path::new("db:main");
    let held = Memory(Some("serve: { prefix: held }\n"));
    let manager = Setup::open_with(Arc::new(held), path, IfMissing::Fail).unwrap();
    assert_eq!(manager.config().prefix(), Some("held"));
    let manager = manager.with_examples().load().unwrap();
    let offer = manager
        .toolbox()
        .offer(&toolsmith_runtime::Selection::everything());
    assert!(offer.find("held_example_add").is_some());

    let empty = || Memory(None);
    let manager = Setup::open_with(Arc::new(empty()), path, IfMissing::UseDefaults).unwrap();
    assert_eq!(manager.file(), None);
    let error =
        Setup::open_with(Arc::new(empty()), path, IfMissing::Fail).expect_err("there is none");
    assert_eq!(error.to_string(), "db:main: there is no such file");
    let broken = Path::new("db:broken");
    let error = Setup::open_with(Arc::new(empty()), broken, IfMissing::UseDefaults)
        .expect_err("it is down");
    assert_eq!(error.to_string(), "db:broken: the database is down");
    let wrong = Memory(Some("prefix: 'a b'\n"));
    let error = Setup::open_with(Arc::new(wrong), path, IfMissing::Fail).expect_err("it is wrong");
    assert!(
        error.to_string().starts_with("db:main:1:9: a prefix has "),
        "{error}"
    );
}
