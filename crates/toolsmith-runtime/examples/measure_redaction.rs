//! Tells what the redactor takes for secrets in folders, for replies or for logs.
//!
//! `cargo run -p toolsmith-runtime --example measure_redaction -- [--logs] [--list] FOLDER…`

#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use std::path::Path;

use toolsmith_core::event::Redact;
use toolsmith_runtime::shape::Redactor;
use toolsmith_testing::alarms::Alarms;

fn main() {
    let (options, folders): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let has = |name: &str| options.iter().any(|option| option == name);
    let redactor = Redactor::default();
    let for_replies = |text: &'_ str| redactor.clean(text).into_owned();
    let for_logs = |text: &'_ str| redactor.redact(text).into_owned();
    let mut alarms = Alarms::default();
    for folder in &folders {
        match has("--logs") {
            true => alarms.look_into(Path::new(folder), &for_logs),
            false => alarms.look_into(Path::new(folder), &for_replies),
        }
    }
    if has("--list") {
        alarms.found.iter().for_each(|alarm| println!("{alarm}"));
    }
    println!(
        "{} alarms in {} lines of {} files: {:.2} per 10,000 lines",
        alarms.found.len(),
        alarms.lines,
        alarms.files,
        alarms.per_ten_thousand_lines()
    );
}
