//! What is told of what grep found: files, counts or lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::Tally;
use super::gaps::NotSearched;
use super::lines::Line;
use super::page::{self, Page, Pushed};
use super::query::Query;
use super::report::is_true;
use super::shown::{Source, Told, View, gather};
use super::stop::Stop;

/// What is told of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    /// The lines.
    Content,
    /// The files, the newest first.
    #[default]
    FilesWithMatches,
    /// How many matches each file has.
    Count,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The pattern that was looked for.
    search_pattern: String,
    /// The folder or file that was searched.
    search_path: String,
    /// What is told of it.
    output_mode: OutputMode,
    /// How many results there are in all: matches in the modes `content` and `count`, else files.
    pub(crate) total_matches: u64,
    /// How many files something was found in.
    total_files: u64,
    /// How many results were passed over.
    pub(crate) offset: usize,
    /// How many results were asked for.
    pub(crate) head_limit: i64,
    /// How many files were searched.
    files_searched: u64,
    /// How many files and folders ignore rules hid; what is in such a folder is not counted.
    hidden_by_ignore: u64,
    /// Whether there are more results than are here, or may be.
    pub(crate) truncated: bool,
    /// Whether time ran out before all files were searched.
    timed_out: bool,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// How many files would match if capital letters did not matter, where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) case_insensitive_files: Option<u64>,
    /// The files, in the mode `files_with_matches`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Those of the files whose names hold what cannot be told, so that they cannot be given back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_exact: Vec<String>,
    /// The files and their counts, in the mode `count`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Counted>,
    /// The lines, in the mode `content`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<Shown>,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Value>,
}

/// How many matches a file has.
#[derive(Debug, Serialize, JsonSchema)]
struct Counted {
    /// The file.
    path: String,
    /// How many matches it has.
    count: u64,
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "is_true")]
    is_exact: bool,
}

/// A line that is shown.
#[derive(Debug, Serialize, JsonSchema)]
struct Shown {
    /// The file.
    path: String,
    /// The number of the line, from 1; 0 where the file is not text.
    line_number: u64,
    /// The line.
    line: String,
    /// Whether it only stands near a match.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_context: bool,
    /// False where the name holds what cannot be told, so that the path cannot be given back.
    #[serde(skip_serializing_if = "is_true")]
    is_exact: bool,
}

impl Shown {
    fn new(path: &Told, line_number: u64, line: &str, is_match: bool) -> Self {
        Self {
            path: path.text.clone(),
            line_number,
            line: line.to_owned(),
            is_context: !is_match,
            is_exact: path.is_exact,
        }
    }
}

impl Results {
    /// What is known before anything is shown.
    pub(crate) fn new(
        pattern: &str,
        output_mode: OutputMode,
        source: &Source,
        tally: &Tally,
        stop: &Stop<'_>,
    ) -> Self {
        Self {
            search_pattern: pattern.to_owned(),
            search_path: source.shown(),
            output_mode,
            total_matches: match output_mode {
                OutputMode::FilesWithMatches => tally.files,
                OutputMode::Content | OutputMode::Count => tally.matches,
            },
            total_files: tally.files,
            offset: 0,
            head_limit: 0,
            files_searched: tally.searched,
            hidden_by_ignore: tally.unseen.ignored,
            truncated: false,
            timed_out: stop.is_late(),
            not_searched: None,
            case_insensitive_files: None,
            files: Vec::new(),
            not_exact: Vec::new(),
            counts: Vec::new(),
            matches: Vec::new(),
            next: None,
        }
    }

    pub(crate) fn show_files(
        &mut self,
        page: &mut Page,
        offset: usize,
        source: &Source,
        tally: &Tally,
    ) -> usize {
        for hit in tally.hits.iter().skip(offset) {
            let path = source.path(hit);
            if page.push(&path.text, &path.text) == Pushed::Later {
                break;
            }
            if !path.is_exact {
                self.not_exact.push(path.text.clone());
            }
            self.files.push(path.text);
        }
        self.files.len()
    }

    pub(crate) fn show_counts(
        &mut self,
        page: &mut Page,
        offset: usize,
        source: &Source,
        tally: &Tally,
    ) -> usize {
        let hits = tally.hits.iter().skip(offset);
        let counts = hits.map(|hit| {
            let path = source.path(hit);
            Counted {
                path: path.text,
                count: hit.count,
                is_exact: path.is_exact,
            }
        });
        let is_told = |counted: &Counted| {
            let line = format!("{}:{}", counted.path, counted.count);
            page.push(&line, counted) != Pushed::Later
        };
        self.counts = counts.take_while(is_told).collect();
        self.counts.len()
    }

