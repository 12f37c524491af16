//! The official SDKs of model providers: their types take the product's declarations, and
//! the product reads the answers and streams they write.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::process::finish;
use super::product::Product;
use super::tally::Tally;
use super::{Context, python};

const PROVIDERS: &[&str] = &[
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "mistral",
    "ollama",
];

/// How long one of their programs may take; importing an SDK takes seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Declares to each provider's SDK and reads what it answers.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let theirs = Theirs {
        python: python::model_sdks(&context.home)?,
        script: python::script(&context.root, "formats.py"),
        files: context.home.fresh_folder("formats")?,
    };
    let product = Product::build(context)?;
    let mut tally = Tally::default();
    for provider in PROVIDERS {
        for strict in [false, true] {
            let title = format!("{provider}, {}", if strict { "strict" } else { "plain" });
            tally.note(&title, check(&product, &theirs, provider, strict));
        }
    }
    tally.finish()
}

/// The Python with the SDKs, the script that drives them, and where files are put.
struct Theirs {
    python: PathBuf,
    script: PathBuf,
    files: PathBuf,
}

impl Theirs {
    fn run(&self, what: &str, provider: &str, file: &Path) -> anyhow::Result<String> {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args([what, provider]).arg(file);
        finish(&mut command, LIMIT)?.successful()
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let file = self.files.join(name);
        std::fs::write(&file, text).with_context(|| format!("failed to write {file:?}"))?;
        Ok(file)
    }
}

fn check(product: &Product, theirs: &Theirs, provider: &str, strict: bool) -> anyhow::Result<()> {
    let strictly: &[&str] = if strict { &["--strict"] } else { &[] };
    let words = |command| [&[command, "--for", provider], strictly].concat();
    let tools = product.command(words("declare"))?;
    let file = theirs.write("tools.json", &tools)?;
    theirs.run("accept", provider, &file)?;

    let calls = calls(provider);
    let file = theirs.write("calls.json", &calls.to_string())?;
    let answer: Value = serde_json::from_str(&theirs.run("answer", provider, &file)?)?;
    for form in ["body", "stream"] {
        let text = answer[form].as_str().context("no text was written")?;
        let file = theirs.write(form, text)?;
        let mut words = words("parse");
        words.push(file.to_str().context("a path that is no text")?);
        let read: Value = serde_json::from_str(&product.command(words)?)?;
        same(&calls, &read).with_context(|| format!("the {form} was read as {read}"))?;
    }
    Ok(())
}

/// What the SDKs are told to answer. Their numbers fit every provider.
fn calls(provider: &str) -> Value {
    // Ollama's calls have no numbers.
    let id = |id: &str| match provider {
        "ollama" => Value::Null,
        _ => id.into(),
    };
    json!([
        { "id": id("aaaaaaaa1"), "name": "example_add", "arguments": { "a": 2, "b": 3.5 } },
        { "id": id("aaaaaaaa2"), "name": "example_echo", "arguments": { "text": "ä \"q\"\n</tool_call>" } },
        { "id": id("aaaaaaaa3"), "name": "no_such_tool", "arguments": { "list": [1, null, {}] } },
    ])
}

fn same(calls: &Value, read: &Value) -> anyhow::Result<()> {
    ensure!(read["text"] == "Let me see.", "another text");
    let calls = calls.as_array().context("no list")?;
    let got = read["calls"].as_array().context("no calls")?;
    ensure!(got.len() == calls.len(), "{} calls", got.len());
    for (call, got) in calls.iter().zip(got) {
        let same_id = call["id"].is_null() || call["id"] == got["id"];
        let same_call = call["name"] == got["name"] && call["arguments"] == got["arguments"];
        ensure!(same_id && same_call, "{got} instead of {call}");
        ensure!(got["complete"] == true, "{got} is not complete");
        ensure!(got["repairs"] == json!([]), "{got} was repaired");
    }
    Ok(())
}
