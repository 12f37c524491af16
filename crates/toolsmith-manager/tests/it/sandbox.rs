//! The sandbox of a project: what the configuration says, and what it need not say.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolsmith_manager::config::SandboxConfig;
use toolsmith_manager::sandbox::{ProjectSandbox, SandboxPlaces, sandbox_for};
use toolsmith_manager::{FileLoader, IfMissing, Manager, Setup, yaml};
use toolsmith_process::{Mode, Sandbox};

/// A project and a home with a few keys in it.
struct Places {
    folder: tempfile::TempDir,
}

impl Places {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "home/.ssh",
            "home/.config/gh",
            "state",
            "root/.toolsmith-notes",
            "second",
        ] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        fs::write(folder.path().join("home/.netrc"), "").unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn places(&self) -> SandboxPlaces {
        let mut places =
            SandboxPlaces::new(&self.path("root"), [self.path("root"), self.path("second")]);
        places.home = Some(self.path("home"));
        places.state = Some(self.path("state"));
        places
    }

    fn sandbox(&self, text: &str) -> Sandbox {
        sandbox_for(&config(text).unwrap(), &self.places())
    }
}

fn config(text: &str) -> Result<SandboxConfig, String> {
    let config = yaml::read::<toolsmith_manager::Config>("t.yaml", text.as_bytes());
    config
        .map(|config| config.sandbox)
        .map_err(|error| error.to_string())
}

fn has(paths: &[PathBuf], path: &Path) -> bool {
    paths.iter().any(|each| each == path)
}

#[test]
fn without_a_word_the_workspace_is_written_and_the_network_is_off() {
    let places = Places::new();
    let sandbox = sandbox_for(&SandboxConfig::default(), &places.places());
    assert_eq!(sandbox.mode(), Mode::WorkspaceWrite);
    assert!(!sandbox.has_network());
    assert_eq!(
        sandbox.writable_folders(),
        [places.path("root"), places.path("second")]
    );
    let protected = sandbox.protected_paths();
    for root in ["root", "second"] {
        for name in [
            ".git",
            "toolsmith.yaml",
            "toolsmith.lock",
            ".mcp.json",
            "agents",
            "tools",
            "configs",
        ] {
            assert!(
                has(protected, &places.path(root).join(name)),
                "{root}/{name}"
            );
        }
    }
    assert!(has(protected, &places.path("root/.toolsmith-notes")));
    let hidden = sandbox.hidden_paths();
    for path in ["home/.ssh", "home/.config/gh", "home/.netrc", "state"] {
        assert!(has(hidden, &places.path(path)), "{path}");
    }
    assert!(!has(hidden, &places.path("home/.aws")), "it does not exist");
}

#[test]
fn what_is_configured_is_added() {
    let places = Places::new();
    let sandbox = places.sandbox(
        "sandbox: { mode: read-only, network: on, writable: [out, ~/cache, /opt/x], \
         protected: [deploy], hidden: [.env], limits: { open_files: 100, file_megabytes: 3 } }",
    );
    assert_eq!(sandbox.mode(), Mode::ReadOnly);
    assert!(sandbox.has_network());
    let folders = sandbox
        .clone()
        .with_mode(Mode::WorkspaceWrite)
        .writable_folders();
    for path in [places.path("home/cache"), "/opt/x".into()] {
        assert!(has(&folders, &path), "{path:?}");
    }
    // It is writable with its root.
    assert!(!has(&folders, &places.path("root/out")));
    assert!(has(sandbox.protected_paths(), &places.path("root/deploy")));
    assert!(has(sandbox.protected_paths(), &places.path("root/.git")));
    assert!(has(sandbox.hidden_paths(), &places.path("root/.env")));
    assert!(has(sandbox.hidden_paths(), &places.path("home/.ssh")));
    let shown = format!("{sandbox:?}");
    assert!(shown.contains("open_files: Some(100)"), "{shown}");
    assert!(shown.contains("file_size: Some(3145728)"), "{shown}");
}

