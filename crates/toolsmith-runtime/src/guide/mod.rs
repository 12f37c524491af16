//! The usage guide: what the tools are for, how they are called, what they return.

mod example;
mod metadata;
mod overlays;
mod request;

pub use example::GuideExample;
pub use metadata::{LifeCycle, MOST_EXAMPLES, PENDING, ToolMetadata};
pub use overlays::{Described, Layer, OverlaySource, Overlays, Place, Snippet};
pub use request::{Budget, ExampleForm, Request, Response, ResponseMetadata, USUAL_BYTES};
