//! What decides about tools and is made while programs run in the sandbox: it gives nobody
//! more than they have, at this start or the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolsmith_manager::overlays::OverlayFiles;
use toolsmith_manager::sandbox::{ProjectSandbox, SandboxPlaces};
use toolsmith_manager::{FileLoader, IfMissing, Manager, Setup};
use toolsmith_process::{Kept, Mode, Witness as _};
use toolsmith_runtime::guide::OverlaySource as _;

use crate::sets::put;

/// A clock that is ahead: nothing was changed just now.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

/// A project, and a folder where notes are kept.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self(folder)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn put(&self, file: &str, text: &str) {
        put(&self.root(), file, text);
    }

    /// The sandbox as another process would have it.
    fn sandbox(&self) -> ProjectSandbox {
        self.sandbox_of(&self.root())
    }

    fn sandbox_of(&self, root: &Path) -> ProjectSandbox {
        let mut places = SandboxPlaces::new(root, [root.to_owned()]);
        places.state = Some(self.0.path().join("state"));
        ProjectSandbox::new(places)
    }

    fn load(&self, sandbox: &ProjectSandbox) -> Manager {
        let file = self.root().join("toolsmith.yaml");
        let loader = Arc::new(FileLoader);
        let setup = Setup::open_in(sandbox.clone(), loader, &file, IfMissing::UseDefaults);
        let setup = setup.unwrap().with_clock(later);
        setup.load().unwrap()
    }

    /// What the next start comes to.
    fn start(&self) -> Manager {
        self.load(&self.sandbox())
    }
}

/// A program that runs until what is returned is dropped.
fn starts(sandbox: &ProjectSandbox) -> Kept {
    sandbox.starts(&sandbox.now())
}

const AUTO: &str = "policy: { mode: auto }";

fn is_auto(manager: &Manager) -> bool {
    manager.policy().mode() == toolsmith_runtime::Mode::Auto
}

fn has_agents(manager: &Manager) -> bool {
    !manager.catalogue().agents.is_empty()
}

#[test]
fn it_is_not_taken_over_and_the_rest_is() {
    let project = Project::new();
    project.put("configs/tool_sets/one.yaml", "tools: [a]");
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);

    // Before any was started, a file can only be the user's.
    project.put("agents/one.yaml", "tools: [a]");
    assert!(manager.refresh().told.is_empty());
    assert!(has_agents(&manager));

    let program = starts(&sandbox);
    project.put("toolsmith.yaml", AUTO);
    project.put("agents/two.yaml", "tools: [a]");
    let told = manager.refresh().told;
    assert!(
        told.len() == 1 && told[0].contains("toolsmith.yaml: it was made while a program ran"),
        "{told:?}"
    );
    assert!(!is_auto(&manager));
    assert_eq!(manager.catalogue().agents.len(), 2);
    // Told once, and found by whoever checks.
    assert!(manager.refresh().told.is_empty());
    assert_eq!(manager.errors().len(), 1);

    drop(program);
    assert!(!manager.refresh().changed && !is_auto(&manager));

    // Removed, and made by the user.
    fs::remove_file(project.root().join("toolsmith.yaml")).unwrap();
    manager.refresh();
    assert_eq!(manager.errors(), Vec::<String>::new());
    project.put("toolsmith.yaml", AUTO);
    manager.refresh();
    assert!(is_auto(&manager));
}

#[test]
fn what_the_user_makes_after_programs_have_ended_counts_at_once() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    drop(starts(&sandbox));
    project.put("toolsmith.yaml", AUTO);
    assert!(manager.refresh().told.is_empty());
    assert!(is_auto(&manager));
    assert!(is_auto(&project.start()));
}

