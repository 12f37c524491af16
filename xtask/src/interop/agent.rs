//! The official SDKs of model providers and `toolsmith ask`, in the same conversation with the
//! same scripted model: what the model is sent by the one and by the other is the same, and so
//! is what the two made of its answers.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::process::finish;
use super::product::{Product, model_server};
use super::tally::Tally;
use super::{Context, python};

/// A provider, a model of it, and the field in which a request holds the conversation.
const PROVIDERS: &[(&str, &str, &str)] = &[
    ("openai", "gpt-4.1", "messages"),
    ("openai-responses", "gpt-4.1", "input"),
    ("anthropic", "claude-haiku-4-5", "messages"),
    ("gemini", "gemini-2.5-flash", "contents"),
    ("ollama", "llama3.1", "messages"),
];

/// What else of a request is compared.
const BESIDE: &[&str] = &[
    "system",
    "instructions",
    "systemInstruction",
    "tools",
    "model",
];

const QUESTION: &str = "What is 40 and 2, and what does it say?";
const INSTRUCTIONS: &str = "Use the tools.";
const ANSWER: &str = "It is 42, and says: \u{e4} \"q\"";
const SAID: &str = "\u{e4} \"q\"\n</tool_call>";

/// How long one of their programs may take; importing an SDK takes seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Lets each SDK and the product hold the same conversation.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let stage = Stage {
        python: python::model_sdks(&context.home)?,
        script: python::script(&context.root, "agent.py"),
        server: model_server(context)?,
        product: Product::build(context)?,
        files: context.home.fresh_folder("agent")?,
    };
    stage.write("script.json", &script())?;
    let agent = json!({"tools": ["example_add", "example_echo"]});
    let agents = stage.product.root().join("agents");
    std::fs::create_dir_all(&agents)?;
    std::fs::write(agents.join("adder.yaml"), agent.to_string())?;
    let mut tally = Tally::default();
    for (provider, model, field) in PROVIDERS {
        for way in ["whole", "streamed"] {
            let title = format!("{provider}, {way}");
            tally.note(&title, check(&stage, provider, model, field, way));
        }
    }
    tally.finish()
}

/// What the model does: two calls, and an answer.
fn script() -> Value {
    json!([
        { "call": { "text": "I look.", "calls": [
            { "name": "example_add", "arguments": { "a": 40, "b": 2 } },
            { "name": "example_echo", "arguments": { "text": SAID } },
        ] } },
        { "say": ANSWER },
    ])
}

/// The programs that take part, and where files are put.
struct Stage {
    python: PathBuf,
    script: PathBuf,
    server: PathBuf,
    product: Product,
    files: PathBuf,
}

impl Stage {
    fn write(&self, name: &str, value: &Value) -> anyhow::Result<PathBuf> {
        let file = self.files.join(name);
        std::fs::write(&file, value.to_string())
            .with_context(|| format!("failed to write {file:?}"))?;
        Ok(file)
    }

    /// The conversation as the product holds it: the requests, and what it told.
    fn ours(&self, provider: &str, model: &str) -> anyhow::Result<(Vec<Value>, Value)> {
        let mut server = Server::start(&self.server, &self.files.join("script.json"))?;
        let name = format!("{provider}/{model}");
        let url = server.url(provider)?;
        let words = ["ask", QUESTION, "--model", &name, "--url", &url];
        let more = ["--instructions", INSTRUCTIONS, "--agent", "adder", "--json"];
        let events = self.product.command(words.iter().chain(&more))?;
        let events: Vec<Value> = { events.lines() }
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        Ok((server.requests()?, told(&events)?))
    }

