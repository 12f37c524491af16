//! What a caller wants replaced.

/// What is to be replaced by what, and how often.
///
/// ```
/// use toolsmith_builtin::edit::{Wanted, find};
///
/// let found = find("a = 1\r\nb = 2\r\n", &Wanted::new("a = 1\nb", "a = 3\nb")).unwrap();
/// assert_eq!(found.apply("a = 1\r\nb = 2\r\n"), "a = 3\r\nb = 2\r\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted<'a> {
    /// What is there.
    pub old: &'a str,
    /// What shall be there.
    pub new: &'a str,
    /// Whether every place is meant.
    pub replace_all: bool,
    /// How many places there are. All of them are meant.
    pub expected_count: Option<usize>,
    /// The line, counted from 1, to which the place is nearest if there are several.
    pub near_line: Option<usize>,
    /// Whether a text that is only similar will do.
    pub fuzzy: bool,
}

impl<'a> Wanted<'a> {
    /// One place, found by the rungs that do not guess.
    pub const fn new(old: &'a str, new: &'a str) -> Self {
        Self {
            old,
            new,
            replace_all: false,
            expected_count: None,
            near_line: None,
            fuzzy: false,
        }
    }

    /// Says whether every place is meant.
    #[must_use]
    pub const fn with_replace_all(mut self, replace_all: bool) -> Self {
        self.replace_all = replace_all;
        self
    }

    /// Says how many places there are, and that all of them are meant.
    #[must_use]
    pub const fn with_expected_count(mut self, expected_count: Option<usize>) -> Self {
        self.expected_count = expected_count;
        self
    }

    /// Says near which line the place is.
    #[must_use]
    pub const fn with_near_line(mut self, near_line: Option<usize>) -> Self {
        self.near_line = near_line;
        self
    }

    /// Says whether a text that is only similar will do.
    #[must_use]
    pub const fn with_fuzzy(mut self, fuzzy: bool) -> Self {
        self.fuzzy = fuzzy;
        self
    }
}
