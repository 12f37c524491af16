//! The tests of `toolsmith-process`, in one binary.
