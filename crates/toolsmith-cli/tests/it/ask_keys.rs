//! Keys: where they are from, whom they are shown to, and that they are nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Script, Step};

use crate::ask::{Asking, CLIENTS, call};
use crate::support::{Ran, User, user};

/// The shape of no provider's key, so that nobody knows it by its looks.
const KEY: &str = "planted-key-0123456789-of-nobody";

/// The header a key is shown in, and the variables for it and for the address.
const SHOWN: [(Provider, &str, &str, &str, &str); 5] = [
    (
        Provider::OpenAi,
        "openai/gpt-5",
        "authorization",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ),
    (
        Provider::OpenAiResponses,
        "openai-responses/gpt-5",
        "authorization",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ),
    (
        Provider::Anthropic,
        "anthropic/claude-sonnet-4-5",
        "x-api-key",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ),
    (
        Provider::Gemini,
        "gemini/gemini-2.5-flash",
        "x-goog-api-key",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
    ),
    (
        Provider::Ollama,
        "ollama/llama3.1",
        "authorization",
        "OLLAMA_API_KEY",
        "OLLAMA_HOST",
    ),
];

fn carried(header: &str) -> String {
    match header {
        "authorization" => format!("Bearer {KEY}"),
        _ => KEY.to_owned(),
    }
}

/// Every file there is.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.file_type().unwrap().is_dir() {
        true => files(&entry.path()),
        false => vec![entry.path()],
    });
    below.collect()
}

/// Checks that a run tells the key nowhere, and that none of the files it kept, of which
/// there are so many at least, holds it.
#[track_caller]
fn is_nowhere(user: &User, ran: &Ran, least: usize) {
    assert!(!ran.stdout.contains(KEY), "{ran:#?}");
    assert!(!ran.stderr.contains(KEY), "{ran:#?}");
    let kept = files(&user.home().join("state"));
    assert!(kept.len() >= least, "{kept:?}");
    for file in kept {
        let bytes = fs::read(&file).unwrap();
        let holds = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!holds, "{file:?}");
    }
}

/// A model that looks for the key in the places a tool can look at.
fn curious() -> [Step; 2] {
    let look = "env; cat /proc/self/environ /proc/$PPID/environ; cat toolsmith.yaml; true";
    let command = json!({ "command": look });
    [
        Step::call("I look.", [call("bash", command)]),
        Step::say("Nothing."),
    ]
}

#[test]
fn keys_of_the_usual_variables() {
    for (provider, model, header, key, url) in SHOWN {
        let server = ModelServer::start(curious());
        let user = user().with(key, KEY).with(url, &server.url(provider));
        let words = ["ask", "Look.", "--model", model, "--yes", "-vvv"];
        let ran = user.runs(words).ends_with(0).prints("Nothing.\n");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{model}");
        for request in &requests {
            assert!(request.carries(header, &carried(header)), "{model}");
            assert!(!request.body.to_string().contains(KEY), "{model}");
        }
        // A record and a conversation.
        is_nowhere(&user, &ran, 2);
    }
}

#[test]
fn keys_of_the_configuration() {
    for (provider, model, header, _, url_variable) in SHOWN {
        let server = ModelServer::start(curious());
        let word = provider.word();
        let url = server.url(provider);
        let user = user()
            .with("MY_KEY", KEY)
            // A key of the configuration goes where the configuration says.
            .with(url_variable, "http://127.0.0.1:1")
            .having(
                "toolsmith.yaml",
                format!("model: {model}\nproviders:\n  {word}: {{ url: {url}, key: \"${{env:MY_KEY}}\", headers: {{ x-team: \"${{env:MY_KEY}}\" }} }}\n"),
            );
        let words = ["ask", "Look.", "--yes", "-vvv"];
        let ran = user.runs(words).ends_with(0).prints("Nothing.\n");
        for request in &server.requests() {
            assert!(request.carries(header, &carried(header)), "{model}");
            assert!(request.carries("x-team", KEY), "{model}");
            assert!(!request.body.to_string().contains(KEY), "{model}");
        }
        // A record and a conversation.
        is_nowhere(&user, &ran, 2);
    }
}

#[test]
fn a_key_that_is_not_there_is_told_by_its_name() {
    let user = user().having(
        "toolsmith.yaml",
        "model: openai/gpt-5\nproviders: { openai: { key: \"${env:MY_KEY}\" } }\n",
    );
    user.runs(["ask", "Hi."]).ends_with(2).says("MY_KEY");
}

/// Servers repeat what they were shown: when they refuse, and in the middle of an answer.
#[test]
fn a_server_that_repeats_the_key_does_not_spread_it() {
    for (provider, model, header, key, url) in SHOWN {
        let error = json!({ "type": "error", "error": { "message": format!("bad key {KEY}"), "type": "x" } });
        let refusal = |status: u16| Step::Status(status, Vec::new(), error.to_string());
        let event = match provider {
            Provider::Ollama => format!("{}\n", json!({ "error": format!("bad key {KEY}") })),
            _ => format!("event: error\ndata: {error}\n\n"),
        };
        for (step, status, told) in [
            (refusal(401), 3, format!("check the key in {key}")),
            (refusal(400), 1, "bad key".to_owned()),
            (Step::Raw(event.into()), 1, "bad key".to_owned()),
        ] {
            let server = ModelServer::start(Script::default().then_always(step));
            let user = user().with(key, KEY).with(url, &server.url(provider));
            for more in [&[][..], &["--json"]] {
                let words = [&["ask", "Hi.", "--model", model, "-vvv"], more].concat();
                let ran = user.runs(words);
                is_nowhere(&user, &ran, 1);
                if more.is_empty() {
                    let ran = ran.ends_with(status).says(&told);
                    assert!(ran.stderr.contains("[hidden]"), "{ran:#?}");
                    assert!(server.requests()[0].carries(header, &carried(header)));
                }
            }
        }
    }
}

#[test]
fn a_server_on_this_machine_needs_no_key() {
    for client in CLIENTS {
        let asking = Asking::new(client, [Step::say("Hello.")]);
        asking.asks(&["Hi."]).ends_with(0).prints("Hello.\n");
        let request = &asking.server.requests()[0];
        for header in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(request.header(header), None, "{client:?}");
        }
    }
    // And is shown none, unless it was named.
    let server = ModelServer::start([Step::say("Hello."), Step::say("Hello.")]);
    let url = server.url(Provider::OpenAi);
    let user = user().with("OPENAI_API_KEY", KEY).having(
        "toolsmith.yaml",
        format!(
            "model: openai-compatible/x\nproviders: {{ openai-compatible: {{ url: {url} }} }}\n"
        ),
    );
    user.runs(["ask", "Hi."]).ends_with(0).prints("Hello.\n");
    assert_eq!(server.requests()[0].header("authorization"), None);
}
