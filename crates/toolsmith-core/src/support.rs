//! What the expansion of `#[tool]` calls. Not for people.