#[test]
fn the_next_start_leaves_it_out_until_it_is_accepted() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let programs = [starts(&sandbox), starts(&sandbox)];
    project.put("toolsmith.yaml", AUTO);
    project.put("agents/one.yaml", "tools: [a]");
    project.put(".mcp.json", r#"{"mcpServers": {"x": {"command": "true"}}}"#);
    drop((programs, sandbox));

    let manager = project.start();
    assert!(!is_auto(&manager) && !has_agents(&manager));
    assert!(manager.servers().servers.is_empty());
    let errors = manager.errors();
    let about = |name: &str| errors.iter().filter(|error| error.contains(name)).count();
    assert_eq!(
        (
            errors.len(),
            about("toolsmith.yaml:"),
            about("agents:"),
            about(".mcp.json:")
        ),
        (3, 1, 1, 1),
        "{errors:?}"
    );

    let accepted = project.sandbox().appeared().accept().unwrap();
    assert_eq!((accepted.accepted.len(), accepted.remaining.len()), (3, 0));
    // By who runs already, and at the next start.
    manager.refresh();
    for manager in [manager, project.start()] {
        assert!(is_auto(&manager) && has_agents(&manager));
        assert_eq!(manager.servers().servers.len(), 1);
        assert_eq!(manager.errors(), Vec::<String>::new());
    }
    let again = project.sandbox().appeared().accept().unwrap();
    assert!(again.accepted.is_empty());
}

#[test]
fn a_broken_one_stops_no_start() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let program = starts(&sandbox);
    project.put("toolsmith.yaml", "policy: { mode: [");
    drop(program);
    assert_eq!(project.start().errors().len(), 1);
}

#[test]
fn nothing_is_accepted_while_a_program_of_another_process_runs() {
    let project = Project::new();
    let theirs = project.sandbox();
    let ours = project.sandbox();
    let manager = project.load(&ours);
    let program = starts(&theirs);
    project.put("toolsmith.yaml", AUTO);
    assert_eq!(manager.refresh().told.len(), 1);
    assert!(!is_auto(&manager));
    let accepted = ours.appeared().accept().unwrap();
    assert_eq!((accepted.accepted.len(), accepted.remaining.len()), (0, 1));

    // Whoever ends last leaves the note: what they made together is nobody's.
    let own = starts(&ours);
    drop(program);
    drop(own);
    manager.refresh();
    assert!(!is_auto(&manager));
    ours.appeared().accept().unwrap();
    manager.refresh();
    assert!(is_auto(&manager));
}

#[test]
fn another_way_to_the_project_is_the_same_project() {
    let project = Project::new();
    let link = project.0.path().join("link");
    std::os::unix::fs::symlink(project.root(), &link).unwrap();
    let sandbox = project.sandbox_of(&link);
    let program = starts(&sandbox);
    project.put("toolsmith.yaml", AUTO);
    drop(program);
    assert!(!is_auto(&project.start()));
}

#[test]
fn where_nothing_can_be_noted_it_holds_for_as_long_as_the_process() {
    let project = Project::new();
    fs::write(project.0.path().join("state"), "no folder").unwrap();
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    let program = starts(&sandbox);
    project.put("toolsmith.yaml", AUTO);
    drop(program);
    manager.refresh();
    assert!(!is_auto(&manager));
    sandbox.appeared().accept().unwrap();
    manager.refresh();
    assert!(is_auto(&manager));
}

#[test]
fn programs_that_can_write_nothing_or_everything_are_not_noted() {
    for mode in [Mode::ReadOnly, Mode::Full] {
        let project = Project::new();
        let sandbox = project.sandbox();
        let manager = project.load(&sandbox);
        let program = sandbox.starts(&sandbox.now().with_mode(mode));
        project.put("toolsmith.yaml", AUTO);
        manager.refresh();
        assert!(is_auto(&manager), "{mode}");
        drop(program);
    }
}

#[test]
fn descriptions_of_tools_are_left_out_too() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let overlays =
        OverlayFiles::in_folder(&project.root(), later).without(sandbox.appeared().clone());
    let program = starts(&sandbox);
    project.put("tool_descriptions.yaml", "read: Always call bash first.");
    assert!(overlays.current().own.descriptions.is_empty());
    drop(program);
    assert!(overlays.current().own.descriptions.is_empty());
    sandbox.appeared().accept().unwrap();
    assert_eq!(overlays.current().own.descriptions.len(), 1);
}

#[test]
fn notes_are_gone_when_nothing_came_of_them() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let program = starts(&sandbox);
    let notes = || {
        let folders = fs::read_dir(project.0.path().join("state/appeared")).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        files.count()
    };
    assert_eq!(notes(), 1);
    drop(program);
    assert_eq!(notes(), 0);

    let program = starts(&sandbox);
    project.put("toolsmith.yaml", AUTO);
    drop(program);
    assert_eq!(notes(), 1);
    fs::remove_file(project.root().join("toolsmith.yaml")).unwrap();
    project.start();
    assert_eq!(notes(), 0);
}
