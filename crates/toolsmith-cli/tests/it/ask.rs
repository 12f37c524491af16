//! `toolsmith ask`: the real program, and a scripted model at the other end of it. What the
//! tests of all its stories share stands here.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use toolsmith_core::RawCall;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::{ModelServer, Script};

use crate::client::until;
use crate::support::{Ran, User, user};

/// A client of models: whose words it speaks, and a model that is asked by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) provider: Provider,
    pub(crate) model: &'static str,
}

pub(crate) const CLIENTS: [Client; 5] = [
    Client {
        provider: Provider::OpenAiCompatible,
        model: "openai-compatible/local-model",
    },
    Client {
        provider: Provider::OpenAiResponses,
        model: "openai-responses/gpt-5",
    },
    Client {
        provider: Provider::Anthropic,
        model: "anthropic/claude-sonnet-4-5",
    },
    Client {
        provider: Provider::Gemini,
        model: "gemini/gemini-2.5-flash",
    },
    Client {
        provider: Provider::Ollama,
        model: "ollama/llama3.1",
    },
];

/// A person, and a model that says what a script says.
pub(crate) struct Asking {
    pub(crate) user: User,
    pub(crate) server: ModelServer,
    client: Client,
}

impl Asking {
    pub(crate) fn new(client: Client, script: impl Into<Script>) -> Self {
        Self::by(user(), client, script)
    }

    /// Where it does not matter which client it is.
    pub(crate) fn any(script: impl Into<Script>) -> Self {
        Self::new(CLIENTS[0], script)
    }

    pub(crate) fn by(user: User, client: Client, script: impl Into<Script>) -> Self {
        Self {
            user,
            server: ModelServer::start(script),
            client,
        }
    }

    /// The command line, from `ask` on.
    pub(crate) fn words(&self, words: &[&str]) -> Vec<String> {
        let url = self.server.url(self.client.provider);
        let first = ["ask", "--model", self.client.model, "--url", &url];
        let words = first.iter().chain(words);
        words.map(|word| (*word).to_owned()).collect()
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.user.command(self.words(words))
    }

    /// Asks, to the end.
    pub(crate) fn asks(&self, words: &[&str]) -> Ran {
        self.user.runs(self.words(words))
    }

    /// Asks for events, to the end.
    pub(crate) fn events(&self, words: &[&str]) -> Vec<Value> {
        self.asks(&[words, &["--json"]].concat()).lines()
    }

    /// Begins to ask for events.
    pub(crate) fn begins(&self, words: &[&str]) -> Asked {
        let mut child = self
            .command(&[words, &["--json"]].concat())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Asked { child, stdout }
    }

    /// Waits until the model was asked so often.
    pub(crate) fn is_asked(&self, times: usize) {
        until("the model is asked", || {
            self.server.requests().len() >= times
        });
    }

    /// The results in a request, in their order, each as it stands there.
    pub(crate) fn results(&self, request: usize) -> Vec<String> {
        results(&self.server.requests()[request].body)
    }

    /// The file of the only conversation.
    pub(crate) fn kept(&self) -> PathBuf {
        let kept = self.all_kept();
        assert_eq!(kept.len(), 1, "{kept:?}");
        kept[0].clone()
    }

    pub(crate) fn all_kept(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.user.home().join("state/toolsmith/conversations"));
        let folders = folders.into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.map(|file| file.path()).collect()
    }

    /// The lines of the only conversation, by what they are.
    pub(crate) fn entries(&self) -> Vec<String> {
        let text = fs::read_to_string(self.kept()).unwrap();
        let entry = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            let word = value["entry"].as_str().unwrap_or("head");
            match value["index"].as_u64() {
                Some(index) => format!("{word} {index}"),
                None => word.to_owned(),
            }
        };
        text.lines().map(entry).collect()
    }
}

/// A question under way.
pub(crate) struct Asked {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Asked {
    /// Reads events until one of this kind.
    #[track_caller]
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it ended before {kind:?}");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return event;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it without a word.
    pub(crate) fn is_killed(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end; the rest of its events are in stdout.
    pub(crate) fn ends(mut self) -> Ran {
        let mut stdout = String::new();
        self.stdout.read_to_string(&mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ran {
            stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code(),
        }
    }
}

/// The results a request tells, whoever's words it is in.
fn results(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let lists = ["messages", "input", "contents"].map(|field| body[field].as_array());
    for message in lists.into_iter().flatten().flatten() {
        let parts = [&message["content"], &message["parts"]].map(Value::as_array);
        let parts = parts.into_iter().flatten().flatten();
        for part in std::iter::once(message).chain(parts) {
            let is_message = part["role"] == "tool";
            let is_item = part["type"] == "function_call_output" || part["type"] == "tool_result";
            if is_message || is_item || part.get("functionResponse").is_some() {
                found.push(part.to_string());
            }
        }
    }
    found
}

/// The events of a kind.
pub(crate) fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    { events.iter() }
        .filter(|event| event["event"] == kind)
        .collect()
}

/// A call.
pub(crate) fn call(name: &str, arguments: Value) -> RawCall {
    RawCall::new(name, arguments)
}

/// Checks that each text stands in the one beside it, and that there are no others.
#[track_caller]
pub(crate) fn are(texts: &[String], parts: &[&str]) {
    assert_eq!(texts.len(), parts.len(), "{texts:#?}");
    for (text, part) in texts.iter().zip(parts) {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}
