//! What is known of each client: where its file lies, how it is written, where in it
//! servers stand. From documentation, and where that says nothing from reports of users, as
//! of November 2026.

use std::path::{Path, PathBuf};

use crate::cli::{Client, Scope};
use crate::environment;
use crate::failure::Failure;

/// What is known of a client.
pub(super) struct Facts {
    /// Its name, as people write it.
    pub(super) name: &'static str,
    /// How its file is written.
    pub(super) format: Format,
    /// The keys that lead to the servers.
    pub(super) keys: &'static [&'static str],
    /// The user's file.
    user: fn() -> Option<PathBuf>,
    /// The folder's file, if it has one.
    project: Option<&'static str>,
    /// Whether it reaches servers over HTTP.
    pub(super) http: bool,
    /// What is to be done next.
    pub(super) note: Option<&'static str>,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json(Dialect),
    Toml,
}

/// What a client accepts beyond JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Nothing.
    Strict,
    /// Comments.
    Comments,
    /// Comments, and commas behind the last item.
    Loose,
}

/// The table.
pub(super) fn facts(client: Client) -> &'static Facts {
    match client {
        Client::ClaudeCode => &Facts {
            name: "Claude Code",
            format: Format::Json(Dialect::Strict),
            keys: &["mcpServers"],
            user: || {
                let folder = environment::folder("CLAUDE_CONFIG_DIR");
                Some(folder.or_else(environment::home)?.join(".claude.json"))
            },
            project: Some(".mcp.json"),
            http: true,
            note: None,
        },
        Client::ClaudeDesktop => &Facts {
            name: "Claude Desktop",
            format: Format::Json(Dialect::Strict),
            keys: &["mcpServers"],
            user: || {
                Some(environment::application_data()?.join("Claude/claude_desktop_config.json"))
            },
            project: None,
            http: false,
            note: Some("Quit Claude Desktop and start it again: it reads the file only then."),
        },
        Client::Cursor => &Facts {
            name: "Cursor",
            format: Format::Json(Dialect::Comments),
            keys: &["mcpServers"],
            user: || Some(environment::home()?.join(".cursor/mcp.json")),
            project: Some(".cursor/mcp.json"),
            http: true,
            note: None,
        },
        Client::VsCode => &Facts {
            name: "VS Code",
            format: Format::Json(Dialect::Loose),
            keys: &["servers"],
            user: || Some(environment::application_data()?.join("Code/User/mcp.json")),
            project: Some(".vscode/mcp.json"),
            http: true,
            note: None,
        },
        Client::Codex => &Facts {
            name: "Codex",
            format: Format::Toml,
            keys: &["mcp_servers"],
            user: || {
                let folder = environment::folder("CODEX_HOME");
                let folder = folder.or_else(|| Some(environment::home()?.join(".codex")));
                Some(folder?.join("config.toml"))
            },
            project: Some(".codex/config.toml"),
            http: true,
            note: None,
        },
        Client::Gemini => &Facts {
            name: "Gemini CLI",
            format: Format::Json(Dialect::Comments),
            keys: &["mcpServers"],
            user: || {
                let folder = environment::folder("GEMINI_CLI_HOME");
                Some(
                    folder
                        .or_else(environment::home)?
                        .join(".gemini/settings.json"),
                )
            },
            project: Some(".gemini/settings.json"),
            http: true,
            note: None,
        },
        Client::Zed => &Facts {
            name: "Zed",
            format: Format::Json(Dialect::Loose),
            keys: &["context_servers"],
            user: || {
                if cfg!(windows) {
                    return Some(environment::application_data()?.join("Zed/settings.json"));
                }
                // On macOS too, and there whatever XDG says.
                let folder = if cfg!(target_os = "macos") {
                    environment::home()?.join(".config")
                } else {
                    environment::config_home()?
                };
                Some(folder.join("zed/settings.json"))
            },
            project: Some(".zed/settings.json"),
            http: true,
            note: None,
        },
        Client::OpenCode => &Facts {
            name: "opencode",
            format: Format::Json(Dialect::Loose),
            keys: &["mcp"],
            user: || Some(environment::config_home()?.join("opencode/opencode.json")),
            project: Some("opencode.json"),
            http: true,
            note: None,
        },
    }
}

impl Facts {
    /// The scope that is meant.
    pub(super) fn scope(&self, wanted: Option<Scope>) -> Result<Scope, Failure> {
        let scope = wanted.unwrap_or(Scope::User);
        if scope == Scope::Project && self.project.is_none() {
            let name = self.name;
            return Err(Failure::usage(format!(
                "{name} has one file for all folders, and none for a project"
            )));
        }
        Ok(scope)
    }

    /// The file of a scope.
    pub(super) fn path(&self, scope: Scope, root: &Path) -> Result<PathBuf, Failure> {
        let path = match (scope, self.project) {
            (Scope::Project, Some(file)) => Some(root.join(file)),
            (Scope::Project | Scope::User, _) => (self.user)(),
        };
        let Some(path) = path else {
            return Err(Failure::usage(format!(
                "where {} keeps its settings cannot be told: HOME is not set",
                self.name
            )));
        };
        // opencode reads either; what is there already is what its user edits.
        let commented = path.with_extension("jsonc");
        let is_commented = self.keys == ["mcp"] && !path.exists() && commented.exists();
        Ok(if is_commented { commented } else { path })
    }
}
