//! Puts together what is known about a tool: the user's overlays over the shipped ones,
//! those over the definition, field by field.

use std::borrow::Cow;

use toolsmith_core::ToolDef;

use super::example::{GuideExample, one_line};
use super::metadata::{LifeCycle, MOST_EXAMPLES, PENDING, ToolMetadata};
use super::overlays::{Described, Layer, Overlays};
use crate::shape::clean;

/// How many bytes of one text are kept: as many as the registry keeps of imported ones.
const MOST_TEXT: usize = 16 << 10;

/// How many characters the name of a category has at most.
const MOST_CATEGORY: usize = 64;

/// How many notes of each sort are kept.
const MOST_NOTES: usize = 20;

/// The categories that come before all others.
pub(super) const FIRST: [&str; 4] = ["navigation", "search", "read", "guide"];

/// Assembles from these overlays.
#[derive(Clone, Copy)]
pub(super) struct Assembler<'o> {
    overlays: &'o Overlays,
}

/// Where a text or a list of examples comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Own,
    Shipped,
    Code,
}

impl<'o> Assembler<'o> {
    pub(super) fn new(overlays: &'o Overlays) -> Self {
        Self { overlays }
    }

    /// The category a tool is shown under.
    pub(super) fn category(&self, tool: &ToolDef) -> String {
        let given = self.described(tool, |entry| entry.category.as_deref());
        let given = given.into_iter().map(category);
        let named = given.chain([category(tool.category())]);
        // A server may be called anything, even nothing.
        named
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_else(|| "other".to_owned())
    }

    /// What a tool is for, as it is written, and where that was found.
    pub(super) fn description<'a>(&'a self, tool: &'a ToolDef) -> Option<(Cow<'a, str>, Origin)> {
        let layers = [
            (Origin::Own, &self.overlays.own),
            (Origin::Shipped, &self.overlays.shipped),
        ];
        for (from, layer) in layers {
            let entry = layer.descriptions.get(tool.name.as_str());
            if let Some(text) = entry.and_then(|entry| entry.text.as_deref())
                && is_said(text)
            {
                return Some((text.into(), from));
            }
        }
        let (short, long) = (&*tool.description.short, &*tool.description.long);
        let text = match (is_said(short), is_said(long)) {
            (true, true) => format!("{short}\n\n{long}").into(),
            (true, false) => short.into(),
            (false, true) => long.into(),
            (false, false) => return None,
        };
        Some((text, Origin::Code))
    }

    /// The examples of a tool.
    pub(super) fn examples(&self, tool: &ToolDef) -> Vec<GuideExample> {
        let name = tool.name.as_str();
        for layer in self.layers() {
            if let Some(snippets) = layer.examples.get(name)
                && !snippets.is_empty()
            {
                let snippets = snippets.iter().take(MOST_EXAMPLES);
                return snippets
                    .map(|snippet| GuideExample::read(name, &snippet.code))
                    .collect();
            }
        }
        let examples = tool.examples.iter().take(MOST_EXAMPLES);
        examples.map(GuideExample::defined).collect()
    }

    /// How many examples a tool has, without reading them.
    pub(super) fn example_count(&self, tool: &ToolDef) -> usize {
        let listed = self
            .layers()
            .into_iter()
            .filter_map(|l| l.examples.get(tool.name.as_str()));
        let written = listed.map(Vec::len).find(|count| *count > 0);
        written.unwrap_or(tool.examples.len())
    }

    /// How far a tool's documentation is.
    pub(super) fn state(&self, tool: &ToolDef) -> LifeCycle {
        match (self.description(tool), self.example_count(tool)) {
            (None, _) => LifeCycle::SchemaOnly,
            (Some(_), 0) => LifeCycle::Documented,
            (Some(_), _) => LifeCycle::Complete,
        }
    }

    /// All that is known about a tool, under a category that was found before.
    pub(super) fn metadata(&self, tool: &ToolDef, category: &str) -> ToolMetadata {
        let text = self.description(tool).map(|(text, _)| tidy(&text));
        let (description, details) = match &text {
            Some(text) => paragraphs(text),
            None => (None, None),
        };
        let code = &tool.description;
        let list = |notes: &[String]| -> Vec<String> {
            let notes = notes.iter().take(MOST_NOTES).map(|note| one_line(note));
            notes.filter(|note| !note.is_empty()).collect()
        };
        let mut important = list(&code.important);
        important.extend(
            tool.consent
                .as_ref()
                .map(|consent| one_line(&consent.warning())),
        );
        let returns = self.described(tool, |entry| entry.returns.as_deref());
        let returns = returns.into_iter().chain(tool.returns.as_deref());
        let returns = returns.map(tidy).find(|text| !text.is_empty());
        ToolMetadata {
            name: tool.name.as_str().to_owned(),
            title: tool
                .title
                .as_deref()
                .map(one_line)
                .filter(|title| !title.is_empty()),
            category: category.to_owned(),
            description,
            details,
            important,
            notes: list(&code.usage_notes),
            input_schema: tool.input.clone(),
            examples: self.examples(tool),
            returns,
            state: self.state(tool),
        }
    }

    /// The user's layer, and the shipped one beneath.
    pub(super) fn layers(&self) -> [&'o Layer; 2] {
        [&self.overlays.own, &self.overlays.shipped]
    }

    /// What the layers say of one field, the user's first.
    fn described<T>(&self, tool: &ToolDef, field: impl Fn(&'o Described) -> Option<T>) -> Vec<T> {
        let entries = self.layers().into_iter();
        let entries = entries.filter_map(|layer| layer.descriptions.get(tool.name.as_str()));
        entries.filter_map(field).collect()
    }
}

/// Tells whether a text says anything that can be seen.
pub(super) fn is_said(text: &str) -> bool {
    let cut = text.floor_char_boundary(text.len().min(MOST_TEXT));
    let text = clean(&text[..cut]);
    let text = text.trim();
    !text.is_empty() && text != PENDING
}

/// The name of a category, on one line; the first four in their usual form.
pub(super) fn category(text: &str) -> String {
    let name: String = one_line(text).chars().take(MOST_CATEGORY).collect();
    let usual = FIRST.iter().find(|first| first.eq_ignore_ascii_case(&name));
    usual.map_or(name, |usual| (*usual).to_owned())
}

/// A text without characters that hide or steer, in lines without white space at their
/// ends, and within bounds.
fn tidy(text: &str) -> String {
    let cut = text.floor_char_boundary(text.len().min(MOST_TEXT));
    let cleaned = clean(&text[..cut]);
    let mut tidy = String::with_capacity(cleaned.len());
    for line in cleaned.trim().lines() {
        if !tidy.is_empty() {
            tidy.push('\n');
        }
        tidy.push_str(line.trim_end());
    }
    if cut < text.len() {
        tidy.push('…');
    }
    tidy
}

/// The first paragraph, and the others.
fn paragraphs(text: &str) -> (Option<String>, Option<String>) {
    let said = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    match text.split_once("\n\n") {
        Some((first, rest)) => (said(first), said(rest)),
        None => (said(text), None),
    }
}
