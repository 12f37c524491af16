//! Answers of all five forms: whole and streamed they are the same, and requests are as the
//! providers want them.

use serde_json::{Value, json};
use toolsmith_agent::client::HttpSettings;
use toolsmith_core::RawCall;
use toolsmith_provider::render::{conversation_field, user_text};
use toolsmith_provider::{ModelClient, Provider, Stop, Support};
use toolsmith_testing::model_server::{ModelServer, Script, Seen, Step};

use crate::client_support::{KEY, MODEL, PROVIDERS, WAYS, Way, ask, model, question};

fn calls() -> Vec<RawCall> {
    vec![
        RawCall::new("weather", json!({"city": "Bern", "days": [1, 2]})),
        RawCall::new("weather", json!({"city": "Zürich"})),
        RawCall::new("now", json!({})),
    ]
}

#[tokio::test]
async fn whole_and_streamed_answers_are_the_same() {
    for provider in PROVIDERS {
        for step in [
            Step::say("Sunny, with a little föhn."),
            Step::call("I look.", calls()),
            Step::call("", calls()),
        ] {
            let mut answers = Vec::new();
            for way in WAYS {
                let server = ModelServer::start([step.clone()]);
                let model = model(&server, provider, HttpSettings::default());
                let answer = ask(&model, way).await.answer();
                assert_eq!(server.requests()[0].streamed, way == Way::Streamed);
                answers.push(answer);
            }
            let [mut whole, mut streamed] = <[_; 2]>::try_from(answers).unwrap();
            assert_eq!(whole.stop, Stop::Done, "{provider}");
            assert!(whole.usage.output_tokens > 0, "{provider}");
            // What asks for a stream is read, too.
            assert!(whole.usage.input_tokens > 10, "{provider}");
            assert!(streamed.usage.input_tokens >= whole.usage.input_tokens);
            assert_eq!(streamed.usage.output_tokens, whole.usage.output_tokens);
            (whole.usage, streamed.usage) = Default::default();
            assert_eq!(whole, streamed, "{provider}: {step:?}");
            let expected = match &step {
                Step::Call(_, calls) => calls.as_slice(),
                _ => &[],
            };
            let made: Vec<_> = (whole.raw_calls().into_iter())
                .map(|call| (call.name, call.arguments))
                .collect();
            let expected: Vec<_> = (expected.iter())
                .map(|call| (call.name.clone(), call.arguments.clone()))
                .collect();
            assert_eq!(made, expected, "{provider}");
        }
    }
}

