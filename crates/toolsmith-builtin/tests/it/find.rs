//! `find`.
