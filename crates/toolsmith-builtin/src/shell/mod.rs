//! Programs that a model runs: `bash`, `shell`, `script`, and the jobs that go on in the
//! background.
//!
//! A call passes these files in order:
//!
//! | file | gives |
//! |---|---|
//! | `common` | the arguments the three tools share, as one [`call::Call`] |
//! | `environment`, `folder`, `temporary` | what the program finds around it |
//! | `launch` | the program, started: the one place where that happens |
//! | `supervise`, `process` | what it writes and how it ends; nothing of it stays |
//! | `output` | plain, bounded text, and a file with all of it |
//! | `call` | the wait for its end, its time-out, or its way into the background |
//! | `report`, `exit` | an outcome that says what happened, and no more than that |
//!
//! `jobs` are programs nobody waits for; `sessions` remember folders between calls. What
//! a program may do is not decided here: see `toolsmith_process`.

pub(crate) mod call;
pub(crate) mod common;
pub(crate) mod define;
pub(crate) mod environment;
mod exit;
pub(crate) mod folder;
pub(crate) mod interpreter;
pub(crate) mod jobs;
pub(crate) mod launch;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod process;
pub(crate) mod report;
pub(crate) mod sessions;
mod supervise;
pub(crate) mod temporary;

use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolsmith_core::AnyTool;
use toolsmith_process::Sandbox;

use self::jobs::Jobs;
use self::options::{Hooks, Redaction, ShellOptions};
use self::process::{Phase, Process, Shared};
use self::sessions::Sessions;
use crate::workspace::Workspace;
use crate::{
    tool_bash, tool_script, tool_shell, tool_shell_input, tool_shell_kill, tool_shell_list,
    tool_shell_output,
};

/// How many programs may run at once for callers who wait for them.
const AT_ONCE: usize = 128;

/// How long a program may take to end when the host goes.
const TO_END: Duration = Duration::from_millis(200);

/// How long the host waits for all of them to be gone.
const TO_CLOSE: Duration = Duration::from_secs(5);

/// The tools that run programs, and the programs they run. Cheap to clone; when the last
/// clone goes, everything that still runs is ended.
#[derive(Clone)]
pub struct Shells(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) workspace: Workspace,
    options: ShellOptions,
    /// What every program finds in its environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) jobs: Jobs,
    pub(crate) sessions: Sessions,
    /// Places for programs that are waited for.
    pub(crate) places: Arc<Semaphore>,
    live: Mutex<Vec<Weak<Shared>>>,
}

impl Shells {
    /// Programs that run in a workspace.
    pub fn new(workspace: &Workspace, options: ShellOptions) -> Self {
        Self(Arc::new(Inner {
            workspace: workspace.clone(),
            variables: environment::scrubbed(&options.environment),
            hooks: Arc::new(Hooks::new(options.files.clone())),
            options,
            jobs: Jobs::default(),
            sessions: Sessions::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            live: Mutex::default(),
        }))
    }

    /// The tools, in a fixed order.
    pub fn tools(&self) -> Vec<AnyTool> {
        vec![
            define::tool(tool_bash::Bash(self.clone())),
            define::tool(tool_shell::Shell(self.clone())),
            define::tool(tool_script::Script(self.clone())),
            define::tool(tool_shell_output::ShellOutput(self.clone())),
            define::tool(tool_shell_input::ShellInput(self.clone())),
            define::tool(tool_shell_kill::ShellKill(self.clone())),
            define::tool(tool_shell_list::ShellList(self.clone())),
        ]
    }

    /// Takes secrets out of outputs before they are kept in files. What models read is
    /// redacted by the toolbox; files are written while a program runs. Counts once.
    pub fn redact_with(&self, redaction: Arc<Redaction>) {
        let _ = self.0.hooks.redaction.set(redaction);
    }

    /// Ends everything that still runs, and waits until it is gone. For hosts to call
    /// before they end themselves: a process that exits takes its children along, but not
    /// what those have started.
    pub async fn close(&self) {
        let live: Vec<Process> = self.0.live();
        for process in &live {
            process.kill(TO_END);
        }
        let gone = async {
            for process in &live {
                process
                    .until(|phase| matches!(phase, Phase::Ended(_)))
                    .await;
            }
        };
        let _ = timeout(TO_CLOSE, gone).await;
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl fmt::Debug for Shells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shells")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// What a program may do: as the host says, and in the workspace.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let roots = self.workspace.roots().iter().filter(|root| root.may_write);
        let sandbox = (self.options.sandbox)();
        roots.fold(sandbox, |sandbox, root| sandbox.writable(root.path()))
    }

    /// A folder of its own for a job.
    pub(crate) fn temporary(&self) -> std::io::Result<temporary::Temporary> {
        temporary::Temporary::new(&self.options.temporary)
    }

    /// Notes a program, so that it can be ended with the host.
    pub(crate) fn note(&self, process: &Process) {
        let mut live = process::lock(&self.live);
        live.retain(|process| process.upgrade().is_some_and(|it| !is_over(&it)));
        live.push(Arc::downgrade(&process.0));
    }

    fn live(&self) -> Vec<Process> {
        let live = process::lock(&self.live);
        let live = live.iter().filter_map(Weak::upgrade);
        live.filter(|process| !is_over(process))
            .map(Process)
            .collect()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for process in self.live() {
            process.kill(Duration::ZERO);
        }
    }
}

fn is_over(process: &Shared) -> bool {
    matches!(process.state().phase, Phase::Ended(_))
}
