//! Every file that is looked at, and the order it is done in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use serde::de::DeserializeOwned;
use toolsmith_rest::Surroundings;
use toolsmith_rest::openapi::LiveDocument;

use crate::config::{Config, DocumentPlace, OpenApiConfig};
use crate::files::{Folder, IfGone, Kept, News};
use crate::loader::ConfigLoader;
use crate::native::{self, NATIVE_FOLDER, Native, Script};
use crate::overrides::OverrideFile;
use crate::own_files::BUILTIN_FOLDER;
use crate::servers::{self, MCP_FOLDER, MCP_JSON, McpJson, ServerEntry};
use crate::sets::{AGENTS_FOLDER, AgentForm, SETS_FOLDER, SetForm};
use crate::setup::{self, Setup};
use crate::yaml::{self, YamlError};

pub(super) struct Files {
    pub(super) config: Kept<Config>,
    pub(super) documents: BTreeMap<String, Document>,
    pub(super) native: Folder<Native>,
    pub(super) overrides: Folder<OverrideFile>,
    pub(super) scripts: Folder<Script>,
    pub(super) mcp: Folder<ServerEntry>,
    pub(super) mcp_json: Kept<McpJson>,
    pub(super) sets: Folder<SetForm>,
    pub(super) agents: Folder<AgentForm>,
    surroundings: Surroundings,
}

/// A document the configuration names.
pub(super) struct Document {
    config: OpenApiConfig,
    pub(super) content: Content,
    /// What its address refers to, which may be shown to nobody.
    pub(super) secrets: Vec<String>,
}

pub(super) enum Content {
    /// In a file.
    File(Box<Kept<Native>>),
    /// At an address.
    Url(LiveDocument),
    /// At an address nobody knows.
    Missing(String),
}

impl Files {
    /// The files of a project; the configuration was read already.
    pub(super) fn new(setup: &mut Setup) -> Self {
        let root = setup.root.clone();
        let references = Arc::new(setup.references.clone());
        let environment = references.environment().into();
        let mut surroundings = Surroundings::new(references, root.clone(), environment);
        if let Some(sandbox) = setup.sandbox.clone() {
            surroundings.sandbox = Some(Arc::new(move || sandbox.now()));
        }
        let forgotten = Kept::new(setup.config.path().to_owned(), IfGone::Keep);
        Self {
            config: std::mem::replace(&mut setup.config, forgotten),
            documents: BTreeMap::new(),
            native: Folder::new(root.join(NATIVE_FOLDER)),
            overrides: Folder::new(root.join(BUILTIN_FOLDER)),
            scripts: Folder::new(root.join(BUILTIN_FOLDER)),
            mcp: Folder::new(root.join(MCP_FOLDER)),
            mcp_json: Kept::new(root.join(MCP_JSON), IfGone::Forget),
            sets: Folder::new(root.join(SETS_FOLDER)),
            agents: Folder::new(root.join(AGENTS_FOLDER)),
            surroundings,
        }
    }

    /// Looks at all of them.
    pub(super) fn refresh(&mut self, setup: &Setup) -> News {
        let (loader, now) = (&*setup.loader, setup.now);
        let config = self.config.refresh(loader, &setup::read_config, now);
        let documents = self.refresh_documents(setup);
        // What takes longest has this thread, and the rest one of its own beside it.
        let Self {
            native,
            scripts,
            overrides,
            mcp,
            mcp_json,
            sets,
            agents,
            surroundings: around,
            ..
        } = self;
        let beside = || {
            let overrides = overrides.refresh(loader, yaml_files, &plain, now);
            let mcp = mcp.refresh(loader, yaml_files, &servers::one, now);
            let mcp_json = mcp_json.refresh(loader, &servers::mcp_json, now);
            let sets = sets.refresh(loader, yaml_files, &plain, now);
            let agents = agents.refresh(loader, yaml_files, &plain, now);
            overrides.and(mcp).and(mcp_json).and(sets).and(agents)
        };
        let mut here = || {
            let read = &|path: &Path, name: &Arc<str>, bytes: &[u8]| {
                native::read(path, name, bytes, around)
            };
            let native = native.refresh(loader, yaml_files, read, now);
            let read = &|path: &Path, name: &Arc<str>, bytes: &[u8]| {
                native::read_script(path, name, bytes, around)
            };
            native.and(scripts.refresh(loader, other_files, read, now))
        };
        let (here, beside) = thread::scope(|scope| {
            let beside = scope.spawn(beside);
            (here(), beside.join())
        });
        // What panics is a bug of ours: what was in force stays.
        let beside = beside.unwrap_or_default();
        config.and(documents).and(here).and(beside)
    }

    /// Looks at the documents the configuration names now.
    fn refresh_documents(&mut self, setup: &Setup) -> News {
        let config = self.config.good().cloned().unwrap_or_default();
        let around = &self.surroundings;
        let own: &str = self.config.name();
        let mut before = std::mem::take(&mut self.documents);
        let mut news = News::default();
        for (name, wanted) in &config.openapi {
            let kept = before.remove(name).filter(|kept| kept.config == *wanted);
            let mut document = kept.unwrap_or_else(|| {
                news.changed = true;
                Document::new(name, wanted, setup, around)
            });
            if let Content::File(file) = &mut document.content {
                let (options, over) = (wanted.options(name), wanted.over());
                let read = |_: &Path, name: &Arc<str>, bytes: &[u8]| {
                    native::read_document(name, bytes, &options, (own, &over), around)
                };
                news = news.and(file.refresh(&*setup.loader, &read, setup.now));
            }
            self.documents.insert(name.clone(), document);
        }
        news.changed |= !before.is_empty();
        news
    }
}

impl Document {
    fn new(name: &str, config: &OpenApiConfig, setup: &Setup, around: &Surroundings) -> Self {
        let mut secrets = Vec::new();
        let content = match &config.document {
            DocumentPlace::File(file) => {
                let kept = Kept::new(setup.root.join(file), IfGone::Keep);
                Content::File(Box::new(kept))
            }
            DocumentPlace::Url(url) => match url.value.fill(&setup.references) {
                Ok(filled) => {
                    secrets = filled.secrets;
                    let (options, over) = (config.options(name), config.over());
                    let around = around.clone();
                    Content::Url(LiveDocument::new(name, filled.text, options, over, around))
                }
                Err(error) => Content::Missing(format!("openapi.{name}: {error}")),
            },
        };
        Self {
            config: config.clone(),
            content,
            secrets,
        }
    }
}

fn yaml_files(loader: &dyn ConfigLoader, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
    loader.list(folder)
}

fn other_files(loader: &dyn ConfigLoader, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
    loader.list_others(folder)
}

/// A file that is what it says, and nothing has to be made of it.
fn plain<T: DeserializeOwned>(_: &Path, name: &Arc<str>, bytes: &[u8]) -> Result<T, YamlError> {
    yaml::read(name, bytes)
}
