//! What is allowed but not good in overlays and examples, each with its place.
//!
//! Only what the user wrote is judged, and the examples in definitions: what ships with the
//! program is for its tests. Descriptions in definitions are judged where all definitions
//! are, apart from the placeholder.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use toolsmith_core::ToolDef;

use super::assemble::{Assembler, is_said};
use super::example::{GuideExample, MOST_LINES};
use super::metadata::{MOST_EXAMPLES, PENDING};
use super::overlays::{Described, Overlays, Place, Snippet};
use crate::registry::nearest;
use crate::shape::clean;
use crate::validate::{bounded, misfits};

/// How many characters a description should have.
const LENGTHS: std::ops::RangeInclusive<usize> = 20..=500;

/// More findings than this are a file of another sort.
const MOST: usize = 1000;

/// For how many unknown names the nearest is looked for.
const MOST_GUESSES: usize = 50;

/// Something that is allowed but not good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Where, if it is in a file.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The tool it is about.
    pub tool: String,
    /// What is not good.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place.as_ref().filter(|place| !place.file.is_empty()) {
            write!(f, "{place}: ")?;
        }
        write!(f, "tool `{}`: {}", self.tool, self.message)
    }
}

#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn as_text<S: serde::Serializer>(place: &Option<Place>, serializer: S) -> Result<S::Ok, S::Error> {
    match place {
        Some(place) => serializer.collect_str(place),
        None => serializer.serialize_none(),
    }
}

pub(super) fn lints(tools: &[Arc<ToolDef>], overlays: &Overlays) -> Vec<Finding> {
    let mut linter = Linter {
        tools: tools
            .iter()
            .map(|tool| (tool.name.as_str(), &**tool))
            .collect(),
        findings: Vec::new(),
        guesses: 0,
    };
    let own = &overlays.own;
    for (name, entry) in &own.descriptions {
        linter.description(name, entry);
    }
    for (name, snippets) in &own.examples {
        linter.examples(name, snippets);
    }
    let assembler = Assembler::new(overlays);
    for tool in tools {
        linter.definition(tool, assembler);
    }
    let shipped = &overlays.shipped;
    let place = own.descriptions.values().map(|entry| &entry.place).next();
    linter.missing(
        tools,
        "description",
        [&own.descriptions, &shipped.descriptions],
        place,
    );
    let place = own
        .examples
        .values()
        .flatten()
        .map(|snippet| &snippet.place)
        .next();
    linter.missing(tools, "examples", [&own.examples, &shipped.examples], place);
    // In the order a reader of the files meets them; the sort is stable.
    let mut findings = linter.findings;
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| finding.place.as_ref().map(|p| (p.file.clone(), p.line));
        match (key(a), key(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        }
    });
    findings
}

struct Linter<'t> {
    tools: HashMap<&'t str, &'t ToolDef>,
    findings: Vec<Finding>,
    guesses: usize,
}

