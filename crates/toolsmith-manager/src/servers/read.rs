//! All servers of a folder: from `toolsmith.yaml`, `tools/mcp/*.yaml` and `.mcp.json`.

use std::path::Path;

use super::form::OneFile;
use super::{Origin, Place, ServerEntry, ServerName, mcp_json};
use crate::config::Config;
use crate::loader::ConfigLoader;
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

/// Reads the servers beneath `root`, after those of the configuration.
pub fn read(
    loader: &dyn ConfigLoader,
    root: &Path,
    config: &Config,
    config_file: Option<&Path>,
) -> Loaded {
    let mut loaded = Loaded::default();
    let config_file = config_file.map(|file| file.display().to_string());
    for server in &config.servers {
        let mut server = server.clone();
        server.origin.file = config_file.clone().unwrap_or_default();
        loaded.take(server);
    }
    match loader.list(&root.join(MCP_FOLDER)) {
        Ok(files) => {
            for file in files {
                match one(loader, &file) {
                    Ok(Some(server)) => loaded.take(server),
                    Ok(None) => {}
                    Err(error) => loaded.errors.push(error),
                }
            }
        }
        Err(error) => loaded.errors.push(error),
    }
    loaded.read_mcp_json(loader, &root.join(MCP_JSON));
    loaded
}

impl Loaded {
    /// Takes a server in, unless its name is taken.
    fn take(&mut self, server: ServerEntry) {
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

    fn read_mcp_json(&mut self, loader: &dyn ConfigLoader, file: &Path) {
        let name = file.display().to_string();
        let read = match loader.load(file) {
            Ok(Some(bytes)) => mcp_json::read(&name, &bytes),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        match read {
            Ok(found) => {
                self.errors.extend(found.errors);
                self.warnings.extend(found.warnings);
                for server in found.servers {
                    self.take(server);
                }
            }
            Err(error) => self.errors.push(error),
        }
    }
}

/// The server of one file; none if the file went away meanwhile.
fn one(loader: &dyn ConfigLoader, file: &Path) -> Result<Option<ServerEntry>, YamlError> {
    let shown = file.display().to_string();
    let Some(bytes) = loader.load(file)? else {
        return Ok(None);
    };
    let OneFile { name, mut entry } = yaml::read(&shown, &bytes)?;
    entry.name = match name {
        Some(name) => name,
        None => stem(file).map_err(|message| YamlError::whole(&shown, message))?,
    };
    entry.origin = Origin {
        file: shown,
        place: Place::default(),
    };
    Ok(Some(entry))
}

/// The name a file gives its server.
fn stem(file: &Path) -> Result<ServerName, String> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.parse::<ServerName>();
    name.map_err(|error| format!("the file's name: {error}, or set `name:`"))
}
