//! What decides about tools and is made while programs run in the sandbox: it gives nobody
//! more than they have, at this start or the next one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolsmith_manager::overlays::OverlayFiles;
use toolsmith_manager::sandbox::{ProjectSandbox, SandboxPlaces};
use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, FileLoader, IfMissing, Manager, Setup, Stamp};
use toolsmith_process::{Kept, Mode, Witness as _};
use toolsmith_runtime::guide::OverlaySource as _;

use crate::pins::{hand_out, has};
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
        self.load_by(sandbox, Arc::new(FileLoader))
    }

    fn load_by(&self, sandbox: &ProjectSandbox, loader: Arc<dyn ConfigLoader>) -> Manager {
        let file = self.root().join("toolsmith.yaml");
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
        told.len() == 1
            && told[0].contains("toolsmith.yaml: it was made or replaced while a program ran"),
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
    symlink(project.root(), &link).unwrap();
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

const SERVER: &str = r#"{ "mcpServers": { "own": { "command": "true" } } }"#;

fn servers(manager: &Manager) -> usize {
    manager.upstreams().upstreams.len()
}

/// Somebody makes a file whenever it is about to be read, and takes it away again.
struct Flicker(PathBuf);

impl ConfigLoader for Flicker {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        let is_it = path == self.0;
        if is_it {
            fs::write(path, SERVER).unwrap();
        }
        let loaded = FileLoader.load(path);
        if is_it {
            fs::remove_file(path).unwrap();
        }
        loaded
    }

    fn look(&self, path: &Path) -> Option<Stamp> {
        (path != self.0).then(|| Stamp::look(path))
    }
}

#[test]
fn what_is_there_only_while_it_is_read_is_not_taken_over() {
    let project = Project::new();
    // By the process that started the program, and by another one.
    let sandbox = project.sandbox();
    let program = starts(&sandbox);
    for sandbox in [sandbox, project.sandbox()] {
        let loader = Arc::new(Flicker(project.root().join(".mcp.json")));
        let manager = project.load_by(&sandbox, loader);
        manager.refresh();
        assert_eq!(servers(&manager), 0);
    }
    drop(program);
}

#[test]
fn a_link_that_is_replaced_is_not_taken_over() {
    let project = Project::new();
    let link = project.root().join(".mcp.json");
    project.put("shared/servers.json", "{}");
    symlink("shared/servers.json", &link).unwrap();
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    let program = starts(&sandbox);
    // What it leads to is protected, and counts when somebody else changes it.
    project.put("shared/servers.json", SERVER);
    manager.refresh();
    assert_eq!(servers(&manager), 1);
    project.put("shared/servers.json", "{}");
    manager.refresh();

    project.put("evil.json", SERVER);
    fs::rename(project.root().join("evil.json"), &link).unwrap();
    let told = manager.refresh().told.join("\n");
    assert!(
        told.contains(".mcp.json: it was made or replaced"),
        "{told}"
    );
    assert_eq!(servers(&manager), 0);
    drop(program);
    assert_eq!(servers(&project.start()), 0);
    project.sandbox().appeared().accept().unwrap();
    assert_eq!(servers(&project.start()), 1);
}

#[test]
fn a_link_that_stays_is_nothing_to_accept() {
    let project = Project::new();
    project.put("shared/servers.json", SERVER);
    symlink("shared/servers.json", project.root().join(".mcp.json")).unwrap();
    fs::create_dir(project.root().join("elsewhere")).unwrap();
    symlink("elsewhere", project.root().join("agents")).unwrap();
    let sandbox = project.sandbox();
    drop(starts(&sandbox));
    let manager = project.start();
    assert_eq!((servers(&manager), manager.errors()), (1, Vec::new()));
}

#[test]
fn what_links_in_the_projects_folders_lead_to_is_protected() {
    let project = Project::new();
    let tool = |name: &str| format!("{{ name: {name}, command: [/bin/true] }}");
    project.put("shared/tool.yaml", &tool("t"));
    project.put("tools/native/own.yaml", &tool("o"));
    project.put("README.md", "");
    for (to, name) in [
        ("../../shared/tool.yaml", "t.yaml"),
        ("../../shared/none.yaml", "n.yaml"),
        ("../../README.md", "README.md"),
        ("../../shared", "shared.yaml"),
    ] {
        symlink(to, project.root().join("tools/native").join(name)).unwrap();
    }
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    let protected = sandbox.now().protected_paths().to_vec();
    let root = project.root();
    assert!(protected.contains(&root.join("shared/tool.yaml")));
    // What decides nothing may be written.
    assert!(!protected.contains(&root.join("README.md")));
    assert!(!protected.contains(&root.join("shared")));
    // What is not there yet cannot be protected, and is not taken over.
    let program = starts(&sandbox);
    project.put("shared/none.yaml", &tool("n"));
    let told = manager.refresh().told.join("\n");
    assert!(told.contains("n.yaml: it was made"), "{told}");
    assert!(!has(&manager, "n"));
    drop(program);
}

