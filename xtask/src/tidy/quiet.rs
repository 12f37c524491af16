//! Libraries are quiet: they print nothing, read neither environment nor wall clock, start no runtime.
//!
//! What a library needs of these its caller hands in. The binary, the task
//! runner, the testing crate, tests and examples are free. `clippy.toml` cannot
//! hold this border: its bans reach tests and have no list of crates.

use super::Finding;
use super::source::find_word;
use super::tree::{File, Tree};

/// Crates that are programs or serve tests only.
const LOUD: &[&str] = &["toolsmith-cli", "toolsmith-testing", "xtask"];

/// Crates that see files only through what they are handed.
const FILELESS: &[&str] = &[
    "toolsmith-core",
    "toolsmith-macros",
    "toolsmith-provider",
    "toolsmith-runtime",
];

/// The helper of the sandbox is the host's program started once more, and learns by its
/// first words that it is one, before anything of the host has run.
const READS_ITS_WORDS: &str = "crates/toolsmith-process/src/helper/linux/run.rs";

/// What a library does not do, and the words by which it would.
#[derive(Debug)]
struct Rule {
    deed: &'static str,
    words: &'static [&'static str],
    remedy: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        deed: "prints",
        words: &["println!", "eprintln!", "print!", "eprint!", "dbg!"],
        remedy: "return the text, or report it with tracing",
    },
    Rule {
        deed: "reads the environment",
        words: &[
            "std::env",
            "env::var",
            "env::vars",
            "env::var_os",
            "env::vars_os",
            "env::args",
            "env::args_os",
            "env::current_dir",
            "env::current_exe",
            "env::home_dir",
            "env::temp_dir",
            "env::set_var",
            "env::remove_var",
            "env::set_current_dir",
        ],
        remedy: "take the value from the caller; toolsmith-cli reads the environment",
    },
    Rule {
        deed: "ends the process",
        words: &["process::exit", "process::abort"],
        remedy: "return an error; toolsmith-cli maps it to an exit status",
    },
    Rule {
        deed: "starts a runtime",
        words: &[
            "Runtime::new",
            "Builder::new_multi_thread",
            "Builder::new_current_thread",
            "tokio::main",
        ],
        remedy: "be async, or take a runtime handle from the caller",
    },
    Rule {
        deed: "reads the wall clock",
        words: &[
            "SystemTime::now",
            "Utc::now",
            "Local::now",
            "OffsetDateTime::now_utc",
            "Timestamp::now",
            "Zoned::now",
        ],
        remedy: "take the time from the clock the caller handed in",
    },
];

const FILES: Rule = Rule {
    deed: "reads files",
    words: &[
        "std::fs",
        "tokio::fs",
        "File::open",
        "fs::read",
        "fs::read_to_string",
    ],
    remedy: "take the content, or a store, from the caller; toolsmith-manager reads files",
};

/// Finds libraries that do what is their caller's to do.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let libraries = tree.production().filter(|file| {
        let is_quiet = file.crate_name().is_some_and(|name| !LOUD.contains(&name));
        is_quiet && !file.lies_in(&["examples"]) && file.name() != "build.rs"
    });
    libraries.flat_map(deeds).collect()
}

fn deeds(file: &File) -> Vec<Finding> {
    let files = file
        .crate_name()
        .filter(|name| FILELESS.contains(name))
        .map(|_| &FILES);
    let rules = RULES.iter().chain(files);
    rules.flat_map(|rule| rule.broken_in(file)).collect()
}

impl Rule {
    /// Reports each line once, however many of the words stand on it.
    fn broken_in(&self, file: &File) -> Vec<Finding> {
        let code = &file.layers.code;
        let mut findings = Vec::new();
        for word in self.words {
            let offsets = find_word(code, word).filter(|&offset| {
                !file.is_test_code(offset) && !is_harmless(file, &code[offset..])
            });
            let problem = format!("a library {}: '{word}'", self.deed);
            findings.extend(offsets.map(|offset| Finding::at(file, offset, &problem, self.remedy)));
        }
        findings.sort_by_key(|finding| finding.line);
        findings.dedup_by_key(|finding| finding.line);
        findings
    }
}

/// The names of the platform are fixed when the library is compiled.
fn is_harmless(file: &File, code: &str) -> bool {
    let is_own_words = file.path == READS_ITS_WORDS
        && ["std::env::args_os", "env::args_os"]
            .iter()
            .any(|words| code.starts_with(words));
    code.starts_with("std::env::consts") || is_own_words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::found;

    #[test]
    fn a_library_that_is_not_quiet_is_found() {
        for (text, problem) in [
            ("println!()", "prints: 'println!'"),
            ("eprintln!()", "prints: 'eprintln!'"),
            ("print!()", "prints: 'print!'"),
            ("dbg!(a)", "prints: 'dbg!'"),
            ("use std::env;", "reads the environment: 'std::env'"),
            ("std::env::var(a)", "reads the environment: 'std::env'"),
            ("env::var(a)", "reads the environment: 'env::var'"),
            ("process::exit(1)", "ends the process: 'process::exit'"),
            ("Runtime::new()", "starts a runtime: 'Runtime::new'"),
            (
                "Builder::new_multi_thread()",
                "starts a runtime: 'Builder::new_multi_thread'",
            ),
            (
                "Builder::new_current_thread()",
                "starts a runtime: 'Builder::new_current_thread'",
            ),
            ("#[tokio::main]", "starts a runtime: 'tokio::main'"),
            (
                "SystemTime::now()",
                "reads the wall clock: 'SystemTime::now'",
            ),
        ] {
            let path = "crates/toolsmith-manager/src/load.rs";
            assert_eq!(
                found(check, &[(path, text)]),
                [format!("{path}:1: a library {problem}")]
            );
        }
    }

    #[test]
    fn files_are_for_the_manager_and_the_adapters() {
        let text = "use std::fs;";
        assert!(found(check, &[("crates/toolsmith-manager/src/load.rs", text)]).is_empty());
        assert_eq!(
            found(check, &[("crates/toolsmith-core/src/load.rs", text)]),
            ["crates/toolsmith-core/src/load.rs:1: a library reads files: 'std::fs'"]
        );
    }

    #[test]
    fn programs_tests_and_examples_are_free() {
        let text = "fn a() { println!(); std::env::var(b); SystemTime::now(); }";
        let inline = format!("#[cfg(test)]\nmod tests {{ {text} }}");
        for (path, text) in [
            ("crates/toolsmith-cli/src/main.rs", text),
            ("crates/toolsmith-testing/src/lib.rs", text),
            ("xtask/src/main.rs", text),
            ("crates/toolsmith-core/tests/it/main.rs", text),
            ("crates/toolsmith-core/examples/first.rs", text),
            ("crates/toolsmith-core/src/tool.rs", &inline),
            (
                "crates/toolsmith-core/src/tool.rs",
                "let a = std::env::consts::OS; command.env(b)",
            ),
            (
                "crates/toolsmith-core/src/tool.rs",
                "//! println!()\nlet a = env!(b);",
            ),
        ] {
            assert!(found(check, &[(path, text)]).is_empty(), "{path}: {text}");
        }
    }
}
