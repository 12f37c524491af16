//! The built-in tools of Toolsmith.
//!
//! Every tool is a file, `tool_<name>.rs`, over one [`Workspace`]: the folders a model
//! may see, held as handles, so that no path, link or race leads out of them. What
//! tools share lies beneath: `text` knows encodings and lines, `edit` finds what is to
//! be replaced, `patch` reads patches, `search` walks and matches, `shell` runs programs
//! ([`Shells`]). The tools that reach the web share a [`Web`] instead: `web` sends and
//! keeps, `html` converts. A tool that cannot do what was asked gives a [`Refusal`] that
//! says why and what to do next.
//!
//! Handles that confine are Linux's; elsewhere this crate is empty.

#![cfg(target_os = "linux")]

mod api_answer;
mod api_request;
mod budget;
mod built_in;
mod changing;
pub mod edit;
mod fetched;
pub mod html;
mod missing;
mod multi;
mod numbered;
pub mod overlays;
pub mod patch;
mod placeholder;
mod plain;
mod reading;
mod refusal;
mod search;
mod shell;
pub mod shell_line;
mod text;
mod time;
mod tool_api_call;
mod tool_bash;
mod tool_edit;
mod tool_find;
mod tool_find_files_by_name;
mod tool_find_recently_modified_files;
mod tool_glob;
mod tool_grep;
mod tool_list_directory;
mod tool_multi_edit;
mod tool_read;
mod tool_read_entire_file;
mod tool_read_file_lines;
mod tool_read_file_tail;
mod tool_read_files;
mod tool_read_project_context;
mod tool_script;
mod tool_search_in_file;
mod tool_search_in_files;
mod tool_shell;
mod tool_shell_input;
mod tool_shell_kill;
mod tool_shell_list;
mod tool_shell_output;
mod tool_show_tree;
mod tool_web_fetch;
mod tool_write;
mod web;
mod workspace;
mod writing;

use std::time::SystemTime;

use toolsmith_core::AnyTool;

pub use refusal::{Reason, Refusal};
pub use search::search_tools;
pub use shell::Shells;
pub use shell::options::{NewFile, Redaction, SandboxNow, ShellOptions};
pub use web::{Web, WebSecret, WebSettings};
pub use workspace::{Workspace, WorkspaceError, WorkspaceOptions};

/// Every built-in tool over a workspace, in a fixed order. `now` tells the time, for what
/// is asked for by its age.
pub fn tools(workspace: &Workspace, now: fn() -> SystemTime) -> Vec<AnyTool> {
    let mut tools = file_tools(workspace);
    tools.extend(search_tools(workspace, now));
    tools
}

/// The tools that read and write files.
pub fn file_tools(workspace: &Workspace) -> Vec<AnyTool> {
    vec![
        built_in::tool(tool_read::Read(workspace.clone())),
        built_in::tool(tool_write::Write(workspace.clone())),
        built_in::tool(tool_edit::Edit(workspace.clone())),
        built_in::tool(tool_multi_edit::MultiEdit(workspace.clone())),
        built_in::tool(tool_read_project_context::ReadProjectContext(
            workspace.clone(),
        )),
        built_in::tool(tool_read_entire_file::ReadEntireFile(workspace.clone())),
        built_in::tool(tool_read_file_lines::ReadFileLines(workspace.clone())),
        built_in::tool(tool_read_file_tail::ReadFileTail(workspace.clone())),
        built_in::tool(tool_read_files::ReadFiles(workspace.clone())),
    ]
}

/// The tools that reach the web, as far as the host's settings let them.
pub fn web_tools(web: &Web) -> Vec<AnyTool> {
    vec![
        tool_web_fetch::tool(web.clone()),
        tool_api_call::tool(web.clone()),
    ]
}
