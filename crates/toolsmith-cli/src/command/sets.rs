//! `toolsmith sets`: the tool sets and agents, and the tools they come to.

use serde_json::{Value, json};
use toolsmith_manager::View;

use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) fn run(session: &Session, as_json: bool) -> Result<u8, Failure> {
    let catalogue = session.manager.catalogue();
    let sets = catalogue.sets.values().map(|set| {
        let view = View::Set(set.name.as_str().to_owned());
        row(session, "set", &view, set.description.as_deref(), &set.file)
    });
    let usual = session.manager.config().output_strategy;
    let agents = catalogue.agents.values().map(|agent| {
        let view = View::Agent(agent.name.as_str().to_owned());
        let mut row = row(
            session,
            "agent",
            &view,
            agent.description.as_deref(),
            &agent.file,
        );
        row["model"] = agent.model.as_deref().into();
        let strategy = agent.output_strategy.unwrap_or(usual);
        row["output_strategy"] = json!(strategy);
        row
    });
    let rows: Vec<Value> = sets.chain(agents).collect();
    if as_json {
        print::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        print::note("There are no tool sets and no agents.");
        print::note("Add one: toolsmith add set NAME TOOL…");
        return Ok(0);
    }
    let text = |row: &Value, key: &str| print::visible(row[key].as_str().unwrap_or_default());
    let widest = rows
        .iter()
        .map(|row| text(row, "name").chars().count())
        .max();
    let width = widest.unwrap_or_default();
    for row in &rows {
        let tools = match (&row["tools"], row["error"].as_str()) {
            (_, Some(error)) => print::visible(error),
            (Value::Array(tools), None) => {
                let names = tools.iter().filter_map(Value::as_str);
                names.collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        };
        let (name, kind) = (text(row, "name"), text(row, "kind"));
        print::line(&format!("{kind:5}  {name:width$}  {tools}"))?;
    }
    Ok(0)
}

fn row(session: &Session, kind: &str, view: &View, description: Option<&str>, file: &str) -> Value {
    let (View::Set(name) | View::Agent(name)) = view else {
        return Value::Null;
    };
    let mut row = json!({ "kind": kind, "name": name, "description": description, "file": file });
    match session.manager.tools_of(view) {
        Ok(tools) => {
            let names = tools.iter().map(|tool| tool.name.as_str());
            row["tools"] = names.collect::<Vec<_>>().into();
        }
        Err(error) => row["error"] = error.to_string().into(),
    }
    row
}
