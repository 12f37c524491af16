//! The life of a tool call.
//!
//! A call enters by one door, [`Toolbox::run`], and passes the stages below in
//! order. Each takes what the one before it gives, and only that: what reaches
//! `execute` was resolved, validated, planned and permitted, because nothing else
//! has the type.
//!
//! | stage | gives |
//! |---|---|
//! | [`registry`] | which tools there are |
//! | [`offer`] | what one caller gets to see |
//! | `resolve` | which tool a call means |
//! | [`validate`] | arguments that fit, or everything that is wrong with them |
//! | `plan` | what the call is about to do |
//! | [`permit`] | whether it may |
//! | [`shield`] | a kept answer, a turn at its source, another try |
//! | `execute` | what came of it |
//! | [`shape`] | the reply: cleaned, bounded, without secrets |
//! | [`record`] | an event at every arrow |

pub mod registry;

pub mod offer;

mod resolve;

pub mod validate;

mod plan;

pub mod permit;

pub mod shield;

mod execute;

pub mod shape;

pub mod record;

pub mod guide;

pub mod tape;

mod caller;
mod canonical;
mod keywords;
mod limits;
mod toolbox;

pub use caller::{Caller, Inquirer};
pub use limits::Limits;
pub use offer::Selection;
pub use permit::{Approver, Mode, Policy};
pub use plan::PlannedCall;
pub use registry::{Registry, RegistryError};
pub use resolve::ResolvedCall;
pub use shield::Protection;
pub use toolbox::{BuildError, Explanation, Order, Reload, Terms, Toolbox, ToolboxBuilder};
