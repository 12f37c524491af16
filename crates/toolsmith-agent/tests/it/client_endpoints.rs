//! Names of models, and where they are by the variables of their own packages.

use secrecy::SecretString;
use toolsmith_agent::client::{Endpoint, HttpModel, HttpSettings, ModelName};
use toolsmith_provider::{ModelClient, Provider};
use toolsmith_testing::model_server::{ModelServer, Step};

use crate::client_support::{KEY, Variables};

const KNOWN: &str = "openai, openai-responses, openai-functions, openai-compatible, mistral, deepseek, qwen, anthropic, gemini, ollama";

#[test]
fn names_of_models() {
    for (text, provider, model) in [
        ("openai/gpt-5", Provider::OpenAi, "gpt-5"),
        ("ollama/qwen3:8b", Provider::Ollama, "qwen3:8b"),
        (
            "openai-compatible/meta-llama/Llama-3.3-70B",
            Provider::OpenAiCompatible,
            "meta-llama/Llama-3.3-70B",
        ),
        (
            "gemini/models/gemini-3-pro",
            Provider::Gemini,
            "models/gemini-3-pro",
        ),
        ("openai-responses//x", Provider::OpenAiResponses, "/x"),
    ] {
        let name: ModelName = text.parse().unwrap();
        assert_eq!((name.provider, name.model.as_str()), (provider, model));
        assert_eq!(name.to_string(), text);
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(serde_json::from_str::<ModelName>(&json).unwrap(), name);
    }
    for (text, error) in [
        (
            "gpt-5",
            "\"gpt-5\" names no model; write it as PROVIDER/MODEL, where PROVIDER is one of {known}",
        ),
        (
            "",
            "\"\" names no model; write it as PROVIDER/MODEL, where PROVIDER is one of {known}",
        ),
        (
            "openai/",
            "\"openai/\" names no model; write it as PROVIDER/MODEL, where PROVIDER is one of {known}",
        ),
        (
            "openai/a b",
            "\"openai/a b\" names no model; write it as PROVIDER/MODEL, where PROVIDER is one of {known}",
        ),
        (
            "opnai/gpt-5",
            "unknown provider \"opnai\"; known are {known}",
        ),
        ("/gpt-5", "unknown provider \"\"; known are {known}"),
        (
            "bedrock/claude",
            "models of bedrock cannot be reached from here; those that can are {known}",
        ),
        (
            "cohere/command",
            "models of cohere cannot be reached from here; those that can are {known}",
        ),
        (
            "mcp/x",
            "models of mcp cannot be reached from here; those that can are {known}",
        ),
        (
            "text/x",
            "models of text cannot be reached from here; those that can are {known}",
        ),
    ] {
        let told = text.parse::<ModelName>().unwrap_err().to_string();
        assert_eq!(told, error.replace("{known}", KNOWN));
    }
}

/// Where a provider is by some variables, whether it has a key, or why it is nowhere.
fn check(
    provider: Provider,
    variables: &[(&'static str, &'static str)],
    expected: Result<(&str, bool), &str>,
) {
    let endpoint = Endpoint::usual(provider, &Variables::from(variables));
    let found = endpoint
        .as_ref()
        .map(|found| (found.url(), found.has_key()));
    match expected {
        Ok(expected) => assert_eq!(found.unwrap(), expected, "{variables:?}"),
        Err(expected) => assert_eq!(found.unwrap_err().to_string(), expected, "{variables:?}"),
    }
}

