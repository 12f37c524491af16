//! A question to both, and what an answer is made of.

use std::collections::BTreeMap;

use serde_json::Value;
use toolsmith_testing::built_ins::BuiltIns;

use super::ours;
use super::theirs::Programs;

/// What was found, by path and line; the line is 0 where it is about the whole file.
pub(crate) type Facts = BTreeMap<(String, u64), Fact>;

/// What is known of a file or a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// It is there.
    Found,
    /// It is a file with something found in it that is not text.
    Binary,
    /// It has so many matches.
    Count(u64),
    /// It is a line that matches, or stands near one that does. The text is missing
    /// where it is no UTF-8, which is shown in different ways.
    Line {
        text: Option<String>,
        is_match: bool,
    },
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Lines,
    Files,
    Counts,
    /// The paths of what was found.
    Names,
    /// The paths of what was found, but links: who asks for sizes follows them.
    NamesButLinks,
}

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Rg,
    /// `rg` only lists the files it would search.
    RgFiles,
    Fd,
}

/// A question to both.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) reading: Reading,
    pub(crate) program: Program,
    pub(crate) words: Vec<String>,
    /// The folder that is searched, from the root; empty for the root.
    pub(crate) folder: String,
    /// A pattern for the files, which `rg` is asked for apart: given with the search it
    /// would also show what ignore rules hide.
    pub(crate) glob: Option<String>,
}

impl Query {
    /// What our tool answers, page by page.
    pub(crate) fn ours(&self, tools: &BuiltIns) -> Result<Facts, String> {
        ours::answer(tools, self)
    }

    /// What the other program answers.
    pub(crate) fn theirs(&self, programs: &Programs) -> Result<Facts, String> {
        programs.answer(self)
    }

    /// The path from the root of something the other program names.
    pub(crate) fn path(&self, told: &str) -> String {
        let told = told.strip_prefix("./").unwrap_or(told);
        let told = told.strip_suffix('/').unwrap_or(told);
        match self.folder.as_str() {
            "" => told.to_owned(),
            folder => format!("{folder}/{told}"),
        }
    }
}