    /// The same, as the provider's own SDK holds it.
    fn theirs(
        &self,
        provider: &str,
        model: &str,
        way: &str,
    ) -> anyhow::Result<(Vec<Value>, Value)> {
        let mut server = Server::start(&self.server, &self.files.join("script.json"))?;
        let words = ["declare", "--for", provider, "--agent", "adder"];
        let tools: Value = serde_json::from_str(&self.product.command(words)?)?;
        let plan = json!({
            "url": server.url(provider)?, "model": model, "question": QUESTION,
            "instructions": INSTRUCTIONS, "tools": tools,
            "results": { "example_add": 42, "example_echo": SAID },
        });
        let plan = self.write("plan.json", &plan)?;
        let mut command = Command::new(&self.python);
        command.arg(&self.script).args([provider, way]).arg(plan);
        let told = finish(&mut command, LIMIT)?.successful()?;
        Ok((server.requests()?, serde_json::from_str(&told)?))
    }
}

fn check(stage: &Stage, provider: &str, model: &str, field: &str, way: &str) -> anyhow::Result<()> {
    let (ours, our_telling) = stage.ours(provider, model)?;
    let (theirs, their_telling) = stage.theirs(provider, model, way)?;
    let expected = json!({
        "texts": ["I look.", ANSWER],
        "calls": [
            { "name": "example_add", "arguments": { "a": 40, "b": 2 } },
            { "name": "example_echo", "arguments": { "text": SAID } },
        ],
    });
    ensure!(
        our_telling == expected,
        "the product made of it {our_telling}"
    );
    ensure!(
        their_telling == expected,
        "the SDK made of it {their_telling}"
    );
    ensure!(
        (ours.len(), theirs.len()) == (2, 2),
        "{} and {} requests",
        ours.len(),
        theirs.len()
    );
    for (number, (one, other)) in ours.iter().zip(&theirs).enumerate() {
        ensure!(
            other["streamed"] == (way == "streamed"),
            "the SDK did not ask for what it was told to"
        );
        ensure!(
            place(one) == place(other),
            "asked at {} and at {}",
            one["path"],
            other["path"]
        );
        for part in std::iter::once(field).chain(BESIDE.iter().copied()) {
            let read = |request: &Value| {
                let mut value = plain(&request["body"][part]);
                if (provider, part) == ("ollama", field) {
                    without_numbers(&mut value);
                }
                // Whose words they are says the name of the field.
                if let ("systemInstruction", Value::Object(fields)) = (part, &mut value) {
                    fields.remove("role");
                }
                value
            };
            let (one, other) = (read(one), read(other));
            ensure!(
                one == other,
                "request {number}: {part} is {one}\nand of the SDK {other}"
            );
        }
        ensure!(!plain(&one["body"][field]).is_null(), "no conversation");
    }
    Ok(())
}

/// The path of a request, but for what says whether a stream is wanted.
fn place(request: &Value) -> Option<&str> {
    request["path"].as_str()?.split([':', '?']).next()
}

/// Takes out the numbers of calls, which Ollama's own package does not know.
fn without_numbers(messages: &mut Value) {
    for message in messages.as_array_mut().into_iter().flatten() {
        let calls = message["tool_calls"].as_array_mut().into_iter().flatten();
        for call in calls.filter_map(Value::as_object_mut) {
            call.retain(|key, _| key == "function");
        }
        if let Value::Object(message) = message {
            message.retain(|key, value| key != "tool_call_id" && !value.is_null());
        }
    }
}

/// What the events tell of the turns.
fn told(events: &[Value]) -> anyhow::Result<Value> {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for event in events {
        match event["event"].as_str() {
            Some("turn") => texts.push(String::new()),
            Some("text") => {
                let text = texts.last_mut().context("a text before any turn")?;
                text.push_str(event["text"].as_str().unwrap_or_default());
            }
            Some("calling") => {
                calls.push(json!({ "name": event["name"], "arguments": event["arguments"] }));
            }
            _ => {}
        }
    }
    Ok(json!({ "texts": texts, "calls": calls }))
}

