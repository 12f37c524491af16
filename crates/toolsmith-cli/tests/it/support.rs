//! Runs the binary with nothing of the tester's own world: a cleared environment, a
//! home and a working folder of its own, no terminal, and the stdin it is given.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// One user of the binary, with a home of their own.
pub(crate) struct User {
    home: TempDir,
    variables: Vec<(String, String)>,
    input: Vec<u8>,
}

/// A user who has the example tools.
pub(crate) fn user() -> User {
    newcomer().with("MCP_INCLUDE_EXAMPLE_TOOLS", "true")
}

/// A user with nothing set at all.
pub(crate) fn newcomer() -> User {
    User {
        home: tempfile::tempdir().unwrap(),
        variables: Vec::new(),
        input: Vec::new(),
    }
}

impl User {
    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn typing(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Puts a file into the working folder.
    pub(crate) fn having(self, file: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.home().join(file), content).unwrap();
        self
    }

    /// The working folder, which is the home too.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolsmith"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.home().join("state"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn runs<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        let mut command = self.command(arguments);
        if self.input.is_empty() {
            return Ran::from(command.output().unwrap());
        }
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = self.input.clone();
        let writing = std::thread::spawn(move || {
            // Whoever has read enough may stop reading.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        Ran::from(output)
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: Option<i32>,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code(),
        }
    }
}

impl Ran {
    /// Checks the status, and that no colour went anywhere.
    #[track_caller]
    pub(crate) fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:#?}");
        let escape = '\u{1b}';
        assert!(!self.stdout.contains(escape), "{self:#?}");
        assert!(!self.stderr.contains(escape), "{self:#?}");
        self
    }

    /// Checks that stderr says something.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in {self:#?}");
        self
    }

    /// Checks the whole of stdout.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{self:#?}");
        self
    }

    /// Checks the whole of stderr.
    #[track_caller]
    pub(crate) fn tells(self, text: &str) -> Self {
        assert_eq!(self.stderr, text, "{self:#?}");
        self
    }

    /// The whole of stdout as JSON, without what the clock decides.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => timeless(value),
            Err(error) => panic!("{error} in {self:#?}"),
        }
    }

    /// Each line of stdout as JSON, without what the clock decides.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let value = |line: &str| match serde_json::from_str(line) {
            Ok(value) => timeless(value),
            Err(error) => panic!("{error} in {line:?} of {self:#?}"),
        };
        self.stdout.lines().map(value).collect()
    }
}

/// The value without `facts.duration_ms`, which must be there and is a number.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Array(items) => {
            let items = std::mem::take(items);
            return items.into_iter().map(timeless).collect();
        }
        Value::Object(fields) => {
            if let Some(Value::Object(facts)) = fields.get_mut("facts")
                && let Some(duration) = facts.shift_remove("duration_ms")
            {
                assert!(duration.is_number(), "{duration}");
            }
        }
        _ => {}
    }
    value
}
