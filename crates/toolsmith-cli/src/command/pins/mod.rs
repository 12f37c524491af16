//! `toolsmith pins`: what is pinned of other people's tools, and what is withheld.

mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_manager::pins::PinsError;
use toolsmith_mcp::client::State;
use toolsmith_runtime::registry::pin::{Pins as Pinned, Why, Withheld};

use crate::cli::{Chosen, Pins, PinsCommand};
use crate::failure::Failure;
use crate::print;
use crate::session::{Reached, Session};

pub(crate) fn run(
    session: &Session,
    pins: &Pins,
    reached: &Reached,
    as_json: bool,
) -> Result<u8, Failure> {
    match &pins.what {
        None => list(session, reached, as_json),
        Some(PinsCommand::Show { name }) => show::run(session, name, as_json),
        Some(PinsCommand::Approve(chosen)) => approve(session, chosen),
        Some(PinsCommand::Forget(chosen)) => forget(session, chosen),
    }
}

/// Forgets pins, for which nobody needs to be reached.
pub(crate) fn forget(session: &Session, chosen: &Chosen) -> Result<u8, Failure> {
    let pins = session.manager.pins();
    let all = pins.all()?;
    for (name, _) in chosen.tools() {
        if !all.values().any(|of_source| of_source.contains_key(name)) {
            return Err(unknown(name, "is pinned"));
        }
    }
    if let Some(source) = &chosen.source
        && !all.contains_key(source)
    {
        let known: Vec<_> = all.keys().map(String::as_str).collect();
        let known = print::visible(&known.join(", "));
        return Err(Failure::usage(format!(
            "nothing of a source `{}` is pinned; there is something of: {known}",
            print::visible(source)
        )));
    }
    let gone = pins.forget(|source, name| chosen.holds(source, name))?;
    for (source, name) in &gone {
        let (source, name) = (print::visible(source), print::visible(name));
        print::line(&format!("forgotten: {name} of {source}"))?;
    }
    Ok(0)
}

fn approve(session: &Session, chosen: &Chosen) -> Result<u8, Failure> {
    let pins = session.manager.pins();
    let withheld = session.toolbox.registry().withheld();
    let meant: Vec<Arc<Withheld>> = (withheld.into_iter())
        .filter(|tool| chosen.holds(&tool.source, tool.name.as_str()))
        .collect();
    for (name, digest) in chosen.tools() {
        let Some(tool) = meant.iter().find(|tool| tool.name == *name) else {
            return Err(unknown(name, "is withheld"));
        };
        if digest.is_some_and(|digest| !tool.now.digest.begins_with(digest)) {
            let failure = Failure::usage(format!("`{name}` is not what was shown"));
            return Err(failure.with_advice(&format!("look again: toolsmith pins show {name}")));
        }
    }
    let (approved, left): (Vec<_>, Vec<_>) = meant.into_iter().partition(|tool| {
        let can_be = !matches!(tool.why, Why::Shadowing { .. } | Why::Unreadable { .. });
        can_be && !pins.is_of_run(&tool.source)
    });
    if !approved.is_empty() {
        pins.approve(&approved)?;
    }
    for tool in &approved {
        print::line(&format!("approved: {} ({})", tool.name, tool.why.word()))?;
    }
    if approved.is_empty() && left.is_empty() {
        print::note("Nothing of that is withheld.");
    }
    for tool in &left {
        print::warning(&format!("not approved: {}: {}", tool.name, cannot(tool)));
    }
    Ok(if left.is_empty() { 0 } else { 1 })
}

/// Why approving does not help.
fn cannot(tool: &Withheld) -> String {
    match &tool.why {
        Why::Shadowing { by } => format!(
            "{by} has a tool of that name; give one of them another name or leave it out with \
             `deny`"
        ),
        Why::Unreadable { reason } => reason.clone(),
        _ => format!(
            "server `{}` was named for this run only; add it to the project to pin it",
            tool.source
        ),
    }
}

