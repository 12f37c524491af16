//! Every file that is looked at, and the order it is done in.

use std::sync::Arc;

use toolsmith_rest::{Made, Surroundings};

use crate::config::Config;
use crate::files::{Folder, IfGone, Kept, News};
use crate::native::{self, NATIVE_FOLDER};
use crate::overrides::OverrideFile;
use crate::servers::{self, MCP_FOLDER, MCP_JSON, McpJson, ServerEntry};
use crate::sets::{AGENTS_FOLDER, AgentForm, SETS_FOLDER, SetForm};
use crate::setup::{self, Setup};
use crate::yaml;

/// The folder with switches for the tools that come with the program, and with scripts.
pub(super) const BUILTIN_FOLDER: &str = "tools/builtin";

pub(super) struct Files {
    pub(super) config: Kept<Config>,
    pub(super) native: Folder<Made>,
    pub(super) overrides: Folder<OverrideFile>,
    pub(super) mcp: Folder<ServerEntry>,
    pub(super) mcp_json: Kept<McpJson>,
    pub(super) sets: Folder<SetForm>,
    pub(super) agents: Folder<AgentForm>,
    surroundings: Surroundings,
}

impl Files {
    /// The files of a project; the configuration was read already.
    pub(super) fn new(setup: &mut Setup) -> Self {
        let root = setup.root.clone();
        let references = Arc::new(setup.references.clone());
        let environment = references.environment().into();
        let forgotten = Kept::new(setup.config.path().to_owned(), IfGone::Keep);
        Self {
            config: std::mem::replace(&mut setup.config, forgotten),
            native: Folder::new(root.join(NATIVE_FOLDER)),
            overrides: Folder::new(root.join(BUILTIN_FOLDER)),
            mcp: Folder::new(root.join(MCP_FOLDER)),
            mcp_json: Kept::new(root.join(MCP_JSON), IfGone::Forget),
            sets: Folder::new(root.join(SETS_FOLDER)),
            agents: Folder::new(root.join(AGENTS_FOLDER)),
            surroundings: Surroundings::new(references, root, environment),
        }
    }

    /// Looks at all of them.
    pub(super) fn refresh(&mut self, setup: &Setup) -> News {
        let (loader, now) = (&*setup.loader, setup.now);
        let surroundings = &self.surroundings;
        let list = |loader: &dyn crate::ConfigLoader, folder: &std::path::Path| loader.list(folder);
        let config = self.config.refresh(loader, &setup::read_config, now);
        let native = self.native.refresh(
            loader,
            list,
            &|path, name, bytes| native::read(path, name, bytes, surroundings),
            now,
        );
        let overrides = &|_: &_, name: &Arc<str>, bytes: &[u8]| yaml::read(name, bytes);
        let overrides = self.overrides.refresh(loader, list, overrides, now);
        let mcp = self.mcp.refresh(loader, list, &servers::one, now);
        let mcp_json = self.mcp_json.refresh(loader, &servers::mcp_json, now);
        let sets = &|_: &_, name: &Arc<str>, bytes: &[u8]| yaml::read(name, bytes);
        let sets = self.sets.refresh(loader, list, sets, now);
        let agents = &|_: &_, name: &Arc<str>, bytes: &[u8]| yaml::read(name, bytes);
        let agents = self.agents.refresh(loader, list, agents, now);
        [native, overrides, mcp, mcp_json, sets, agents]
            .into_iter()
            .fold(config, News::and)
    }
}
