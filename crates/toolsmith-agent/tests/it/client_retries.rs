//! Requests that are made again: which, how often, and after which time. The clock stands
//! still and is moved by just the time a client says that it waits.

use std::time::Duration;

use tokio::sync::mpsc;
use toolsmith_agent::client::{HttpSettings, Retrying};
use toolsmith_core::ErrorKind;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Step};

use crate::client_support::{Asked, PROVIDERS, WAYS, Way, ask, model, with_still_clock};

/// What came of a question, what was told of its repetitions, and how many requests came.
struct Ended {
    asked: Asked,
    told: Vec<Retrying>,
    requests: usize,
}

fn run(provider: Provider, way: Way, steps: Vec<Step>, settings: HttpSettings) -> Ended {
    with_still_clock(async {
        let server = ModelServer::start(steps);
        let (tell, mut telling) = mpsc::channel(100);
        let settings = settings.on_retry(move |retrying| tell.try_send(retrying.clone()).unwrap());
        let model = model(&server, provider, settings);
        let mut asking = Box::pin(ask(&model, way));
        let mut told: Vec<Retrying> = Vec::new();
        let asked = loop {
            let retrying = tokio::select! {
                biased;
                asked = &mut asking => break asked,
                Some(retrying) = telling.recv() => retrying,
            };
            let almost = retrying.wait.saturating_sub(Duration::from_millis(2));
            tokio::time::advance(almost).await;
            if !almost.is_zero() {
                // It waits for all of the time.
                tokio::select! {
                    biased;
                    _ = &mut asking => panic!("it did not wait"),
                    () = tokio::task::yield_now() => {}
                }
                assert_eq!(server.requests().len(), told.len() + 1);
            }
            tokio::time::advance(Duration::from_millis(3)).await;
            told.push(retrying);
        };
        Ended {
            asked,
            told,
            requests: server.requests().len(),
        }
    })
}

fn millis(range: std::ops::RangeInclusive<u64>, retrying: &Retrying) {
    let wait = u64::try_from(retrying.wait.as_millis()).unwrap();
    assert!(range.contains(&wait), "{retrying:?}");
}

#[test]
fn what_may_pass_is_tried_again() {
    for provider in PROVIDERS {
        for way in WAYS {
            for failing in [
                Step::status(408),
                Step::status(409),
                Step::status(425),
                Step::status(429),
                Step::status(500),
                Step::status(502),
                Step::status(503),
                Step::status(529),
                Step::Drop,
                Step::drop_after(0, Step::say("Sunny.")),
            ] {
                let steps = vec![failing.clone(), Step::say("Sunny.")];
                let ended = run(provider, way, steps, HttpSettings::default());
                assert_eq!(
                    ended.asked.answer().text,
                    "Sunny.",
                    "{provider} {failing:?}"
                );
                assert_eq!((ended.requests, ended.told.len()), (2, 1));
                assert_eq!(ended.told[0].attempt, 1);
                millis(250..=500, &ended.told[0]);
            }
        }
    }
}

#[test]
fn what_will_not_pass_is_not() {
    for provider in PROVIDERS {
        for failing in [
            Step::status(400),
            Step::status(401),
            Step::status(403),
            Step::status(404),
            Step::status(413),
            Step::status(422),
            Step::status(301).with_header("location", "http://127.0.0.1:1/"),
            Step::status(500).with_header("x-should-retry", "false"),
            Step::status(429).with_header("x-should-retry", "false"),
            Step::Status(
                429,
                vec![],
                r#"{"error": {"message": "Buy more.", "code": "insufficient_quota"}}"#.to_owned(),
            ),
        ] {
            let steps = vec![failing.clone(), Step::say("Sunny.")];
            let ended = run(provider, Way::Whole, steps, HttpSettings::default());
            ended.asked.error();
            assert_eq!(
                (ended.requests, ended.told.len()),
                (1, 0),
                "{provider} {failing:?}"
            );
        }
    }
}