    pub(crate) fn show_lines(
        &mut self,
        page: &mut Page,
        (view, has_numbers): (View, bool),
        source: &Source,
        tally: &mut Tally,
        query: &Query,
        stop: &Stop<'_>,
    ) -> usize {
        let has_context = view.before + view.after > 0;
        let mut shown = 0;
        gather(source, tally, query, view, stop, |hit, path, excerpt| {
            if hit.is_binary {
                let line = Shown::new(path, 0, "binary file matches", true);
                if page.push(&format!("{}: {}", line.path, line.line), &line) == Pushed::Later {
                    return false;
                }
                shown += 1;
                self.matches.push(line);
                return true;
            }
            let lines = &excerpt.lines[..];
            self.truncated |= excerpt.is_cut;
            let mut rest = lines;
            while !rest.is_empty() {
                let is_first = rest.len() == lines.len();
                let one;
                (one, rest) = rest.split_at(end_of_match(rest));
                let rows = one.iter().enumerate().map(|(index, line)| {
                    let is_new = line.is_after_gap || (is_first && index == 0);
                    let is_apart =
                        has_context && is_new && !(index == 0 && self.matches.is_empty());
                    let value = Shown::new(path, line.number, &line.text, line.is_match);
                    (told(&path.text, line, has_numbers, is_apart), value)
                });
                let pushed = self.show_match(page, rows.collect());
                if pushed != Pushed::Later {
                    shown += one.iter().map(|line| line.begins).sum::<usize>();
                }
                if pushed != Pushed::In {
                    return false;
                }
            }
            true
        });
        shown
    }

    /// Shows the lines of one match, all or none: the next answer begins with a match, and
    /// would not tell the rest of this one. Of what is too large for any answer as many
    /// lines are shown as there is room for.
    fn show_match(&mut self, page: &mut Page, rows: Vec<(String, Shown)>) -> Pushed {
        let (texts, values): (Vec<String>, Vec<Shown>) = rows.into_iter().unzip();
        let pushed = page.push(&texts.join("\n"), &values);
        match pushed {
            Pushed::In => self.matches.extend(values),
            Pushed::Later => {}
            Pushed::Never => {
                self.truncated = true;
                let rows = texts.iter().zip(values);
                let some = rows.take_while(|(text, value)| page.push(text, value) == Pushed::In);
                self.matches.extend(some.map(|(_, value)| value));
            }
        }
        pushed
    }

    /// Says what was not searched, once all is told.
    pub(crate) fn end(&mut self, not_searched: NotSearched) {
        self.not_searched = not_searched.told();
        self.truncated |= self.timed_out || not_searched.is_missed();
    }

    /// Says that nothing was found, and what was looked at.
    pub(crate) fn nothing(&self, none_fits: Option<String>) -> String {
        if let Some(none_fits) = none_fits {
            return none_fits;
        }
        let files = page::many(self.files_searched, "file was", "files were");
        let mut note = format!(
            "No match for {:?} in {}; {files} searched.",
            self.search_pattern, self.search_path
        );
        if let Some(files) = self.case_insensitive_files {
            let files = page::many(files, "file matches", "files match");
            note = format!("{note} With case_insensitive = true {files}.");
        }
        note
    }

    /// Says how much was found, and how much of it is here.
    pub(crate) fn amount(&self, offset: usize, shown: usize, there: u64) -> String {
        let what = match self.output_mode {
            OutputMode::Content => "Matches",
            OutputMode::FilesWithMatches | OutputMode::Count => "Files",
        };
        format!(
            "{}: {}",
            self.summary(),
            page::window(offset, shown, there, what)
        )
    }

    pub(crate) fn summary(&self) -> String {
        let files = page::many(self.total_files, "file", "files");
        match self.output_mode {
            OutputMode::FilesWithMatches => format!("{files} found"),
            OutputMode::Content | OutputMode::Count => {
                format!(
                    "{} in {files}",
                    page::many(self.total_matches, "match", "matches")
                )
            }
        }
    }
}

/// Where the lines of the first match end, with those around it, and the next begin.
fn end_of_match(lines: &[Line]) -> usize {
    let mut begins = (0..lines.len()).filter(|at| lines[*at].begins > 0);
    begins.nth(1).unwrap_or(lines.len())
}

/// How a line is told: as grep does, `:` after the path of a match, `-` near one.
fn told(path: &str, line: &Line, has_number: bool, is_apart: bool) -> String {
    let mark = if line.is_match { ':' } else { '-' };
    let gap = if is_apart { "--\n" } else { "" };
    match has_number {
        true => format!("{gap}{path}{mark}{}{mark}{}", line.number, line.text),
        false => format!("{gap}{path}{mark}{}", line.text),
    }
}
