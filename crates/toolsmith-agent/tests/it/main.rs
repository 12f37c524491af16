//! The loop between a model and its tools, from outside.
