//! Questions about the content of files, for `grep` and `rg`.

use serde_json::{Map, Value, json};
use toolsmith_testing::random::Random;

use super::names::{folder, glob, left_out};
use super::query::{Program, Query, Reading};
use super::tree::{Tree, WORDS};

const LITERALS: &[&str] = &[
    "items[0", "].value;", "(x)", "and x", "$", "alpha.*", "{", "#  ",
];

const REGEXES: &[&str] = &[
    r"^fn \w+_x\(",
    r"\bToken\b",
    r"index\w*\(",
    r"^\s+let (alpha|Beta) =",
    r"items\[\d\d\]\.x",
    r" [0-9]$",
    r";$",
    r"^end .*;$",
    r"ß\w",
    r"\p{Greek}mega",
    r"^.{3}$",
    r"^(begin|end) p",
    r"(?i)naÏve_",
    r"x x x",
    r"gamma.*\b\d\d\b",
    r"日本.\s",
    r"^$",
    r"[^\x00-\x7F]{3} ",
    r"^\t",
];

const OVER_LINES: &[&str] = &[
    r"begin \w+\s+end",
    r"^begin.*?\nfn",
    r"x;\n+#",
    r"\{\s*\n\s+let x",
    r"value\)\s+begin",
];

const TYPES: &[&str] = &["rust", "py", "txt", "md", "c", "json", "make", "log", "h"];

/// Draws a question.
pub(crate) fn draw(random: &mut Random, tree: &Tree) -> Query {
    let mut arguments = Map::new();
    let mut words: Vec<String> = Vec::new();
    let mut set = |name: &str, value: Value| arguments.insert(name.to_owned(), value);
    let is_over_lines = random.once_in(12);
    let pattern = pattern(random, is_over_lines, &mut words);
    set("pattern", json!(pattern));
    set(
        "fixed_strings",
        json!(words.contains(&"--fixed-strings".to_owned())),
    );
    if is_over_lines {
        set("multiline", json!(true));
        words.extend(["--multiline".to_owned(), "--multiline-dotall".to_owned()]);
    }
    words.push(format!("--regexp={pattern}"));
    if random.once_in(3) {
        set("case_insensitive", json!(true));
        words.push("--ignore-case".to_owned());
    }
    let reading = match random.below(4) {
        _ if is_over_lines => Reading::Lines,
        0 => Reading::Files,
        1 => Reading::Counts,
        _ => Reading::Lines,
    };
    let mode = match reading {
        Reading::Files => "files_with_matches",
        Reading::Counts => "count",
        _ => "content",
    };
    set("output_mode", json!(mode));
    set("head_limit", json!(-1));
    if reading == Reading::Lines && random.once_in(3) {
        let (before, after) = (random.below(4), random.below(4));
        set("context_before", json!(before));
        set("context_after", json!(after));
        words.push(format!("--before-context={before}"));
        words.push(format!("--after-context={after}"));
    } else if reading != Reading::Files && !is_over_lines && random.once_in(5) {
        let most = 1 + random.below(3);
        set("max_per_file", json!(most));
        words.push(format!("--max-count={most}"));
    }
    let folder = folder(random, tree);
    if !folder.is_empty() {
        set("path", json!(folder));
    }
    let mut fitting = None;
    match random.below(6) {
        0 | 1 => {
            let glob = glob(random, tree, &folder);
            set("glob", json!(glob));
            fitting = Some(glob);
        }
        2 => {
            let kind = *random.one_of(TYPES);
            set("type", json!(kind));
            words.push(format!("--type={kind}"));
        }
        3 => {
            // Named literally, a file is shown by both whatever ignore rules say.
            let name = *random.one_of(&["Makefile", "README.md", "value_3.log", "x_1.tmp"]);
            set("glob", json!(name));
            words.push(format!("--glob={name}"));
        }
        _ => {}
    }
    if random.once_in(6) {
        let left_out = left_out(random, tree, &folder);
        set("exclude", json!([left_out]));
        words.push(format!("--glob=!{left_out}"));
    }
    if random.once_in(8) {
        set("include_ignored", json!(true));
        words.push("--no-ignore".to_owned());
    }
    Query {
        tool: "grep",
        arguments: arguments.into(),
        reading,
        program: Program::Rg,
        words,
        folder,
        glob: fitting,
    }
}

fn pattern(random: &mut Random, is_over_lines: bool, words: &mut Vec<String>) -> String {
    if is_over_lines {
        return (*random.one_of(OVER_LINES)).to_owned();
    }
    let (one, other) = (*random.one_of(WORDS), *random.one_of(WORDS));
    match random.below(5) {
        0 => {
            words.push("--fixed-strings".to_owned());
            (*random.one_of(LITERALS)).to_owned()
        }
        1 => format!("{one} {other}"),
        2 => format!("{one} {}", random.below(100)),
        3 => {
            words.push("--fixed-strings".to_owned());
            format!("{one}({other})")
        }
        _ => {
            let pattern = *random.one_of(REGEXES);
            if pattern.contains('$') {
                // Ours ends lines before a carriage return wherever it matters.
                words.push("--crlf".to_owned());
            }
            pattern.to_owned()
        }
    }
}
