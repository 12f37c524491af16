//! Commands and scripts from files run in the sandbox of their project.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_core::{Arguments, Outcome};
use toolsmith_process::{Mode, Sandbox, Support, use_helper};
use toolsmith_rest::form::Entry;
use toolsmith_rest::{Made, make};
use toolsmith_testing::{failure, value};

use crate::command::{surroundings, toolbox};

/// What a file comes to in a project with a sandbox.
fn made(root: &Path, yaml: &str, sandbox: Sandbox) -> Made {
    use_helper(env!("CARGO_BIN_EXE_rest-sandbox-helper"));
    let entry: Entry = serde_saphyr::from_str(yaml).unwrap();
    let mut around = surroundings(root);
    around.sandbox = Some(Arc::new(move || sandbox.clone()));
    make(&entry, &around)
}

async fn call(root: &Path, yaml: &str, sandbox: Sandbox) -> Outcome {
    toolsmith_testing::call(&toolbox(made(root, yaml, sandbox)), "it", json!({})).await
}

fn workspace(root: &Path) -> Sandbox {
    Sandbox::new(Mode::WorkspaceWrite).writable(root)
}

fn shell(line: &str, more: &str) -> String {
    let line = serde_json::to_string(line).unwrap();
    format!("name: it\ncommand: [/bin/sh, -c, {line}]\n{more}")
}

#[tokio::test]
async fn a_command_runs_in_the_sandbox_of_its_project() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let yaml = shell(
        "echo in > file; echo out > $TMPDIR/file; cat file $TMPDIR/file",
        "",
    );
    let outcome = call(root.path(), &yaml, workspace(root.path())).await;
    assert_eq!(value(&outcome), "in\nout\n");
    let layers = outcome.metadata["sandbox"].as_str().unwrap();
    assert!(
        layers.starts_with("landlock") && layers.contains("seccomp"),
        "{layers}"
    );
    let target = outside.path().join("file");
    let yaml = shell(&format!("echo out > {}", target.display()), "");
    let outcome = call(root.path(), &yaml, workspace(root.path())).await;
    let message = &failure(&outcome).message;
    assert!(message.contains("this may be the sandbox"), "{message}");
    assert!(!target.exists());
}

/// What does not exist yet can be made, which nobody would notice otherwise.
#[tokio::test]
async fn a_protected_path_that_a_command_made_is_told() {
    let root = tempfile::tempdir().unwrap();
    let own = root.path().join(".mcp.json");
    let sandbox = workspace(root.path()).protected(&own);
    let outcome = call(root.path(), &shell("echo > .mcp.json", ""), sandbox.clone()).await;
    let message = outcome.message.unwrap_or_default();
    let told = format!("the program made {},", own.display());
    assert!(message.starts_with(&told), "{message}");
    let outcome = call(root.path(), &shell("true", ""), sandbox).await;
    assert_eq!(outcome.message, None);
}

