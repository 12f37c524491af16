//! Rates and quotas of tools, sources and callers.

use std::time::Duration;

use tokio::time::advance;
use toolsmith_core::rate::Rate;
use toolsmith_core::{Binding, ErrorKind, Outcome};
use toolsmith_runtime::shield::{CallerSettings, Protection, SourceSettings};
use toolsmith_runtime::{Reload, Toolbox};
use toolsmith_testing::failure;
use toolsmith_testing::tools::definition;

use crate::shield::{Count, SECOND, call, call_as, far, scripted, with_settings};

fn rate(text: &str) -> Rate {
    text.parse().unwrap()
}

fn tool(name: &str, binding: Binding, count: &Count) -> toolsmith_core::AnyTool {
    scripted(definition(name), binding, count, |_| Outcome::ok(1))
}

/// How many of so many calls were let through.
async fn passed(toolbox: &Toolbox, caller: &str, tool: &str, calls: usize) -> usize {
    let mut passed = 0;
    for _ in 0..calls {
        passed += usize::from(call_as(toolbox, caller, tool).await.is_success());
    }
    passed
}

fn for_callers(rate: Option<Rate>, quota: Option<Rate>) -> Protection {
    let mut callers = CallerSettings::default();
    (callers.rate, callers.quota) = (rate, quota);
    let mut protection = Protection::default();
    protection.callers = callers;
    protection
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_at_its_rate() {
    let count = Count::default();
    let binding = Binding::default().with_rate(rate("2/s"));
    let toolbox = far([
        tool("t", binding, &count),
        tool("other", Binding::default(), &Count::default()),
    ]);
    assert_eq!(passed(&toolbox, "a", "t", 5).await, 2);
    let outcome = call(&toolbox, "t").await;
    let error = failure(&outcome);
    assert_eq!(error.kind, ErrorKind::Exhausted);
    assert_eq!(error.message, "`t` may be called 2/s; come back in 500ms");
    assert_eq!(error.retry_after(), Some(SECOND / 2));
    assert_eq!(error.details, Some(serde_json::json!({ "limit": "2/s" })));
    advance(SECOND / 2).await;
    assert_eq!(passed(&toolbox, "a", "t", 5).await, 1);
    advance(60 * SECOND).await;
    assert_eq!(
        passed(&toolbox, "a", "t", 5).await,
        2,
        "no more than the rate at once"
    );
    assert_eq!(count.get(), 5);
    assert_eq!(passed(&toolbox, "a", "other", 5).await, 5);
}

#[tokio::test(start_paused = true)]
async fn a_quota_lasts_for_its_period() {
    let count = Count::default();
    let binding = Binding::default().with_quota(rate("3/h"));
    let toolbox = far([tool("t", binding, &count)]);
    assert_eq!(passed(&toolbox, "a", "t", 5).await, 3);
    advance(Duration::from_secs(3599)).await;
    let outcome = call(&toolbox, "t").await;
    assert_eq!(failure(&outcome).retry_after(), Some(SECOND));
    advance(SECOND).await;
    assert_eq!(passed(&toolbox, "a", "t", 5).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_source_has_one_rate_for_all_its_tools() {
    let mut settings = SourceSettings::default();
    settings.rate = Some(rate("3/min"));
    let count = Count::default();
    let tools = ["a", "b"].map(|name| tool(name, Binding::default(), &count));
    let toolbox = with_settings(settings, tools);
    assert_eq!(passed(&toolbox, "x", "a", 2).await, 2);
    assert_eq!(passed(&toolbox, "y", "b", 2).await, 1);
    let outcome = call(&toolbox, "a").await;
    let told = "the source `far` may be called 3/min; come back in 20s";
    assert_eq!(failure(&outcome).message, told);
    assert_eq!(toolbox.sources()[0].turned_away, 2);
}

#[tokio::test(start_paused = true)]
async fn each_caller_has_its_own() {
    let count = Count::default();
    let protection = for_callers(Some(rate("2/s")), Some(rate("3/min")));
    let builder = Toolbox::builder().load("far", [tool("t", Binding::default(), &count)]);
    let toolbox = builder.protection(protection).build().unwrap();
    assert_eq!(passed(&toolbox, "a", "t", 9).await, 2);
    assert_eq!(passed(&toolbox, "b", "t", 9).await, 2);
    advance(SECOND).await;
    assert_eq!(passed(&toolbox, "a", "t", 9).await, 1, "the quota is spent");
    let outcome = call_as(&toolbox, "a", "t").await;
    let error = failure(&outcome);
    assert_eq!(error.details, Some(serde_json::json!({ "limit": "3/min" })));
    assert_eq!(error.retry_after(), Some(59 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn what_one_refuses_is_not_taken_from_the_others() {
    let count = Count::default();
    let binding = Binding::default().with_quota(rate("10/h"));
    let protection = for_callers(None, Some(rate("2/h")));
    let builder = Toolbox::builder().load("far", [tool("t", binding, &count)]);
    let toolbox = builder.protection(protection).build().unwrap();
    assert_eq!(passed(&toolbox, "greedy", "t", 100).await, 2);
    for caller in ["b", "c", "d", "e"] {
        assert_eq!(passed(&toolbox, caller, "t", 9).await, 2, "{caller}");
    }
    assert_eq!(passed(&toolbox, "f", "t", 9).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_callers_are_told_apart_and_more_are_bounded() {
    let count = Count::default();
    let builder = Toolbox::builder().load("far", [tool("t", Binding::default(), &count)]);
    let toolbox = builder
        .protection(for_callers(None, Some(rate("1/h"))))
        .without_log()
        .build()
        .unwrap();
    for number in 0..100_000 {
        let caller = format!("caller-{number}");
        assert!(call_as(&toolbox, &caller, "t").await.is_success());
    }
    assert!(!call_as(&toolbox, "caller-7", "t").await.is_success());
    // Those beyond share what one would have.
    assert!(call_as(&toolbox, "late", "t").await.is_success());
    assert!(!call_as(&toolbox, "later", "t").await.is_success());
    // Whose period is over makes room.
    advance(Duration::from_secs(3600)).await;
    for caller in ["later", "latest", "caller-7"] {
        assert!(
            call_as(&toolbox, caller, "t").await.is_success(),
            "{caller}"
        );
    }
    assert!(!call_as(&toolbox, "latest", "t").await.is_success());
}

#[tokio::test(start_paused = true)]
async fn bounds_can_be_changed_and_what_was_spent_stays_spent() {
    let count = Count::default();
    let t = tool("t", Binding::default(), &count);
    let builder = Toolbox::builder().files([("f".into(), t.clone())]);
    let protection = for_callers(None, Some(rate("2/h")));
    let toolbox = builder.protection(protection).build().unwrap();
    assert_eq!(passed(&toolbox, "a", "t", 9).await, 2);
    let mut reload = Reload::default();
    reload.files = vec![("f".into(), t.clone())];
    reload.terms.protection = for_callers(None, Some(rate("5/h")));
    toolbox.reload(reload).unwrap();
    assert_eq!(passed(&toolbox, "a", "t", 9).await, 3);
    let mut reload = Reload::default();
    reload.files = vec![("f".into(), t)];
    toolbox.reload(reload).unwrap();
    assert_eq!(passed(&toolbox, "a", "t", 9).await, 9);
}

/// A source that lists one tool or the other.
struct Flips(std::sync::Mutex<&'static str>, Count);

impl toolsmith_core::ToolSource for Flips {
    fn name(&self) -> &'static str {
        "far"
    }

    async fn tools(
        &self,
    ) -> Result<Vec<toolsmith_core::AnyTool>, toolsmith_core::tool::SourceError> {
        let binding = Binding::default().with_quota(rate("1/d"));
        Ok(vec![tool(*self.0.lock().unwrap(), binding, &self.1)])
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_left_out_of_a_list_does_not_begin_to_count_anew() {
    let source = Flips("pay".into(), Count::default());
    let toolbox = Toolbox::new([]).unwrap();
    for name in ["pay", "other", "pay"] {
        *source.0.lock().unwrap() = name;
        toolbox.refresh(&source).await.unwrap();
        call(&toolbox, "pay").await;
    }
    assert_eq!(source.1.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn sessions_of_one_program_are_one_caller() {
    let count = Count::default();
    let builder = Toolbox::builder().load("far", [tool("t", Binding::default(), &count)]);
    let protection = for_callers(None, Some(rate("2/h")));
    let toolbox = builder.protection(protection).build().unwrap();
    for session in 0..5 {
        call_as(&toolbox, &format!("mcp:one#{session}"), "t").await;
    }
    assert_eq!(count.get(), 2);
    assert!(call_as(&toolbox, "mcp:two#1", "t").await.is_success());
}

#[test]
fn a_pattern_that_is_none_is_an_error() {
    let mut protection = Protection::default();
    let settings = SourceSettings::default();
    protection.sources.push(("a[".to_owned(), settings));
    let error = Toolbox::builder()
        .protection(protection)
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("\"a[\""), "{error}");
}

#[test]
fn rates_as_they_are_written() {
    for (text, count, seconds) in [
        ("5/s", 5, 1),
        ("100/min", 100, 60),
        (" 7 / h ", 7, 3600),
        ("9/d", 9, 86_400),
    ] {
        let rate = rate(text);
        assert_eq!((rate.count, rate.per.as_secs()), (count, seconds), "{text}");
        assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
    }
    for text in [
        "",
        "5",
        "/s",
        "5/",
        "0/s",
        "-1/s",
        "5/week",
        "1.5/s",
        "99999999999/s",
    ] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
}
