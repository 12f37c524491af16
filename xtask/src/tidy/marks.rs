//! Nothing unfinished and nothing silenced without a reason.
//!
//! Marks of unfinished work are looked for in code and in comments, not in
//! strings: a tool that searches text may well be tested on them.

use super::Finding;
use super::source::{attributes, closing, find_word};
use super::tree::{File, Tree};

const MACROS: &[&str] = &["todo!", "unimplemented!", "dbg!"];
const MARKS: &[&str] = &["TODO", "FIXME", "XXX"];
const FINISH: &str = "finish it, or leave it out and record what is missing where users look";
const EXPECT: &str =
    "write #[expect(lint, reason = \"…\")], which also tells when it is no longer needed";

/// Finds unfinished work, ignored tests and lints silenced without a reason.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .flat_map(|file| [macros(file), marks(file), silenced(file)].concat())
        .collect()
}

fn macros(file: &File) -> Vec<Finding> {
    let find = |name: &&'static str| {
        let offsets = find_word(&file.layers.code, name);
        let report = |offset| {
            Finding::at(
                file,
                offset,
                format!("'{name}' is left in the code"),
                FINISH,
            )
        };
        offsets.map(report).collect::<Vec<_>>()
    };
    MACROS.iter().flat_map(find).collect()
}

fn marks(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.layers.comments.lines().enumerate() {
        for mark in MARKS {
            // A quoted mark is spoken about, as in the example of a search.
            let is_quoted = |offset: usize| {
                ['"', '`']
                    .iter()
                    .any(|quote| line[..offset].matches(*quote).count() % 2 == 1)
            };
            if find_word(line, mark).any(|offset| !is_quoted(offset)) {
                let problem = format!("'{mark}' is left in a comment");
                findings.push(Finding::new(&file.path, index + 1, problem, FINISH));
            }
        }
    }
    findings
}

fn silenced(file: &File) -> Vec<Finding> {
    let code = &file.layers.code;
    let mut findings = Vec::new();
    for attribute in attributes(code) {
        let content = attribute.content;
        let (problem, remedy) = if names(content, "allow(") {
            ("a lint is silenced with 'allow'", EXPECT)
        } else if names(content, "expect(") && find_word(content, "reason").next().is_none() {
            ("'expect' gives no reason", EXPECT)
        } else if names(content, "ignore") {
            (
                "a test is ignored",
                "make it pass, or remove it; what needs other programs belongs to 'cargo xtask interop'",
            )
        } else {
            continue;
        };
        if !is_generated(file, attribute.range.start) {
            findings.push(Finding::at(file, attribute.range.start, problem, remedy));
        }
    }
    findings
}

/// Returns whether an attribute is the named one, directly or under a condition.
fn names(content: &str, name: &str) -> bool {
    let conditional = content.strip_prefix("cfg_attr(");
    match conditional {
        Some(inner) => find_word(inner, name).next().is_some(),
        None => find_word(content, name).next() == Some(0),
    }
}

/// Returns whether an offset lies in a template of the macro crate: the code it
/// writes into other crates may be linted there in ways that cannot be expected here.
fn is_generated(file: &File, offset: usize) -> bool {
    if file.crate_name() != Some("toolsmith-macros") {
        return false;
    }
    let code = &file.layers.code;
    ["quote!", "quote_spanned!", "parse_quote!"]
        .iter()
        .any(|name| {
            find_word(code, name).any(|start| {
                let open = code[start..]
                    .find(['(', '[', '{'])
                    .map_or(code.len(), |at| start + at);
                (open..closing(code, open)).contains(&offset)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    const PATH: &str = "crates/a/src/b.rs";

    #[test]
    fn unfinished_work_and_silenced_lints_are_found() {
        for (text, problem) in [
            ("todo!()", "'todo!' is left in the code"),
            ("unimplemented!()", "'unimplemented!' is left in the code"),
            ("dbg!(a)", "'dbg!' is left in the code"),
            ("// TODO: more", "'TODO' is left in a comment"),
            ("/* later, FIXME */", "'FIXME' is left in a comment"),
            ("/// XXX", "'XXX' is left in a comment"),
            ("#[test]\n#[ignore]\nfn a() {}", "a test is ignored"),
            (
                "#[test]\n#[ignore = \"slow\"]\nfn a() {}",
                "a test is ignored",
            ),
            ("#[allow(dead_code)]", "a lint is silenced with 'allow'"),
            (
                "#![allow(dead_code, reason = \"a\")]",
                "a lint is silenced with 'allow'",
            ),
            (
                "#[cfg_attr(unix, allow(dead_code))]",
                "a lint is silenced with 'allow'",
            ),
            ("#[expect(dead_code)]", "'expect' gives no reason"),
        ] {
            let line = text
                .lines()
                .position(|line| line.contains("ignore"))
                .map_or(1, |index| index + 1);
            assert_eq!(
                found(check, &[(PATH, text)]),
                [format!("{PATH}:{line}: {problem}")],
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_spoken_about_or_has_its_reason_is_not_found() {
        for text in [
            "#[expect(dead_code, reason = \"kept for readers\")]",
            "let a = \"TODO\";",
            "/// Finds `TODO` and \"FIXME|XXX\".",
            "#[derive(Debug)] #[serde(ignore)] #[tool(allow(a))]",
            "fn ignore() {} // XXXL",
        ] {
            assert!(found(check, &[(PATH, text)]).is_empty(), "{text}");
        }
    }

    #[test]
    fn only_the_macro_crate_writes_code_for_others() {
        let text = "quote! { #[allow(dead_code)] fn a() {} }";
        assert!(found(check, &[("crates/toolsmith-macros/src/a.rs", text)]).is_empty());
        assert_eq!(found(check, &[(PATH, text)]).len(), 1);
        let after = format!("{text} #[allow(dead_code)] fn b() {{}}");
        assert_eq!(
            found(check, &[("crates/toolsmith-macros/src/a.rs", &after)]).len(),
            1
        );
    }
}