/// What a request must look like: its path, whole and streamed, the header with the key,
/// other headers, and what is added to the body, whole and streamed.
struct Wanted {
    provider: Provider,
    paths: [&'static str; 2],
    key: (&'static str, &'static str),
    added: [Value; 2],
}

fn wanted() -> [Wanted; 6] {
    let chat = |provider, options: bool| Wanted {
        provider,
        paths: ["/v1/chat/completions"; 2],
        key: ("authorization", "Bearer "),
        added: [
            json!({"model": MODEL}),
            match options {
                true => {
                    json!({"model": MODEL, "stream": true, "stream_options": {"include_usage": true}})
                }
                false => json!({"model": MODEL, "stream": true}),
            },
        ],
    };
    [
        chat(Provider::OpenAi, true),
        chat(Provider::Mistral, false),
        Wanted {
            provider: Provider::OpenAiResponses,
            paths: ["/v1/responses"; 2],
            key: ("authorization", "Bearer "),
            added: [
                json!({"model": MODEL}),
                json!({"model": MODEL, "stream": true}),
            ],
        },
        Wanted {
            provider: Provider::Anthropic,
            paths: ["/v1/messages"; 2],
            key: ("x-api-key", ""),
            added: [
                json!({"model": MODEL, "max_tokens": 8192}),
                json!({"model": MODEL, "max_tokens": 8192, "stream": true}),
            ],
        },
        Wanted {
            provider: Provider::Gemini,
            paths: [
                "/v1beta/models/some-model:generateContent",
                "/v1beta/models/some-model:streamGenerateContent?alt=sse",
            ],
            key: ("x-goog-api-key", ""),
            added: [json!({}), json!({})],
        },
        Wanted {
            provider: Provider::Ollama,
            paths: ["/api/chat"; 2],
            key: ("authorization", "Bearer "),
            added: [
                json!({"model": MODEL, "stream": false}),
                json!({"model": MODEL, "stream": true}),
            ],
        },
    ]
}

#[tokio::test]
async fn requests_are_as_the_provider_wants_them() {
    for wanted in wanted() {
        let provider = wanted.provider;
        let server = ModelServer::start([Step::say("Sunny."), Step::say("Sunny.")]);
        let model = model(&server, provider, HttpSettings::default());
        for way in WAYS {
            ask(&model, way).await.answer();
        }
        let seen = server.requests();
        for (index, seen) in seen.iter().enumerate() {
            assert_eq!(seen.path, wanted.paths[index]);
            let (header, before) = wanted.key;
            assert!(
                seen.carries(header, &format!("{before}{KEY}")),
                "{provider}"
            );
            // The key is shown once, and nowhere else.
            assert_eq!(keys_in(seen), 1, "{provider}");
            assert_eq!(seen.header("content-type"), Some("application/json"));
            let version = (provider == Provider::Anthropic).then_some("2023-06-01");
            assert_eq!(seen.header("anthropic-version"), version);
            let mut expected = question(provider);
            for (key, value) in wanted.added[index].as_object().unwrap() {
                expected[key] = value.clone();
            }
            assert_eq!(seen.body, expected, "{provider}");
        }
    }
}

fn keys_in(seen: &Seen) -> usize {
    let hidden = seen.headers.iter().filter(|(_, value)| value == "[hidden]");
    hidden.count() + seen.path.matches(KEY).count() + seen.body.to_string().matches(KEY).count()
}

#[tokio::test]
async fn what_a_request_says_itself_stays() {
    let server = ModelServer::start(Script::default().then_always(Step::say("Sunny.")));
    let settings = HttpSettings::default().with_max_tokens(7);
    for (provider, said, kept) in [
        (
            Provider::Anthropic,
            json!({"max_tokens": 50}),
            json!({"max_tokens": 50, "model": MODEL}),
        ),
        (
            Provider::Anthropic,
            json!({}),
            json!({"max_tokens": 7, "model": MODEL}),
        ),
        // What asks for a stream is the client's to say.
        (
            Provider::OpenAi,
            json!({"stream": true, "stream_options": {}, "model": "other"}),
            json!({"model": MODEL}),
        ),
    ] {
        let before = server.requests().len();
        model(&server, provider, settings.clone())
            .complete(said)
            .await
            .unwrap();
        assert_eq!(server.requests()[before].body, kept);
    }
    let options = json!({"stream_options": {"include_obfuscation": false}});
    let openai = model(&server, Provider::OpenAi, settings);
    openai.stream(options, &mut |_| {}).await.unwrap();
    let body = &server.requests()[3].body;
    let kept = json!({"include_obfuscation": false, "include_usage": true});
    assert_eq!(body["stream_options"], kept);
}

#[tokio::test]
async fn calls_are_made_by_the_names_of_the_request() {
    let long = format!("a.{}", "x".repeat(80));
    let hashed = format!("a_{}_{}", "x".repeat(53), "0123abcd");
    let calls =
        ["files.read", "plain", "never_offered", &long].map(|name| RawCall::new(name, json!({})));
    let server = ModelServer::start([Step::call("", calls)]);
    let model = model(&server, Provider::Gemini, HttpSettings::default());
    let names = ["plain", "files_read", hashed.as_str()].map(|name| json!({"name": name}));
    let mut request = question(Provider::Gemini);
    request["tools"] = json!([{"functionDeclarations": names}]);
    let body = model.complete(request).await.unwrap();
    let answer = toolsmith_provider::parse::parse(Provider::Gemini, &body, &Default::default());
    let made: Vec<_> = answer
        .unwrap()
        .calls
        .into_iter()
        .map(|call| call.declared_name)
        .collect();
    assert_eq!(made, ["files_read", "plain", "never_offered", &hashed]);
}

#[tokio::test]
async fn a_server_can_look_at_what_it_was_asked() {
    for provider in PROVIDERS {
        let answering = Step::answer(|request| Step::say(request.to_string()));
        let server = ModelServer::start([
            answering,
            Step::write("So:", [RawCall::new("now", json!({}))]),
        ]);
        let model = model(&server, provider, HttpSettings::default());
        let answer = ask(&model, Way::Streamed).await.answer();
        assert!(
            answer.text.contains("How is the weather in Bern?"),
            "{provider}"
        );
        let answer = ask(&model, Way::Whole).await.answer();
        assert!(
            answer.text.starts_with("So:\n{\"name\":"),
            "{}",
            answer.text
        );
        assert_eq!(server.left(), 0);
        // Then the script has ended, and says so.
        let model = self::model(&server, provider, HttpSettings::default().with_tries(1));
        let error = ask(&model, Way::Whole).await.error();
        assert!(error.message.contains("the script has ended"), "{error}");
    }
}

#[tokio::test]
async fn numbers_of_calls_differ_from_answer_to_answer() {
    for provider in PROVIDERS {
        let server = ModelServer::start([Step::call("", calls()), Step::call("", calls())]);
        let model = model(&server, provider, HttpSettings::default());
        let mut ids = Vec::new();
        for way in WAYS {
            let answer = ask(&model, way).await.answer();
            ids.extend(answer.calls.iter().map(|call| call.id().to_string()));
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 6, "{provider}: {ids:?}");
    }
}

#[tokio::test]
async fn support_is_by_the_table_unless_somebody_knows_better() {
    let server = ModelServer::start([]);
    let usual = model(&server, Provider::Ollama, HttpSettings::default());
    assert_eq!(usual.supports_function_calling(), Support::Unknown);
    let settings = HttpSettings::default().with_support(Support::No);
    let told = model(&server, Provider::Ollama, settings);
    assert_eq!(told.supports_function_calling(), Support::No);
}

#[tokio::test]
async fn a_conversation_is_sent_as_it_is() {
    let provider = Provider::OpenAiCompatible;
    let server = ModelServer::start([Step::say("Sunny.")]);
    let model = model(&server, provider, HttpSettings::default());
    // Ten megabytes pass.
    let long = "weather ".repeat(10 << 17);
    let request = json!({conversation_field(provider): [user_text(provider, &long)]});
    model.complete(request.clone()).await.unwrap();
    assert_eq!(server.requests()[0].body["messages"], request["messages"]);
}
