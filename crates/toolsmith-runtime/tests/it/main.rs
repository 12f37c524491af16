//! The life of a call, stage by stage, in the order of the stages.

#![expect(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod registry;

mod refresh;
mod reload;

mod pins;

mod schemas;

mod offer;

mod validate;

mod coerce;
mod delegate;

mod permit;

mod rules;
mod rules_commands;

mod approve;
mod remember;

mod execute;

mod shield;

mod shield_answers;

mod shield_circuit;

mod shield_limits;

mod shield_queue;

mod shield_retry;

mod blocking;

mod batch;

mod shape;

mod redact;

mod secrets;

mod planted;

mod measured;

mod record;

mod call_record;

mod log;

mod guide;

mod guide_filter;

mod guide_template;

mod guide_examples;

mod guide_html;

mod guide_budget;

mod guide_hostile;

mod guide_lints;

mod guide_tool;

mod tape;

mod isolation;

mod hostile;

mod properties;
