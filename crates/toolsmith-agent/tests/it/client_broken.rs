//! Answers that break off, fall silent, never end or are none: each ends in time, and none
//! looks whole.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use toolsmith_agent::client::HttpSettings;
use toolsmith_core::{ErrorKind, RawCall};
use toolsmith_provider::{Dictionary, ModelClient, Provider, Stop, Stream};
use toolsmith_testing::model_server::{ModelServer, Script, Step};

use crate::client_support::{Asked, PROVIDERS, WAYS, Way, ask, model, question, with_still_clock};

fn call() -> RawCall {
    RawCall::new(
        "write",
        json!({"path": "a.txt", "text": "Something that is rather long."}),
    )
}

#[tokio::test]
async fn an_endless_answer_ends_at_its_bound() {
    for provider in PROVIDERS {
        let most = 100_000;
        let settings = HttpSettings::default().with_largest_answer(most);
        let server = ModelServer::start([Step::Endless, Step::Endless]);
        let model = model(&server, provider, settings);
        let mut stream = Stream::new(provider, &Dictionary::default());
        let mut received = 0;
        let mut push = |piece: &[u8]| {
            received += piece.len();
            stream.push(piece);
        };
        model.stream(question(provider), &mut push).await.unwrap();
        assert_eq!(received, most, "{provider}");
        let answer = stream.finish().unwrap();
        assert_eq!(answer.stop, Stop::Broken, "{provider}");
        assert!(answer.text.starts_with("and so on and so on"));
        let error = ask(&model, Way::Whole).await.error();
        assert_eq!(error.kind, ErrorKind::Failed);
        assert!(
            error.message.ends_with("is longer than 100000 bytes"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_answer_of_just_the_bound_is_whole() {
    for provider in PROVIDERS {
        for way in WAYS {
            let script = Script::default().then_always(Step::answer(|_| Step::say("Sunny.")));
            let server = ModelServer::start(script);
            let usual = model(&server, provider, HttpSettings::default());
            let mut length = 0;
            match way {
                Way::Whole => length = usual.complete(question(provider)).await.unwrap().len(),
                Way::Streamed => {
                    let mut count = |piece: &[u8]| length += piece.len();
                    usual.stream(question(provider), &mut count).await.unwrap();
                }
            }
            let bounded = |most| {
                let settings = HttpSettings::default().with_largest_answer(most);
                model(&server, provider, settings)
            };
            let answer = ask(&bounded(length), way).await.answer();
            assert_eq!((answer.stop, answer.text.as_str()), (Stop::Done, "Sunny."));
            if way == Way::Whole {
                ask(&bounded(length - 1), way).await.error();
            }
        }
    }
}

#[test]
fn silence_ends_by_its_time_limit() {
    for provider in PROVIDERS {
        for way in WAYS {
            let asked = with_still_clock(async {
                let server = ModelServer::start([Step::Hang]);
                let model = model(&server, provider, HttpSettings::default());
                let asking = ask(&model, way);
                let waiting = async {
                    server.seen(1).await;
                    tokio::time::advance(Duration::from_secs(601)).await;
                };
                tokio::join!(asking, waiting).0
            });
            let error = asked.error();
            assert_eq!(error.kind, ErrorKind::Timeout);
            assert!(
                error.message.contains("answered nothing within 600s"),
                "{error}"
            );
        }
    }
}

#[test]
fn silence_after_the_head_is_silence() {
    let asked = with_still_clock(async {
        let server = ModelServer::start([Step::hang_after(0, Step::say("Sunny."))]);
        let settings = HttpSettings::default().with_first_byte_time(Duration::from_secs(5));
        let model = model(&server, Provider::OpenAi, settings);
        let waiting = async {
            server.seen(1).await;
            tokio::time::advance(Duration::from_secs(6)).await;
        };
        tokio::join!(ask(&model, Way::Streamed), waiting).0
    });
    assert_eq!(asked.error().kind, ErrorKind::Timeout);
}

#[test]
fn silence_in_the_middle_breaks_an_answer_off() {
    const CAME: usize = 150;
    for provider in PROVIDERS {
        for way in WAYS {
            let asked = with_still_clock(async {
                let text = "Sunny. ".repeat(100);
                let server = ModelServer::start([Step::hang_after(CAME, Step::say(text))]);
                let model = model(&server, provider, HttpSettings::default());
                if way == Way::Whole {
                    // What came is not told, so the clock is moved again and again.
                    let mut asking = Box::pin(ask(&model, way));
                    loop {
                        tokio::select! {
                            biased;
                            asked = &mut asking => return asked,
                            () = server.seen(1) => {
                                tokio::time::advance(Duration::from_secs(100)).await;
                                tokio::task::yield_now().await;
                            }
                        }
                    }
                }
                let (tell, mut told) = mpsc::channel(1);
                let mut stream = Stream::new(provider, &Dictionary::default());
                let mut received = 0;
                let mut push = |piece: &[u8]| {
                    received += piece.len();
                    stream.push(piece);
                    if received == CAME {
                        tell.try_send(()).unwrap();
                    }
                };
                let asking = model.stream(question(provider), &mut push);
                let waiting = async {
                    told.recv().await.unwrap();
                    tokio::time::advance(Duration::from_secs(301)).await;
                };
                tokio::join!(asking, waiting).0.unwrap();
                match stream.finish() {
                    Ok(answer) => Asked::Answer(Box::new(answer)),
                    Err(error) => Asked::Unread(error),
                }
            });
            match (way, asked) {
                (Way::Whole, asked) => assert_eq!(asked.error().kind, ErrorKind::Timeout),
                (_, Asked::Answer(answer)) => assert_eq!(answer.stop, Stop::Broken, "{provider}"),
                // So little may be no event at all.
                (_, asked) => assert!(matches!(asked, Asked::Unread(_)), "{asked:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_connection_that_drops_in_the_middle_of_a_call() {
    for provider in PROVIDERS {
        // How long the whole answer is.
        let server = ModelServer::start([Step::call("I write.", [call()])]);
        let mut length = 0;
        let mut count = |piece: &[u8]| length += piece.len();
        let whole = model(&server, provider, HttpSettings::default());
        whole.stream(question(provider), &mut count).await.unwrap();
        for cut in (1..length).step_by(37) {
            let step = Step::drop_after(cut, Step::call("I write.", [call()]));
            let server = ModelServer::start([step]);
            let asked = ask(
                &model(&server, provider, HttpSettings::default()),
                Way::Streamed,
            )
            .await;
            match asked {
                Asked::Failed(error) => panic!("{provider} {cut}: {error}"),
                Asked::Unread(_) => {}
                Asked::Answer(answer) if answer.stop == Stop::Broken => {
                    // A call that is marked as whole is whole.
                    for made in answer.calls.iter().filter(|made| made.complete) {
                        assert_eq!(made.call.arguments, call().arguments, "{provider} {cut}");
                    }
                }
                // All but what ends the stream was there.
                Asked::Answer(answer) => {
                    assert_eq!(
                        answer.calls[0].call.arguments,
                        call().arguments,
                        "{provider} {cut}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_cut_off_is_incomplete() {
    for provider in PROVIDERS {
        for way in WAYS {
            let server = ModelServer::start([Step::truncated("I write.", call())]);
            let model = model(&server, provider, HttpSettings::default());
            let answer = ask(&model, way).await.answer();
            assert_eq!(answer.stop, Stop::Length, "{provider} {way:?}");
            assert_eq!(answer.text, "I write.");
            let complete: Vec<bool> = answer.calls.iter().map(|call| call.complete).collect();
            // Some send a call whole or not at all.
            let expected: &[bool] = match provider {
                Provider::Gemini | Provider::Ollama => &[],
                _ => &[false],
            };
            assert_eq!(complete, expected, "{provider} {way:?}");
        }
    }
}

#[tokio::test]
async fn garbage_is_handed_on_and_is_no_answer() {
    for provider in PROVIDERS {
        for way in WAYS {
            for garbage in [
                &b""[..],
                b"\xff\xfe\0\x01",
                b"<html>Hello.</html>",
                b"null",
                b"[]",
                b"{}",
                b"data: {\n\n",
            ] {
                let server = ModelServer::start([Step::Raw(garbage.to_vec())]);
                let model = model(&server, provider, HttpSettings::default());
                match ask(&model, way).await {
                    Asked::Unread(_) => {}
                    // What streams of nothing come to is not taken for an answer either.
                    Asked::Answer(answer) => assert_eq!(answer.stop, Stop::Broken, "{provider}"),
                    Asked::Failed(error) => panic!("{provider} {way:?}: {error}"),
                }
                assert_eq!(server.requests().len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_told() {
    for (provider, events) in [
        (
            Provider::OpenAiCompatible,
            "data: {\"choices\": [{\"delta\": {\"content\": \"Sun\"}}]}\n\ndata: {\"error\": {\"message\": \"Overloaded.\"}}\n\n",
        ),
        (
            Provider::OpenAiResponses,
            "data: {\"type\": \"response.created\", \"response\": {}}\n\ndata: {\"type\": \"error\", \"message\": \"Overloaded.\"}\n\n",
        ),
        (
            Provider::Anthropic,
            "event: error\ndata: {\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"Overloaded.\"}}\n\n",
        ),
        (
            Provider::Gemini,
            "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Sun\"}]}}]}\n\ndata: {\"error\": {\"code\": 503, \"message\": \"Overloaded.\"}}\n\n",
        ),
        (
            Provider::Ollama,
            "{\"message\": {\"role\": \"assistant\", \"content\": \"Sun\"}, \"done\": false}\n{\"error\": \"Overloaded.\"}\n",
        ),
    ] {
        let server = ModelServer::start([Step::Raw(events.into())]);
        let model = model(&server, provider, HttpSettings::default());
        let error = ask(&model, Way::Streamed).await.unread();
        assert!(
            error.to_string().contains("Overloaded."),
            "{provider}: {error}"
        );
    }
}

#[tokio::test]
async fn dropping_a_request_ends_it() {
    let server = ModelServer::start([Step::Hang, Step::say("Sunny.")]);
    let model = model(&server, Provider::OpenAi, HttpSettings::default());
    tokio::select! {
        asked = ask(&model, Way::Streamed) => panic!("{asked:?}"),
        () = server.seen(1) => {}
    }
    assert_eq!(ask(&model, Way::Streamed).await.answer().text, "Sunny.");
}
