//! The tests of `toolsmith-net`, in one binary.
