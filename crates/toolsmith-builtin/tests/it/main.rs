//! The built-in tools, called as a host calls them: through a toolbox.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod ground;
mod tree;
mod yard;

mod definitions;
mod paths;
mod race;
mod reading;
mod recovering;
mod several;
mod writing;

mod edit_property;
mod editing;
mod encodings;
mod ladder;
mod patch;

mod jobs;
mod layers;
mod scripts;
mod sessions;
mod shells;
mod torture;

mod find;
mod globs;
mod grep;
mod navigation;
mod shell_line;
mod stopping;
mod telling;
mod walk;

mod web_names;
mod web_support;

mod api_call;
mod web_fetch;
mod web_pages;
mod web_redirects;
mod web_ssrf;
