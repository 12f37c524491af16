//! Which lines of which files an answer shows.

use std::os::fd::AsFd;

use toolsmith_core::ToolContext;

use super::content::{self, Hit, Request, Tally};
use super::folder;
use super::lines::{self, Excerpt, Window};
use super::naming;
use super::page;
use super::query::Query;
use super::start::Start;
use super::stop::Stop;
use crate::missing;
use crate::refusal::Refusal;
use crate::workspace::{OpenFile, Opened, Workspace};

/// What is searched: a tree, or one file.
#[derive(Debug)]
pub(crate) enum Source {
    Tree(Start),
    File(OpenFile),
}

impl Source {
    /// Opens what a path means.
    pub(crate) fn open(
        workspace: &Workspace,
        path: &str,
        context: &ToolContext,
    ) -> Result<Self, Refusal> {
        let opened = workspace
            .open_any(path)
            .map_err(|refusal| missing::explained(refusal, workspace, path, context))?;
        Ok(match opened {
            Opened::Directory(folder) => Self::Tree(Start::at(workspace, folder)?),
            Opened::File(file) => Self::File(file),
        })
    }

    /// How a caller is shown it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Tree(start) => start.shown.clone(),
            Self::File(file) => naming::one_line(file.shown.as_bytes()),
        }
    }

    /// The path of a file in which something was found.
    pub(crate) fn path(&self, hit: &Hit) -> Told {
        match self {
            Self::Tree(start) => Told {
                text: start.show(&hit.path),
                is_exact: start.is_exact(&hit.path),
            },
            Self::File(file) => Told {
                text: self.shown(),
                is_exact: naming::is_exact(file.shown.as_bytes()),
            },
        }
    }

    /// Counts what is found.
    pub(crate) fn tally(&self, query: &Query, request: &Request, stop: &Stop<'_>) -> Tally {
        match self {
            Self::Tree(start) => content::tally(start, query, request, stop),
            Self::File(file) => content::tally_file(&file.file, query, request.most_in_file, stop),
        }
    }
}

/// A path as it is told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// Whether it can be given back.
    pub(crate) is_exact: bool,
}

/// Which matches are shown, and how much around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) offset: usize,
    pub(crate) take: usize,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) most_in_file: Option<u64>,
    /// How many bytes the answer may have.
    pub(crate) bytes: usize,
}

impl View {
    /// Only the lines that match.
    pub(crate) fn plain(offset: usize, take: usize, bytes: usize) -> Self {
        Self {
            offset,
            take,
            before: 0,
            after: 0,
            most_in_file: None,
            bytes,
        }
    }
}

/// Reads again the files whose matches are shown, one by one in their order, and shows
/// the lines of each, until there is no more room.
pub(crate) fn gather(
    source: &Source,
    tally: &mut Tally,
    query: &Query,
    view: View,
    stop: &Stop<'_>,
    mut show: impl FnMut(&Hit, &Told, &Excerpt) -> bool,
) {
    let stop = &stop.for_telling();
    let mut passed = 0;
    let end = (view.offset + view.take) as u64;
    for hit in &tally.hits {
        let first = passed;
        passed += hit.count;
        if passed <= view.offset as u64 {
            continue;
        }
        if first >= end || stop.is_due() {
            break;
        }
        let skip = (view.offset as u64).saturating_sub(first);
        let window = Window {
            skip,
            take: (end - first).min(view.most_in_file.unwrap_or(u64::MAX)) - skip,
            before: view.before,
            after: view.after,
            room: page::room(view.bytes),
        };
        let lines = match source {
            // Its lines are nothing anybody could read.
            _ if hit.is_binary => Ok(Excerpt::default()),
            Source::Tree(start) => folder::open_beneath(start.as_fd(), &hit.path)
                .map_err(std::io::Error::from)
                .map(|file| lines::lines(&file, query, window, stop)),
            Source::File(file) => again(file).map(|file| lines::lines(&file, query, window, stop)),
        };
        match lines {
            Ok(lines) if show(hit, &source.path(hit), &lines) => {}
            Ok(_) => break,
            Err(error) => tally.skipped.count(&error),
        }
    }
}

/// The same file from its beginning.
fn again(file: &OpenFile) -> std::io::Result<std::fs::File> {
    use std::io::Seek;
    let mut again = file.file.try_clone()?;
    again.rewind()?;
    Ok(again)
}