fn unknown(name: &str, what: &str) -> Failure {
    let name = print::visible(name);
    Failure::usage(format!("no tool `{name}` {what}")).with_advice("see `toolsmith pins`")
}

fn list(session: &Session, reached: &Reached, as_json: bool) -> Result<u8, Failure> {
    let pins = session.manager.pins();
    let withheld = session.toolbox.registry().withheld();
    // What is wrong with the file was told already, and so is what it withholds.
    let pinned = pins.all().unwrap_or_default();
    let rows = rows(session, &pinned, &withheld, &answered(reached));
    if as_json {
        print::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        print::note("Nothing is pinned: no server was used yet.");
        return Ok(0);
    }
    let text = |row: &Value, key: &str| print::visible(row[key].as_str().unwrap_or_default());
    let width = |key: &str| {
        let widths = rows.iter().map(|row| text(row, key).chars().count());
        widths.max().unwrap_or_default()
    };
    let (sources, names) = (width("source"), width("tool"));
    for row in &rows {
        let (source, name, state) = (text(row, "source"), text(row, "tool"), text(row, "state"));
        let mut line = format!("{source:sources$}  {name:names$}  {state}");
        if let Some(reason) = row["reason"].as_str() {
            line += &format!(": {}", print::visible(reason));
        }
        print::line(&line)?;
    }
    let count = withheld.len();
    if count > 0 {
        print::note(&format!(
            "{count} withheld; look with `toolsmith pins show NAME`, approve with `toolsmith pins \
             approve NAME`"
        ));
    }
    Ok(0)
}

/// Pinned and withheld tools, by source and name.
fn rows(
    session: &Session,
    pinned: &BTreeMap<String, Arc<Pinned>>,
    withheld: &[Arc<Withheld>],
    answered: &BTreeSet<String>,
) -> Vec<Value> {
    let mut rows: BTreeMap<(&str, &str), Value> = BTreeMap::new();
    let registry = session.toolbox.registry();
    let known = configured(session);
    for (source, pins) in pinned {
        for (name, pin) in &**pins {
            let is_gone =
                !registry.has(name) && (answered.contains(source) || !known.contains(source));
            let row = json!({
                "source": source,
                "tool": name,
                "state": if is_gone { "gone" } else { "pinned" },
                "pinned": pin.digest,
            });
            rows.insert((source, name), row);
        }
    }
    for tool in withheld {
        let key = (tool.source.as_str(), tool.name.as_str());
        let row = rows
            .entry(key)
            .or_insert_with(|| json!({ "source": tool.source, "tool": tool.name }));
        row["state"] = tool.why.word().into();
        row["reason"] = tool.reason().into();
        row["now"] = json!(tool.now.digest);
    }
    rows.into_values().collect()
}

/// The sources that told their tools.
fn answered(reached: &Reached) -> BTreeSet<String> {
    let servers = reached.upstreams.all();
    let servers = servers
        .iter()
        .filter(|each| each.status().state == State::Ready);
    let servers = servers.map(|server| server.name().to_owned());
    let remotes = reached.remotes.statuses().into_iter();
    let remotes = remotes.filter(|(_, status)| status.settled && status.error.is_none());
    let remotes = remotes.map(|(name, _)| toolsmith_manager::source_name(&name));
    servers.chain(remotes).collect()
}

/// The sources there are, whether they answer or not.
fn configured(session: &Session) -> BTreeSet<String> {
    use toolsmith_core::ToolSource as _;

    let servers = session.manager.servers().servers.into_iter();
    let servers = servers.map(|server| server.name.as_str().to_owned());
    let remotes = session.manager.remotes().into_iter();
    let remotes = remotes.map(|remote| toolsmith_manager::source_name(remote.name()));
    servers.chain(remotes).collect()
}

impl From<PinsError> for Failure {
    fn from(error: PinsError) -> Self {
        Self::usage(error.to_string())
    }
}