/// A value without what each may choose: fields that are absent or empty, texts as such or as
/// a list of one, arguments as one or another text of the same JSON, and what describes a tool.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().map(plain).collect();
            match items.as_slice() {
                [] => Value::Null,
                [text @ Value::String(_)] => text.clone(),
                _ => Value::Array(items),
            }
        }
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !is_free(key));
            let plain = kept.map(|(key, value)| (in_snakes(key), argument(key, value)));
            let fields: serde_json::Map<_, _> =
                plain.filter(|(_, value)| !value.is_null()).collect();
            let is_text = (fields.get("type").and_then(Value::as_str))
                .is_some_and(|kind| TEXTS.contains(&kind));
            match fields.get("text") {
                Some(text) if is_text && fields.len() == 2 => text.clone(),
                _ => Value::Object(fields),
            }
        }
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

/// What a text is called where it is one of several blocks.
const TEXTS: [&str; 3] = ["text", "input_text", "output_text"];

/// Fields whose value is the sender's to choose, or that only answers have.
fn is_free(key: &str) -> bool {
    ["description", "annotations", "status", "index", "logprobs"].contains(&key)
}

/// Gemini's API takes both.
fn in_snakes(key: &str) -> String {
    let mut name = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn argument(key: &str, value: &Value) -> Value {
    // Gemini's types of schemas are words in capitals or not.
    if let ("type", Some(word)) = (key, value.as_str()) {
        return word.to_ascii_lowercase().into();
    }
    let written = value.as_str().filter(|_| key == "arguments");
    let read = written.and_then(|text| serde_json::from_str(text).ok());
    match read {
        Some(value) => plain(&value),
        None => plain(value),
    }
}

/// The scripted model, which tells at its end what it was asked.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    urls: Value,
}

impl Server {
    fn start(program: &Path, script: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .with_context(|| format!("failed to start {program:?}"))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut server = Self {
            child,
            stdout: BufReader::new(stdout),
            urls: Value::Null,
        };
        server.urls = server.line()?;
        Ok(server)
    }

    fn url(&self, provider: &str) -> anyhow::Result<String> {
        let url = self.urls[provider].as_str();
        Ok(url.context("the server knows no such provider")?.to_owned())
    }

    /// Ends it, and gives what it was asked.
    fn requests(&mut self) -> anyhow::Result<Vec<Value>> {
        drop(self.child.stdin.take());
        let requests = self.line()?;
        Ok(requests.as_array().context("no list of requests")?.clone())
    }

    fn line(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the server said {line:?}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_each_may_choose_is_the_same() {
        for (one, other) in [
            (json!({"a": null, "b": []}), json!({})),
            (
                json!({"content": [{"type": "text", "text": "x"}]}),
                json!({"content": "x"}),
            ),
            (
                json!({"arguments": "{\"a\": 1}"}),
                json!({"arguments": {"a": 1.0}}),
            ),
            (
                json!({"functionCall": {"name": "x"}}),
                json!({"function_call": {"name": "x"}}),
            ),
        ] {
            assert_eq!(plain(&one), plain(&other));
        }
        for (one, other) in [
            (json!({"content": "x"}), json!({"content": "y"})),
            (
                json!([{"text": "x"}, {"text": "y"}]),
                json!([{"text": "xy"}]),
            ),
            (json!({"role": "tool"}), json!({})),
            (json!([1, 2]), json!([2, 1])),
            (json!({"id": "1"}), json!({"id": "2"})),
            (
                json!({"arguments": {"text": "x"}}),
                json!({"arguments": "x"}),
            ),
        ] {
            assert_ne!(plain(&one), plain(&other));
        }
    }

    #[test]
    fn turns_are_told_by_their_events() {
        let events = [
            json!({"event": "turn"}),
            json!({"event": "text", "text": "a"}),
            json!({"event": "text", "text": "b"}),
            json!({"event": "calling", "name": "n", "arguments": {}, "index": 0}),
            json!({"event": "turn"}),
            json!({"event": "ended"}),
        ];
        let expected = json!({"texts": ["ab", ""], "calls": [{"name": "n", "arguments": {}}]});
        assert_eq!(told(&events).unwrap(), expected);
        assert!(told(&events[1..]).is_err());
    }
}
