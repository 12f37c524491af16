//! The sandbox of a project: what its programs may write, and what they may not even read.
//!
//! The configuration says some of it; the rest is the same for all projects. What decides
//! about tools is protected, so that no program gives itself more than it has. What holds
//! keys is hidden.
//!
//! The host says where its places are; this file only looks whether some of them exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use arc_swap::ArcSwap;
use toolsmith_process::{Kept, Mode, Sandbox, Witness};
use toolsmith_rest::form::Network;

use crate::appeared::{Accepted, Appeared};
use crate::config::SandboxConfig;
use crate::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE};
use crate::own_files::{BUILTIN_FOLDER, settled};
use crate::pins::LOCK_FILE;
use crate::servers::MCP_JSON;
use crate::setup::CONFIG_FILE;

/// What a root holds that no program may change: its history, and what decides about tools.
const PROTECTED: [&str; 9] = [
    ".git",
    CONFIG_FILE,
    LOCK_FILE,
    MCP_JSON,
    DESCRIPTIONS_FILE,
    EXAMPLES_FILE,
    "agents",
    "tools",
    "configs",
];
/// What the names of further files of ours begin with.
const OWN: &str = ".toolsmith";

/// Where programs keep keys in a home folder.
const KEYS: [&str; 29] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/hcloud",
    ".oci",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".local/share/keyrings",
];
/// Sockets over which a program could have others do what it may not.
const SOCKETS: [&str; 12] = [
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/crio/crio.sock",
    "/run/libvirt",
    "/run/user",
    "/run/screen",
    "/run/tmux",
    "/tmp/.X11-unix",
];

/// What of a root decides what tools there are and what programs do without being asked. A
/// tool that writes files is to ask before it changes one.
const DECIDING: [&str; 12] = [
    CONFIG_FILE,
    LOCK_FILE,
    MCP_JSON,
    DESCRIPTIONS_FILE,
    EXAMPLES_FILE,
    "agents",
    "tools/builtin",
    "tools/mcp",
    "tools/native",
    "configs/tool_sets",
    ".git/config",
    ".git/hooks",
];

/// How many names in `/tmp` are looked at, and how many of them can be such.
const MOST_LOOKED_AT: usize = 10_000;
const MOST_SOCKETS: usize = 64;

/// How many links in folders that decide about tools are followed.
const MOST_LINKS: usize = 1000;

/// What the names of such sockets, or of their folders, begin with in `/tmp`.
const IN_TMP: [&str; 5] = ["tmux-", "ssh-", "screen-", "dbus-", "gpg-"];

/// Where a host has what a sandbox needs to know.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SandboxPlaces {
    /// The project's folder, from which the paths of its configuration are seen.
    pub project: PathBuf,
    /// The folders that tools work in, which programs may write.
    pub roots: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder with records, approvals and credentials of ours.
    pub state: Option<PathBuf>,
    /// The configuration, where it is not in the project's folder.
    pub config: Option<PathBuf>,
}

impl SandboxPlaces {
    /// Names the project's folder, and those that tools work in.
    pub fn new(project: &Path, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        // Seen from the folder of a program, a relative path would be another one.
        let full = |root: PathBuf| std::path::absolute(&root).unwrap_or(root);
        Self {
            project: full(project.to_owned()),
            roots: roots.into_iter().map(full).collect(),
            ..Self::default()
        }
    }

    /// Where it is noted what programs can make.
    fn notes(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| notes_beneath(state))
    }
}

/// Tells whether the configuration in a folder was made or replaced while a program ran that could
/// do so, going by the notes in the folder with our state. Such a file is not used until a person
/// accepts it.
pub fn is_doubted(state: &Path, folder: &Path) -> bool {
    let appeared = Appeared::of_root(Some(notes_beneath(state)), folder);
    appeared.withholds(&folder.join(CONFIG_FILE))
}

fn notes_beneath(state: &Path) -> PathBuf {
    state.join("appeared")
}

/// The sandbox of a project, as its configuration has it at the moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProjectSandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    places: SandboxPlaces,
    config: ArcSwap<SandboxConfig>,
    /// What else decides about tools: documents that the configuration names.
    further: ArcSwap<Vec<PathBuf>>,
    /// What of that was made while programs ran, which could not be kept from making it.
    appeared: Appeared,
    /// The same in the other folders that programs may write, each of which may be somebody's
    /// project at another start.
    elsewhere: Mutex<BTreeMap<PathBuf, Appeared>>,
}