#[tokio::test]
async fn the_file_says_what_is_other_for_its_command() {
    let (root, more) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let more = more.path().display();
    for (line, settings, succeeds) in [
        ("echo x > file", "sandbox: read-only", false),
        ("echo x > file", "sandbox: workspace-write", true),
        ("echo x > file", "sandbox: { mode: read-only }", false),
        (&format!("echo x > {more}/file"), "sandbox: full", true),
        (
            &format!("echo x > {more}/file"),
            &format!("sandbox: {{ writable: [{more}] }}"),
            true,
        ),
        (
            &format!("echo x > {more}/file"),
            "sandbox: { network: on }",
            false,
        ),
    ] {
        let outcome = call(root.path(), &shell(line, settings), workspace(root.path())).await;
        assert_eq!(
            outcome.error.is_none(),
            succeeds,
            "{line} {settings}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn the_network_of_a_command_is_the_files_to_decide() {
    let root = tempfile::tempdir().unwrap();
    // Its own network has no interface but an idle one.
    let line = "grep -c : /proc/net/dev";
    let count = async |more: &str| {
        let outcome = call(root.path(), &shell(line, more), workspace(root.path())).await;
        value(&outcome)
            .as_str()
            .unwrap()
            .trim()
            .parse::<usize>()
            .unwrap()
    };
    let here = fs::read_to_string("/proc/net/dev").unwrap();
    let here = here.lines().filter(|line| line.contains(':')).count();
    assert_eq!(count("sandbox: { network: on }").await, here);
    assert!(count("").await <= 1 + usize::from(here == 1));
}

#[tokio::test]
async fn the_sandbox_is_that_of_the_moment() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use_helper(env!("CARGO_BIN_EXE_rest-sandbox-helper"));
    let root = tempfile::tempdir().unwrap();
    let entry: Entry = serde_saphyr::from_str(&shell("echo x > file", "")).unwrap();
    let is_strict = Arc::new(AtomicBool::new(false));
    let mut around = surroundings(root.path());
    let (switch, folder) = (Arc::clone(&is_strict), root.path().to_owned());
    around.sandbox = Some(Arc::new(move || {
        let mode = match switch.load(Ordering::Relaxed) {
            true => Mode::ReadOnly,
            false => Mode::WorkspaceWrite,
        };
        Sandbox::new(mode).writable(&folder)
    }));
    let toolbox = toolbox(make(&entry, &around));
    let outcome = toolsmith_testing::call(&toolbox, "it", json!({})).await;
    assert!(outcome.error.is_none(), "{outcome:?}");
    is_strict.store(true, Ordering::Relaxed);
    let outcome = toolsmith_testing::call(&toolbox, "it", json!({})).await;
    assert!(outcome.error.is_some(), "{outcome:?}");
}

#[tokio::test]
async fn what_a_machine_lacks_is_told_or_refused() {
    let root = tempfile::tempdir().unwrap();
    use_helper(env!("CARGO_BIN_EXE_rest-sandbox-helper"));
    let machine = Support::of_this_machine();
    let less = machine.clone().without_namespaces("a test said so");
    let outcome = call(
        root.path(),
        &shell("true", ""),
        workspace(root.path()).support(less),
    )
    .await;
    let notes = outcome.metadata["sandbox_notes"].to_string();
    assert!(notes.contains("no namespaces: a test said so"), "{notes}");
    let none = machine.without_landlock("a test said so");
    let trace = root.path().join("trace");
    let yaml = shell("touch trace", "");
    let outcome = call(root.path(), &yaml, workspace(root.path()).support(none)).await;
    let message = &failure(&outcome).message;
    assert!(message.contains("no landlock: a test said so"), "{message}");
    assert!(!trace.exists());
}

#[test]
fn people_see_what_a_program_would_run_in() {
    let root = tempfile::tempdir().unwrap();
    let plan = |more: &str| {
        let made = made(
            root.path(),
            &format!("name: it\ncommand: [ls]\n{more}"),
            workspace(root.path()),
        );
        let told = made.tools[0].definition().description.important[0].clone();
        (
            made.tools[0].plan(&Arguments::default()).unwrap().summary,
            told,
        )
    };
    let (summary, told) = plan("");
    assert_eq!(
        summary,
        "run in a sandbox (workspace-write, network off): ls"
    );
    assert_eq!(told, "It runs a program on this machine, in a sandbox.");
    let (summary, _) = plan("sandbox: { mode: full, network: on }");
    assert_eq!(summary, "run in a sandbox (full, network on): ls");
    let (summary, told) = plan("sandbox: none");
    assert_eq!(summary, "run without a sandbox: ls");
    assert!(told.contains("without a sandbox"), "{told}");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let root = tempfile::tempdir().unwrap();
    for (more, expected) in [
        ("sandbox: { writable: [../up] }", "without `..`"),
        ("sandbox: { writable: [a/../../up] }", "without `..`"),
    ] {
        let yaml = format!("name: it\ncommand: [ls]\n{more}");
        let made = made(root.path(), &yaml, workspace(root.path()));
        let told: Vec<Value> = made
            .problems
            .iter()
            .map(|each| json!(each.message))
            .collect();
        assert!(json!(told).to_string().contains(expected), "{told:?}");
    }
    for wrong in [
        "sandbox: docker",
        "sandbox: { mode: none }",
        "sandbox: { network: maybe }",
        "sandbox: { network: true }",
        "sandbox: 1",
        "sandbox: [full]",
        "sandbox: { writeable: [] }",
    ] {
        let yaml = format!("name: it\ncommand: [ls]\n{wrong}");
        assert!(serde_saphyr::from_str::<Entry>(&yaml).is_err(), "{wrong}");
    }
}
