//! All servers of a folder: from `toolsmith.yaml`, `tools/mcp/*.yaml` and `.mcp.json`.

use std::path::Path;
use std::sync::Arc;

use super::form::OneFile;
use super::mcp_json::{self, McpJson};
use super::{Origin, Place, ServerEntry, ServerName};
use crate::config::Config;
use crate::yaml::{self, YamlError};

/// The folder with one server a file.
pub const MCP_FOLDER: &str = "tools/mcp";
/// The file other clients use.
pub const MCP_JSON: &str = ".mcp.json";

/// What was found: servers that can be used, and what is wrong with the rest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The servers, in the order their files are read; no name stands here twice.
    pub servers: Vec<ServerEntry>,
    /// Files and servers that cannot be used.
    pub errors: Vec<YamlError>,
    /// What is allowed but not good.
    pub warnings: Vec<String>,
}

impl Loaded {
    /// Gathers servers in the order they count: the host's own, those of the
    /// configuration, those with a file of their own, and those of `.mcp.json`.
    pub(crate) fn gather<'a>(
        own: &[ServerEntry],
        config: (&Config, &str),
        files: impl IntoIterator<Item = &'a ServerEntry>,
        mcp_json: Option<&McpJson>,
    ) -> Self {
        let mut loaded = Self::default();
        // Who names a server on the command line knows what it stands for.
        loaded.servers.extend(own.iter().cloned());
        let (config, config_file) = config;
        for server in &config.servers {
            let mut server = server.clone();
            config_file.clone_into(&mut server.origin.file);
            loaded.take(server, own);
        }
        for server in files {
            loaded.take(server.clone(), own);
        }
        if let Some(found) = mcp_json {
            loaded.errors.extend(found.errors.iter().cloned());
            loaded.warnings.extend(found.warnings.iter().cloned());
            for server in &found.servers {
                loaded.take(server.clone(), own);
            }
        }
        loaded
    }

    /// Takes a server in, unless its name is taken.
    fn take(&mut self, server: ServerEntry, own: &[ServerEntry]) {
        if own.iter().any(|own| own.name == server.name) {
            return;
        }
        if let Some(first) = self.servers.iter().find(|first| first.name == server.name) {
            let (name, origin, first) = (&server.name, &server.origin, &first.origin);
            self.warnings.push(format!(
                "{origin}: server `{name}` is not used: {first} has that name first"
            ));
            return;
        }
        for place in server.written_secrets() {
            let (name, origin) = (&server.name, &server.origin);
            self.warnings.push(format!(
                "{origin}: server `{name}`: {place} is written out; refer to it with \
                 ${{env:NAME}} or ${{file:PATH}}"
            ));
        }
        self.servers.push(server);
    }
}

/// The server of one file.
pub(crate) fn one(file: &Path, name: &Arc<str>, bytes: &[u8]) -> Result<ServerEntry, YamlError> {
    let OneFile {
        name: own,
        mut entry,
    } = yaml::read(name, bytes)?;
    entry.name = match own {
        Some(own) => own,
        None => stem(file).map_err(|message| YamlError::whole(&**name, message))?,
    };
    entry.origin = Origin {
        file: name.to_string(),
        place: Place::default(),
    };
    Ok(entry)
}

/// What `.mcp.json` says.
pub(crate) fn mcp_json(_: &Path, name: &Arc<str>, bytes: &[u8]) -> Result<McpJson, YamlError> {
    mcp_json::read(name, bytes)
}

/// The name a file gives its server.
fn stem(file: &Path) -> Result<ServerName, String> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.parse::<ServerName>();
    name.map_err(|error| format!("the file's name: {error}, or set `name:`"))
}
