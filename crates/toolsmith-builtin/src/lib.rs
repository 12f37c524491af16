//! The built-in tools of Toolsmith.
//!
//! Every tool is a file, `tool_<name>.rs`, over one [`Workspace`]: the folders a model
//! may see, held as handles, so that no path, link or race leads out of them. What
//! tools share lies beneath: `text` knows encodings and lines, `edit` finds what is to
//! be replaced, `patch` reads patches, `search` walks and matches. A tool that cannot
//! do what was asked gives a [`Refusal`] that says why and what to do next.

mod built_in;
mod refusal;
mod search;
mod tool_find;
mod tool_find_files_by_name;
mod tool_find_recently_modified_files;
mod tool_glob;
mod tool_grep;
mod tool_list_directory;
mod tool_search_in_file;
mod tool_search_in_files;
mod tool_show_tree;
mod workspace;

pub use refusal::{Reason, Refusal};
pub use search::search_tools;
pub use workspace::{Workspace, WorkspaceError, WorkspaceOptions};
