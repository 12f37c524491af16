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
    let dead = links(file).into_iter();
    let dead = dead.filter(|(_, target)| !leads_somewhere(tree, &file.path, target));
    let finding = |(line, target): (usize, String)| {
        let problem = format!("the link to '{target}' leads nowhere");
        let remedy = "correct the path, which starts at the folder of this file, or write the page";
        Finding::new(&file.path, line, problem, remedy)
    };
    dead.map(finding).collect()
}

/// Returns what a paper links to, with the lines of the links.
pub(super) fn links(file: &File) -> Vec<(usize, String)> {
    let mut links = Vec::new();
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
        let targets = targets(&without_code(line)).into_iter();
        links.extend(targets.map(|target| (index + 1, target)));
    }
    links
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
    is_elsewhere(target) || place(from, target).is_some_and(|path| tree.holds(&path))
}

/// Returns whether a link leads to another place than a file of the project.
fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with('#')
}

/// Returns the path a link leads to, as seen from the root; nothing where it leads elsewhere.
pub(super) fn place(from: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if is_elsewhere(target) || path.starts_with('/') {
        return None;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
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