#[test]
fn whoever_names_a_protected_path_as_writable_may_write_it() {
    let places = Places::new();
    let sandbox = places.sandbox("sandbox: { writable: [.git] }");
    assert!(!has(sandbox.protected_paths(), &places.path("root/.git")));
    assert!(has(sandbox.protected_paths(), &places.path("second/.git")));
    let sandbox = places.sandbox("sandbox: { writable: [.git], protected: [.git] }");
    assert!(has(sandbox.protected_paths(), &places.path("root/.git")));
}

#[test]
fn in_full_only_what_is_named_is_protected_and_keys_stay_hidden() {
    let places = Places::new();
    let sandbox = places.sandbox("sandbox: { mode: full, protected: [deploy] }");
    assert_eq!(sandbox.protected_paths(), [places.path("root/deploy")]);
    assert!(has(sandbox.hidden_paths(), &places.path("home/.ssh")));
}

#[test]
fn wrong_settings_are_told_with_their_place() {
    for (text, place, said) in [
        ("sandbox: { mode: none }", "1:18", "unknown word `none`"),
        ("sandbox:\n  network: maybe", "2:12", "unknown word `maybe`"),
        ("sandbox:\n  writable: [a, ../b]", "2:17", "without `..`"),
        ("sandbox:\n  hidden: ['']", "2:12", "without `..`"),
        ("sandbox:\n  hidden: /etc", "2:11", "expected a list"),
        ("sandbox:\n  limits: { processes: 0 }", "2:24", "from 1 to"),
        ("sandbox: workspace-write", "1:10", "expected a mapping"),
        (
            "sandbox:\n  wriatble: []",
            "2:3",
            "did you mean `writable`?",
        ),
    ] {
        let error = config(text).unwrap_err();
        assert!(
            error.contains(&format!("t.yaml:{place}:")),
            "{text}: {error}"
        );
        assert!(error.contains(said), "{text}: {error}");
    }
    let many = format!("sandbox: {{ hidden: [{}] }}", "a, ".repeat(600));
    assert!(config(&many).unwrap_err().contains("more than the 500"));
}

fn load_in(sandbox: &ProjectSandbox, file: &Path) -> Manager {
    let loader = Arc::new(FileLoader);
    let setup = Setup::open_in(sandbox.clone(), loader, file, IfMissing::Fail);
    setup.unwrap().load().unwrap()
}

#[test]
fn a_change_of_the_configuration_counts_at_once() {
    let places = Places::new();
    let root = places.path("root");
    let file = root.join("toolsmith.yaml");
    fs::write(&file, "sandbox: { mode: read-only }\n").unwrap();
    let sandbox = ProjectSandbox::new(places.places());
    let manager = load_in(&sandbox, &file);
    assert_eq!(sandbox.now().mode(), Mode::ReadOnly);
    fs::write(&file, "sandbox: { network: on }\n").unwrap();
    manager.refresh();
    assert_eq!(sandbox.now().mode(), Mode::WorkspaceWrite);
    assert!(sandbox.now().has_network());
    // A file that cannot be read changes nothing.
    fs::write(&file, "sandbox: { mode: ful }\n").unwrap();
    manager.refresh();
    assert!(sandbox.now().has_network());
}

#[test]
fn documents_that_become_tools_are_protected() {
    let places = Places::new();
    let root = places.path("root");
    let file = root.join("toolsmith.yaml");
    fs::write(&file, "openapi: { shop: { file: api/shop.json } }\n").unwrap();
    let sandbox = ProjectSandbox::new(places.places());
    let manager = load_in(&sandbox, &file);
    let is_protected = |path: &str| has(sandbox.now().protected_paths(), &root.join(path));
    assert!(is_protected("api/shop.json"));
    assert!(is_protected("toolsmith.yaml"));
    fs::write(&file, "openapi: { shop: { file: api/other.json } }\n").unwrap();
    manager.refresh();
    assert!(is_protected("api/other.json"));
    assert!(!is_protected("api/shop.json"));
}