#[test]
fn endpoints_by_the_usual_variables() {
    use Provider::{Anthropic, Gemini, Mistral, OpenAi, OpenAiCompatible, OpenAiResponses};
    let key = ("OPENAI_API_KEY", KEY);
    check(OpenAi, &[key], Ok(("https://api.openai.com/v1", true)));
    check(
        OpenAiResponses,
        &[key],
        Ok(("https://api.openai.com/v1", true)),
    );
    check(
        OpenAi,
        &[],
        Err("models of openai need a key: set OPENAI_API_KEY"),
    );
    check(
        OpenAi,
        &[("OPENAI_API_KEY", "  ")],
        Err("models of openai need a key: set OPENAI_API_KEY"),
    );
    check(
        OpenAi,
        &[key, ("OPENAI_BASE_URL", "https://gateway.example/v1/")],
        Ok(("https://gateway.example/v1/", true)),
    );
    check(
        OpenAi,
        &[("OPENAI_BASE_URL", "https://gateway.example/v1/")],
        Err("models of openai need a key: set OPENAI_API_KEY"),
    );
    // A server on this machine needs none.
    for (url, read) in [
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1"),
        ("http://[::1]:1234/v1", "http://[::1]:1234/v1"),
        ("http://127.8.9.1/v1", "http://127.8.9.1/v1"),
    ] {
        check(OpenAi, &[("OPENAI_BASE_URL", url)], Ok((read, false)));
    }
    // A name that merely begins like this machine's is another's.
    for url in ["http://localhost.example/v1", "http://127.0.0.1.example/v1"] {
        check(
            OpenAi,
            &[("OPENAI_BASE_URL", url)],
            Err("models of openai need a key: set OPENAI_API_KEY"),
        );
    }
    // OpenAI's key is not for whoever listens at a usual port.
    check(
        OpenAiCompatible,
        &[key],
        Ok(("http://127.0.0.1:8000/v1", false)),
    );
    check(
        OpenAiCompatible,
        &[key, ("OPENAI_BASE_URL", "http://10.0.0.7:8080/v1")],
        Ok(("http://10.0.0.7:8080/v1", true)),
    );
    check(
        OpenAiCompatible,
        &[("OPENAI_BASE_URL", "http://10.0.0.7:8080/v1")],
        Ok(("http://10.0.0.7:8080/v1", false)),
    );
    check(
        Anthropic,
        &[("ANTHROPIC_API_KEY", KEY)],
        Ok(("https://api.anthropic.com/", true)),
    );
    check(
        Anthropic,
        &[("ANTHROPIC_AUTH_TOKEN", KEY)],
        Ok(("https://api.anthropic.com/", true)),
    );
    check(
        Anthropic,
        &[],
        Err("models of anthropic need a key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
    );
    check(
        Gemini,
        &[("GOOGLE_API_KEY", KEY)],
        Ok(("https://generativelanguage.googleapis.com/", true)),
    );
    check(
        Gemini,
        &[],
        Err("models of gemini need a key: set GEMINI_API_KEY or GOOGLE_API_KEY"),
    );
    check(
        Mistral,
        &[("MISTRAL_API_KEY", KEY)],
        Ok(("https://api.mistral.ai/v1", true)),
    );
    check(
        Provider::DeepSeek,
        &[("DEEPSEEK_API_KEY", KEY)],
        Ok(("https://api.deepseek.com/v1", true)),
    );
    check(
        Provider::Qwen,
        &[("DASHSCOPE_API_KEY", KEY)],
        Ok(("https://dashscope.aliyuncs.com/compatible-mode/v1", true)),
    );
    check(
        Provider::Bedrock,
        &[],
        Err(&format!(
            "models of bedrock cannot be reached from here; those that can are {KNOWN}"
        )),
    );
}

#[test]
fn addresses_that_are_none() {
    let help = "write it as http://host:port/path or https://host/path";
    for (url, reason) in [
        ("gateway.example/v1", "relative URL without a base"),
        (
            "ftp://gateway.example/v1",
            "its scheme is neither http nor https",
        ),
        ("localhost:8000", "its scheme is neither http nor https"),
        ("http://", "empty host"),
        (
            "https://user:hunter2@gateway.example",
            "it holds a user name or a password; keys are sent as a header",
        ),
        (
            "https://gateway.example/?key=hunter2",
            "it has a query or a fragment",
        ),
    ] {
        let expected = format!("OPENAI_BASE_URL is no address of a model: {reason}; {help}");
        check(
            Provider::OpenAi,
            &[("OPENAI_BASE_URL", url)],
            Err(&expected),
        );
        let error = Endpoint::new(Provider::OpenAi)
            .unwrap()
            .with_url(url)
            .unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

#[test]
fn spellings_of_the_host_of_ollama() {
    for (host, url) in [
        ("", "http://127.0.0.1:11434/"),
        ("0.0.0.0", "http://127.0.0.1:11434/"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/"),
        (":8080", "http://127.0.0.1:8080/"),
        ("localhost", "http://localhost:11434/"),
        ("box", "http://box:11434/"),
        ("box:", "http://box:11434/"),
        ("box:8080", "http://box:8080/"),
        ("box/ollama", "http://box:11434/ollama"),
        (" \"box:8080\" ", "http://box:8080/"),
        ("10.0.0.7", "http://10.0.0.7:11434/"),
        ("http://box", "http://box/"),
        ("http://box:8080/", "http://box:8080/"),
        ("http://0.0.0.0:11434", "http://127.0.0.1:11434/"),
        ("https://ollama.example", "https://ollama.example/"),
        (
            "https://ollama.example:8443/path",
            "https://ollama.example:8443/path",
        ),
        ("[::]", "http://[::1]:11434/"),
        ("[::]:8080", "http://[::1]:8080/"),
        ("[::1]", "http://[::1]:11434/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("::1", "http://[::1]:11434/"),
    ] {
        check(Provider::Ollama, &[("OLLAMA_HOST", host)], Ok((url, false)));
    }
    for (host, reason) in [
        ("ftp://box", "its scheme is neither http nor https"),
        ("box:port", "invalid port number"),
        ("box:99999", "invalid port number"),
    ] {
        let help = "write it as http://host:port/path or https://host/path";
        let expected = format!("OLLAMA_HOST is no address of a model: {reason}; {help}");
        check(Provider::Ollama, &[("OLLAMA_HOST", host)], Err(&expected));
    }
}

#[test]
fn a_key_is_for_its_own_server() {
    let endpoint = Endpoint::new(Provider::OpenAi).unwrap();
    let endpoint = endpoint.with_key(SecretString::from(KEY));
    let same = endpoint
        .clone()
        .with_url("https://api.openai.com/v2")
        .unwrap();
    assert!(same.has_key());
    for other in [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://example.com/v1",
    ] {
        assert!(
            !endpoint.clone().with_url(other).unwrap().has_key(),
            "{other}"
        );
    }
    let asked = Endpoint::new(Provider::OpenAi).unwrap();
    let asked = asked.with_url("https://example.com/v1").unwrap();
    assert!(
        asked
            .with_usual_key(&Variables::from(&[("OPENAI_API_KEY", KEY)][..]))
            .has_key()
    );
}

#[tokio::test]
async fn tokens_and_headers() {
    let server = ModelServer::start([Step::say("Sunny."), Step::say("Sunny.")]);
    let variables = [("ANTHROPIC_AUTH_TOKEN", "token-1"), ("OPENAI_API_KEY", KEY)];
    let url = server.url(Provider::Anthropic);
    for endpoint in [
        Endpoint::new(Provider::Anthropic)
            .unwrap()
            .with_url(&url)
            .unwrap()
            .with_usual_key(&Variables::from(&variables[..])),
        Endpoint::new(Provider::Anthropic)
            .unwrap()
            .with_url(&format!("{url}/v1/"))
            .unwrap()
            .with_bearer("token-1".into()),
    ] {
        let endpoint = endpoint.with_header("anthropic-version", "2030-01-01".into());
        let endpoint = endpoint.with_header("x-gateway", "token-2".into());
        let model = HttpModel::new(endpoint, "some-model", HttpSettings::default()).unwrap();
        assert!(!format!("{model:?}").contains("token-"));
        model.complete(serde_json::json!({})).await.unwrap();
    }
    for seen in server.requests() {
        assert_eq!(seen.path, "/v1/messages");
        assert!(seen.carries("authorization", "Bearer token-1"));
        assert_eq!(seen.header("x-api-key"), None);
        assert_eq!(seen.header("x-gateway"), Some("token-2"));
        assert_eq!(seen.header("anthropic-version"), Some("2030-01-01"));
    }
}

#[test]
fn what_cannot_be_sent_is_told_without_telling_it() {
    let endpoint = || Endpoint::new(Provider::OpenAi).unwrap();
    for (endpoint, model, expected) in [
        (
            endpoint().with_key("sk\nhidden".into()),
            "m",
            "the configured key cannot be sent: it holds characters that no header may have",
        ),
        (
            endpoint().with_header("x", "a\0hidden".into()),
            "m",
            "the header \"x\" cannot be sent: it holds characters that no header may have",
        ),
        (
            endpoint().with_header("x y", "hidden".into()),
            "m",
            "the header \"x y\" cannot be sent: it holds characters that no header may have",
        ),
        (
            endpoint(),
            "",
            "the model has no name, or one with blanks or of more than 256 characters",
        ),
    ] {
        let error = HttpModel::new(endpoint, model, HttpSettings::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!format!("{error:?}").contains("hidden"));
    }
}

#[tokio::test]
async fn names_stay_in_their_place_in_addresses() {
    let server = ModelServer::start([]);
    for (name, path) in [
        ("gemini-3", "/v1beta/models/gemini-3:generateContent"),
        ("models/gemini-3", "/v1beta/models/gemini-3:generateContent"),
        (
            "tunedModels/mine",
            "/v1beta/tunedModels/mine:generateContent",
        ),
        ("../../x", "/v1beta/models/..%2F..%2Fx:generateContent"),
        (
            "models/../x?y#z",
            "/v1beta/models/..%2Fx%3Fy%23z:generateContent",
        ),
    ] {
        let endpoint = Endpoint::new(Provider::Gemini).unwrap();
        let endpoint = endpoint.with_url(&server.url(Provider::Gemini)).unwrap();
        let settings = HttpSettings::default().with_tries(1);
        let model = HttpModel::new(endpoint, name, settings).unwrap();
        let _ = model.complete(serde_json::json!({})).await;
        assert_eq!(server.requests().pop().unwrap().path, path);
    }
}
