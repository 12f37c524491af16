//! Every requirement has a proof: each row of `docs/requirements.md` names tests that exist.
//!
//! The numbers are those of the documents the project began with. A row without a test may
//! only say that it is for later.

use super::Finding;
use super::tree::{File, Tree};

const MATRIX: &str = "docs/requirements.md";

/// How many requirements each document makes.
const NUMBERS: &[(&str, usize)] = &[
    ("S0", 21),
    ("S1", 10),
    ("S2", 16),
    ("S3", 15),
    ("S4", 16),
    ("D", 18),
];

/// What a row says that is not done, and is not meant to be yet.
const LATER: &str = "later";

/// The requirements that may be for later.
const PUT_OFF: &[&str] = &["S2-16"];

/// Finds numbers without a row, rows without a test, and tests that do not exist.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(matrix) = tree.get(MATRIX) else {
        return Vec::new();
    };
    let rows: Vec<Row<'_>> = rows(matrix).collect();
    let unproven = rows.iter().flat_map(|row| unproven(tree, row));
    let numbers = NUMBERS.iter();
    let numbers = numbers.flat_map(|(word, most)| (1..=*most).map(move |n| format!("{word}-{n}")));
    let missing = numbers.filter(|number| !rows.iter().any(|row| row.number == number));
    let missing = missing.map(|number| {
        let problem = format!("the requirement {number} has no row");
        Finding::new(MATRIX, 1, problem, "add a row with the tests that prove it")
    });
    unproven.chain(missing).collect()
}

struct Row<'m> {
    line: usize,
    number: &'m str,
    proof: &'m str,
}

fn rows(matrix: &File) -> impl Iterator<Item = Row<'_>> {
    matrix.text.lines().enumerate().filter_map(|(index, line)| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').collect();
        let number = cells.first()?.trim();
        let is_number = number.starts_with(['S', 'D']) && number.contains('-');
        is_number.then(|| Row {
            line: index + 1,
            number,
            proof: cells.get(2).map_or("", |cell| cell.trim()),
        })
    })
}

fn unproven(tree: &Tree, row: &Row<'_>) -> Vec<Finding> {
    if row.proof == LATER && PUT_OFF.contains(&row.number) {
        return Vec::new();
    }
    // What stands between backticks is a test.
    let tests: Vec<&str> = row.proof.split('`').skip(1).step_by(2).collect();
    if tests.is_empty() {
        let problem = format!("the requirement {} has no proof", row.number);
        let remedy = "name a test as `CRATE FILE::TEST`, or write one";
        return vec![Finding::new(MATRIX, row.line, problem, remedy)];
    }
    let missing = tests.into_iter().filter(|test| !exists(tree, test));
    let finding = |test: &str| {
        let problem = format!("there is no test '{test}'");
        let remedy = "name it as `CRATE FILE::TEST`, with its crate and its file in tests/it";
        Finding::new(MATRIX, row.line, problem, remedy)
    };
    missing.map(finding).collect()
}

fn exists(tree: &Tree, test: &str) -> bool {
    let Some((name_of_crate, rest)) = test.split_once(' ') else {
        return false;
    };
    let Some((file, name)) = rest.rsplit_once("::") else {
        return false;
    };
    let path = format!("crates/toolsmith-{name_of_crate}/tests/it/{file}.rs");
    let is_there = |file: &File| file.text.contains(&format!("fn {name}("));
    tree.get(&path).is_some_and(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVEN: &str = "`core name::what_is_a_name`";

    /// Every number, so that a test need only say what it is about.
    fn matrix(row: &str) -> String {
        let numbers = NUMBERS.iter();
        let rows = numbers.flat_map(|(word, most)| (1..=*most).map(move |n| format!("{word}-{n}")));
        let rows = rows.map(|number| match row.contains(&format!("| {number} |")) {
            true => String::new(),
            false => format!("| {number} | something | {PROVEN} |\n"),
        });
        rows.chain([row.to_owned()]).collect()
    }

    fn problems(row: &str) -> Vec<String> {
        problems_of(matrix(row))
    }

    fn problems_of(matrix: String) -> Vec<String> {
        let tree = Tree::new([
            (MATRIX, matrix),
            (
                "crates/toolsmith-core/tests/it/name.rs",
                "#[test]\nfn what_is_a_name() {}\n".to_owned(),
            ),
        ]);
        check(&tree)
            .into_iter()
            .map(|finding| finding.problem)
            .collect()
    }

    #[test]
    fn a_row_with_a_test_that_exists_is_fine() {
        let none: [String; 0] = [];
        assert_eq!(
            problems("| S1-2 | names | `core name::what_is_a_name` |\n"),
            none
        );
        assert_eq!(problems("| S2-16 | a market | later |\n"), none);
        assert_eq!(problems(""), none);
    }

    #[test]
    fn what_is_not_proven_is_found() {
        for (row, problem) in [
            ("| S1-2 | names |  |\n", "the requirement S1-2 has no proof"),
            (
                "| S1-2 | names | later |\n",
                "the requirement S1-2 has no proof",
            ),
            (
                "| S1-2 | names | `core name::what_was_a_name` |\n",
                "there is no test 'core name::what_was_a_name'",
            ),
            (
                "| S1-2 | names | `runtime name::what_is_a_name` |\n",
                "there is no test 'runtime name::what_is_a_name'",
            ),
            (
                "| S1-2 | names | `what_is_a_name` |\n",
                "there is no test 'what_is_a_name'",
            ),
        ] {
            assert_eq!(problems(row), [problem]);
        }
        let without = matrix("").replace("| D-18 |", "| X |");
        assert_eq!(problems_of(without), ["the requirement D-18 has no row"]);
    }
}
