//! No trace of the machine on which a change was made.
//!
//! An absolute path of somebody's machine is wrong on every other one, and tells
//! readers what they need not know. Made-up users are fine in examples.

use super::Finding;
use super::source::is_word;
use super::tree::Tree;

/// Beginnings of paths, cut in two so that this file passes its own check.
const ROOTS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!(".lib", "rary"),
];

/// Who may own a home in an example.
const MADE_UP: &[&str] = &[
    "user", "you", "me", "alice", "bob", "<user>", "$USER", "{user}",
];

/// Finds absolute paths of a machine in any text of the project.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for root in ROOTS {
            let traces = file
                .text
                .match_indices(root)
                .filter(|(offset, _)| is_trace(&file.text, *offset, root));
            findings.extend(traces.map(|(offset, _)| {
                let problem = format!("'{root}' is a path of one machine");
                Finding::at(
                    file,
                    offset,
                    problem,
                    "use a path from the repository's root, or a made-up one",
                )
            }));
        }
    }
    findings
}

fn is_trace(text: &str, offset: usize, root: &str) -> bool {
    let after = &text[offset + root.len()..];
    let before = offset.checked_sub(1).map(|at| text.as_bytes()[at]);
    // Behind a name, a dot or a bracket the path is relative or part of a URL.
    let is_inner = before.is_some_and(|byte| is_word(byte) || b".~-)}>*".contains(&byte));
    let is_longer = root.starts_with('.')
        && after
            .bytes()
            .next()
            .is_some_and(|byte| is_word(byte) || byte == b'(');
    let owner = after
        .split(['/', '"', '\'', ' ', '`', '\n'])
        .next()
        .unwrap_or_default();
    let is_home = root.ends_with("me/") || root.ends_with("ers/");
    let is_made_up = is_home && (owner.is_empty() || MADE_UP.contains(&owner));
    !is_inner && !is_longer && !is_made_up
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_path_of_one_machine_is_found_in_any_file() {
        for root in ROOTS {
            for path in ["README.md", "crates/a/src/b.rs", "docs/a.yaml"] {
                let text = format!("a\n\"{root}zoe/notes\"\n").replace("raryzoe", "rary");
                assert_eq!(
                    found(check, &[(path, &text)]),
                    [format!("{path}:2: '{root}' is a path of one machine")]
                );
            }
        }
    }

    #[test]
    fn relative_paths_urls_and_made_up_homes_are_not_found() {
        for root in ROOTS {
            let text = format!("a{root} .{root} ~{root} {{root}}{root} https://a.example{root}");
            assert!(found(check, &[("README.md", &text)]).is_empty(), "{text}");
        }
        let home = ROOTS[2];
        let text = format!("{home}user/a {home}alice/b `{home}`");
        assert!(found(check, &[("README.md", &text)]).is_empty());
    }
}