#[test]
fn no_program_approves_what_only_a_person_does() {
    let (project, pinned) = (Project::new(), Project::new());
    hand_out(&pinned.start(), "up", &["a: One."]);
    project.put("toolsmith.yaml", "pins: strict");
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    let program = starts(&sandbox);
    let lock = pinned.root().join("toolsmith.lock");
    fs::copy(lock, project.root().join("toolsmith.lock")).unwrap();
    hand_out(&manager, "up", &["a: One."]);
    assert!(!has(&manager, "a"));
    let told = manager.refresh().told.join("\n");
    assert!(told.contains("toolsmith.lock: it was made"), "{told}");
    drop(program);
    let manager = project.start();
    hand_out(&manager, "up", &["a: One."]);
    assert!(!has(&manager, "a"));

    project.sandbox().appeared().accept().unwrap();
    let manager = project.start();
    hand_out(&manager, "up", &["a: One."]);
    assert!(has(&manager, "a"));
}

#[test]
fn pins_of_first_use_are_pinned_while_programs_run_too() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let manager = project.load(&sandbox);
    let program = starts(&sandbox);
    hand_out(&manager, "up", &["a: One."]);
    drop(program);
    assert!(has(&manager, "a"));
    assert!(project.root().join("toolsmith.lock").exists());
    assert_eq!(project.start().errors(), Vec::<String>::new());
}

/// A folder that tools work in may be a project of its own, or become one by what a program
/// writes there.
#[test]
fn what_appears_in_another_root_counts_in_no_project() {
    let project = Project::new();
    project.put("toolsmith.yaml", "policy: { mode: plan }");
    let inner = project.root().join("inner");
    fs::create_dir(&inner).unwrap();
    let state = project.0.path().join("state");
    let of = |root: &Path, roots: &[&PathBuf]| {
        let mut places = SandboxPlaces::new(root, roots.iter().map(|root| (*root).clone()));
        places.state = Some(state.clone());
        ProjectSandbox::new(places)
    };
    let find = || {
        let is_doubted = |folder: &Path| toolsmith_manager::sandbox::is_doubted(&state, folder);
        toolsmith_manager::find_root(&inner, is_doubted)
    };
    assert_eq!(find(), project.root());

    let sandbox = of(&project.root(), &[&inner]);
    let program = starts(&sandbox);
    put(&inner, "toolsmith.yaml", AUTO);
    put(&inner, ".mcp.json", "{}");
    // While it runs, and after its end.
    assert_eq!(find(), project.root());
    drop(program);
    assert_eq!(find(), project.root());
    let manager = project.load(&of(&project.root(), &[&inner]));
    let told = manager.errors().join("\n");
    assert!(
        told.contains("inner/toolsmith.yaml") && told.contains(".mcp.json"),
        "{told}"
    );

    // Whoever names the folder gets no more.
    let named = of(&inner, &[&inner]);
    assert_eq!(named.withheld().len(), 2);
    let file = inner.join("toolsmith.yaml");
    let setup = Setup::open_in(named, Arc::new(FileLoader), &file, IfMissing::UseDefaults);
    assert!(!is_auto(&setup.unwrap().load().unwrap()));

    let accepted = of(&project.root(), &[&inner]).accept().unwrap();
    assert_eq!(accepted.accepted.len(), 2);
    assert_eq!(find(), inner);
}

#[test]
fn what_appears_in_a_folder_the_configuration_opens_is_noted_too() {
    let project = Project::new();
    let beside = project.0.path().join("beside");
    let config = format!(
        "sandbox: {{ writable: [{:?}] }}",
        beside.display().to_string()
    );
    project.put("toolsmith.yaml", &config);
    fs::create_dir(&beside).unwrap();
    let sandbox = project.sandbox();
    let _manager = project.load(&sandbox);
    let program = starts(&sandbox);
    put(&beside, "toolsmith.yaml", AUTO);
    drop(program);
    assert!(!project.sandbox_of(&beside).withheld().is_empty());
}

/// What a link leads to may be made later, by somebody who does not know of it.
#[test]
fn a_link_to_nowhere_is_made_too() {
    let project = Project::new();
    let sandbox = project.sandbox();
    let program = starts(&sandbox);
    symlink("notes.yaml", project.root().join("toolsmith.yaml")).unwrap();
    drop(program);
    assert_eq!(project.sandbox().withheld().len(), 1);
    assert!(!is_auto(&project.start()));
    project.put("notes.yaml", AUTO);
    assert!(!is_auto(&project.start()));
    project.sandbox().accept().unwrap();
    assert!(is_auto(&project.start()));
}
