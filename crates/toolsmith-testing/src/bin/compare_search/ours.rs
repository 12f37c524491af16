//! What our tools answer, all pages of it, as facts.

use serde_json::Value;
use toolsmith_testing::built_ins::BuiltIns;

use super::query::{Fact, Facts, Query, Reading};

/// More pages than any answer has.
const MOST_PAGES: usize = 400;

/// Asks for every page and returns what they tell.
pub(crate) fn answer(tools: &BuiltIns, query: &Query) -> Result<Facts, String> {
    let mut facts = Facts::new();
    let mut arguments = query.arguments.clone();
    for _ in 0..MOST_PAGES {
        let answer = tools
            .call(query.tool, arguments)
            .map_err(|error| format!("{} {}: {error}", query.tool, query.arguments))?;
        read(query.reading, &answer.value, &mut facts);
        match answer.value.get("next") {
            Some(next) if !next.is_null() => arguments = next.clone(),
            _ => return Ok(facts),
        }
    }
    Err(format!("{} {} has no end", query.tool, query.arguments))
}

fn read(reading: Reading, value: &Value, facts: &mut Facts) {
    let rows = |name: &str| value[name].as_array().cloned().unwrap_or_default();
    let path = |row: &Value| row["path"].as_str().unwrap_or_default().to_owned();
    match reading {
        Reading::Files => {
            for file in rows("files") {
                let path = file.as_str().unwrap_or_default().to_owned();
                facts.insert((path, 0), Fact::Found);
            }
        }
        Reading::Counts => {
            for row in rows("counts") {
                let count = row["count"].as_u64().unwrap_or_default();
                facts.insert((path(&row), 0), Fact::Count(count));
            }
        }
        Reading::Lines => {
            for row in rows("matches") {
                read_line(path(&row), &row, facts);
            }
        }
        Reading::Names | Reading::NamesButLinks => {
            for row in rows("matches") {
                if reading == Reading::Names || row["type"] != "link" {
                    facts.insert((path(&row), 0), Fact::Found);
                }
            }
        }
    }
}

fn read_line(path: String, row: &Value, facts: &mut Facts) {
    let number = row["line_number"].as_u64().unwrap_or_default();
    if number == 0 {
        facts.insert((path, 0), Fact::Binary);
        return;
    }
    let text = row["line"].as_str().unwrap_or_default();
    let line = Fact::Line {
        text: Some(text)
            .filter(|text| !text.contains('\u{FFFD}'))
            .map(str::to_owned),
        is_match: row["is_context"] != true,
    };
    super::theirs::add_line(facts, (path, number), line);
}
