//! `toolsmith doctor`: tries everything the configuration names, and says what to do.
//!
//! Files, secrets, servers, APIs and programs are tried, and the layers of the sandbox; no
//! tool is called.

mod sandbox;

use std::path::{Path, PathBuf};

use serde_json::json;
use toolsmith_core::reference::Lookup;
use toolsmith_manager::References;
use toolsmith_rest::probe::{self, Need};

use crate::environment;
use crate::failure::{Failure, USAGE};
use crate::print;
use crate::session::{Reached, Session, Which};

/// One thing that was tried.
struct Finding {
    /// What sort of thing it is.
    sort: &'static str,
    /// Which one.
    what: String,
    /// How it is, or what is wrong.
    told: String,
    /// What to do about it; none where it is well.
    advice: Option<String>,
}

pub(crate) async fn run(session: &Session, as_json: bool) -> Result<u8, Failure> {
    let reached = session.reach(Which::All);
    let (needs, ()) = tokio::join!(needs(session), reached.settled());
    let mut findings = files(session);
    findings.extend(secrets(session));
    findings.extend(servers(session, &reached));
    findings.extend(needs);
    findings.extend(sandbox::findings(&session.sandbox));
    reached.upstreams.stop().await;
    let bad = findings.iter().filter(|each| each.advice.is_some()).count();
    if as_json {
        let rows = findings.iter().map(|each| {
            json!({
                "sort": each.sort,
                "what": each.what,
                "ok": each.advice.is_none(),
                "told": each.told,
                "advice": each.advice,
            })
        });
        let rows: Vec<_> = rows.collect();
        print::json(&json!({ "ok": bad == 0, "findings": rows }))?;
    } else {
        tell(&findings, bad)?;
    }
    Ok(if bad == 0 { 0 } else { USAGE })
}

fn tell(findings: &[Finding], bad: usize) -> Result<(), Failure> {
    for each in findings {
        let mark = if each.advice.is_none() { "ok " } else { "BAD" };
        let line = format!("{mark}  {:8}  {}: {}", each.sort, each.what, each.told);
        print::line(&print::visible(&line))?;
        if let Some(advice) = &each.advice {
            print::line(&print::visible(&format!("               → {advice}")))?;
        }
    }
    let all = findings.len();
    print::note(&match bad {
        0 => format!("{all} things were tried, and all of them are well"),
        1 => format!("{all} things were tried, and one of them needs something"),
        _ => format!("{all} things were tried, and {bad} of them need something"),
    });
    Ok(())
}

fn well(sort: &'static str, what: impl Into<String>, told: impl Into<String>) -> Finding {
    Finding {
        sort,
        what: what.into(),
        told: told.into(),
        advice: None,
    }
}

fn unwell(
    sort: &'static str,
    what: impl Into<String>,
    told: impl Into<String>,
    advice: impl Into<String>,
) -> Finding {
    Finding {
        advice: Some(advice.into()),
        ..well(sort, what, told)
    }
}

/// The first line of a message: the rest shows the place in the file.
fn first_line(message: &str) -> (String, String) {
    let line = message.lines().next().unwrap_or_default();
    match line.split_once(": ") {
        Some((place, told)) => (place.to_owned(), told.to_owned()),
        None => ("configuration".to_owned(), line.to_owned()),
    }
}

fn files(session: &Session) -> Vec<Finding> {
    let manager = &session.manager;
    let mut found: Vec<Finding> = Vec::new();
    let broken = manager.broken_sets();
    for error in manager.errors().iter().chain(&broken) {
        let (place, told) = first_line(error);
        let advice = "mend the file; `toolsmith check` shows the line, `toolsmith schema` what may stand there";
        found.push(unwell("file", place, told, advice));
    }
    if found.is_empty() {
        let file = manager.file();
        let what = file.map_or_else(
            || "no toolsmith.yaml".to_owned(),
            |file| file.display().to_string(),
        );
        let tools = session.toolbox.registry().len();
        found.push(well("file", what, print::counted(tools, "tool")));
    }
    found
}

fn secrets(session: &Session) -> Vec<Finding> {
    let missing = session.manager.missing();
    let missing = missing.iter().map(|message| {
        let (place, told) = first_line(message);
        let advice = match told.contains("environment variable") {
            true => "set it in the environment this program is started in",
            false => "write the file, readable for this user alone, or correct its path",
        };
        unwell("secret", place, told, advice)
    });
    missing.collect()
}

fn servers(session: &Session, reached: &Reached) -> Vec<Finding> {
    let mut found = Vec::new();
    for upstream in reached.upstreams.all() {
        let (name, status) = (upstream.name(), upstream.status());
        found.push(match &status.error {
            None => well("server", name, print::counted(status.tools, "tool")),
            Some(error) if status.unauthorized => {
                let advice = format!("log in with `toolsmith servers --login {name}`");
                unwell("server", name, error, advice)
            }
            Some(error) => {
                let advice = "try its command by hand, or its address in a browser; what it writes to stderr is told above";
                unwell("server", name, error, advice)
            }
        });
    }
    let described = session.manager.servers().servers;
    for server in described.iter().filter(|server| server.disabled) {
        found.push(well("server", server.name.as_str(), "it is disabled"));
    }
    for (name, status) in reached.remotes.statuses() {
        found.push(match &status.error {
            None => well("source", name, "it told its tools"),
            Some(error) => {
                let advice = "see whether its address answers, and whether the key is right";
                unwell("source", name, error, advice)
            }
        });
    }
    found
}

/// APIs and programs, each once.
async fn needs(session: &Session) -> Vec<Finding> {
    let root = session.manager.root();
    let references = References::new(&environment::everything(), root);
    let entries = session.manager.entries();
    let needs = entries
        .iter()
        .flat_map(|(_, entry)| probe::needs(entry, &references));
    let mut needs: Vec<Need> = needs.collect();
    needs.sort();
    needs.dedup();
    let mut found = Vec::new();
    for need in needs {
        match need {
            Need::Api(origin) => found.push(match probe::reach(&origin).await {
                Ok(told) => well("api", origin, told),
                Err(told) => {
                    let advice = "see whether the address is right and this machine may reach it";
                    unwell("api", origin, told, advice)
                }
            }),
            Need::Program { name, cwd } => {
                let path = references.variable("PATH");
                let folder = root.join(cwd);
                found.push(match find_program(&name, &folder, path.as_deref()) {
                    Some(program) => well("program", name, program.display().to_string()),
                    None => {
                        let advice = "install it, or name it by its full path in the file";
                        unwell("program", name, "there is no such program", advice)
                    }
                });
            }
            _ => {}
        }
    }
    found
}

/// Finds a program as it is found when it is started.
fn find_program(name: &str, folder: &Path, path: Option<&str>) -> Option<PathBuf> {
    if name.contains('/') {
        let found = folder.join(name);
        return found.is_file().then_some(found);
    }
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let mut found = folders.map(|folder| folder.join(name));
    found.find(|program| program.is_file())
}
