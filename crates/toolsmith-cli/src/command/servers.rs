//! `toolsmith servers`: the upstream servers, and how they are doing.

use serde_json::{Value, json};
use toolsmith_mcp::client::{State, Status, Upstreams};
use toolsmith_runtime::shape::clean;
use toolsmith_runtime::shield::SourceStatus;

use crate::environment;
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) fn run(
    session: &Session,
    upstreams: Option<&Upstreams>,
    as_json: bool,
) -> Result<u8, Failure> {
    let reached = upstreams.map(Upstreams::all).unwrap_or_default();
    let sources = session.toolbox.sources();
    let mut rows: Vec<Value> = reached
        .iter()
        .map(|upstream| {
            let source = sources.iter().find(|each| each.name == upstream.name());
            row(upstream.name(), &upstream.status(), source)
        })
        .collect();
    tell_served(session, &mut rows);
    let unready = session.manager.upstreams().unready;
    rows.extend(
        unready
            .iter()
            .map(|each| json!({ "name": each.name, "state": "failed", "error": each.error })),
    );
    let described = session.manager.servers().servers;
    let disabled = described.iter().filter(|entry| entry.disabled);
    rows.extend(disabled.map(|entry| json!({ "name": entry.name.as_str(), "state": "disabled" })));
    if as_json {
        print::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        print::note("There are no upstream servers.");
        print::note("Name one: toolsmith --server NAME='COMMAND' servers");
        return Ok(0);
    }
    let told = |row: &Value, key: &str| match &row[key] {
        Value::Null => "-".to_owned(),
        Value::String(text) => clean(text).into_owned(),
        other => other.to_string(),
    };
    let widest = rows.iter().map(|row| told(row, "name").len()).max();
    let width = widest.unwrap_or_default().max(4);
    print::line(&format!(
        "{:width$}  {:8}  {:9}  {:9}  {:>7}  {:>5}  server",
        "name", "state", "circuit", "era", "latency", "tools"
    ))?;
    for row in &rows {
        let latency = match row["latency_ms"].as_f64() {
            Some(milliseconds) => format!("{milliseconds:.0}ms"),
            None => "-".to_owned(),
        };
        print::line(&format!(
            "{:width$}  {:8}  {:9}  {:9}  {latency:>7}  {:>5}  {}",
            told(row, "name"),
            told(row, "state"),
            told(row, "circuit"),
            told(row, "era"),
            told(row, "tools"),
            told(row, "server"),
        ))?;
        if let Some(error) = row["error"].as_str() {
            print::line(&format!("{:width$}  {}", "", clean(error)))?;
        }
        for served in row["serving"].as_array().into_iter().flatten() {
            print::line(&format!(
                "{:width$}  in process {}, which serves: circuit {}, {} running, {} waiting, {} turned away",
                "",
                served["process"],
                told(served, "circuit"),
                served["running"],
                served["waiting"],
                served["turned_away"],
            ))?;
        }
    }
    Ok(0)
}

/// Adds what programs tell that serve this project now: their circuits are not this one's.
fn tell_served(session: &Session, rows: &mut [Value]) {
    let place = environment::serving(session.manager.root());
    let served = place.map(|place| place.served()).unwrap_or_default();
    for row in rows {
        let of_it = served.iter().filter_map(|each| {
            let source = each
                .sources
                .iter()
                .find(|source| row["name"] == source.name)?;
            let mut told = serde_json::to_value(source).ok()?;
            told["process"] = json!(each.process);
            told.as_object_mut()?.remove("name");
            Some(told)
        });
        let of_it: Vec<Value> = of_it.collect();
        row["serving"] = Value::Array(of_it);
    }
}

fn row(name: &str, status: &Status, source: Option<&SourceStatus>) -> Value {
    let state = match status.state {
        State::Starting => "starting",
        State::Ready => "ready",
        State::Stopped => "stopped",
        _ => "failed",
    };
    let latency = status.latency.map(|latency| latency.as_secs_f64() * 1000.0);
    json!({
        "name": name,
        "state": state,
        "circuit": source.map(|source| source.circuit).unwrap_or_default(),
        "running": source.map_or(0, |source| source.running),
        "waiting": source.map_or(0, |source| source.waiting),
        "era": status.era.map(|era| era.to_string()),
        "latency_ms": latency.map(|latency| (latency * 10.0).round() / 10.0),
        "tools": status.era.map(|_| status.tools),
        "server": status.server,
        "error": status.error,
    })
}