impl ProjectSandbox {
    /// The sandbox of a project with these places, as long as nothing is configured.
    pub fn new(places: SandboxPlaces) -> Self {
        let sandbox = Self(Arc::new(Inner {
            appeared: Appeared::of_root(places.notes(), &places.project),
            places,
            config: ArcSwap::default(),
            further: ArcSwap::default(),
            elsewhere: Mutex::default(),
        }));
        for root in &sandbox.0.places.roots {
            sandbox.elsewhere(root);
        }
        sandbox
    }

    /// The sandbox for a program that is started now.
    pub fn now(&self) -> Sandbox {
        let (config, further) = (self.0.config.load(), self.0.further.load());
        sandbox_with(&config, &self.0.places, &further).witness(Arc::new(self.clone()))
    }

    /// What was made in the project while programs ran, and counts as not there.
    pub fn appeared(&self) -> &Appeared {
        &self.0.appeared
    }

    /// The same in all folders that programs may write.
    pub fn withheld(&self) -> Vec<PathBuf> {
        let mut paths = self.0.appeared.paths();
        let elsewhere = self.all_elsewhere();
        paths.extend(elsewhere.iter().flat_map(Appeared::paths));
        paths
    }

    /// Takes what was made in any of them for the user's own.
    ///
    /// # Errors
    /// When a note cannot be removed.
    pub fn accept(&self) -> io::Result<Accepted> {
        let mut all = self.0.appeared.accept()?;
        for appeared in self.all_elsewhere() {
            let Accepted {
                accepted,
                remaining,
            } = appeared.accept()?;
            all.accepted.extend(accepted);
            all.remaining.extend(remaining);
        }
        Ok(all)
    }

    /// What appears in a folder beside the project's own.
    fn elsewhere(&self, folder: &Path) -> Option<Appeared> {
        if settled(folder) == settled(&self.0.places.project) {
            return None;
        }
        let mut elsewhere = self.lock_elsewhere();
        let known = elsewhere.entry(folder.to_owned());
        let known = known.or_insert_with(|| Appeared::of_root(self.0.places.notes(), folder));
        Some(known.clone())
    }

    fn all_elsewhere(&self) -> Vec<Appeared> {
        self.lock_elsewhere().values().cloned().collect()
    }

    fn lock_elsewhere(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Appeared>> {
        // Who panicked while holding it left whole values behind.
        let locked = self.0.elsewhere.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<SandboxConfig> {
        self.0.config.load_full()
    }

    pub(crate) fn set(&self, config: &SandboxConfig, further: &[PathBuf]) {
        if **self.0.config.load() != *config {
            self.0.config.store(Arc::new(config.clone()));
        }
        let full = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        self.0
            .further
            .store(Arc::new(further.iter().map(full).collect()));
    }
}

/// What decides about tools can be made by a program where it is missing, and replaced where
/// it is a link, or lies behind one.
impl Witness for ProjectSandbox {
    fn starts(&self, sandbox: &Sandbox) -> Kept {
        // Otherwise a program can write nothing here, or may write everything.
        if sandbox.mode() != Mode::WorkspaceWrite {
            return Box::new(());
        }
        let places = &self.0.places;
        let further = self.0.further.load();
        let further = places.config.iter().chain(&**further).cloned();
        let own = with_links(&places.project, further);
        let mut runs = vec![self.0.appeared.begin(own)];
        let writable = self.0.config.load();
        let writable = writable.writable.iter();
        let writable = writable.map(|path| resolve(path, &places.project, places.home.as_deref()));
        for folder in places.roots.iter().cloned().chain(writable) {
            let appeared = self.elsewhere(&folder);
            runs.extend(appeared.map(|it| it.begin(with_links(&folder, std::iter::empty()))));
        }
        Box::new(runs)
    }
}

/// What decides about tools in a project and further files, with the links in it that lead there.
fn with_links(project: &Path, further: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let deciding = deciding()
        .filter(|path| !path.starts_with(".git"))
        .map(|path| project.join(path));
    let paths: Vec<PathBuf> = deciding.chain(further).chain(links(project)).collect();
    let with_folders = paths.iter().flat_map(|path| {
        let within = path.starts_with(project);
        let above = path.ancestors().skip(1);
        let above = above.take_while(move |above| within && *above != project);
        std::iter::once(path.as_path()).chain(above.filter(|above| above.is_symlink()))
    });
    with_folders.map(Path::to_owned).collect()
}

/// The links in folders that decide about tools, as far as they do: the folders are protected,
/// what lies elsewhere is not.
fn links(project: &Path) -> Vec<PathBuf> {
    let folders = deciding().filter(|path| !path.starts_with(".git"));
    let folders = folders.map(|folder| project.join(folder));
    let entries = folders.flat_map(fs::read_dir).flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_symlink()));
    let counts = |path: &PathBuf| {
        let end = path.extension();
        let is_yaml = end.is_some_and(|end| end == "yaml" || end == "yml");
        (is_yaml || path.starts_with(project.join(BUILTIN_FOLDER))) && !path.is_dir()
    };
    let links = links.map(|link| link.path()).filter(counts);
    links.take(MOST_LINKS).collect()
}

