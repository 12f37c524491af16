//! The usage guide: what the tools are for, how they are called, what they return.

mod overlays;

pub use overlays::{Described, Layer, OverlaySource, Overlays, Place, Snippet};
