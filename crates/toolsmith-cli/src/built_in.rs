//! The built-in tools, as the binary offers them: over the folders of this run, and to the
//! web as far as the configuration lets them. The programs they run are in `programs`.

use std::path::Path;
use std::time::SystemTime;

use secrecy::ExposeSecret as _;
use toolsmith_builtin::{Shells, Web, WebSecret, WebSettings, Workspace, WorkspaceOptions};
use toolsmith_core::AnyTool;
use toolsmith_manager::sandbox::{ProjectSandbox, deciding};
use toolsmith_manager::{Setup, WebTerms};

use crate::cli::{Cli, Command};
use crate::environment;
use crate::failure::Failure;
use crate::programs;
use crate::session::SHIPPED;

/// The built-in tools over the folders of this run, and those that run programs in them.
/// Whoever makes one call from the command line has no way to read first; models and
/// clients of a server have.
pub(crate) fn over_files(
    cli: &Cli,
    sandbox: &ProjectSandbox,
) -> Result<(Vec<AnyTool>, Shells), Failure> {
    let spills = environment::spills(&cli.roots());
    let folder = spills.as_ref().map(|spills| spills.folder().to_owned());
    let mut options = WorkspaceOptions::default()
        .with_home(environment::home())
        .with_state(environment::journal_folder())
        .with_private(environment::state_folder())
        .with_deciding(deciding())
        .with_readable(folder.filter(|folder| is_made(folder)));
    if !matches!(cli.command, Command::Serve(_) | Command::Ask(_)) {
        options = options.with_unread_writes();
    }
    let workspace = Workspace::open(cli.roots(), options)
        .map_err(|error| Failure::usage(format!("{error}: {}", cause(&error))))?;
    let shells = programs::shells(&workspace, sandbox, spills);
    let now = SystemTime::now;
    Ok((toolsmith_builtin::tools(&workspace, now), shells))
}

/// Adds the tools that reach the web, as far as the configuration lets them.
pub(crate) fn with_web(setup: Setup) -> Setup {
    let web = Web::new(WebSettings::default());
    let tools = toolsmith_builtin::web_tools(&web);
    let tell = move |terms: &WebTerms| {
        let mut settings = WebSettings::default();
        settings.reach = terms.reach();
        settings.redirects = terms.redirects;
        settings.respects_robots = terms.respects_robots;
        settings.user_agent.clone_from(&terms.user_agent);
        let secrets = terms.secrets.iter().map(|secret| {
            let value = secret.value.expose_secret();
            WebSecret::new(&secret.name, value, secret.origins.clone())
        });
        settings.secrets = secrets.collect();
        web.set(settings);
    };
    setup.with_tools(SHIPPED, tools).with_web(tell)
}

/// Makes a folder of the user's own, so that it can be read from the start.
fn is_made(folder: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).is_ok()
}

fn cause(error: &dyn std::error::Error) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}
