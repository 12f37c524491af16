//! The papers keep their promises: links lead somewhere, the changelog waits for the next change.

use super::Finding;
use super::tree::{File, Tree};

const CHANGELOG: &str = "CHANGELOG.md";

/// Finds links to files that do not exist and a changelog without room for the next change.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let papers = tree
        .files()
        .filter(|file| file.path.ends_with(".md") && is_paper(&file.path));
    let links = papers.flat_map(|file| dead_links(tree, file));
    links
        .chain(tree.get(CHANGELOG).and_then(changelog))
        .collect()
}

/// Papers are in the root, under `docs/`, and in the folder of each crate.
fn is_paper(path: &str) -> bool {
    let depth = path.matches('/').count();
    depth == 0 || path.starts_with("docs/") || (path.starts_with("crates/") && depth == 2)
}

fn dead_links(tree: &Tree, file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_fenced = false;
    for (index, line) in file.text.lines().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            continue;
        }
        for target in targets(&without_code(line)) {
            if !leads_somewhere(tree, &file.path, &target) {
                let problem = format!("the link to '{target}' leads nowhere");
                let remedy =
                    "correct the path, which starts at the folder of this file, or write the page";
                findings.push(Finding::new(&file.path, index + 1, problem, remedy));
            }
        }
    }
    findings
}

/// Returns a line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns what `[text](target)` and `[name]: target` point to.
fn targets(line: &str) -> Vec<String> {
    let inline = line.match_indices("](").filter_map(|(at, _)| {
        let rest = &line[at + 2..];
        rest.find(')').map(|end| &rest[..end])
    });
    let definition = line
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"))
        .map(|(_, target)| target);
    let bare = |target: &str| {
        // A title may follow the target.
        let target = target.split_whitespace().next().unwrap_or_default();
        target.trim_matches(['<', '>']).to_owned()
    };
    inline
        .chain(definition)
        .map(bare)
        .filter(|target| !target.is_empty())
        .collect()
}

fn leads_somewhere(tree: &Tree, from: &str, target: &str) -> bool {
    let is_elsewhere =
        target.contains("://") || target.starts_with("mailto:") || target.starts_with('#');
    if is_elsewhere {
        return true;
    }
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            name => parts.push(name),
        }
    }
    !path.starts_with('/') && tree.holds(&parts.join("/"))
}

fn changelog(file: &File) -> Option<Finding> {
    let is_waiting = |line: &str| {
        line.starts_with('#')
            && line
                .trim_matches(['#', ' ', '[', ']'])
                .eq_ignore_ascii_case("unreleased")
    };
    (!file.text.lines().any(is_waiting)).then(|| {
        Finding::new(
            CHANGELOG,
            1,
            "there is no section 'Unreleased'",
            "add '## Unreleased' above the last release",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_link_to_no_file_is_found() {
        let text = "[a](docs/a.md#part) [b](docs/b.md) [c](https://c.example) [d](#d) `[e](e.md)`\n\
                    ```\n[f](f.md)\n```\n[g]: docs/g.md\n[h](<docs>) [i](/docs/a.md) [j](../j.md \"title\")\n";
        assert_eq!(
            found(
                check,
                &[
                    ("README.md", text),
                    (
                        "docs/a.md",
                        "[up](../README.md) [self](a.md) [no](docs/a.md)"
                    )
                ]
            ),
            [
                "README.md:1: the link to 'docs/b.md' leads nowhere",
                "README.md:5: the link to 'docs/g.md' leads nowhere",
                "README.md:6: the link to '/docs/a.md' leads nowhere",
                "README.md:6: the link to '../j.md' leads nowhere",
                "docs/a.md:1: the link to 'docs/a.md' leads nowhere",
            ]
        );
    }

    #[test]
    fn a_crate_s_own_papers_are_checked_and_its_fixtures_are_not() {
        assert_eq!(
            found(check, &[("crates/a/README.md", "[b](b.md)")]).len(),
            1
        );
        assert!(found(check, &[("crates/a/tests/fixtures/page.md", "[b](b.md)")]).is_empty());
    }

    #[test]
    fn a_changelog_without_room_for_the_next_change_is_found() {
        assert_eq!(
            found(
                check,
                &[("CHANGELOG.md", "# Changes\n\n## 0.1.0\n- unreleased\n")]
            ),
            ["CHANGELOG.md:1: there is no section 'Unreleased'"]
        );
        assert!(found(check, &[("CHANGELOG.md", "# Changes\n\n## [Unreleased]\n")]).is_empty());
    }
}
