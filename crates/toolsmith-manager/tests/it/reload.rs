//! Files that change while a manager is in use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, FileLoader, IfMissing, Manager, Setup, Stamp, View};

use crate::sets::{project, put, setup};

/// A clock that is ahead: nothing was changed just now.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

fn names(manager: &Manager, view: &View) -> String {
    let tools = manager.tools_of(view).unwrap_or_default();
    let names = tools.iter().map(|tool| tool.name.as_str());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_changes_where_nothing_changed() {
    let folder = project(&[
        ("toolsmith.yaml", "tools: [a, b]"),
        ("configs/tool_sets/one.yaml", "tools: [f]"),
    ]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    let version = manager.toolbox().registry().version();
    for _ in 0..3 {
        assert!(!manager.refresh().changed);
    }
    // Written once more, and the same: no news either.
    put(folder.path(), "toolsmith.yaml", "tools: [a, b]");
    assert!(!manager.refresh().changed);
    assert_eq!(manager.toolbox().registry().version(), version);
}

#[test]
fn sets_and_agents_come_change_and_go() {
    let folder = project(&[]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    let view = View::Set("one".to_owned());
    assert_eq!(names(&manager, &view), "");

    put(folder.path(), "configs/tool_sets/one.yaml", "tools: [f, a]");
    assert!(manager.refresh().changed);
    assert_eq!(names(&manager, &view), "f a");

    put(folder.path(), "configs/tool_sets/one.yaml", "tools: [b]");
    assert!(manager.refresh().changed);
    assert_eq!(names(&manager, &view), "b");

    std::fs::remove_file(folder.path().join("configs/tool_sets/one.yaml")).unwrap();
    assert!(manager.refresh().changed);
    assert!(manager.tools_of(&view).is_err());
}

#[test]
fn a_broken_file_leaves_what_it_said_in_force() {
    let folder = project(&[
        ("toolsmith.yaml", "tools: [a]\npolicy: { mode: plan }"),
        ("configs/tool_sets/one.yaml", "tools: [f]"),
    ]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    let view = View::Set("one".to_owned());
    for broken in ["tools: [", "", "# nothing\n", "policy: { mode: none }"] {
        put(folder.path(), "toolsmith.yaml", broken);
        put(folder.path(), "configs/tool_sets/one.yaml", "tools: [e");
        put(folder.path(), "configs/tool_sets/two.yaml", "tools: [d]");
        manager.refresh();
        assert_eq!(names(&manager, &View::Usual), "a", "{broken:?}");
        assert_eq!(manager.policy().mode().word(), "plan", "{broken:?}");
        assert_eq!(names(&manager, &view), "f");
        assert_eq!(names(&manager, &View::Set("two".to_owned())), "d");
        assert_eq!(manager.errors().len(), 2, "{broken:?}");
    }
    std::fs::remove_file(folder.path().join("toolsmith.yaml")).unwrap();
    manager.refresh();
    assert_eq!(manager.policy().mode().word(), "plan");
    assert!(manager.errors()[0].contains("there is no such file any more"));

    put(folder.path(), "toolsmith.yaml", "{}");
    put(folder.path(), "configs/tool_sets/one.yaml", "tools: [e]");
    assert!(manager.refresh().changed);
    assert_eq!(names(&manager, &View::Usual), "a b c d e f");
    assert_eq!(manager.policy().mode().word(), "ask");
    assert_eq!(names(&manager, &view), "e");
    assert_eq!(manager.errors(), [] as [&str; 0]);
}

/// What was told once is not told again.
#[test]
fn what_goes_wrong_is_told_once() {
    let folder = project(&[("toolsmith.yaml", "{}")]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    put(folder.path(), "toolsmith.yaml", "tools: {");
    let told = manager.refresh().told;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(manager.refresh().told, [] as [&str; 0]);
    put(folder.path(), "agents/x.yaml", "tools: [a]");
    assert_eq!(manager.refresh().told, [] as [&str; 0]);
}

/// Whoever writes a file may be in the middle of it.
#[test]
fn what_changed_just_now_is_looked_at_later() {
    let folder = project(&[("toolsmith.yaml", "tools: [a]")]);
    let setup = setup(folder.path()).with_clock(SystemTime::now);
    let manager = setup.load().unwrap();
    put(folder.path(), "toolsmith.yaml", "tools: [b]");
    let reloaded = manager.refresh();
    // Left for later, unless the machine was slow meanwhile.
    assert!(reloaded.later != reloaded.changed, "{reloaded:?}");
    let used = if reloaded.later { "a" } else { "b" };
    assert_eq!(names(&manager, &View::Usual), used);
}

#[test]
fn switches_of_built_in_tools() {
    let folder = project(&[("tools/builtin/off.yaml", "name: b\ndisabled: true")]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    assert_eq!(names(&manager, &View::Usual), "a c d e f");

    let change = "tools:\n  a: { description: Another text, category: own, timeout: 5s }\n  \
                  c: { exposure: hidden }\n";
    put(folder.path(), "tools/builtin/off.yaml", change);
    assert!(manager.refresh().changed);
    assert_eq!(names(&manager, &View::Usual), "a b d e f");
    let tool = manager.get_tool("a").unwrap();
    assert_eq!(tool.description.short, "Another text");
    assert_eq!(tool.category(), "own");

    put(
        folder.path(),
        "tools/builtin/off.yaml",
        "name: z\ndisabled: true",
    );
    manager.refresh();
    let findings = manager.lint().join("\n");
    assert!(findings.contains("`z` is no built-in tool"), "{findings}");
    assert_eq!(names(&manager, &View::Usual), "a b c d e f");
}

#[test]
fn servers_come_change_and_go() {
    let folder = project(&[
        ("toolsmith.yaml", "servers: { kept: { command: kept } }"),
        ("tools/mcp/one.yaml", "command: one"),
    ]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    let fresh = |reloaded: &toolsmith_manager::Reloaded| -> Vec<String> {
        let fresh = reloaded.fresh.iter();
        fresh.map(|options| options.name.clone()).collect()
    };

    put(folder.path(), "tools/mcp/two.yaml", "command: two");
    let reloaded = manager.refresh();
    assert_eq!(fresh(&reloaded), ["two"]);
    assert_eq!(reloaded.gone, [] as [&str; 0]);

    // A comment moves what stands below it, and changes nothing.
    let moved = "# Servers.\nservers: { kept: { command: kept } }";
    put(folder.path(), "toolsmith.yaml", moved);
    put(folder.path(), "tools/mcp/two.yaml", "command: two --more");
    std::fs::remove_file(folder.path().join("tools/mcp/one.yaml")).unwrap();
    let reloaded = manager.refresh();
    assert_eq!(fresh(&reloaded), ["two"]);
    assert_eq!(reloaded.gone, ["one", "two"]);

    put(
        folder.path(),
        "tools/mcp/two.yaml",
        "command: two --more\ndisabled: true",
    );
    let reloaded = manager.refresh();
    assert_eq!(fresh(&reloaded), [] as [&str; 0]);
    assert_eq!(reloaded.gone, ["two"]);
}

#[test]
fn rules_and_bindings_change_in_one_step() {
    let folder = project(&[("toolsmith.yaml", "prefix: old")]);
    let manager = setup(folder.path()).with_clock(later).load().unwrap();
    put(
        folder.path(),
        "toolsmith.yaml",
        "prefix: new\nlimits: { parallel: 3 }\nbindings: { a: { exposure: hidden } }\npolicy: { deny: [b] }",
    );
    assert!(manager.refresh().changed);
    let offer = manager
        .toolbox()
        .offer(&manager.selection(&View::Usual).unwrap());
    let offered: Vec<&str> = offer
        .tools()
        .iter()
        .map(|tool| tool.wire_name.as_str())
        .collect();
    assert_eq!(offered, ["new_b", "new_c", "new_d", "new_e", "new_f"]);
    assert_eq!(manager.toolbox().limits().parallel, 3);
    assert_eq!(manager.policy().rules().len(), 1);
}

#[test]
fn the_nearest_configuration_upwards_is_found() {
    let folder = project(&[
        ("toolsmith.yaml", "{}"),
        ("sub/deep/file", ""),
        ("own/toolsmith.yaml", "{}"),
    ]);
    let root = folder.path().to_owned();
    let find = |start: &Path| toolsmith_manager::find_root(start, |_| false);
    assert_eq!(find(&root.join("sub/deep")), root);
    assert_eq!(find(&root.join("own")), root.join("own"));
    assert_eq!(find(&root), root);
    std::fs::remove_file(root.join("toolsmith.yaml")).unwrap();
    assert_eq!(find(&root.join("sub/deep")), root.join("sub/deep"));
}

/// Reads files, but each that is no configuration only from the second time on.
#[derive(Default)]
struct Hesitant(AtomicBool);

impl ConfigLoader for Hesitant {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        let is_config = path.ends_with("toolsmith.yaml");
        if path.exists() && !is_config && !self.0.swap(true, Ordering::Relaxed) {
            let message = "it cannot be read: too many open files";
            return Err(YamlError::whole(path.display().to_string(), message));
        }
        FileLoader.load(path)
    }

    fn look(&self, path: &Path) -> Option<Stamp> {
        FileLoader.look(path)
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        FileLoader.list(folder)
    }
}

#[test]
fn what_could_not_be_read_is_tried_again_though_it_looks_the_same() {
    let folder = project(&[("configs/tool_sets/one.yaml", "tools: [\"*\"]")]);
    let config = folder.path().join("toolsmith.yaml");
    let loader = Arc::new(Hesitant::default());
    let setup = Setup::open_with(loader, &config, IfMissing::UseDefaults).unwrap();
    let manager = setup.with_examples().with_clock(later).load().unwrap();
    let view = View::Set("one".to_owned());
    assert!(manager.errors().join("").contains("too many open files"));
    assert!(manager.tools_of(&view).is_err());
    assert!(manager.refresh().changed);
    assert_eq!(manager.errors(), Vec::<String>::new());
    assert!(!manager.tools_of(&view).unwrap().is_empty());
}
