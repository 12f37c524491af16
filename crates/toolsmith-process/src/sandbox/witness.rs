//! Who wants to know when a confined child is started, and when nothing of it is left.

use std::any::Any;
use std::fmt;

use super::Sandbox;

/// What a [`Witness`] has kept for as long as a child, or anything it started, may run.
pub type Kept = Box<dyn Any + Send + Sync>;

/// Is told of each start, right before it. Implemented by hosts that compare what was there
/// before a program ran with what is there afterwards.
pub trait Witness: fmt::Debug + Send + Sync {
    /// Returns what is dropped when the child and all that it started are gone. It is never
    /// dropped where some of that could not be ended.
    ///
    /// Runs on the thread that starts the child, and may hold it up for a moment.
    fn starts(&self, sandbox: &Sandbox) -> Kept;
}