/// Makes the sandbox that a configuration asks for.
///
/// Whoever starts a program adds a folder for its temporary files.
pub fn sandbox_for(config: &SandboxConfig, places: &SandboxPlaces) -> Sandbox {
    sandbox_with(config, places, &[])
}

/// The same, with further files that decide about tools.
fn sandbox_with(config: &SandboxConfig, places: &SandboxPlaces, further: &[PathBuf]) -> Sandbox {
    let mode = config.mode.map_or(Mode::default(), Mode::from);
    let mut sandbox = Sandbox::new(mode).limits(config.limits.limits());
    if config.network == Some(Network::On) {
        sandbox = sandbox.with_network();
    }
    let resolved = |paths: &[PathBuf]| -> Vec<PathBuf> {
        let paths = paths.iter();
        paths
            .map(|path| resolve(path, &places.project, places.home.as_deref()))
            .collect()
    };
    let writable = resolved(&config.writable);
    let folders = places.roots.iter().chain(&writable);
    sandbox = folders.fold(sandbox, Sandbox::writable);
    // Whoever asks for everything gets it; what is named he asked for too.
    let own = match mode {
        Mode::Full => Vec::new(),
        _ => own(places, further),
    };
    let own = own.into_iter().filter(|path| !writable.contains(path));
    sandbox = own
        .chain(resolved(&config.protected))
        .fold(sandbox, Sandbox::protected);
    let hidden = keys(places).into_iter().chain(resolved(&config.hidden));
    hidden.fold(sandbox, Sandbox::hidden)
}

/// A path of the configuration, as a full one.
fn resolve(path: &Path, root: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(beneath), Some(home)) => home.join(beneath),
        _ => root.join(path),
    }
}

/// What of a root decides what tools there are and what programs do, as seen from the root.
pub fn deciding() -> impl Iterator<Item = PathBuf> {
    DECIDING.iter().map(PathBuf::from)
}

/// What decides about tools.
fn own(places: &SandboxPlaces, further: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = further.to_vec();
    for root in places.roots.iter().chain([&places.project]) {
        paths.extend(PROTECTED.iter().map(|name| root.join(name)));
        // A folder that cannot be read holds nothing that a program could name.
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let named = entries.filter(|entry| {
            let name = entry.file_name();
            name.as_encoded_bytes().starts_with(OWN.as_bytes())
        });
        paths.extend(named.map(|entry| entry.path()));
    }
    paths.extend(links(&places.project).iter().map(|link| settled(link)));
    paths.extend(places.config.clone());
    paths.sort();
    paths.dedup();
    paths
}

/// What holds keys, or leads to who does.
fn keys(places: &SandboxPlaces) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some(home) = &places.home {
        paths.extend(KEYS.iter().map(|name| home.join(name)));
    }
    paths.extend(places.state.clone());
    paths.extend(SOCKETS.iter().map(PathBuf::from));
    let entries = fs::read_dir("/tmp").into_iter().flatten().flatten();
    let sockets = entries.take(MOST_LOOKED_AT).filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        IN_TMP.iter().any(|beginning| name.starts_with(beginning))
    });
    paths.extend(sockets.map(|entry| entry.path()).take(MOST_SOCKETS));
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths
}
