//! Starts child processes, watches over them, and ends the whole tree of each.
//!
//! A [`Launch`] says what to start; [`Launch::start`] gives a [`Running`] child with pipes
//! for its standard streams; [`Running::end`] says how it ended, what had to be killed and
//! what could not be. A child lives in its own session, inherits no descriptor but its
//! three pipes, and starts with an empty environment.
//!
//! ```
//! # use std::time::Duration;
//! # use toolsmith_process::{Launch, LaunchError};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), LaunchError> {
//! let running = Launch::new("/bin/cat").start()?;
//! let ending = running.end(Duration::from_secs(2)).await;
//! assert!(ending.status.is_some_and(|status| status.success()));
//! # Ok(())
//! # }
//! ```
//!
//! On Linux the tree is found in `/proc`, and a program that calls [`become_subreaper`]
//! also finds descendants that hide. On other systems the child's group is killed.
//!
//! A launch with a [`Sandbox`] confines what the child may write, read and reach, on Linux;
//! the program that launches calls [`helper`] first in its `main`. [`Running::layers`] says
//! what was in force, and a launch that cannot have what it asks for is refused.

#![cfg(unix)]

mod environment;
mod error;
mod helper;
mod launch;
mod running;
mod sandbox;
mod spawn;
mod tail;
mod tree;

pub use environment::{SAFE_VARIABLES, inherited};
pub use error::LaunchError;
pub use helper::{helper, use_helper};
pub use launch::Launch;
pub use running::{Ending, Running};
pub use sandbox::{Kept, Layers, Limits, Mode, Sandbox, Support, UnknownMode, Witness};
pub use tail::Tail;
pub use tree::{MARK, become_subreaper};
