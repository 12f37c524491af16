//! Searching a workspace: the tree is walked, what ignore rules hide is left out, and
//! names or contents are matched.
//!
//! `start` opens where a search begins and `walk` goes on from there, over handles of
//! `folder` and by the `rules` of ignore files; several threads share the work through
//! `queue`, as long as `stop` lets them. `names` and `content` are what a walk looks
//! for, with `globs` and `pattern` to match; `tree` needs no threads.
//!
//! Contents are searched for a `query`, and `count` counts its matches. A pattern is for
//! the `linear` engine, which goes by `steps` where it has to be stopped, or for the
//! `backtracking` one, whose `expense` limits it; `over_lines` finds matches that go over
//! lines.
//!
//! Of what was found, `kept` keeps the first, `shown` and `lines` read what is told of it,
//! and `report`, `results` and `page` tell it: names by `naming`, and by `gaps` what was not
//! searched. `define` is what the tools' definitions have in common.

mod backtracking;
mod content;
mod count;
pub(crate) mod define;
mod expense;
mod folder;
mod gaps;
mod globs;
mod kept;
mod linear;
mod lines;
mod names;
mod naming;
mod over_lines;
mod page;
mod pattern;
mod query;
mod queue;
mod report;
mod results;
mod rules;
mod shown;
mod start;
mod steps;
mod stop;
mod tree;
mod walk;

use std::time::SystemTime;

use toolsmith_core::AnyTool;

pub(crate) use crate::time::{Moment, read as read_time};
pub(crate) use content::{Request, Tally};
pub(crate) use gaps::NotSearched;
pub(crate) use globs::{Case, Glob};
pub(crate) use names::{Names, Order, fuzzy, look};
pub(crate) use page::{FURTHEST, Page, Pushed, continuing, given, hidden, many, window};
pub(crate) use pattern::{Pattern, Span, Syntax, Wanted};
pub(crate) use query::{Query, text_query};
pub(crate) use report::{Match, Matches, is_true, tell, word};
pub(crate) use results::{OutputMode, Results};
pub(crate) use shown::{Source, View, gather};
pub(crate) use start::Start;
pub(crate) use stop::Stop;
pub(crate) use tree::{Branch, Tree, grow};
pub(crate) use walk::WalkOptions;

use crate::built_in::tool;
use crate::workspace::Workspace;

/// How a tool learns what time it is.
pub(crate) type Clock = fn() -> SystemTime;

/// The tools that find their way in a workspace: by name, by content, by listing.
///
/// The library reads no clock of its own: `now` is what relative times are counted from.
pub fn search_tools(workspace: &Workspace, now: fn() -> SystemTime) -> Vec<AnyTool> {
    let workspace = || workspace.clone();
    vec![
        tool(crate::tool_glob::Glob::new(workspace())),
        tool(crate::tool_grep::Grep::new(workspace())),
        tool(crate::tool_find::Find::new(workspace(), now)),
        tool(crate::tool_list_directory::ListDirectory::new(workspace())),
        tool(crate::tool_show_tree::ShowTree::new(workspace())),
        tool(crate::tool_search_in_file::SearchInFile::new(workspace())),
        tool(crate::tool_search_in_files::SearchInFiles::new(workspace())),
        tool(crate::tool_find_files_by_name::FindFilesByName::new(
            workspace(),
        )),
        tool(
            crate::tool_find_recently_modified_files::FindRecentlyModifiedFiles::new(
                workspace(),
                now,
            ),
        ),
    ]
}
