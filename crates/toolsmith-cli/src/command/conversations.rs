//! `toolsmith conversations`: what was said between a person and a model in this project.

use serde_json::{Value, json};
use toolsmith_core::date::Date;
use toolsmith_manager::conversations::{ConversationPlace, Listed};

use crate::cli::{Cli, Conversations, ConversationsCommand};
use crate::environment;
use crate::failure::Failure;
use crate::print;
use crate::session::project_root;

pub(crate) fn run(cli: &Cli, options: &Conversations) -> Result<u8, Failure> {
    let Some(place) = environment::conversations(&project_root(cli)) else {
        return Err(Failure::usage(
            "there is no folder with conversations; set HOME or XDG_STATE_HOME",
        ));
    };
    match &options.what {
        None => list(&place, cli.json),
        Some(ConversationsCommand::Show { id }) => show(&place, id.as_deref()),
        Some(ConversationsCommand::Forget { ids }) => {
            for id in ids {
                place.forget(id)?;
                print::line(&format!("forgotten: {id}"))?;
            }
            Ok(0)
        }
    }
}

fn list(place: &ConversationPlace, as_json: bool) -> Result<u8, Failure> {
    let rows: Vec<Value> = place
        .list()
        .iter()
        .map(|listed| row(place, listed))
        .collect();
    if as_json {
        print::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        print::note("There are no conversations of this project yet: see `toolsmith ask --help`.");
    }
    let text = |row: &Value, key: &str| print::visible(row[key].as_str().unwrap_or_default());
    for row in &rows {
        print::line(&format!(
            "{}  {}  {}  {}",
            text(row, "id"),
            text(row, "changed"),
            text(row, "model"),
            text(row, "question"),
        ))?;
    }
    Ok(0)
}

fn row(place: &ConversationPlace, listed: &Listed) -> Value {
    let mut row = json!({
        "id": listed.id,
        "changed": Date::from(listed.changed).to_string(),
        "bytes": listed.bytes,
    });
    match place.read(Some(&listed.id)) {
        Ok((head, conversation)) => {
            row["model"] = json!(head.model);
            row["agent"] = json!(head.agent);
            row["turns"] = json!(conversation.turns());
            row["question"] = json!(conversation.first_question().map(beginning));
        }
        Err(error) => row["question"] = json!(error.to_string()),
    }
    row
}

/// The beginning of a question, on one line.
fn beginning(question: &str) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > 60 {
        true => format!("{}…", line.chars().take(60).collect::<String>()),
        false => line,
    }
}

fn show(place: &ConversationPlace, id: Option<&str>) -> Result<u8, Failure> {
    let (_, conversation) = place.read(id)?;
    for note in conversation.notes() {
        print::warning(&print::visible(note));
    }
    print::line(&conversation.to_markdown())?;
    Ok(0)
}