impl Linter<'_> {
    fn find(&mut self, place: Option<&Place>, tool: &str, message: impl Into<String>) {
        if self.findings.len() < MOST {
            self.findings.push(Finding {
                place: place.cloned(),
                tool: bounded(tool, 80),
                message: message.into(),
            });
        }
    }

    /// An entry of `tool_descriptions.yaml`.
    fn description(&mut self, name: &str, entry: &Described) {
        let place = Some(&entry.place);
        if !self.tools.contains_key(name) {
            self.unknown(place, name);
        }
        let Some(text) = entry.text.as_deref().map(str::trim) else {
            return;
        };
        let length = clean(text).trim().chars().count();
        if text.to_lowercase().contains(&PENDING.to_lowercase()) {
            self.find(place, name, "the description is still pending");
        } else if !LENGTHS.contains(&length) {
            let message = format!("the description has {length} characters; 20 to 500 are best");
            self.find(place, name, message);
        }
    }

    /// An entry of `tool_examples.yaml`.
    fn examples(&mut self, name: &str, snippets: &[Snippet]) {
        let first = snippets.first().map(|snippet| &snippet.place);
        let Some(tool) = self.tools.get(name).copied() else {
            self.unknown(first, name);
            return;
        };
        if let Some(sixth) = snippets.get(MOST_EXAMPLES) {
            let count = snippets.len();
            let message =
                format!("there are {count} examples; only the first {MOST_EXAMPLES} are shown");
            self.find(Some(&sixth.place), name, message);
        }
        let read = snippets
            .iter()
            .map(|snippet| GuideExample::read(name, &snippet.code));
        let read: Vec<GuideExample> = read.take(MOST).collect();
        for (snippet, example) in snippets.iter().zip(&read) {
            let lines = snippet.code.trim_end().lines().count();
            if lines > MOST_LINES {
                let message =
                    format!("the example has {lines} lines; at most {MOST_LINES} are best");
                self.find(Some(&snippet.place), name, message);
            }
            if let GuideExample::Shown { why, .. } = example {
                let message = format!("the example cannot be checked: {why}");
                self.find(Some(&snippet.place), name, message);
            }
        }
        let places: Vec<Option<&Place>> = snippets.iter().map(|s| Some(&s.place)).collect();
        self.misfits(tool, &read, &places);
    }

    /// What a definition says of itself and no overlay mends.
    fn definition(&mut self, tool: &ToolDef, assembler: Assembler<'_>) {
        let name = tool.name.as_str();
        let is_pending =
            !is_said(&tool.description.short) && !tool.description.short.trim().is_empty();
        if is_pending && assembler.description(tool).is_none() {
            self.find(None, name, "the description is still pending");
        }
        if tool.examples.len() > MOST_EXAMPLES {
            let count = tool.examples.len();
            let message = format!("it has {count} examples; at most {MOST_EXAMPLES} are shown");
            self.find(None, name, message);
        }
        let examples: Vec<GuideExample> = tool.examples.iter().map(GuideExample::defined).collect();
        self.misfits(tool, &examples, &vec![None; examples.len()]);
    }

    /// Examples whose arguments the tool would not take.
    fn misfits(&mut self, tool: &ToolDef, examples: &[GuideExample], places: &[Option<&Place>]) {
        let calls = examples.iter().zip(places);
        let calls = calls.filter_map(|(example, place)| Some((example.arguments()?, *place)));
        let (calls, places): (Vec<_>, Vec<_>) = calls.unzip();
        if calls.is_empty() {
            return;
        }
        for (problems, place) in misfits(tool, &calls).into_iter().zip(places) {
            let Some(problem) = problems.first() else {
                continue;
            };
            let mut message = format!(
                "the example does not fit the schema: `{}`: expected {}, got {}",
                problem.path, problem.expected, problem.found
            );
            if problems.len() > 1 {
                message.push_str(&format!(" (and {} more)", problems.len() - 1));
            }
            self.find(place, tool.name.as_str(), bounded(&message, 500));
        }
    }

    /// An entry about no tool.
    fn unknown(&mut self, place: Option<&Place>, name: &str) {
        self.guesses += 1;
        let near = match self.guesses <= MOST_GUESSES {
            true => nearest(name, self.tools.keys().copied()),
            false => Vec::new(),
        };
        let message = match near.first() {
            Some(near) => format!("there is no such tool; is it `{near}`?"),
            None => "there is no such tool".to_owned(),
        };
        self.find(place, name, message);
    }

    /// Tools without an entry in a file that the user keeps.
    fn missing<T>(
        &mut self,
        tools: &[Arc<ToolDef>],
        what: &str,
        [own, shipped]: [&BTreeMap<String, T>; 2],
        place: Option<&Place>,
    ) {
        if own.is_empty() {
            return;
        }
        let file = place.map(|place| Place {
            line: 0,
            ..place.clone()
        });
        for tool in tools {
            let name = tool.name.as_str();
            if !own.contains_key(name) && !shipped.contains_key(name) {
                self.find(
                    file.as_ref(),
                    name,
                    format!("there is no entry for its {what}"),
                );
            }
        }
    }
}
