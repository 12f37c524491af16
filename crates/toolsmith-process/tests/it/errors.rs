//! A child that cannot be started says why, and what to do.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolsmith_process::{Launch, LaunchError};

fn file(folder: &Path, text: &str, mode: u32) -> PathBuf {
    let path = folder.join("program");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

fn message(launch: &Launch) -> (LaunchError, String) {
    let error = launch.start().unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[tokio::test]
async fn a_program_that_does_not_exist() {
    for program in ["/no/such/program", "no-such-program", "./no-such-program"] {
        let (error, text) = message(&Launch::new(program));
        assert!(matches!(error, LaunchError::NotFound { .. }), "{text}");
        assert!(text.contains(program) && text.contains("install"), "{text}");
    }
}

#[tokio::test]
async fn a_file_that_may_not_be_executed() {
    let folder = tempfile::tempdir().unwrap();
    for launch in [
        Launch::new(file(folder.path(), "#!/bin/sh\n", 0o644)),
        Launch::new(folder.path()),
    ] {
        let (error, text) = message(&launch);
        assert!(matches!(error, LaunchError::NotExecutable { .. }), "{text}");
    }
}

#[tokio::test]
async fn a_script_whose_interpreter_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let program = file(folder.path(), "#!/no/such/interpreter\n", 0o755);
    let (error, text) = message(&Launch::new(program));
    assert!(matches!(error, LaunchError::NoInterpreter { .. }), "{text}");
}

#[tokio::test]
async fn a_folder_that_does_not_exist_or_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let plain = file(folder.path(), "", 0o644);
    for wrong in [folder.path().join("missing"), plain] {
        let (error, text) = message(&Launch::new("/bin/true").current_dir(&wrong));
        assert!(matches!(error, LaunchError::NoFolder { .. }), "{text}");
        assert!(text.contains(wrong.to_str().unwrap()), "{text}");
    }
}

#[tokio::test]
async fn text_that_no_system_call_takes() {
    let (error, text) = message(&Launch::new("/bin/true").argument("a\0b"));
    assert!(matches!(error, LaunchError::Refused { .. }), "{text}");
}

#[test]
fn no_runtime() {
    let (error, text) = message(&Launch::new("/bin/true"));
    assert!(matches!(error, LaunchError::NoRuntime { .. }), "{text}");
}

#[test]
fn a_runtime_that_watches_no_pipes_harms_no_other() {
    let blind = tokio::runtime::Builder::new_current_thread().build();
    let seeing = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let launch = Launch::new("/bin/true");
    let (error, text) = blind.unwrap().block_on(async { message(&launch) });
    assert!(matches!(error, LaunchError::NoRuntime { .. }), "{text}");
    let status = seeing.unwrap().block_on(async {
        let mut running = launch.start().unwrap();
        running.wait().await.unwrap()
    });
    assert!(status.success());
}
