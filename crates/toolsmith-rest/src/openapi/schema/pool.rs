//! The schemas of a document, each converted once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::gather::bared;
use super::patterns::Patterns;
use crate::openapi::notes::Notes;
use crate::openapi::read::Version;
use crate::openapi::{naming, refer};
use toolsmith_core::json::size;

/// Which way values go: what is only read is no part of a request, and the other way
/// round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::openapi) enum Side {
    Request,
    Response,
}

/// What is known of the schemas of a document.
pub(in crate::openapi) struct Pool<'d> {
    pub(super) root: &'d Value,
    pub(super) version: Version,
    pub(super) side: Side,
    pub(super) patterns: Patterns,
    /// How many schemas were converted.
    pub(in crate::openapi) work: usize,
    definitions: Vec<Definition<'d>>,
    /// By the pointer they stand at.
    by_pointer: HashMap<String, usize>,
    /// By `#/$defs/…`, as converted schemas refer to them.
    by_reference: HashMap<String, usize>,
    names: HashSet<String>,
    /// Where counting goes on for names that were taken.
    numbers: HashMap<String, usize>,
}

struct Definition<'d> {
    name: String,
    source: &'d Value,
    piece: Option<Piece>,
}

/// A schema that was converted.
#[derive(Clone, Debug, Default)]
pub(in crate::openapi) struct Piece {
    pub(in crate::openapi) value: Value,
    /// The definitions it refers to, in order, and once each.
    pub(super) references: Vec<usize>,
    /// Those of them that describe the very same value.
    pub(super) in_place: Vec<usize>,
    /// Whether it accepts more than the document says.
    pub(super) is_loose: bool,
    /// Its size.
    pub(super) bytes: usize,
    /// Its size without descriptions.
    pub(super) bare_bytes: usize,
}

impl Piece {
    /// Another schema around this one or made of it, with the same references.
    pub(in crate::openapi) fn with_value(mut self, value: Value) -> Self {
        self.bytes = size(&value);
        self.value = value;
        // Whatever is around it describes something else.
        self.in_place.clear();
        self
    }

    /// One that refers to all that others do, without a value yet.
    pub(in crate::openapi) fn joined<'p>(pieces: impl Iterator<Item = &'p Self>) -> Self {
        let mut joined = Self::default();
        let mut seen = HashSet::new();
        for piece in pieces {
            let fresh = piece
                .references
                .iter()
                .filter(|number| seen.insert(**number));
            joined.references.extend(fresh);
            joined.is_loose |= piece.is_loose;
        }
        joined
    }
}

impl<'d> Pool<'d> {
    pub(in crate::openapi) fn new(root: &'d Value, version: Version, side: Side) -> Self {
        Self {
            root,
            version,
            side,
            patterns: Patterns::default(),
            work: 0,
            definitions: Vec::new(),
            by_pointer: HashMap::new(),
            by_reference: HashMap::new(),
            names: HashSet::new(),
            numbers: HashMap::new(),
        }
    }

    /// Converts a schema that stands somewhere in the document.
    pub(in crate::openapi) fn convert(&mut self, schema: &'d Value, notes: &mut Notes) -> Piece {
        let mut piece = super::convert::convert(self, schema, notes);
        piece.bytes = size(&piece.value);
        piece.bare_bytes = size(&bared(&piece.value));
        piece
    }

    /// The number of the definition a reference leads to.
    pub(super) fn refer(&mut self, reference: &str) -> Result<usize, String> {
        let source = refer::target(self.root, reference)?;
        if let Some(known) = self.by_pointer.get(reference) {
            return Ok(*known);
        }
        let number = self.definitions.len();
        let name = self.name(&refer::last_part(reference));
        self.by_reference.insert(format!("#/$defs/{name}"), number);
        self.by_pointer.insert(reference.to_owned(), number);
        let piece = None;
        self.definitions.push(Definition {
            name,
            source,
            piece,
        });
        Ok(number)
    }

    pub(super) fn definition_name(&self, number: usize) -> &str {
        &self.definitions[number].name
    }

    /// Which definition a converted schema refers to.
    pub(super) fn referred(&self, reference: &str) -> Option<usize> {
        self.by_reference.get(reference).copied()
    }

    /// Sees to it that a definition is converted.
    pub(super) fn prepare(&mut self, number: usize, notes: &mut Notes) {
        if self.definitions[number].piece.is_none() {
            let piece = self.convert(self.definitions[number].source, notes);
            self.definitions[number].piece = Some(piece);
        }
    }

    /// A definition, if it is converted.
    pub(super) fn piece(&self, number: usize) -> Option<&Piece> {
        self.definitions[number].piece.as_ref()
    }

    fn name(&mut self, written: &str) -> String {
        let name = naming::argument(written);
        let mut own = name.clone();
        let number = self.numbers.entry(name.clone()).or_insert(2);
        while !self.names.insert(own.clone()) {
            own = format!("{name}_{number}");
            *number += 1;
        }
        own
    }
}
