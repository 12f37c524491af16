//! `toolsmith check`: is everything in order?

use serde_json::json;
use toolsmith_runtime::guide::OverlaySource as _;

use crate::cli::Cli;
use crate::environment;
use crate::failure::{Failure, USAGE};
use crate::print;
use crate::session::{Session, project_root};

/// Takes what was made while programs ran in the sandbox for the user's own.
pub(crate) fn accept(cli: &Cli) -> Result<(), Failure> {
    let root = project_root(cli);
    let sandbox = environment::sandbox(&root, &cli.roots(), cli.config.as_deref());
    let accepted = sandbox
        .accept()
        .map_err(|error| Failure::usage(format!("nothing was accepted: {error}")))?;
    for path in &accepted.accepted {
        print::note(&format!("{}: used from now on", path.display()));
    }
    if let Some(path) = accepted.remaining.first() {
        return Err(Failure::usage(format!(
            "{}: a program still runs in the sandbox that may change it; accept it when that has ended",
            path.display()
        )));
    }
    if accepted.accepted.is_empty() {
        print::note("there is nothing to accept");
    }
    Ok(())
}

pub(crate) fn run(session: &Session, strict: bool, as_json: bool) -> Result<u8, Failure> {
    let manager = &session.manager;
    let mut findings = manager.lint();
    let registered = session.toolbox.registry().all();
    let documented = session.guide.lints(&registered);
    // No server is started for a check, so nothing is known of their tools.
    let servers = manager.servers();
    let configured = &servers.servers;
    let is_upstream = |tool: &str| {
        let servers = configured.iter().map(|server| server.name.as_str());
        servers
            .into_iter()
            .any(|server| tool.starts_with(&format!("mcp__{server}__")))
    };
    let known = documented
        .iter()
        .filter(|finding| !is_upstream(&finding.tool));
    findings.extend(known.map(ToString::to_string));
    let file = session
        .manager
        .file()
        .map(|file| file.display().to_string());
    let tools = session.toolbox.registry().len();
    // What cannot be used is wrong however strict one is.
    let mut errors = manager.errors();
    errors.extend(manager.missing());
    errors.extend(manager.broken_sets());
    errors.extend(session.overlays.current().warnings.iter().cloned());
    let names: Vec<&str> = servers.servers.iter().map(|s| s.name.as_str()).collect();
    let bad = !errors.is_empty() || (strict && !findings.is_empty());
    if as_json {
        let report = json!({
            "file": file,
            "tools": tools,
            "servers": names,
            "errors": errors,
            "findings": findings,
            "ok": !bad,
        });
        print::json(&report)?;
    } else {
        for error in &errors {
            print::error(error);
        }
        for finding in &findings {
            if strict {
                print::error(finding);
            } else {
                print::warning(finding);
            }
        }
        let file = file.unwrap_or_else(|| "no configuration file".to_owned());
        let mut counts = vec![print::counted(tools, "tool")];
        for (count, what) in [(names.len(), "server"), (errors.len(), "error")] {
            if count > 0 {
                counts.push(print::counted(count, what));
            }
        }
        counts.push(print::counted(findings.len(), "finding"));
        print::line(&format!("{file}: {}", counts.join(", ")))?;
    }
    Ok(if bad { USAGE } else { 0 })
}
