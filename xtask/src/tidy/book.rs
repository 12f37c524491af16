//! The book is whole: each page below `docs/` is in its table of contents, each entry there
//! has a page, and no page links to a file that the book does not hold.
//!
//! The book is made of the same files that people read in the checkout; a page that nobody
//! entered would be in the one and not in the other.

use std::collections::BTreeSet;

use super::Finding;
use super::papers::{links, place};
use super::tree::{File, Tree};

const FOLDER: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Finds pages that are not entered, entries without a page, and links out of the book.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let pages: Vec<&File> = tree.files().filter(|file| is_page(file)).collect();
    let Some(summary) = tree.get(SUMMARY) else {
        return match pages.first() {
            Some(page) => vec![Finding::new(
                &page.path,
                1,
                "the pages below docs/ have no table of contents",
                format!("write {SUMMARY}, with a line for each page"),
            )],
            None => Vec::new(),
        };
    };
    let mut findings = Vec::new();
    let mut entered = BTreeSet::new();
    for (line, target) in links(summary) {
        let Some(path) = place(SUMMARY, &target) else {
            continue;
        };
        if tree.get(&path).is_none() {
            let problem = format!("the entry '{target}' has no page");
            let remedy = "write the page, or take the entry out";
            findings.push(Finding::new(SUMMARY, line, problem, remedy));
        } else if !entered.insert(path) {
            let problem = format!("the page '{target}' is entered twice");
            findings.push(Finding::new(SUMMARY, line, problem, "keep one entry"));
        }
    }
    for page in pages {
        if !entered.contains(&page.path) {
            let remedy = format!("add a line for it to {SUMMARY}");
            let problem = "the page is not in the table of contents";
            findings.push(Finding::new(&page.path, 1, problem, remedy));
        }
        findings.extend(links_out(page, &entered));
    }
    findings
}

fn is_page(file: &File) -> bool {
    file.path.starts_with(FOLDER) && file.path.ends_with(".md") && file.path != SUMMARY
}

/// A link to what is neither below `docs/` nor entered leads nowhere in the book.
fn links_out(page: &File, entered: &BTreeSet<String>) -> Vec<Finding> {
    let is_out = |target: &str| {
        let path = place(&page.path, target);
        path.is_some_and(|path| !path.starts_with(FOLDER) && !entered.contains(&path))
    };
    let out = links(page).into_iter().filter(|(_, target)| is_out(target));
    let finding = |(line, target): (usize, String)| {
        let problem = format!("the link to '{target}' leads out of the book");
        let remedy = "name the file without a link, or give it an entry in the table of contents";
        Finding::new(&page.path, line, problem, remedy)
    };
    out.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_whole_book_is_fine() {
        let summary =
            "# Summary\n\n[Start](start.md)\n\n- [A](a/b.md)\n- [Draft]()\n- [R](../README.md)\n";
        let files = [
            (SUMMARY, summary),
            (
                "docs/start.md",
                "[b](a/b.md#part) [picture](run.svg) [web](https://a.example) [here](#x)",
            ),
            (
                "docs/a/b.md",
                "[up](../start.md) [root](../../README.md#a) `[no](../../x.md)`",
            ),
            ("docs/run.svg", ""),
            ("README.md", "[docs](docs/start.md)"),
        ];
        assert!(found(check, &files).is_empty());
        assert!(found(check, &[("README.md", "")]).is_empty());
    }

    #[test]
    fn what_is_missing_on_either_side_is_found() {
        let summary = "[Start](start.md)\n- [A](a.md)\n- [Start again](start.md)\n";
        let files = [
            (SUMMARY, summary),
            ("docs/start.md", "text\n[root](../README.md)"),
            ("docs/forgotten.md", ""),
            ("README.md", ""),
        ];
        assert_eq!(
            found(check, &files),
            [
                "docs/SUMMARY.md:2: the entry 'a.md' has no page",
                "docs/SUMMARY.md:3: the page 'start.md' is entered twice",
                "docs/forgotten.md:1: the page is not in the table of contents",
                "docs/start.md:2: the link to '../README.md' leads out of the book",
            ]
        );
    }

    #[test]
    fn pages_without_a_table_of_contents_are_found() {
        assert_eq!(
            found(check, &[("docs/a.md", ""), ("docs/b.md", "")]),
            ["docs/a.md:1: the pages below docs/ have no table of contents"]
        );
    }
}
