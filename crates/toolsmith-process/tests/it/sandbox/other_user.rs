//! All tests of the sandbox once more, as somebody who is not root.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::geteuid;

use super::PROGRAMS;

/// The user who owns nothing.
const NOBODY: u32 = 65_534;

#[test]
fn all_of_it_as_somebody_who_is_not_root() {
    if !geteuid().is_root() {
        // Then all the others have just run as somebody who is not.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    // Copies, since the folder they are built in may be closed to others.
    let tests = folder.path().join("tests");
    for (from, to) in [
        (std::env::current_exe().unwrap(), "tests"),
        (super::program("sandbox-helper"), "sandbox-helper"),
        (super::program("sandbox-probe"), "sandbox-probe"),
        (super::program("sandbox-probe"), "sandbox-probe-of-root"),
    ] {
        fs::copy(from, folder.path().join(to)).unwrap();
    }
    let of_root = folder.path().join("sandbox-probe-of-root");
    fs::set_permissions(&of_root, Permissions::from_mode(0o4755)).unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, Permissions::from_mode(0o777)).unwrap();
    let output = Command::new(&tests)
        .args(["sandbox::", "--test-threads", "2"])
        // It changes what the others use.
        .args(["--skip", "a_helper_that_is_none_is_told"])
        .env(PROGRAMS, folder.path())
        .env("TMPDIR", &own)
        .current_dir(&own)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("a_program_of_root_stays_without_rights_of_root ... ok"),
        "{text}"
    );
    assert!(!text.contains("running 0 tests"), "{text}");
}
