//! The programs that tools run, as the binary runs them: in the project's sandbox, with
//! the user's environment to pick from, and long outputs in files.

use std::sync::Arc;

use toolsmith_builtin::{ShellOptions, Shells, Workspace};
use toolsmith_manager::sandbox::ProjectSandbox;
use toolsmith_manager::spill::FileSpills;
use toolsmith_runtime::Toolbox;

use crate::environment;

/// The tools that run programs in a workspace.
pub(crate) fn shells(
    workspace: &Workspace,
    sandbox: &ProjectSandbox,
    spills: Option<FileSpills>,
) -> Shells {
    // What programs leave behind is ours to end.
    let _ = toolsmith_process::become_subreaper();
    let now = sandbox.clone();
    let options = ShellOptions::new(
        sandbox.now(),
        environment::everything(),
        environment::temporary_folder(),
    );
    // The configuration may change while a server runs.
    let mut options = options.with_sandbox_now(Arc::new(move || now.now()));
    if let Some(spills) = spills {
        options = options.with_files(Arc::new(move |stem: &str| spills.create(stem)));
    }
    Shells::new(workspace, options)
}

/// Takes the secrets a toolbox knows out of what is kept of outputs.
pub(crate) fn redact(shells: &Shells, toolbox: &Toolbox) {
    let toolbox = toolbox.clone();
    let redaction = move |text: &str| toolbox.redactor().clean(text).into_owned();
    shells.redact_with(Arc::new(redaction));
}
