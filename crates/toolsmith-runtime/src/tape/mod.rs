//! Tapes: what the sources of a toolbox said and did, kept and played again.
//!
//! A [`Recording`] notes every definition a source hands out, every plan, what came of
//! every call that reached a tool, and what of a reply cannot be told otherwise. A
//! [`Replay`] answers from that: its tools have the definitions, the plans and the
//! outcomes of the tape, and behind them is nothing. Policy, approval, validation and
//! shaping apply to a call that is replayed as to any other, since they stand before and
//! behind the tool.
//!
//! ```text
//! registry ─ definition ─┐                                     ┌─ tools, plans
//! plan ───── plan ───────┤                                     │
//! execute ── outcome ────┼─▶ Recording ─▶ lines ─▶ Replay ─────┼─ outcomes
//! reply ──── facts ──────┘                                     └─ facts, spills
//! ```
//!
//! An outcome is noted where the work of a call ends and not around the tool: that a call
//! was stopped, ran out of time or panicked is known only there. Files and flags are the
//! host's; here are lines. One that is whole is a line of JSON; a tape says in its first
//! which form it has.

mod form;
mod key;
mod read;
mod record;
mod replay;
mod tool;

pub use read::TapeError;
pub use record::Recording;
pub(crate) use replay::Spills;
pub use replay::{Replay, ReplayOrder};

/// How many bytes one line may have.
pub const MAX_LINE: usize = 16 << 20;

/// How many bytes a tape may have.
pub const MAX_TAPE: u64 = 32 << 20;

/// How many tools a tape may hold, and how many replies.
const MAX_TOOLS: usize = 10_000;
const MAX_LINES: usize = 200_000;
