//! The folder that a session is kept in, whatever a command does to tell another.

use serde_json::{Value, json};

use super::ground::{reason, text};
use super::yard::{Yard, fact};

async fn folder_after(yard: &Yard, command: &str) -> Value {
    yard.bash(command).await;
    let outcome = yard.bash("pwd -P").await;
    let shown = fact(&outcome, "cwd");
    // What is told is where it is.
    let expected = match shown.as_str().unwrap() {
        "." => yard.root(),
        shown => yard.root().join(shown),
    };
    assert_eq!(text(&outcome), expected.display().to_string(), "{command}");
    shown
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_folder_is_kept_however_a_command_ends() {
    for (command, folder) in [
        ("cd a", "a"),
        ("cd a/b; exit 3", "a/b"),
        ("set -e; cd a; false; cd b", "a"),
        ("set -u; cd a; echo $nothing; cd b", "a"),
        ("cd a; trap 'echo bye' EXIT; cd b", "a/b"),
        ("trap 'cd ..' EXIT; cd a/b", "a"),
        ("cd a; trap - EXIT; cd b; exit 1", "a/b"),
        ("cd a; trap '' EXIT; cd b", "a/b"),
        ("cd a\nif then\nfi", "a"),
        ("if then", "."),
        ("cd a; exit; cd b", "a"),
        ("cd a; kill -TERM $$", "a"),
        ("cd a; kill -KILL $$", "."),
        ("cd a; exec true", "."),
        ("(cd a); cd b 2>/dev/null; true", "."),
        ("cd a | true", "."),
        ("bash -c 'cd a'", "."),
        ("cd a & wait", "."),
        ("pushd a/b >/dev/null; popd >/dev/null", "."),
        ("set -C; set -x; cd a", "a"),
        ("exec >&- 2>&-; cd a", "a"),
        (
            "cd a; for fd in $(seq 3 20); do eval \"exec $fd>&-\"; done",
            "a",
        ),
        ("cd 'with blank'", "with blank"),
        ("cd link", "a/b"),
        ("cd a; pwd() { echo /etc; }", "a"),
        ("echo /etc; cd a; echo \"$PWD\" >/dev/null; echo /etc", "a"),
        ("cd /etc", "."),
        ("cd ../outside", "."),
    ] {
        let yard = Yard::new();
        yard.file("a/b/file", "");
        yard.file("with blank/file", "");
        std::os::unix::fs::symlink("a/b", yard.root().join("link")).unwrap();
        let kept = folder_after(&yard, command).await;
        assert_eq!(kept, folder, "{command}");
        assert!(yard.leftovers().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_caller_should_know_is_told() {
    let yard = Yard::new();
    yard.file("a/b/file", "");
    let told = text(&yard.bash("cd a").await);
    assert!(told.contains("the session is now in a"), "{told}");
    let told = text(&yard.bash("true").await);
    assert!(!told.contains("session"), "{told}");
    let told = text(&yard.bash("cd /etc").await);
    assert!(
        told.contains("it ended in /etc, which is not in the workspace; the session stays in a"),
        "{told}"
    );
    let told = text(&yard.bash("exec true").await);
    assert!(told.contains("the session stays in a"), "{told}");
    // Folders vanish, within a call and between two.
    let told = text(&yard.bash("mkdir gone; cd gone; rmdir ../gone").await);
    assert!(told.contains("the folder it ended in is gone"), "{told}");
    assert_eq!(
        text(&yard.bash("pwd -P").await),
        yard.root().display().to_string()
    );
    yard.bash("cd a/b").await;
    std::fs::remove_dir_all(yard.root().join("a")).unwrap();
    let outcome = yard.bash("pwd -P").await;
    let told = text(&outcome);
    assert!(
        told.contains("the folder a/b, in which the session was, is gone"),
        "{told}"
    );
    assert_eq!(fact(&outcome, "cwd"), ".");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_cannot_point_its_session_elsewhere() {
    let yard = Yard::new();
    yard.file("a/file", "");
    for forged in [
        "printf /etc > $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "rm -f $TMPDIR/.toolsmith-folder; mkfifo $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "ln -s /etc/passwd $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "head -c 100000 /dev/zero > $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "printf '\\xff\\xfe' > $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "mkdir $TMPDIR/.toolsmith-folder; kill -KILL $$",
        "rm -rf $TMPDIR; kill -KILL $$",
    ] {
        let outcome = yard.bash(forged).await;
        assert_eq!(fact(&outcome, "cwd"), ".", "{forged}: {}", text(&outcome));
        assert_eq!(
            text(&yard.bash("pwd -P").await),
            yard.root().display().to_string()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_and_callers_are_apart() {
    let yard = Yard::new();
    yard.file("a/b/file", "");
    yard.file("c/file", "");
    yard.call("bash", json!({"command": "cd a", "session_id": "one"}))
        .await;
    yard.call("bash", json!({"command": "cd c", "session_id": "two"}))
        .await;
    let folder = async |caller: &str, session: Value| {
        let arguments = match session {
            Value::Null => json!({"command": "true"}),
            session => json!({"command": "true", "session_id": session}),
        };
        fact(&yard.call_as(caller, "bash", arguments).await, "cwd")
    };
    assert_eq!(folder("test", json!("one")).await, "a");
    assert_eq!(folder("test", json!("two")).await, "c");
    assert_eq!(folder("test", Value::Null).await, ".");
    assert_eq!(folder("other", json!("one")).await, ".");
    // A call that names its folder leaves the session's alone.
    let arguments = json!({"command": "pwd -P; cd b", "session_id": "two", "cwd": "a"});
    let outcome = yard.call("bash", arguments).await;
    assert_eq!(text(&outcome), yard.root().join("a").display().to_string());
    assert_eq!(folder("test", json!("two")).await, "c");
    for (cwd, word) in [
        ("/etc", "OUTSIDE_ROOT"),
        ("../outside", "OUTSIDE_ROOT"),
        ("nowhere", "NOT_FOUND"),
        ("a/b/file", "NOT_DIRECTORY"),
    ] {
        let outcome = yard
            .call("bash", json!({"command": "true", "cwd": cwd}))
            .await;
        assert_eq!(reason(&outcome), word, "{cwd}: {}", text(&outcome));
    }
}
