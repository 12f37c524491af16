//! The built-in tools, called as a host calls them: through a toolbox.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod tree;

mod walk;

mod globs;

mod grep;

mod find;

mod navigation;
