//! Records in numbers, and which are meant.

use toolsmith_core::moment::Moment;
use toolsmith_core::record::{CallRecord, RecordDecision, RecordOutcome, RecordSource};
use toolsmith_manager::records::{RecordFilter, Summary};

fn record(tool: &'static str, micros: u64) -> CallRecord<'static> {
    let mut record = CallRecord::new("c", "me", RecordOutcome::ok());
    record.tool = Some(tool.into());
    record.source = Some(RecordSource::new("mcp", "git"));
    record.timings.total = micros;
    record
}

#[test]
fn quantiles_are_exact_and_people_do_not_count() {
    let mut summary = Summary::default();
    // In an order without a pattern.
    for n in 0..1000u64 {
        summary.add(&record("a", (n * 7919) % 1000 + 1));
    }
    let mut asked = record("b", 5_000_100);
    asked.timings.waited = 5_000_000;
    summary.add(&asked);
    let tools = summary.tools();
    let a = tools[0].durations.unwrap();
    assert_eq!(
        (a.p50_us, a.p95_us, a.p99_us, a.most_us, a.sample),
        (500, 950, 990, 1000, None)
    );
    let b = tools[1].durations.unwrap();
    assert_eq!((b.p50_us, b.p99_us), (100, 100));
}

#[test]
fn what_did_not_run_took_no_time_and_is_counted() {
    let mut summary = Summary::default();
    let mut refused = record("a", 10);
    refused.outcome = RecordOutcome::error("permission_denied", "no");
    refused.decision = Some(RecordDecision::new(false, "rule", "no"));
    summary.add(&refused);
    // One that was allowed, and whose other side said no.
    let mut failed = record("a", 20);
    failed.outcome = RecordOutcome::error("permission_denied", "401");
    failed.decision = Some(RecordDecision::new(true, "mode auto", "all is"));
    failed.timings.ran = 15;
    summary.add(&failed);
    let mut unknown = record("a", 10);
    (unknown.tool, unknown.called_as) = (None, Some("whatever".into()));
    unknown.outcome = RecordOutcome::error("unknown_tool", "none");
    summary.add(&unknown);
    let tools = summary.tools();
    let counted: Vec<_> = tools
        .iter()
        .map(|tool| (tool.tool.as_str(), tool.calls, tool.failures, tool.denied))
        .collect();
    assert_eq!(counted, [("(no such tool)", 1, 1, 0), ("a", 2, 2, 1)]);
    assert_eq!(tools[0].durations, None);
    assert_eq!(tools[1].durations.unwrap().most_us, 20);
}

#[test]
fn beyond_the_bound_a_sample_is_taken_and_told() {
    let mut summary = Summary::default();
    for n in 0..300_000u64 {
        summary.add(&record("a", n));
    }
    let tools = summary.tools();
    let durations = tools[0].durations.unwrap();
    assert_eq!(tools[0].calls, 300_000);
    assert_eq!(durations.sample, Some(100_000));
    // Each has the same chance: the sample is not of the first ones alone.
    for (found, expected) in [
        (durations.p50_us, 150_000u64),
        (durations.p95_us, 285_000),
        (durations.p99_us, 297_000),
    ] {
        assert!(found.abs_diff(expected) < 3000, "{found} for {expected}");
    }
}

#[test]
fn tools_without_end_take_no_memory_without_end() {
    let mut summary = Summary::default();
    for n in 0..20_000 {
        let mut record = record("a", 1);
        record.tool = Some(format!("tool{n:05}").into());
        summary.add(&record);
    }
    let tools = summary.tools();
    assert_eq!(tools.len(), 10_001);
    let others = tools.iter().find(|tool| tool.tool == "(others)").unwrap();
    assert_eq!(others.calls, 10_000);
}

#[test]
fn filters_choose() {
    let mut meant = record("mcp__git__log", 1);
    meant.called_as = Some("acme_log".into());
    meant.at = Moment::of_micros(1000);
    let tool = |glob: &str| RecordFilter::default().with_tool(glob).unwrap();
    let caller = |glob: &str| RecordFilter::default().with_caller(glob).unwrap();
    let source = |source: &str| RecordFilter::default().with_source(source);
    let since = |micros| RecordFilter::default().since(Moment::of_micros(micros));
    for (filter, fits) in [
        (RecordFilter::default(), true),
        (tool("mcp__git__*"), true),
        (tool("acme_*"), true),
        (tool("log"), false),
        (caller("m?"), true),
        (caller("you"), false),
        (source("mcp"), true),
        (source("git"), true),
        (source("gi"), false),
        (since(1000), true),
        (since(1001), false),
        (RecordFilter::default().only_failed(), false),
        (RecordFilter::default().only_denied(), false),
    ] {
        assert_eq!(filter.fits(&meant), fits, "{filter:?}");
    }
    assert!(RecordFilter::default().with_tool("[").is_err());
}
