//! The scripted model server as a program, for tests that are no Rust.
//!
//! `model_server SCRIPT.json` writes one line of JSON to stdout, the address of each
//! provider, and answers until its stdin is closed. Then it writes another: the requests it
//! saw, in their order, without keys.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;

use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Script};

const PROVIDERS: [Provider; 5] = [
    Provider::OpenAi,
    Provider::OpenAiResponses,
    Provider::Anthropic,
    Provider::Gemini,
    Provider::Ollama,
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(path), None) = (words.next(), words.next()) else {
        let _ = writeln!(std::io::stderr(), "usage: model_server SCRIPT.json");
        return ExitCode::from(2);
    };
    match serve(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "model_server: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(path: &str) -> Result<(), Box<dyn Error>> {
    let script = Script::read(&std::fs::read_to_string(path)?)?;
    let server = ModelServer::start(script);
    let urls = PROVIDERS.map(|provider| (provider.word(), server.url(provider)));
    let urls: BTreeMap<&str, String> = urls.into();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", serde_json::to_string(&urls)?)?;
    stdout.flush()?;
    std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink())?;
    writeln!(stdout, "{}", serde_json::to_string(&server.requests())?)?;
    Ok(())
}
