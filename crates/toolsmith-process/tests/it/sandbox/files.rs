//! What is written, protected and hidden.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolsmith_process::{Launch, Mode, Sandbox};

use super::{assert_refused, attempt, machines, run, support, workspace};

/// A workspace and a place outside of it, with files in both.
struct Places {
    folder: tempfile::TempDir,
    outside: tempfile::TempDir,
}

impl Places {
    fn new() -> Self {
        let places = Self {
            folder: tempfile::tempdir().unwrap(),
            outside: tempfile::tempdir().unwrap(),
        };
        for name in ["file", "other"] {
            fs::write(places.outside.path().join(name), "content").unwrap();
        }
        fs::create_dir(places.outside.path().join("folder")).unwrap();
        fs::write(places.outside.path().join("folder/secret"), "content").unwrap();
        let inside = places.folder.path();
        fs::create_dir_all(inside.join(".git/hooks")).unwrap();
        fs::write(inside.join(".git/config"), "content").unwrap();
        fs::write(inside.join("settings.yaml"), "content").unwrap();
        fs::create_dir_all(inside.join("deep/er")).unwrap();
        fs::write(inside.join("deep/er/rules"), "content").unwrap();
        fs::write(inside.join("mine"), "content").unwrap();
        places
    }

    fn sandbox(&self) -> Sandbox {
        let inside = self.folder.path();
        workspace(inside)
            .protected(inside.join(".git"))
            .protected(inside.join("settings.yaml"))
            .protected(inside.join("deep/er/rules"))
    }

    /// Writes the names of attempts out: `@` is the place outside.
    fn attempts(&self, attempts: &[&str]) -> Vec<String> {
        let outside = self.outside.path().to_str().unwrap();
        attempts
            .iter()
            .map(|attempt| attempt.replace('@', outside))
            .collect()
    }

    async fn outcomes(&self, sandbox: Sandbox, attempts: &[&str]) -> Vec<(String, String)> {
        let attempts = self.attempts(attempts);
        let outcomes = attempt(Some(sandbox), self.folder.path(), &attempts).await;
        outcomes.into_iter().collect()
    }
}

