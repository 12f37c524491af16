//! Names that may stand in one place only: foreign crates, `unsafe`, the unguarded call, the permit.
//!
//! The rules hold for tests too: a test that runs a tool past its guards proves
//! nothing about the tool as a model meets it.

use super::Finding;
use super::source::{closing, find_word};
use super::tree::{File, Tree};

/// A name, the words by which code uses it, and the places, as beginnings of paths, for it.
#[derive(Debug)]
struct Border {
    name: &'static str,
    words: &'static [&'static str],
    places: &'static [&'static str],
    remedy: &'static str,
}

const BORDERS: &[Border] = &[
    Border {
        name: "rmcp",
        words: &["rmcp::", "use rmcp", "extern crate rmcp"],
        places: &["crates/toolsmith-mcp/"],
        remedy: "use the types of toolsmith-mcp, which translates at its border",
    },
    Border {
        name: "reqwest",
        words: &["reqwest::", "use reqwest", "extern crate reqwest"],
        places: &["crates/toolsmith-net/"],
        remedy: "use the guarded client of toolsmith-net",
    },
    Border {
        name: "unsafe",
        words: &["unsafe"],
        // The last one holds programs that must not compile.
        places: &[
            "crates/toolsmith-process/",
            "crates/toolsmith-core/tests/it/ui/fail/",
        ],
        remedy: "find a safe way, or move what needs it into toolsmith-process and give its reason",
    },
    Border {
        name: "work_unguarded",
        words: &["work_unguarded"],
        places: &[
            "crates/toolsmith-core/src/tool.rs",
            // Core has no runtime to run what the attribute made.
            "crates/toolsmith-core/tests/it/support.rs",
            "crates/toolsmith-runtime/src/execute/",
        ],
        remedy: "run the call through a Toolbox, which validates and asks for permission",
    },
];

const PERMIT: &str = "PermittedCall";
const PERMIT_PLACE: &str = "crates/toolsmith-runtime/src/permit/";

/// Finds names outside their place.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let rust = || tree.files().filter(|file| file.is_rust());
    let crossings =
        rust().flat_map(|file| BORDERS.iter().flat_map(|border| border.crossings(file)));
    crossings.chain(rust().flat_map(permits)).collect()
}

impl Border {
    fn crossings(&self, file: &File) -> Vec<Finding> {
        if self.places.iter().any(|place| file.path.starts_with(place)) {
            return Vec::new();
        }
        let problem = format!(
            "'{}' stands outside {}",
            self.name,
            self.places.join(" and ")
        );
        let offsets = self
            .words
            .iter()
            .flat_map(|word| find_word(&file.layers.code, word));
        let mut findings: Vec<Finding> = offsets
            .map(|offset| Finding::at(file, offset, &problem, self.remedy))
            .collect();
        findings.sort();
        findings.dedup();
        findings
    }
}

/// Finds a permit made anywhere but where permission is given.
fn permits(file: &File) -> Vec<Finding> {
    if file.path.starts_with(PERMIT_PLACE) {
        return Vec::new();
    }
    let code = &file.layers.code;
    find_word(code, PERMIT)
        .filter(|&offset| is_construction(code, offset))
        .map(|offset| {
            Finding::at(
                file,
                offset,
                format!("a {PERMIT} is made outside {PERMIT_PLACE}"),
                "take the one that permit returns",
            )
        })
        .collect()
}

