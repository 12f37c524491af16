//! A machine that lacks a layer refuses, or says what is missing.

use toolsmith_process::{LaunchError, Layers, Mode, Sandbox};

use super::{attempt, machines, program, run_and_tell, support, workspace};
use crate::support::script;

async fn layers(sandbox: Sandbox) -> Layers {
    let (code, text, layers) = run_and_tell(script("true").sandbox(sandbox)).await;
    assert_eq!(code, Some(0), "{text}");
    layers.unwrap()
}

fn refusal(sandbox: Sandbox) -> (LaunchError, String) {
    let error = script("true").sandbox(sandbox).start().unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[tokio::test]
async fn all_layers_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let support = support();
    let version = support.landlock.clone().unwrap();
    let layers = layers(workspace(folder.path())).await;
    assert_eq!(
        layers.to_string(),
        format!("landlock{version}+seccomp+userns")
    );
    assert_eq!(layers.notes(), <[String; 0]>::default());
    assert_eq!(layers.mode(), Mode::WorkspaceWrite);
    assert!(!layers.has_network());
}

#[tokio::test]
async fn what_could_not_be_tried_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let again = format!("find-out-again:{}", program("sandbox-helper").display());
    let outcomes = attempt(None, folder.path(), &[&again]).await;
    assert_eq!(outcomes[&again], "done");
}

#[tokio::test]
async fn without_namespaces_what_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let support = support().without_namespaces("a test said so");
    let git = folder.path().join(".git");
    let sandbox = workspace(folder.path()).support(support).protected(&git);
    let layers = layers(sandbox).await;
    assert!(!layers.to_string().contains("userns"), "{layers}");
    let notes = layers.notes().join("\n");
    assert!(notes.contains("no namespaces: a test said so"), "{notes}");
    let protected = format!("{git:?} is not write-protected: no mount namespace");
    assert!(notes.contains(&protected), "{notes}");
    assert!(notes.contains("modes, owners and times"), "{notes}");
}

#[tokio::test]
async fn a_hidden_socket_cannot_be_reached_or_that_it_can_is_told() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let socket = outside.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (machine, support) in machines() {
        let sandbox = workspace(folder.path()).support(support).hidden(&socket);
        let connect = format!("unix-connect:{}", socket.display());
        let outcomes = attempt(Some(sandbox.clone()), folder.path(), &[&connect]).await;
        let notes = layers(sandbox).await.notes().join("\n");
        let is_told = notes.contains("hidden sockets can be connected to");
        assert_eq!(outcomes[&connect] == "done", is_told, "{machine}: {notes}");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join(".git");
    let gone = std::path::PathBuf::from("/no/such/folder");
    let sandbox = workspace(folder.path()).writable(&gone).protected(&git);
    let layers = layers(sandbox).await;
    let expected = [
        format!("{gone:?} is not writable: it does not exist or cannot be reached"),
        format!("{git:?} is not protected: it does not exist, and may be created"),
    ];
    assert_eq!(layers.notes(), expected);
    assert_eq!(layers.appeared(), <[&std::path::Path; 0]>::default());
    std::fs::create_dir(&git).unwrap();
    assert_eq!(layers.appeared(), [git]);
}

#[tokio::test]
async fn a_refusal_is_explained_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let confined = layers(workspace(folder.path())).await;
    let hint = confined
        .hint("sh: cannot create /etc/x: Read-only file system")
        .unwrap();
    assert!(hint.contains("workspace-write, network off"), "{hint}");
    assert!(
        hint.contains("changing permissions does not help"),
        "{hint}"
    );
    let hint = confined
        .hint("curl: (6) Could not resolve host: a.test")
        .unwrap();
    assert!(hint.contains("network cannot be reached"), "{hint}");
    assert_eq!(confined.hint("no such file or directory"), None);
    let connected = layers(workspace(folder.path()).with_network()).await;
    assert_eq!(connected.hint("Could not resolve host"), None);
}

#[tokio::test]
async fn without_landlock_files_cannot_be_confined() {
    let folder = tempfile::tempdir().unwrap();
    let support = support().without_landlock("a test said so");
    for mode in [Mode::ReadOnly, Mode::WorkspaceWrite] {
        let sandbox = Sandbox::new(mode)
            .writable(folder.path())
            .support(support.clone());
        let (error, text) = refusal(sandbox);
        let LaunchError::Unsupported { layer, why, .. } = error else {
            panic!("{text}");
        };
        assert_eq!((layer, why.as_str()), ("landlock", "a test said so"));
        assert!(text.contains("lsm="), "{text}");
    }
    let layers = layers(Sandbox::new(Mode::Full).support(support)).await;
    assert_eq!(layers.to_string(), "seccomp+userns");
    assert_eq!(layers.notes(), ["no landlock: a test said so"]);
}

#[tokio::test]
async fn an_old_landlock_needs_namespaces() {
    let folder = tempfile::tempdir().unwrap();
    let old = support().with_landlock(2);
    let layers = layers(workspace(folder.path()).support(old.clone())).await;
    assert_eq!(layers.to_string(), "landlock2+seccomp+userns");
    let (_, text) = refusal(workspace(folder.path()).support(old.without_namespaces("x")));
    assert!(text.contains("cut short"), "{text}");
}

#[tokio::test]
async fn an_old_landlock_without_namespaces_says_that_signals_pass() {
    let folder = tempfile::tempdir().unwrap();
    let old = support().with_landlock(5).without_namespaces("x");
    let layers = layers(workspace(folder.path()).support(old)).await;
    let notes = layers.notes().join("\n");
    assert!(notes.contains("signals"), "{notes}");
}

#[tokio::test]
async fn without_seccomp_nothing_runs() {
    let support = support().without_seccomp("a test said so");
    for mode in Mode::ALL {
        let (error, text) = refusal(Sandbox::new(mode).support(support.clone()));
        let is_seccomp = matches!(
            error,
            LaunchError::Unsupported {
                layer: "seccomp",
                ..
            }
        );
        assert!(is_seccomp, "{text}");
    }
}

#[tokio::test]
async fn what_nothing_can_hide_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "").unwrap();
    let less = support().without_namespaces("x");
    let sandbox = workspace(folder.path())
        .hidden(&secret)
        .support(less.clone());
    let (error, text) = refusal(sandbox);
    let is_told = matches!(
        error,
        LaunchError::Unsupported {
            layer: "namespaces",
            ..
        }
    );
    assert!(is_told && text.contains("secret"), "{text}");
    let sandbox = Sandbox::new(Mode::Full)
        .hidden(&secret)
        .support(less.without_landlock("y"));
    let (_, text) = refusal(sandbox);
    assert!(text.contains("no namespaces: x"), "{text}");
}

#[tokio::test]
async fn a_machine_that_promises_too_much_fails_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = workspace(folder.path()).support(support().with_landlock(99));
    let version = support().landlock.unwrap();
    let started = script("true").sandbox(sandbox).start();
    // A kernel of today's newest version keeps the promise.
    if version < 9 {
        let error = started.unwrap_err();
        assert!(matches!(error, LaunchError::Sandbox { .. }), "{error}");
    }
}