#[test]
fn tries_are_counted_and_grow_rarer() {
    let steps = vec![Step::status(529); 9];
    let ended = run(
        Provider::Anthropic,
        Way::Streamed,
        steps.clone(),
        HttpSettings::default(),
    );
    let error = ended.asked.error();
    assert_eq!((error.kind, ended.requests), (ErrorKind::Unavailable, 4));
    assert!(error.message.ends_with("(try 4)"), "{error}");
    for (told, range) in ended.told.iter().zip([250..=500, 500..=1000, 1000..=2000]) {
        millis(range, told);
    }
    let attempts: Vec<u32> = ended.told.iter().map(|told| told.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    for (tries, requests) in [(0, 1), (1, 1), (2, 2), (9, 9)] {
        let settings = HttpSettings::default().with_tries(tries);
        let ended = run(Provider::OpenAi, Way::Whole, steps.clone(), settings);
        assert_eq!(ended.requests, requests);
        ended.told.iter().for_each(|told| millis(0..=20_000, told));
    }
}

#[test]
fn a_server_says_when() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
    for (headers, range) in [
        (vec![("retry-after", "7")], 7000..=7875),
        (vec![("retry-after", "0.5")], 500..=563),
        (vec![("retry-after", "60")], 60_000..=67_500),
        (vec![("retry-after-ms", "1500")], 1500..=1688),
        (
            vec![("retry-after-ms", "20"), ("retry-after", "30")],
            20..=23,
        ),
        (
            vec![("retry-after", "Sun, 06 Nov 1994 08:50:00 GMT"), date],
            23_000..=25_875,
        ),
        (
            vec![("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), date],
            0..=0,
        ),
        // What cannot be read says nothing.
        (vec![("retry-after", "soon")], 250..=500),
        (vec![("retry-after", "-3")], 250..=500),
        (vec![("retry-after", "inf")], 250..=500),
        (
            vec![("retry-after", "Sun, 99 Nov 1994 08:50:00 GMT"), date],
            250..=500,
        ),
    ] {
        for code in [429, 503] {
            let with = |step: Step, (name, value): &(&str, &str)| step.with_header(name, value);
            let failing = headers.iter().fold(Step::status(code), with);
            let steps = vec![failing, Step::say("Sunny.")];
            let ended = run(
                Provider::Gemini,
                Way::Streamed,
                steps,
                HttpSettings::default(),
            );
            assert_eq!(ended.asked.answer().text, "Sunny.");
            millis(range.clone(), &ended.told[0]);
        }
    }
}

#[test]
fn too_long_a_wait_is_told_instead() {
    for (told, settings, wait) in [
        ("61", HttpSettings::default(), 61),
        (
            "3",
            HttpSettings::default().with_longest_wait(Duration::from_secs(2)),
            3,
        ),
        (
            "99999999999999999999",
            HttpSettings::default(),
            366 * 24 * 3600,
        ),
    ] {
        let failing = Step::status(429).with_header("retry-after", told);
        let ended = run(
            Provider::OpenAiResponses,
            Way::Whole,
            vec![failing],
            settings,
        );
        let error = ended.asked.error();
        assert_eq!((error.kind, ended.requests), (ErrorKind::Exhausted, 1));
        assert_eq!(error.retry_after, Some(Duration::from_secs(wait)));
        assert!(
            error.message.ends_with(&format!("; come back in {wait} s")),
            "{error}"
        );
    }
}

#[test]
fn nobody_is_asked_twice_who_has_begun_to_speak() {
    for provider in PROVIDERS {
        let steps = vec![
            Step::drop_after(1, Step::say("Sunny.")),
            Step::say("Sunny."),
        ];
        let ended = run(provider, Way::Whole, steps.clone(), HttpSettings::default());
        assert_eq!(ended.asked.error().kind, ErrorKind::Network);
        assert_eq!(ended.requests, 1);
        let ended = run(provider, Way::Streamed, steps, HttpSettings::default());
        assert!(matches!(ended.asked, Asked::Unread(_)), "{:?}", ended.asked);
        assert_eq!(ended.requests, 1);
    }
}