/// Tells `PermittedCall { … }` and `PermittedCall(…)` from types, patterns and definitions.
fn is_construction(code: &str, offset: usize) -> bool {
    let after = code[offset + PERMIT.len()..].trim_start();
    let after = after.strip_prefix("::").unwrap_or(after);
    let after = match after.starts_with('<') {
        true => after
            .split_once('>')
            .map_or("", |(_, after)| after)
            .trim_start(),
        false => after,
    };
    let open = code.len() - after.len();
    if !after.starts_with(['{', '(']) {
        return false;
    }
    // The path in front of the name belongs to it.
    let is_path =
        |character: char| character == ':' || character == '_' || character.is_alphanumeric();
    let before = code[..offset].trim_end();
    let before = match before.ends_with("::") {
        true => before.trim_end_matches(is_path).trim_end(),
        false => before,
    };
    // `-> &'a mut PermittedCall {` ends a signature as `-> PermittedCall {` does.
    let before = before.strip_suffix("mut").unwrap_or(before).trim_end();
    let before = before.trim_end_matches('&').trim_end();
    let introduces_a_type = ["impl", "struct", "for", "let"].iter().any(|word| {
        let rest = before.strip_suffix(word);
        rest.is_some_and(|rest| !rest.ends_with(is_path))
    });
    let ends_a_signature = before.ends_with('>') && !before.ends_with("=>");
    let follows = code[closing(code, open)..]
        .trim_start_matches([')', '}'])
        .trim_start();
    let is_pattern = follows.starts_with([':', '=']) && !follows.starts_with("==");
    !introduces_a_type && !ends_a_signature && !is_pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_name_outside_its_place_is_found() {
        let text = "use rmcp::model;\nlet c = reqwest::Client::new();\nunsafe { f() }\nt.work_unguarded(a, c);\n";
        assert_eq!(
            found(check, &[("crates/toolsmith-rest/src/lib.rs", text)]),
            [
                "crates/toolsmith-rest/src/lib.rs:1: 'rmcp' stands outside crates/toolsmith-mcp/",
                "crates/toolsmith-rest/src/lib.rs:2: 'reqwest' stands outside crates/toolsmith-net/",
                "crates/toolsmith-rest/src/lib.rs:3: 'unsafe' stands outside crates/toolsmith-process/ \
                 and crates/toolsmith-core/tests/it/ui/fail/",
                "crates/toolsmith-rest/src/lib.rs:4: 'work_unguarded' stands outside \
                 crates/toolsmith-core/src/tool.rs and crates/toolsmith-core/tests/it/support.rs and \
                 crates/toolsmith-runtime/src/execute/",
            ]
        );
        for text in ["use rmcp as mcp;", "use reqwest;"] {
            assert_eq!(
                found(check, &[("crates/toolsmith-rest/tests/it/a.rs", text)]).len(),
                1
            );
        }
    }

    #[test]
    fn a_name_in_its_place_in_prose_or_in_a_longer_name_is_not_found() {
        for (path, text) in [
            ("crates/toolsmith-mcp/src/lib.rs", "use rmcp::model;"),
            ("crates/toolsmith-net/src/lib.rs", "reqwest::get()"),
            ("crates/toolsmith-process/src/lib.rs", "unsafe {}"),
            (
                "crates/toolsmith-core/src/tool.rs",
                "fn work_unguarded() {}",
            ),
            (
                "crates/toolsmith-runtime/src/execute/mod.rs",
                "t.work_unguarded()",
            ),
            (
                "crates/toolsmith-rest/src/lib.rs",
                "// rmcp::x unsafe\nf(\"unsafe\"); #![deny(unsafe_code)]",
            ),
        ] {
            assert!(found(check, &[(path, text)]).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_permit_made_elsewhere_is_found() {
        let problem = "crates/toolsmith-runtime/src/execute/mod.rs:1: \
                       a PermittedCall is made outside crates/toolsmith-runtime/src/permit/";
        for text in [
            "let c = PermittedCall { plan };",
            "let c = PermittedCall::<'a> { plan };",
            "f(crate::permit::PermittedCall(plan))",
            "match x { y => PermittedCall { plan }, z => w }",
            "Ok(PermittedCall{plan})",
        ] {
            let files = [("crates/toolsmith-runtime/src/execute/mod.rs", text)];
            assert_eq!(found(check, &files), [problem], "{text}");
        }
        let files = [(
            "crates/toolsmith-runtime/src/permit/mod.rs",
            "PermittedCall { plan }",
        )];
        assert!(found(check, &files).is_empty());
    }

    #[test]
    fn a_permit_that_is_only_named_is_not_found() {
        for text in [
            "fn f(call: PermittedCall) -> Reply { g(call) }",
            "fn f(&self) -> PermittedCall { self.next() }",
            "fn f(&self) -> &mut permit::PermittedCall { self.next() }",
            "impl PermittedCall { }",
            "impl<'a> Call for PermittedCall<'a> { }",
            "let PermittedCall { plan, .. } = call;",
            "match call { PermittedCall { plan, .. } => plan }",
            "if let Some(PermittedCall { plan, .. }) = call { plan }",
            "PermittedCalls { all }",
        ] {
            let files = [("crates/toolsmith-runtime/src/execute/mod.rs", text)];
            assert!(found(check, &files).is_empty(), "{text}");
        }
    }
}
