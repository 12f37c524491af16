//! How a change to an overlay is seen. No test waits: the time is the test's, and so are
//! the times of the files.

use std::cell::Cell;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use toolsmith_manager::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE, OverlayFiles};
use toolsmith_runtime::guide::{OverlaySource, Overlays};

thread_local! {
    /// How far ahead of the system the test's clock is, and how often it was asked.
    static AHEAD: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// Long after every change: what a file looks like tells all.
const SETTLED: Duration = Duration::from_secs(60);

fn clock() -> SystemTime {
    ASKED.set(ASKED.get() + 1);
    SystemTime::now() + AHEAD.get()
}

/// A folder with overlays.
struct Folder {
    folder: TempDir,
    files: OverlayFiles,
}

impl Folder {
    fn new() -> Self {
        AHEAD.set(SETTLED);
        let folder = tempfile::tempdir().unwrap();
        let files = OverlayFiles::in_folder(folder.path(), clock);
        Self { folder, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    fn current(&self) -> Arc<Overlays> {
        self.files.current()
    }

    /// What is said of `read`, and what is wrong.
    fn told(&self) -> (Option<String>, Vec<String>) {
        let current = self.current();
        let text = current.own.descriptions.get("read");
        let text = text.and_then(|described| described.text.clone());
        (text, current.warnings.clone())
    }

    #[track_caller]
    fn says(&self, text: &str) {
        assert_eq!(self.told(), (Some(text.to_owned()), vec![]));
    }

    /// Checks that `text` is still said, and that there is one warning with these words.
    #[track_caller]
    fn keeps(&self, text: &str, warning: &str) {
        let path = self.path(DESCRIPTIONS_FILE);
        let warning = format!(
            "{}{warning}; what it said before still holds",
            path.display()
        );
        assert_eq!(self.told(), (Some(text.to_owned()), vec![warning]));
    }
}

fn set_modified(path: &Path, modified: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified))
        .unwrap();
}

#[test]
fn a_file_comes_and_goes() {
    let folder = Folder::new();
    assert_eq!(folder.told(), (None, vec![]));
    folder.write(DESCRIPTIONS_FILE, "read: First.\n");
    folder.says("First.");
    fs::remove_file(folder.path(DESCRIPTIONS_FILE)).unwrap();
    folder.keeps("First.", ": there is no such file");
    folder.write(DESCRIPTIONS_FILE, "read: Second.\n");
    folder.says("Second.");
}

#[test]
fn both_files_are_looked_at() {
    let folder = Folder::new();
    folder.current();
    folder.write(EXAMPLES_FILE, "read: read()\n");
    assert_eq!(folder.current().own.examples["read"][0].code, "read()");
    folder.write(EXAMPLES_FILE, "read: read(x=1)\n");
    assert_eq!(folder.current().own.examples["read"][0].code, "read(x=1)");
    folder.write(EXAMPLES_FILE, "read: [\n");
    folder.write(DESCRIPTIONS_FILE, "read: 5\n");
    let current = folder.current();
    assert_eq!(current.own.examples["read"][0].code, "read(x=1)");
    assert_eq!(current.warnings.len(), 2, "{:?}", current.warnings);
    assert!(current.warnings[0].ends_with("; it is not used"));
    assert!(current.warnings[1].ends_with("; what it said before still holds"));
}

#[test]
fn broken_keeps_what_was_good_until_it_is_mended() {
    let folder = Folder::new();
    folder.write(DESCRIPTIONS_FILE, "read: Good.\n");
    folder.says("Good.");
    folder.write(DESCRIPTIONS_FILE, "read: Better.\nread: Twice.\n");
    folder.keeps("Good.", ":2:1: key `read` stands here twice");
    folder.keeps("Good.", ":2:1: key `read` stands here twice");
    folder.write(DESCRIPTIONS_FILE, "- read\n");
    let expected = "a mapping of tools' names to what is said of them";
    folder.keeps("Good.", &format!(":1:1: expected {expected}, found a list"));
    folder.write(DESCRIPTIONS_FILE, "read: Mended.\n");
    folder.says("Mended.");
}

#[test]
fn another_file_in_its_place_that_looks_as_old_and_large() {
    let folder = Folder::new();
    let (path, other) = (folder.path(DESCRIPTIONS_FILE), folder.path("other"));
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::write(&path, "read: One.\n").unwrap();
    fs::write(&other, "read: Two.\n").unwrap();
    set_modified(&path, modified);
    set_modified(&other, modified);
    folder.says("One.");
    fs::rename(&other, &path).unwrap();
    folder.says("Two.");
}

#[test]
fn a_change_within_the_same_second() {
    let folder = Folder::new();
    let path = folder.path(DESCRIPTIONS_FILE);
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::write(&path, "read: One.\n").unwrap();
    set_modified(&path, second + Duration::from_nanos(1));
    folder.says("One.");
    fs::write(&path, "read: Two.\n").unwrap();
    set_modified(&path, second + Duration::from_nanos(2));
    folder.says("Two.");
}

/// The times of a file go in steps; what changes twice within one looks the same.
#[test]
fn changes_within_one_step_of_the_clock() {
    let folder = Folder::new();
    AHEAD.set(Duration::ZERO);
    let path = folder.path(DESCRIPTIONS_FILE);
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for round in 100..400 {
        fs::write(&path, format!("read: r{round}\n")).unwrap();
        set_modified(&path, second);
        folder.says(&format!("r{round}"));
    }
}

#[test]
fn unchanged_files_are_not_read_again() {
    let folder = Folder::new();
    folder.write(DESCRIPTIONS_FILE, "read: One.\n");
    folder.write(EXAMPLES_FILE, "read: read()\n");
    let first = folder.current();
    // The clock is asked once for every file that is read.
    assert_eq!(ASKED.get(), 2);
    for _ in 0..3 {
        assert!(Arc::ptr_eq(&first, &folder.current()));
    }
    assert_eq!(ASKED.get(), 2);
}

#[test]
fn a_file_that_has_just_changed_is_read_until_it_is_old_enough() {
    let folder = Folder::new();
    AHEAD.set(Duration::ZERO);
    folder.write(DESCRIPTIONS_FILE, "read: One.\n");
    let first = folder.current();
    let asked = ASKED.get();
    assert!(Arc::ptr_eq(&first, &folder.current()));
    assert_eq!(ASKED.get(), asked + 1);
    AHEAD.set(SETTLED);
    assert!(Arc::ptr_eq(&first, &folder.current()));
    assert_eq!(ASKED.get(), asked + 2);
    assert!(Arc::ptr_eq(&first, &folder.current()));
    assert_eq!(ASKED.get(), asked + 2);
}

/// Its clock may be wrong, or that of the machine it lies on.
#[test]
fn a_file_from_the_future() {
    let folder = Folder::new();
    AHEAD.set(Duration::ZERO);
    let path = folder.path(DESCRIPTIONS_FILE);
    let future = SystemTime::now() + Duration::from_secs(1_000_000);
    fs::write(&path, "read: One.\n").unwrap();
    set_modified(&path, future);
    folder.says("One.");
    fs::write(&path, "read: Two.\n").unwrap();
    set_modified(&path, future);
    folder.says("Two.");
}

#[test]
fn a_folder_in_its_place() {
    let folder = Folder::new();
    let path = folder.path(DESCRIPTIONS_FILE);
    folder.write(DESCRIPTIONS_FILE, "read: Good.\n");
    folder.says("Good.");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    folder.keeps("Good.", ": it is a folder");
    fs::write(path.join("in it"), "").unwrap();
    folder.keeps("Good.", ": it is a folder");
    fs::remove_dir_all(&path).unwrap();
    folder.write(DESCRIPTIONS_FILE, "read: Back.\n");
    folder.says("Back.");
}

#[cfg(unix)]
#[test]
fn a_fifo_or_a_device_in_its_place() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let path = folder.path(DESCRIPTIONS_FILE);
    folder.write(DESCRIPTIONS_FILE, "read: Good.\n");
    folder.says("Good.");
    fs::remove_file(&path).unwrap();
    // Nobody writes into it: to open it as one opens a file would wait for ever.
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    folder.keeps("Good.", ": it is no regular file");
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    folder.keeps("Good.", ": it is no regular file");
    fs::remove_file(&path).unwrap();
    symlink("/dev/tty", &path).unwrap();
    folder.keeps("Good.", ": it is no regular file");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let path = folder.path(DESCRIPTIONS_FILE);
    folder.write("one", "read: One.\n");
    folder.write("two", "read: Two.\n");
    symlink("one", &path).unwrap();
    folder.says("One.");
    fs::remove_file(&path).unwrap();
    symlink("two", &path).unwrap();
    folder.says("Two.");
    // What a link leads to may change, and come and go.
    folder.write("two", "read: Two again.\n");
    folder.says("Two again.");
    fs::remove_file(folder.path("two")).unwrap();
    folder.keeps("Two again.", ": there is no such file");
    fs::remove_file(&path).unwrap();
    symlink(DESCRIPTIONS_FILE, &path).unwrap();
    let (_, warnings) = folder.told();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains(": it cannot be read: "),
        "{warnings:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_and_then_may() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let path = folder.path(DESCRIPTIONS_FILE);
    folder.write(DESCRIPTIONS_FILE, "read: Good.\n");
    folder.says("Good.");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // For the superuser there is no such file.
    if File::open(&path).is_err() {
        let (text, warnings) = folder.told();
        assert_eq!(text.as_deref(), Some("Good."));
        assert!(
            warnings[0].contains(": it cannot be read: "),
            "{warnings:?}"
        );
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    folder.says("Good.");
}

/// Many ask at once while the files change under them: each gets something whole.
#[test]
fn many_readers_and_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(DESCRIPTIONS_FILE);
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..200 {
                let other = folder.path().join("other");
                let text = format!("a: Text {round}.\nb: Text {round}.\n");
                fs::write(&other, text).unwrap();
                fs::rename(&other, &path).unwrap();
            }
        });
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let current = files.current();
                    assert_eq!(current.warnings, Vec::<String>::new());
                    let text = |name: &str| current.own.descriptions.get(name)?.text.clone();
                    assert_eq!(text("a"), text("b"));
                }
            });
        }
    });
    let current = files.current();
    assert_eq!(
        current.own.descriptions["b"].text.as_deref(),
        Some("Text 199.")
    );
}

/// Most likely it is about to be written: who means it says `{}`.
#[test]
fn an_emptied_file_is_missed() {
    let folder = Folder::new();
    folder.write(DESCRIPTIONS_FILE, "read: Good.\n");
    folder.says("Good.");
    for empty in ["", "\n", "# only a comment\n"] {
        folder.write(DESCRIPTIONS_FILE, empty);
        folder.keeps("Good.", ": it is empty");
    }
    folder.write(DESCRIPTIONS_FILE, "{}\n");
    assert_eq!(folder.told(), (None, vec![]));
}

/// The placeholder needs no quotes.
#[test]
fn the_placeholder_may_be_written_plainly() {
    let folder = Folder::new();
    folder.write(DESCRIPTIONS_FILE, "read: [Description pending]\n");
    folder.says("[Description pending]");
}
