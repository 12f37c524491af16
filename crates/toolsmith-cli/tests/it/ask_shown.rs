//! The run that the documents show is what a run looks like: it is made here, on a terminal,
//! and compared with the file. `UPDATE_DOCS=1` writes the file anew.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolsmith_provider::Provider;
use toolsmith_testing::model_server::Step;

use crate::ask::{Asking, CLIENTS, call};
use crate::support::newcomer;
use crate::terminal::Terminal;

const QUESTION: &str = "Why does greet.py fail? Mend it.";

/// The file in the documents.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agent-run.txt");

#[test]
fn the_run_of_the_documents() {
    let program = "def greet(name):\n    return \"Hello, \" + nam\n\n\nprint(greet(\"world\"))\n";
    let user = newcomer().having("greet.py", program);
    let client = CLIENTS
        .into_iter()
        .find(|it| it.provider == Provider::Ollama);
    let edit = json!({
        "file_path": "greet.py",
        "old_string": "\"Hello, \" + nam\n",
        "new_string": "\"Hello, \" + name\n",
    });
    let steps = [
        Step::call(
            "I look at the program, and who else uses it.",
            [
                call("read", json!({ "file_path": "greet.py" })),
                call(
                    "grep",
                    json!({ "pattern": "greet", "output_mode": "count" }),
                ),
            ],
        ),
        Step::call("The name is misspelled in line 2.", [call("edit", edit)]),
        Step::say("`greet` returned `nam`, which does not exist; it returns `name` now."),
    ];
    let asking = Asking::by(user, client.unwrap(), steps);
    let words = asking.words(&[QUESTION]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut terminal = Terminal::start(&asking.user, &words);
    terminal.shows("or [p]roject: ");
    terminal.types("y\n");
    let (status, seen) = terminal.ends();
    assert_eq!(status, Some(0), "{seen}");
    let home = asking.user.home();
    let seen = seen.replace(&home.display().to_string(), "/home/me/project");
    let shown = format!("$ toolsmith ask \"{QUESTION}\" --model ollama/llama3.1\n{seen}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(FILE, &shown).unwrap();
    }
    let kept = fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    // Calls of one turn end in any order.
    assert_eq!(sorted(&kept), sorted(&shown), "{shown}");
}

/// The lines without times, numbers of tokens and conversations; ends of calls sorted.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(without_numbers).collect();
    let is_end = |line: &String| line.starts_with('✓') || line.starts_with('✗');
    let first = lines.iter().position(is_end).unwrap_or(0);
    let ends = lines[first..]
        .iter()
        .take_while(|line| is_end(line))
        .count();
    lines[first..first + ends].sort();
    lines
}

fn without_numbers(line: &str) -> String {
    let mut without = String::new();
    for c in line.chars() {
        match c.is_ascii_digit() || (c == '.' && without.ends_with('#')) {
            true if without.ends_with('#') => {}
            true => without.push('#'),
            false => without.push(c),
        }
    }
    without
}
