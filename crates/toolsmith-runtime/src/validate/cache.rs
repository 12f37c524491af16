//! Compiled schemas, made at the first call and kept within a bound.
//!
//! A compiled schema takes kilobytes and tens of microseconds. Each registered
//! tool has a slot for its own, so a call finds it without a lock; when more slots
//! are full than the bound allows, those unused for longest are emptied.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwapOption;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use toolsmith_core::ToolError;

use super::choice;
use super::dialect::Dialect;
use crate::registry::Entry;

/// How much memory one compiled regular expression may take.
const REGEX_BYTES: usize = 1 << 20;

/// The place of one tool's compiled schema.
#[derive(Default)]
pub(crate) struct CompiledSlot {
    validator: ArcSwapOption<Validator>,
    last_used: AtomicU64,
}

impl std::fmt::Debug for CompiledSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.validator.load().is_some() {
            "compiled"
        } else {
            "empty"
        };
        f.write_str(state)
    }
}

/// Keeps the number of compiled schemas within a bound.
#[derive(Debug)]
pub(crate) struct Cache {
    bound: usize,
    clock: AtomicU64,
    full: AtomicUsize,
    filled: Mutex<Vec<Weak<Entry>>>,
}

impl Cache {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            bound: bound.max(1),
            clock: AtomicU64::new(0),
            full: AtomicUsize::new(0),
            filled: Mutex::default(),
        }
    }

    /// How many schemas are compiled now.
    pub(crate) fn len(&self) -> usize {
        self.full.load(Ordering::Relaxed)
    }

    /// The tool's compiled input schema.
    pub(crate) fn compiled(&self, entry: &Arc<Entry>) -> Result<Arc<Validator>, ToolError> {
        let slot = &entry.compiled;
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        slot.last_used.store(now, Ordering::Relaxed);
        if let Some(validator) = slot.validator.load_full() {
            return Ok(validator);
        }
        let validator = compile(entry.definition.input.as_value()).map_err(|message| {
            ToolError::internal(format!(
                "the schema of `{}` cannot be compiled: {message}",
                entry.definition.name
            ))
        })?;
        let validator = Arc::new(validator);
        let mut filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner);
        // Two first calls may both have compiled it; the slot is counted once.
        if slot.validator.swap(Some(Arc::clone(&validator))).is_none() {
            filled.push(Arc::downgrade(entry));
            if filled.len() > self.bound {
                evict(&mut filled, self.bound);
            }
            self.full.store(filled.len(), Ordering::Relaxed);
        }
        Ok(validator)
    }
}

/// Empties the slots unused for longest, a quarter at a time so that a cache that
/// is always full does not sort at every miss.
fn evict(filled: &mut Vec<Weak<Entry>>, bound: usize) {
    let mut alive: Vec<Arc<Entry>> = filled.iter().filter_map(Weak::upgrade).collect();
    alive.sort_by_key(|entry| entry.compiled.last_used.load(Ordering::Relaxed));
    let goal = bound - bound / 4;
    let surplus = alive.len().saturating_sub(goal);
    for entry in alive.drain(..surplus) {
        entry.compiled.validator.store(None);
    }
    *filled = alive.iter().map(Arc::downgrade).collect();
}

/// Compiles a schema: formats enforced, linear regular expressions, and no
/// reference that leads anywhere else.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    let dialect = Dialect::of(schema).ok_or("its `$schema` is not followed")?;
    let mut schema = choice::sharpened(schema);
    // The dialect is chosen above, so that every way to write its address will do.
    if let Value::Object(object) = &mut schema {
        object.shift_remove("$schema");
    }
    let build = || {
        jsonschema::options()
            .with_draft(dialect.draft())
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .with_pattern_options(PatternOptions::regex().size_limit(REGEX_BYTES))
            .offline()
            .build(&schema)
    };
    // The schema may come from anywhere; a panic in the compiler is a refusal.
    match catch_unwind(AssertUnwindSafe(build)) {
        Ok(Ok(validator)) => Ok(validator),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the schema compiler panicked".to_owned()),
    }
}
