//! Approvals that are remembered: asked for at a terminal, listed and revoked.

use serde_json::Value;

use crate::support::{User, user};
use crate::terminal::Terminal;

const DELETE: [&str; 4] = ["call", "example_delete", "name=x", "consent=DELETE_EXAMPLE"];
const ASKED: &str = "Allow it? [y]es, [n]o, always in this [r]un or [p]roject: ";

fn all(user: &User) -> Vec<Value> {
    let listed = user.runs(["approvals", "--json"]).ends_with(0).json();
    listed.as_array().unwrap().clone()
}

/// Answers the question and what comes after it; gives what was seen.
fn answers(user: &User, words: &[&str], lines: &[(&str, &str)], status: i32) -> String {
    let mut terminal = Terminal::start(user, words);
    terminal.shows(ASKED);
    for (line, then) in lines {
        terminal.types(line);
        terminal.shows(then);
    }
    let (ended, seen) = terminal.ends();
    assert_eq!(ended, Some(status), "{seen}");
    seen
}

#[test]
fn a_rule_that_was_proposed_holds_until_it_is_revoked() {
    let user = user();
    user.runs(DELETE).ends_with(3).says("approval_required");
    let seen = answers(&user, &DELETE, &[("p\n", "Rule: "), ("\n", "deleted x")], 0);
    assert!(
        seen.contains("Press Enter for the rule example_delete,"),
        "{seen}"
    );
    user.runs(DELETE).ends_with(0);
    user.runs(["call", "example_delete", "name=y", "consent=DELETE_EXAMPLE"])
        .ends_with(0);
    let dry = user
        .runs([&DELETE[..], &["--dry-run"]].concat())
        .ends_with(0);
    assert!(
        dry.stdout.contains("remembered: example_delete"),
        "{dry:#?}"
    );

    let listed = all(&user);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["rule"], "example_delete");
    let id = listed[0]["id"].as_str().unwrap();
    let shown = user.runs(["approvals"]).ends_with(0);
    assert!(
        shown.stdout.starts_with(id) && shown.stdout.contains("rule  example_delete"),
        "{shown:#?}"
    );
    user.runs(["approvals", "revoke", "nothing"])
        .ends_with(2)
        .says("there is no approval `nothing`");
    user.runs(["approvals", "revoke"]).ends_with(2);
    user.runs(["approvals", "revoke", id])
        .ends_with(0)
        .prints(&format!("revoked: {id}\n"));
    user.runs(DELETE).ends_with(3).says("approval_required");
    assert!(all(&user).is_empty());
}

#[test]
fn an_exact_call_and_a_rule_of_ones_own_can_be_remembered() {
    let user = user();
    answers(
        &user,
        &DELETE,
        &[("project\n", "Rule: "), ("=\n", "deleted x")],
        0,
    );
    user.runs(DELETE).ends_with(0);
    let other = ["call", "example_delete", "name=y", "consent=DELETE_EXAMPLE"];
    user.runs(other).ends_with(3);
    // A rule that is none, one that is about other calls, and one that does.
    let seen = answers(
        &user,
        &other,
        &[
            ("p\n", "Rule: "),
            ("example_delete(\n", "That does not do: rule"),
            ("example_delete(name = z)\n", "is not about this call"),
            ("example_delete(name = y)\n", "deleted y"),
        ],
        0,
    );
    assert_eq!(seen.matches("That does not do").count(), 2, "{seen}");
    let rules: Vec<Value> = all(&user).iter().map(|each| each["rule"].clone()).collect();
    assert_eq!(rules, [Value::Null, "example_delete(name = y)".into()]);
    user.runs(["approvals", "revoke", "--all"]).ends_with(0);
    user.runs(DELETE).ends_with(3);
}

#[test]
fn nothing_is_remembered_where_no_rule_would_do_or_for_the_run_alone() {
    let user = user();
    let wrong = ("other\n", "is not about this call");
    let seen = answers(
        &user,
        &DELETE,
        &[("p\n", "Rule: "), wrong, wrong, ("other\n", "deleted x")],
        0,
    );
    assert!(
        seen.contains("It is allowed this once, and nothing is remembered."),
        "{seen}"
    );
    answers(&user, &DELETE, &[("r\n", "Rule: "), ("\n", "deleted x")], 0);
    user.runs(DELETE).ends_with(3);
    assert!(all(&user).is_empty());
}

#[test]
fn approvals_are_the_users_own_and_not_the_projects() {
    use std::os::unix::fs::PermissionsExt;

    let user = user();
    answers(&user, &DELETE, &[("p\n", "Rule: "), ("\n", "deleted x")], 0);
    let folder = user.home().join("state/toolsmith/approvals");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    user.runs(DELETE).ends_with(0);
    // Another folder is another project.
    let other = user.home().join("other");
    std::fs::create_dir(&other).unwrap();
    let words = [&["--root", "other"], &DELETE[..]].concat();
    user.runs(words).ends_with(3);
    // One that others can write counts for nothing, and is told.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    user.runs(DELETE)
        .ends_with(3)
        .says("others can read or write it");
    user.runs(["approvals"])
        .ends_with(2)
        .says("remove the file to begin anew");
}
