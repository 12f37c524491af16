//! `init`: a folder becomes a project.

use std::path::Path;

use serde_json::Value;

use crate::support::{User, newcomer};

fn text(user: &User, file: &str) -> String {
    std::fs::read_to_string(user.home().join(file)).unwrap()
}

/// Every file beneath a folder, with its content.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                if !name.starts_with(".local") {
                    found.push((name, std::fs::read_to_string(path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_project_begins_and_passes_a_strict_check() {
    let user = newcomer();
    let ran = user.runs(["init", "--yes"]).ends_with(0);
    for file in [
        "toolsmith.yaml",
        "tools/native/latest_release.yaml",
        "configs/tool_sets/reading.yaml",
        ".toolsmith/schemas/toolsmith.json",
        ".toolsmith/schemas/native.json",
    ] {
        assert!(
            ran.stdout.lines().any(|line| line == file),
            "{file}: {ran:#?}"
        );
    }
    let ran = ran.says("Next, try:\n  toolsmith call latest_release ");
    assert_eq!(ran.stdout.lines().count(), 11);
    user.runs(["check", "--strict"]).ends_with(0).tells("");
    let ran = user.runs(["--set", "reading", "tools"]).ends_with(0);
    assert!(ran.stdout.contains("latest_release"), "{ran:#?}");
    // Only folders with something in them.
    for folder in ["tools/builtin", "tools/mcp", "agents"] {
        assert!(!user.home().join(folder).exists(), "{folder}");
    }
}

#[test]
fn the_first_line_of_each_file_leads_to_its_schema() {
    let user = newcomer();
    user.runs(["init", "--yes"]).ends_with(0);
    for (file, title) in [
        ("toolsmith.yaml", "Toolsmith: toolsmith.yaml"),
        (
            "tools/native/latest_release.yaml",
            "Toolsmith: a file in tools/native",
        ),
        (
            "configs/tool_sets/reading.yaml",
            "Toolsmith: a file in configs/tool_sets",
        ),
    ] {
        let content = text(&user, file);
        let first = content.lines().next().unwrap();
        let way = first.strip_prefix("# yaml-language-server: $schema=");
        let folder = user.home().join(file);
        let schema = folder.parent().unwrap().join(way.unwrap());
        let schema = std::fs::read_to_string(schema).unwrap();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(schema["title"], title, "{file}");
    }
}

#[test]
fn twice_is_as_once() {
    let user = newcomer();
    user.runs(["init", "--yes"]).ends_with(0);
    let before = files(user.home());
    // Nothing is asked any more, so nobody must be there to answer.
    user.runs(["init"])
        .ends_with(0)
        .prints("")
        .says("toolsmith.yaml is there already and stays as it is.\n");
    assert_eq!(files(user.home()), before);
    let kept = user.runs(["init", "--yes", "--json"]).ends_with(0).json();
    assert_eq!(
        kept,
        serde_json::json!({ "written": [], "kept": ["toolsmith.yaml"] })
    );
}

#[test]
fn what_is_there_stays_and_missing_schemas_come_back() {
    let user = newcomer().having("toolsmith.yaml", "# mine\npolicy: { mode: plan }\n");
    user.runs(["init", "--yes"]).ends_with(0);
    assert_eq!(
        text(&user, "toolsmith.yaml"),
        "# mine\npolicy: { mode: plan }\n"
    );
    assert!(!user.home().join("tools").exists());
    let schemas = user.home().join(".toolsmith/schemas");
    std::fs::remove_file(schemas.join("mcp.json")).unwrap();
    std::fs::write(schemas.join("agent.json"), "{}").unwrap();
    user.runs(["init", "--yes"])
        .ends_with(0)
        .prints(".toolsmith/schemas/mcp.json\n")
        .says("warning: .toolsmith/schemas/agent.json is not this version's; remove it");
    assert_eq!(text(&user, ".toolsmith/schemas/agent.json"), "{}");
}

#[test]
fn the_mode_can_be_said_at_once() {
    let user = newcomer();
    user.runs(["init", "--yes", "--mode", "auto-edit"])
        .ends_with(0);
    assert!(text(&user, "toolsmith.yaml").contains("\n  mode: auto-edit\n"));
    user.runs(["check", "--strict"]).ends_with(0);
}

#[test]
fn what_cannot_be_is_refused_and_writes_nothing() {
    let user = newcomer().having("file", "");
    user.runs(["init"])
        .ends_with(2)
        .prints("")
        .tells("error: there is no terminal to ask on; --yes takes what is usual\n");
    user.runs(["init", "--yes", "--root", "missing"])
        .ends_with(2)
        .tells("error: --root missing: there is no such folder\n");
    user.runs(["init", "--yes", "--config", "x.yaml"])
        .ends_with(2)
        .says("leave --config out");
    std::fs::write(user.home().join(".toolsmith"), "a file").unwrap();
    user.runs(["init", "--yes"])
        .ends_with(2)
        .says(".toolsmith/schemas/toolsmith.json cannot be ");
    assert!(!user.home().join("toolsmith.yaml").exists());
    let other = newcomer();
    std::fs::create_dir(other.home().join("toolsmith.yaml")).unwrap();
    other
        .runs(["init", "--yes"])
        .ends_with(2)
        .says("it is no regular file");
}

#[test]
fn it_begins_in_the_folder_it_is_told() {
    let user = newcomer().having("toolsmith.yaml", "");
    std::fs::create_dir(user.home().join("below")).unwrap();
    user.runs(["init", "--yes", "--root", "below"]).ends_with(0);
    assert!(user.home().join("below/toolsmith.yaml").is_file());
    user.runs(["check", "--strict", "--root", "below"])
        .ends_with(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_is_asked() {
    use crate::terminal::Terminal;

    let user = newcomer();
    let mut terminal = Terminal::start(&user, &["init"]);
    terminal.shows("Your choice [ask]: ");
    terminal.types("everything\n");
    terminal.shows("everything\r\nYour choice [ask]: ");
    terminal.types("plan\n");
    terminal.shows("Write a sample tool, latest_release? [Y/n]: ");
    terminal.types("n\n");
    terminal.shows("Write a sample tool set, reading? [Y/n]: ");
    terminal.types("\n");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(0), "{seen}");
    assert!(text(&user, "toolsmith.yaml").contains("\n  mode: plan\n"));
    assert!(!user.home().join("tools").exists());
    assert!(text(&user, "configs/tool_sets/reading.yaml").ends_with("- grep\n"));
    user.runs(["check", "--strict"]).ends_with(0);
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_answers_nothing_gets_nothing() {
    use crate::terminal::Terminal;

    let user = newcomer();
    let mut terminal = Terminal::start(&user, &["init"]);
    terminal.shows("Your choice [ask]: ");
    terminal.types("\u{4}");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(2), "{seen}");
    assert!(seen.contains("there was no answer; nothing was written"));
    assert_eq!(files(user.home()), []);
}
