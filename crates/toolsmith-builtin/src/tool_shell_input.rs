//! `shell_input`: types into a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Binding, Block, Kind, Outcome, Plan, ToolContext, ToolDef};

use crate::built_in::{described, example, noted};
use crate::refusal::{Reason, Refusal};
use crate::shell::Shells;
use crate::shell::define::ShellTool;
use crate::shell::process::NotTyped;
use crate::shell::report::one_line;

/// How much may be typed at once.
const LONGEST: usize = 64 << 10;

/// Types into a job.
pub(crate) struct ShellInput(pub(crate) Shells);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The job.
    id: String,
    /// What to type, at most 64 KiB; a line ends with a line feed, which is not added.
    #[serde(default)]
    text: String,
    /// Whether to close its input afterwards, so that it reads an end of file.
    #[serde(default)]
    close: bool,
}

/// What was typed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Typed {
    /// The job.
    id: String,
    /// How many bytes were handed over; the job reads them when it reads.
    bytes: usize,
    /// Whether its input is closed now.
    closed: bool,
}

impl ShellTool for ShellInput {
    type Arguments = Arguments;
    type Value = Typed;

    fn define() -> ToolDef {
        let definition = described("shell_input", "Type into a job", "shell", &["job", "input", "background"])
            .with_kind(Kind::Execute)
            .with_aliases("id", &["job", "job_id", "bash_id", "shell_id"])
            .with_aliases("text", &["input", "chars"])
            .with_description(
                "Types a text into the standard input of a job in the background.\n\n\
                 It is for jobs that were started without stdin. There is no terminal: programs that \
                 insist on one read nothing.",
            )
            .with_returns("How many bytes were handed over, and whether the input is closed now.")
            .with_example(example("A line for a program that asks.", json!({"id": "1", "text": "yes\n"})))
            .with_example(example("The end of what it reads.", json!({"id": "1", "text": "", "close": true})));
        noted(
            definition,
            &["Read what came of it with shell_output and wait_ms."],
        )
    }

    fn binding() -> Binding {
        Binding::default()
    }

    fn shells(&self) -> &Shells {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let text = one_line(&arguments.text, 100);
        Ok(Plan::new(format!(
            "type {text:?} into job {}",
            arguments.id
        )))
    }

    async fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Outcome, Refusal> {
        let bytes = arguments.text.len();
        if bytes > LONGEST {
            let message = format!("text has {bytes} bytes, and may have {LONGEST}");
            return Err(Refusal::new(Reason::BadArgument, message).next("Type it in several calls"));
        }
        if bytes == 0 && !arguments.close {
            return Err(
                Refusal::new(Reason::BadArgument, "there is nothing to type")
                    .next("Give a text, or close = true"),
            );
        }
        let job = self.0.inner().jobs.get(context.caller(), &arguments.id)?;
        let refused = |why| match why {
            NotTyped::Closed => {
                let message = format!(
                    "job {} takes no input: it has ended, its input is closed, or it was started with stdin",
                    job.id
                );
                Refusal::new(Reason::Denied, message).next("Look at it with shell_output")
            }
            NotTyped::Full => {
                let message = format!("job {} has not read what was typed before", job.id);
                Refusal::new(Reason::Busy, message)
                    .next("Wait until it reads, or end it with shell_kill")
            }
        };
        if bytes > 0 {
            job.process
                .type_in(Some(&arguments.text))
                .map_err(refused)?;
        }
        if arguments.close {
            job.process.type_in(None).map_err(refused)?;
        }
        let typed = Typed {
            id: job.id.to_string(),
            bytes,
            closed: arguments.close,
        };
        let closed = if typed.closed {
            ", and its input closed"
        } else {
            ""
        };
        let text = format!("{bytes} bytes were handed to job {}{closed}.", job.id);
        let value = serde_json::to_value(&typed).unwrap_or_default();
        Ok(Outcome::nothing()
            .with_display(text.clone())
            .with_metadata("id", typed.id)
            .with_metadata("bytes", bytes)
            .with_block(Block::text(text))
            .with_value(value))
    }
}