fn content(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Attempts to change something outside of the workspace.
const OUTSIDE: &[&str] = &[
    "write:@/file",
    "create:@/new",
    "truncate:@/file",
    "remove:@/other",
    "remove-folder:@/folder",
    "folder:@/new-folder",
    "rename:@/file,@/moved",
    "rename:@/file,stolen",
    "rename:mine,@/given",
    "rename:mine,@/file",
    "link-and-write:@/file,linked",
    "symlink-and-write:@/file,pointing",
    "write:../file",
    "write:/proc/self/root@/file",
];

#[tokio::test]
async fn nothing_outside_changes() {
    for (machine, support) in machines() {
        let places = Places::new();
        let sandbox = places.sandbox().support(support);
        let outcomes = places.outcomes(sandbox, OUTSIDE).await;
        assert_refused(&outcomes.into_iter().collect(), machine);
        assert_eq!(content(&places.outside.path().join("file")), "content");
        assert_eq!(fs::read_dir(places.outside.path()).unwrap().count(), 3);
    }
}

#[tokio::test]
async fn without_a_sandbox_these_attempts_succeed() {
    for attempted in OUTSIDE {
        if attempted.contains("../") {
            continue;
        }
        let places = Places::new();
        let attempts = places.attempts(&[attempted]);
        let outcomes = attempt(None, places.folder.path(), &attempts).await;
        assert!(
            outcomes.values().all(|outcome| outcome == "done"),
            "{outcomes:?}"
        );
    }
}

#[tokio::test]
async fn with_namespaces_not_even_modes_and_times_outside_change() {
    let places = Places::new();
    let outcomes = places
        .outcomes(
            places.sandbox().support(support()),
            &["mode:@/file", "times:@/file"],
        )
        .await;
    assert_refused(&outcomes.into_iter().collect(), "namespaces");
}

#[tokio::test]
async fn the_workspace_is_written_as_usual() {
    for (machine, support) in machines() {
        let places = Places::new();
        let outcomes = places
            .outcomes(
                places.sandbox().support(support),
                &[
                    "write:mine",
                    "create:new",
                    "folder:new-folder",
                    "rename:new,new-folder/moved",
                    "link:mine,linked",
                    "truncate:linked",
                    "mode:mine",
                    "times:mine",
                    "remove:mine",
                    "create:deep/new",
                    "create:deep/er/new",
                    "read:@/file",
                    "read:.git/config",
                    "write:/dev/null",
                    "write:/dev/full",
                    "unshare-files",
                ],
            )
            .await;
        let failed: Vec<_> = outcomes
            .iter()
            .filter(|(attempt, outcome)| outcome != "done" && attempt != "write:/dev/full")
            .collect();
        assert!(failed.is_empty(), "{machine}: {failed:?}");
    }
}

#[tokio::test]
async fn protected_paths_stay_as_they_are() {
    let places = Places::new();
    let outcomes = places
        .outcomes(
            places.sandbox().support(support()),
            &[
                "write:.git/config",
                "create:.git/hooks/pre-commit",
                "remove:.git/config",
                "remove-folder:.git",
                "rename:.git,.git-away",
                "rename:mine,.git/config",
                "mode:.git/config",
                "link-and-write:.git/config,linked",
                "symlink-and-write:.git/config,pointing",
                "symlink-and-write:settings.yaml,pointing2",
                "write:settings.yaml",
                "remove:settings.yaml",
                "rename:mine,settings.yaml",
                "rename:settings.yaml,away",
                "write:deep/er/rules",
                "rename:deep,deep-away",
                "rename:deep/er,deep/away",
                "write:/proc/self/root//proc/self/cwd/settings.yaml",
            ],
        )
        .await;
    assert_refused(&outcomes.into_iter().collect(), "namespaces");
    let inside = places.folder.path();
    assert_eq!(content(&inside.join(".git/config")), "content");
    assert_eq!(content(&inside.join("settings.yaml")), "content");
    assert_eq!(content(&inside.join("deep/er/rules")), "content");
}

/// Attempts to see what is hidden: the folder `@/folder` and the file `@/file`.
const HIDDEN: &[&str] = &[
    "read:@/file",
    "read:@/folder/secret",
    "list:@/folder",
    "symlink-and-read:@/file,to-file",
    "symlink-and-read:@/folder/secret,to-secret",
    "read:/proc/self/root@/file",
    "read:/proc/self/root@/folder/secret",
    "read:/proc/1/root@/file",
    "write:@/file",
    "create:@/folder/new",
    "link:@/file,stolen",
    "rename:@/folder,stolen",
];

#[tokio::test]
async fn hidden_paths_are_not_read() {
    for (machine, support) in machines() {
        let places = Places::new();
        let sandbox = places
            .sandbox()
            .support(support)
            .hidden(places.outside.path().join("file"))
            .hidden(places.outside.path().join("folder"))
            .hidden(places.outside.path().join("nothing"));
        let me = std::process::id();
        let by_parent = format!("read:/proc/{me}/root@/file");
        let mut attempts = HIDDEN.to_vec();
        attempts.push(&by_parent);
        let outcomes = places.outcomes(sandbox.clone(), &attempts).await;
        assert_refused(&outcomes.into_iter().collect(), machine);
        let seen = places.outcomes(sandbox, &["read:@/other"]).await;
        assert_eq!(seen[0].1, "done", "{machine}");
    }
}

#[tokio::test]
async fn a_path_that_is_hidden_by_a_link_to_it_is_hidden() {
    for (machine, support) in machines() {
        let places = Places::new();
        let link = places.outside.path().join("link");
        symlink(places.outside.path().join("folder"), &link).unwrap();
        let sandbox = places.sandbox().support(support).hidden(&link);
        let outcomes = places
            .outcomes(sandbox, &["read:@/folder/secret", "read:@/link/secret"])
            .await;
        assert_refused(&outcomes.into_iter().collect(), machine);
    }
}

#[tokio::test]
async fn a_link_in_the_workspace_makes_nothing_outside_writable() {
    for (machine, support) in machines() {
        let places = Places::new();
        let inside = places.folder.path();
        symlink(places.outside.path(), inside.join("out")).unwrap();
        let sandbox = places
            .sandbox()
            .writable(inside.join("out"))
            .writable(inside.join("deep/../out"))
            .support(support);
        let outcomes = places
            .outcomes(
                sandbox,
                &["write:@/file", "write:out/file", "create:out/new"],
            )
            .await;
        assert_refused(&outcomes.into_iter().collect(), machine);
    }
}

#[tokio::test]
async fn what_is_hidden_beneath_the_workspace_is_hidden() {
    let places = Places::new();
    let sandbox = places.sandbox().hidden(places.folder.path().join("mine"));
    let outcomes = places
        .outcomes(
            sandbox,
            &[
                "read:mine",
                "write:mine",
                "remove:mine",
                "rename:mine,yours",
            ],
        )
        .await;
    assert_refused(&outcomes.into_iter().collect(), "namespaces");
}

#[tokio::test]
async fn reading_only_is_reading_only() {
    for (machine, support) in machines() {
        let places = Places::new();
        let scratch = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::new(Mode::ReadOnly)
            .writable(places.folder.path())
            .scratch(scratch.path())
            .support(support);
        let outcomes = places
            .outcomes(
                sandbox.clone(),
                &[
                    "write:mine",
                    "create:new",
                    "write:@/file",
                    "create:/dev/new",
                ],
            )
            .await;
        assert_refused(&outcomes.into_iter().collect(), machine);
        let create = format!("create:{}/new", scratch.path().display());
        let outcomes = places.outcomes(sandbox, &[&create, "read:mine"]).await;
        assert!(
            outcomes.iter().all(|(_, outcome)| outcome == "done"),
            "{machine}: {outcomes:?}"
        );
    }
}

#[tokio::test]
async fn in_full_everything_is_written_that_is_not_hidden() {
    let places = Places::new();
    support();
    let sandbox = Sandbox::new(Mode::Full).hidden(places.outside.path().join("folder"));
    let outcomes = places
        .outcomes(
            sandbox.clone(),
            &[
                "write:@/file",
                "create:@/new",
                "write:mine",
                "create:.git/new",
            ],
        )
        .await;
    assert!(
        outcomes.iter().all(|(_, outcome)| outcome == "done"),
        "{outcomes:?}"
    );
    let refused = places
        .outcomes(
            sandbox,
            &["read:@/folder/secret", "tcp", "mount", "privileged"],
        )
        .await;
    assert_refused(&refused.into_iter().collect(), "full");
}

#[tokio::test]
async fn a_folder_with_something_hidden_in_it_cannot_be_moved_away() {
    let places = Places::new();
    let inside = places.folder.path();
    let sandbox = workspace(inside).hidden(inside.join("deep/er/rules"));
    let text =
        "cat deep/er/rules; mv deep/er moved; mv deep moved; echo x > deep/er/new && echo on";
    let launch = crate::support::script(text).current_dir(inside);
    let (_, text) = run(launch.sandbox(sandbox)).await;
    assert!(
        text.ends_with("on\n") && !text.contains("content"),
        "{text}"
    );
    assert!(inside.join("deep/er/rules").exists(), "{text}");
}

#[tokio::test]
async fn a_workspace_that_is_protected_itself_is_one_mount_more() {
    let folder = tempfile::tempdir().unwrap();
    let mounts = async |sandbox: Sandbox| {
        let launch = Launch::new("/bin/cat").argument("/proc/self/mountinfo");
        let (_, text) = run(launch.sandbox(sandbox.support(support()))).await;
        text.lines().count()
    };
    let plain = mounts(workspace(folder.path())).await;
    let protected = workspace(folder.path()).protected(folder.path());
    assert_eq!(mounts(protected.clone()).await, plain + 1);
    let outcomes = attempt(Some(protected), folder.path(), &["create:new"]).await;
    assert_eq!(outcomes["create:new"], "EROFS");
}
