//! Errors of servers: their kinds, what is handed on, and that no key is in any of them.

use serde_json::json;
use toolsmith_agent::client::{Endpoint, HttpModel, HttpSettings};
use toolsmith_core::ErrorKind;
use toolsmith_provider::{ModelClient, Provider};
use toolsmith_testing::model_server::{ModelServer, Step};

use crate::client_support::{KEY, PROVIDERS, Variables, WAYS, Way, ask, model};

fn once() -> HttpSettings {
    HttpSettings::default().with_tries(1)
}

#[tokio::test]
async fn a_refusal_of_tools_is_handed_on() {
    for provider in PROVIDERS {
        for way in WAYS {
            let server = ModelServer::start([Step::RefuseTools]);
            let error = ask(&model(&server, provider, once()), way).await.unread();
            assert!(error.refuses_tools(), "{provider} {way:?}: {error}");
        }
    }
    // llama.cpp says it with a status that would be tried again.
    let told = json!({"error": {"code": 500, "message": "tools param requires --jinja flag"}});
    let step = Step::Status(500, vec![], told.to_string());
    let server = ModelServer::start([step]);
    let model = model(&server, Provider::OpenAiCompatible, HttpSettings::default());
    assert!(ask(&model, Way::Streamed).await.unread().refuses_tools());
}

#[tokio::test]
async fn errors_of_requests_are_handed_on_in_the_words_of_the_provider() {
    for provider in PROVIDERS {
        for (code, told) in [
            (
                400,
                json!({"error": {"message": "The context is too long.", "type": "invalid"}}),
            ),
            (404, json!({"error": "The context is too long."})),
            (422, json!({"detail": "The context is too long."})),
        ] {
            for way in WAYS {
                let server = ModelServer::start([Step::Status(code, vec![], told.to_string())]);
                let error = ask(&model(&server, provider, once()), way).await.unread();
                assert!(
                    error.to_string().contains("The context is too long."),
                    "{error}"
                );
                assert!(!error.refuses_tools());
            }
        }
    }
}

/// A message as it is told, with the address of the server taken out.
async fn told(provider: Provider, step: Step) -> (ErrorKind, String) {
    let server = ModelServer::start([step]);
    let error = ask(&model(&server, provider, once()), Way::Whole)
        .await
        .error();
    let origin = server.url(Provider::Ollama);
    (error.kind, error.message.replace(&origin, "ORIGIN"))
}

#[tokio::test]
async fn kinds_and_messages() {
    let said = |code, body: &str| Step::Status(code, vec![], body.to_owned());
    let json = r#"{"error": {"message": "Not today.", "type": "some_type"}}"#;
    let noise = "  <html>\n\u{1b}[31mBad\u{1b}[0m \u{202e}gateway</html>";
    for (step, kind, message) in [
        (
            said(401, json),
            ErrorKind::PermissionDenied,
            "ORIGIN answered 401 Unauthorized: Not today.; check the configured key",
        ),
        (
            said(403, json),
            ErrorKind::PermissionDenied,
            "ORIGIN answered 403 Forbidden: Not today.; check the configured key",
        ),
        (
            said(404, noise),
            ErrorKind::Failed,
            "ORIGIN answered 404 Not Found: <html> Bad gateway</html>; is ORIGIN/v1 the right address?",
        ),
        (
            said(404, ""),
            ErrorKind::Failed,
            "ORIGIN answered 404 Not Found; is ORIGIN/v1 the right address?",
        ),
        (
            said(302, ""),
            ErrorKind::Failed,
            "ORIGIN answered 302 Found; redirects are not followed: name the address itself",
        ),
        (
            said(418, "tea"),
            ErrorKind::Failed,
            "ORIGIN answered 418 I'm a teapot: tea",
        ),
        (
            said(429, json),
            ErrorKind::Exhausted,
            "ORIGIN answered 429 Too Many Requests: Not today.",
        ),
        (
            said(500, json),
            ErrorKind::Unavailable,
            "ORIGIN answered 500 Internal Server Error: Not today.",
        ),
        (
            said(502, noise),
            ErrorKind::Unavailable,
            "ORIGIN answered 502 Bad Gateway: <html> Bad gateway</html>",
        ),
        (
            said(529, json),
            ErrorKind::Unavailable,
            "ORIGIN answered 529 <unknown status code>: Not today.",
        ),
    ] {
        assert_eq!(
            told(Provider::OpenAi, step).await,
            (kind, message.to_owned())
        );
    }
    // However long it is, a little of it is told.
    let long = "word ".repeat(1 << 20);
    let (_, message) = told(Provider::OpenAi, said(500, &long)).await;
    assert!(message.len() < 600, "{}", message.len());
}

#[tokio::test]
async fn whose_key_it_was() {
    let variables = Variables::from(&[("GOOGLE_API_KEY", KEY)][..]);
    for (with_key, advice) in [
        (true, "; check the key in GOOGLE_API_KEY"),
        (
            false,
            "; it was asked without a key: set GEMINI_API_KEY or GOOGLE_API_KEY",
        ),
    ] {
        let server = ModelServer::start([Step::status(401)]);
        let endpoint = Endpoint::new(Provider::Gemini).unwrap();
        let endpoint = endpoint.with_url(&server.url(Provider::Gemini)).unwrap();
        let endpoint = match with_key {
            true => endpoint.with_usual_key(&variables),
            false => endpoint,
        };
        let model = HttpModel::new(endpoint, "m", once()).unwrap();
        let error = ask(&model, Way::Whole).await.error();
        assert!(error.message.ends_with(advice), "{error}");
    }
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let endpoint = Endpoint::new(Provider::Ollama).unwrap();
    let endpoint = endpoint.with_url(&format!("http://{address}")).unwrap();
    let model = HttpModel::new(endpoint, "m", once()).unwrap();
    let error = ask(&model, Way::Streamed).await.error();
    assert_eq!(error.kind, ErrorKind::Network);
    let before = format!("no connection to http://{address}: Connection refused");
    assert!(error.message.starts_with(&before), "{error}");
    assert!(
        error.message.ends_with("; is the server running there?"),
        "{error}"
    );
}

#[tokio::test]
async fn a_request_is_an_object() {
    let server = ModelServer::start([]);
    let model = model(&server, Provider::OpenAi, once());
    let error = model.complete(json!("Hello?")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn no_key_is_told() {
    let echo = format!(r#"{{"error": {{"message": "Incorrect key: {KEY}, {KEY}."}}}}"#);
    let garbage = format!("<p>{KEY}</p>");
    for provider in PROVIDERS {
        for step in [
            Step::Status(400, vec![], echo.clone()),
            Step::Status(401, vec![], echo.clone()),
            Step::Status(429, vec![("retry-after".into(), KEY.into())], echo.clone()),
            Step::Status(500, vec![], echo.clone()),
            Step::Status(404, vec![], garbage.clone()),
            Step::Status(
                302,
                vec![("location".into(), format!("/{KEY}"))],
                garbage.clone(),
            ),
            Step::Drop,
            Step::drop_after(1, Step::say(KEY)),
            // An error in the middle of an answer.
            Step::Raw(format!("data: {echo}\n\n").into()),
            Step::Raw(echo.clone().into()),
        ] {
            for way in WAYS {
                let server = ModelServer::start([step.clone()]);
                let model = model(&server, provider, once());
                let asked = ask(&model, way).await;
                let shown = format!("{asked:?} {model:?} {:#?} {:?}", model, server.requests());
                assert!(!shown.contains(KEY), "{provider} {step:?}: {shown}");
            }
        }
    }
}
