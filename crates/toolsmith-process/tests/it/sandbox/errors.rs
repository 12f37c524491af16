//! What cannot be started says why, within a sandbox as without.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use toolsmith_process::{Launch, LaunchError, Mode, Sandbox, use_helper};

use super::{machines, run, workspace};
use crate::support::script;

#[tokio::test]
async fn the_reasons_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let plain = file("plain", "#!/bin/sh\n", 0o644);
    let orphan = file("orphan", "#!/no/such/interpreter\n", 0o755);
    let binary = file("binary", "\u{1}\u{2}", 0o755);
    for (machine, support) in machines() {
        let error = |launch: Launch| {
            let sandbox = workspace(folder.path()).support(support.clone());
            launch.sandbox(sandbox).start().unwrap_err()
        };
        for missing in [
            "/no/such/program",
            "no-such-program",
            "./no-such-program",
            "",
        ] {
            let error = error(Launch::new(missing));
            assert!(
                matches!(error, LaunchError::NotFound { .. }),
                "{machine}: {error}"
            );
        }
        for wrong in [plain.as_path(), binary.as_path(), folder.path()] {
            let error = error(Launch::new(wrong));
            assert!(
                matches!(error, LaunchError::NotExecutable { .. }),
                "{machine}: {error}"
            );
        }
        let told = error(Launch::new(&orphan));
        assert!(
            matches!(told, LaunchError::NoInterpreter { .. }),
            "{machine}: {told}"
        );
        for wrong in [folder.path().join("missing"), plain.clone()] {
            let error = error(Launch::new("/bin/true").current_dir(&wrong));
            assert!(
                matches!(error, LaunchError::NoFolder { .. }),
                "{machine}: {error}"
            );
        }
        let told = error(Launch::new("/bin/true").argument("a\0b"));
        assert!(
            matches!(told, LaunchError::Refused { .. }),
            "{machine}: {told}"
        );
        let long = "x".repeat(2 << 20);
        let told = error(Launch::new("/bin/echo").argument(&long));
        assert!(
            matches!(told, LaunchError::TooLong { .. }),
            "{machine}: {told}"
        );
        let longer = "x".repeat(40 << 20);
        let told = error(Launch::new("/bin/echo").argument(&longer));
        assert!(
            matches!(told, LaunchError::TooLong { .. }),
            "{machine}: {told}"
        );
    }
}

#[tokio::test]
async fn a_folder_that_vanishes() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    for (machine, support) in machines() {
        let sandbox = workspace(&gone).support(support);
        fs::create_dir(&gone).unwrap();
        let launch = script("pwd").current_dir(&gone).sandbox(sandbox);
        assert_eq!(run(launch.clone()).await.0, Some(0));
        fs::remove_dir(&gone).unwrap();
        let error = launch.start().unwrap_err();
        assert!(
            matches!(error, LaunchError::NoFolder { .. }),
            "{machine}: {error}"
        );
    }
}

#[tokio::test]
async fn values_come_through_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, support) in machines() {
        let launch = Launch::new("/bin/sh")
            .arguments([
                "-c",
                r#"printf '%s|%s|%s' "$1" "$NAME" "$PWD""#,
                "sh",
                "a\nb 'c' \"$d\"",
            ])
            .environment([("NAME", "one\ntwo\n"), ("PATH", "/bin")])
            .current_dir(folder.path())
            .sandbox(workspace(folder.path()).support(support));
        let (_, text) = run(launch).await;
        let expected = format!("a\nb 'c' \"$d\"|one\ntwo\n|{}", folder.path().display());
        assert_eq!(text, expected, "{machine}");
    }
}

#[tokio::test]
async fn a_program_is_found_in_the_path_that_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("only-here");
    fs::write(&program, "#!/bin/sh\necho found\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("/no/such:{}", folder.path().display());
    let launch = Launch::new("only-here")
        .environment([("PATH", path)])
        .sandbox(workspace(folder.path()));
    assert_eq!(run(launch).await, (Some(0), "found\n".to_owned()));
}

/// Each in a process of its own, or they would see one another's helper.
#[tokio::test]
async fn a_helper_that_is_none_is_told() {
    for (helper, expected) in [
        ("/no/such/helper", "cannot be started"),
        ("/bin/true", "ended before it said anything"),
        ("/bin/echo", "ended before it said anything"),
    ] {
        let support = super::support();
        use_helper(helper);
        let sandbox = Sandbox::new(Mode::Full).support(support);
        let error = script("true").sandbox(sandbox).start().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        use_helper(super::program("sandbox-helper"));
    }
}
