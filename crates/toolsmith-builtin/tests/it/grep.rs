//! `grep`.
