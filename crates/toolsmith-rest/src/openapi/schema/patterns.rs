//! Which regular expressions can be kept.

use std::collections::HashMap;

use regex::RegexBuilder;

/// How long a pattern may be.
const MAX_LENGTH: usize = 1000;
/// How much memory a compiled one may take. A pattern that takes more would be refused
/// with its whole tool later on.
const MAX_BYTES: usize = 1 << 20;
/// How many are tried: compiling takes time.
const MAX_TRIED: usize = 2000;

/// Patterns that were tried.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    tried: HashMap<String, bool>,
}

impl Patterns {
    /// Tells whether a pattern runs in linear time. What looks around or back does not.
    pub(super) fn can_run(&mut self, pattern: &str) -> bool {
        if pattern.len() > MAX_LENGTH {
            return false;
        }
        if let Some(known) = self.tried.get(pattern) {
            return *known;
        }
        if self.tried.len() >= MAX_TRIED {
            return false;
        }
        let can = RegexBuilder::new(pattern)
            .size_limit(MAX_BYTES)
            .build()
            .is_ok();
        self.tried.insert(pattern.to_owned(), can);
        can
    }
}
