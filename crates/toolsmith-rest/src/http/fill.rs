//! Looks up what the texts of an entry refer to, and notes what is not there and what
//! may be shown to nobody.

use std::collections::HashMap;

use toolsmith_core::reference::{FillError, Filled, Lookup, Template};

use crate::form::Placed;
use crate::make::{Made, Problem};

/// Looks up references for the tools of one file.
pub(crate) struct Filler<'l> {
    lookup: &'l dyn Lookup,
    /// The tools of a file refer to the same secrets, and a file is slow to read.
    known: HashMap<String, Result<Filled, FillError>>,
}

/// What one tool refers to.
#[derive(Default)]
pub(crate) struct Gathered {
    /// What is not there.
    pub(crate) missing: Vec<Problem>,
    /// What is there and cannot be used.
    pub(crate) problems: Vec<Problem>,
    /// What may be shown to nobody.
    pub(crate) secrets: Vec<String>,
}

impl<'l> Filler<'l> {
    pub(crate) fn new(lookup: &'l dyn Lookup) -> Self {
        Self {
            lookup,
            known: HashMap::new(),
        }
    }

    /// The text of a key; none where something is not there.
    pub(crate) fn text(
        &mut self,
        key: &str,
        placed: &Placed<Template>,
        gathered: &mut Gathered,
    ) -> Option<String> {
        let template = &placed.value;
        let filled = self
            .known
            .entry(template.expose_written().to_owned())
            .or_insert_with(|| template.fill(self.lookup));
        match filled {
            Ok(filled) => {
                gathered.secrets.extend_from_slice(&filled.secrets);
                Some(filled.text.clone())
            }
            Err(error @ FillError::Nul) => {
                gathered.problem(key, placed, &error.to_string());
                None
            }
            Err(error) => {
                let message = format!("`{key}`: {error}");
                gathered.missing.push(Problem::at(placed.place, message));
                None
            }
        }
    }

    /// The text of a key that is a secret also where it is written out.
    pub(crate) fn secret(
        &mut self,
        key: &str,
        placed: &Placed<Template>,
        gathered: &mut Gathered,
    ) -> Option<String> {
        let text = self.text(key, placed, gathered)?;
        if text.trim().is_empty() {
            gathered.problem(key, placed, "it is empty");
            return None;
        }
        if text.contains(|c: char| c.is_control()) {
            // A line break would begin another header.
            gathered.problem(
                key,
                placed,
                "it holds a line break or another control character",
            );
            return None;
        }
        gathered.secrets.push(text.clone());
        Some(text)
    }
}

impl Gathered {
    pub(crate) fn problem<T>(&mut self, key: &str, placed: &Placed<T>, message: &str) {
        let message = format!("`{key}`: {message}");
        self.problems.push(Problem::at(placed.place, message));
    }

    /// Says what is missing, for whoever calls the tool.
    pub(crate) fn told(&self) -> Option<String> {
        let told: Vec<&str> = self
            .missing
            .iter()
            .map(|problem| &*problem.message)
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Adds to what was made. What several tools share is told once all are made.
    pub(crate) fn note(self, made: &mut Made) {
        made.missing.extend(self.missing);
        made.problems.extend(self.problems);
        made.secrets.extend(self.secrets);
    }
}
