//! `search_in_file`: searches one file for a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Binding, Kind, Plan, ToolContext, ToolDef};

use crate::budget;
use crate::built_in::{Answer, BuiltIn, described, example, idempotent, noted};
use crate::missing;
use crate::reading;
use crate::refusal::Refusal;
use crate::search::define::{GRACE, LIMIT, reading};
use crate::search::{
    self, FURTHEST, NotSearched, Page, Pushed, Query, Request, Source, Stop, View, text_query,
};
use crate::text::{Encoding, FileKind, HEAD, kind_of};
use crate::workspace::Workspace;

/// Searches one file for a text.
pub(crate) struct SearchInFile {
    workspace: Workspace,
}

impl SearchInFile {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The text to look for, or a regular expression.
    query: String,
    /// The file to search.
    file_path: String,
    /// Whether the query is a regular expression.
    #[serde(default)]
    use_regex: bool,
    /// How many matches to return.
    #[serde(default = "thousand")]
    #[schemars(range(min = 0, max = 5000))]
    max_results: usize,
    /// How many matches to pass over, to continue an earlier answer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20000))]
    offset: usize,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn thousand() -> usize {
    1000
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Results {
    /// The lines that match, in order.
    matches: Vec<Match>,
    /// How many there are in all.
    total_matches: u64,
    /// Whether there are more than are here, or may be.
    truncated: bool,
    /// Whether time ran out before all of the file was searched.
    timed_out: bool,
    /// How the file was read, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_searched: Option<NotSearched>,
    /// The arguments that continue the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
struct Match {
    /// Its number, from 1; 0 where the file is not text.
    line_number: u64,
    /// The line; a long one is cut around the match.
    line_content: String,
}

impl BuiltIn for SearchInFile {
    type Arguments = Arguments;
    type Value = Results;

    fn define() -> ToolDef {
        let definition = described(
            "search_in_file",
            "Search in a file",
            "search",
            &["content", "file"],
        )
        .with_kind(Kind::Search)
        .with_hints(idempotent())
        .with_description(
            "Searches one file for a text or a regular expression, and returns the lines.\n\n\
                 Capital letters matter; a regular expression that begins with (?i) ignores them.",
        )
        .with_returns(
            "Number and content of each line that matches, and how many there are in all.",
        )
        .with_example(example(
            "A text.",
            json!({"query": "fn main(", "file_path": "src/main.rs"}),
        ))
        .with_example(example(
            "A regular expression.",
            json!({"query": "^## ", "file_path": "README.md", "use_regex": true}),
        ));
        noted(
            definition,
            &["Use grep for context around the lines, or for several files."],
        )
    }

    fn binding() -> Binding {
        Binding::default().with_timeout(LIMIT + GRACE)
    }

    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let query: String = arguments.query.chars().take(80).collect();
        reading(
            &self.workspace,
            "file_path",
            &arguments.file_path,
            &format!("search for {query:?}"),
        )
    }

    fn call(
        &self,
        arguments: Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Results>, Refusal> {
        let mut query: Query = text_query(&arguments.query, arguments.use_regex, "", &|| {
            search::given(&arguments)
        })?;
        let path = &arguments.file_path;
        let file = self
            .workspace
            .open_file(path)
            .map_err(|refusal| missing::explained(refusal, &self.workspace, path, context))?;
        let head = reading::head(&file)?;
        let encoding = match kind_of(&head) {
            FileKind::Text => Encoding::of(&head, head.len() < HEAD).0,
            FileKind::Image(_) | FileKind::Binary(_) => Encoding::UTF8,
        };
        query = query.written_as(&encoding, &head);
        let encoding = Some(encoding.name()).filter(|name| name != "utf-8");
        let source = Source::File(file);
        let stop = Stop::after(LIMIT, context);
        let mut tally = source.tally(&query, &Request::default(), &stop);
        stop.check()?;
        let offset = arguments.offset.min(FURTHEST);
        let view = View::plain(offset, arguments.max_results, arguments.max_bytes);
        let mut page = Page::answering(&arguments, arguments.max_bytes);
        let mut matches = Vec::new();
        let mut notes = Vec::new();
        search::gather(
            &source,
            &mut tally,
            &query,
            view,
            &stop,
            |hit, path, excerpt| {
                let mut show = |text: &str, line_number: u64, content: &str| {
                    let found = Match {
                        line_number,
                        line_content: content.to_owned(),
                    };
                    let pushed = page.push(text, &found);
                    if pushed != Pushed::Later {
                        matches.push(found);
                    }
                    pushed != Pushed::Later
                };
                if hit.is_binary {
                    let content = "binary file matches";
                    return show(&format!("{}: {content}", path.text), 0, content);
                }
                excerpt.lines.iter().all(|line| {
                    let text = format!("{}:{}", line.number, line.text);
                    show(&text, line.number, &line.text)
                })
            },
        );
        stop.check()?;
        let end = offset + matches.len();
        let has_more = (end as u64) < tally.matches;
        match tally.matches {
            0 => notes.push(format!(
                "No match for {:?} in {}.",
                arguments.query,
                source.shown()
            )),
            total => notes.push(search::window(offset, matches.len(), total, "Matches")),
        }
        if let Some(encoding) = &encoding {
            notes.push(format!("The file is not UTF-8 and was read as {encoding}."));
        }
        if stop.is_late() {
            notes.push("Time ran out: there may be more.".to_owned());
        }
        let not_searched = NotSearched::in_search(tally.unseen, tally.skipped);
        not_searched.tell(&mut notes);
        let display = format!(
            "Searched {}: {}",
            source.shown(),
            search::many(tally.matches, "match", "matches")
        );
        let value = Results {
            next: (has_more && !matches.is_empty())
                .then(|| search::continuing(&arguments, end))
                .flatten(),
            matches,
            total_matches: tally.matches,
            truncated: has_more || stop.is_late() || not_searched.is_missed(),
            timed_out: stop.is_late(),
            encoding,
            not_searched: not_searched.told(),
        };
        Ok(Answer::new(value, display)
            .text(page.finish(&notes))
            .within(arguments.max_bytes))
    }
}
