//! Tests of the model's side, through the public API.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod declare_golden;
mod instruct;
mod judge;
mod lower_hostile;
mod lower_properties;
mod lower_support;
mod names;
mod parse_golden;
mod parse_hostile;
mod refusal;
mod render_golden;
mod repair;
mod repair_golden;
mod script_exchange;
mod script_round_trip;
mod strategy;
mod stream_golden;
mod stream_hostile;
mod text;
mod text_golden;
