//! A child sees the variables it was given, and what is shown of a launch tells no secret.

use std::ffi::OsString;

use tokio::io::AsyncReadExt as _;
use toolsmith_process::{Launch, MARK, SAFE_VARIABLES, inherited};

#[tokio::test]
async fn a_child_sees_what_it_was_given_and_its_mark() {
    let launch = Launch::new("/usr/bin/env").environment([("GIVEN", "this"), ("LANG", "C")]);
    let mut running = launch.start().unwrap();
    let mut text = String::new();
    let mut stdout = running.take_stdout().unwrap();
    stdout.read_to_string(&mut text).await.unwrap();
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["GIVEN", "LANG", MARK]);
    assert!(text.contains("GIVEN=this\n"));
}

#[test]
fn only_safe_variables_are_inherited() {
    let safe = [
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("LC_TIME", "C"),
        ("XDG_RUNTIME_DIR", "/run"),
        ("TZ", "UTC"),
    ];
    let unsafe_ones = [
        ("AWS_SECRET_ACCESS_KEY", "hush"),
        ("PATHS", "hush"),
        ("LC", "hush"),
        ("path", "hush"),
        ("LD_PRELOAD", "evil.so"),
        ("SSH_AUTH_SOCK", "hush"),
        ("", "hush"),
    ];
    let picked = inherited(SAFE_VARIABLES, safe.into_iter().chain(unsafe_ones));
    let expected: Vec<(OsString, OsString)> = safe
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    assert_eq!(picked, expected);
}

#[test]
fn what_is_shown_of_a_launch_tells_no_secret() {
    let launch = Launch::new("server")
        .argument("--token=hush")
        .environment([("KEY", "hush")]);
    let shown = format!("{launch:?}");
    assert!(shown.contains("server") && shown.contains("KEY"), "{shown}");
    assert!(!shown.contains("hush"), "{shown}");
}
