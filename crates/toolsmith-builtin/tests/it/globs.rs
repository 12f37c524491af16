//! `glob`.
