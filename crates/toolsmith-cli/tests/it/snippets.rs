//! Every block of the documents is checked by somebody, by its language:
//!
//! - `rust` is compiled: by the doctests of the crate `toolsmith`, which take in the pages it
//!   names, or as an example of the workspace with the same code.
//! - `yaml` is a file, which its first line or a comment before it names. All files of a page
//!   are put into a project, which must load; each must fit the schema that is published for it.
//! - `sh` and `console` hold commands, which the parser of the command line reads
//!   (`src/cli/shown.rs`); what can be done on any machine is done, see `snippets_done`.
//! - `toml` and `json` must be that. `text` is a drawing, a form or an output, and claims nothing
//!   that a program could check by itself; `markdown` is a file that a page has its reader write.
//!
//! A block in another language, or in none, fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{User, newcomer};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A document that files of pages name.
const OPENAPI: &str = r#"
openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: "https://shop.example/v1" }]
paths:
  /orders:
    get: { operationId: listOrders, tags: [orders], summary: Lists the orders of a day., responses: {} }
"#;

/// A block between fences.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// The line of its first fence, from 1.
    pub(crate) line: usize,
    /// What stands behind the fence.
    language: String,
    /// The file a comment before it names.
    file: Option<String>,
    pub(crate) text: String,
}

impl Block {
    /// What its language is called.
    pub(crate) fn word(&self) -> &str {
        self.language.split(',').next().unwrap_or_default()
    }
}

/// The pages people read, by their paths from the root.
pub(crate) fn pages() -> BTreeMap<String, Vec<Block>> {
    let mut pages = BTreeMap::new();
    let mut folders = vec!["docs".to_owned()];
    let mut files = vec!["README.md".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false if path.ends_with(".md") => files.push(path),
                false => {}
            }
        }
    }
    for file in files {
        let text = fs::read_to_string(Path::new(ROOT).join(&file)).unwrap();
        pages.insert(file, blocks(&text));
    }
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut before = "";
    for (index, line) in page.lines().enumerate() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            match blocks.last_mut().filter(|_| is_open) {
                Some(block) => block.text += &format!("{line}\n"),
                None => before = line,
            }
            continue;
        };
        if !is_open {
            let file = before.strip_prefix("<!-- file: ");
            let file = file.and_then(|rest| rest.strip_suffix(" -->"));
            blocks.push(Block {
                line: index + 1,
                language: language.trim().to_owned(),
                file: file.map(str::to_owned),
                text: String::new(),
            });
        }
        is_open = !is_open;
        before = "";
    }
    blocks
}

#[test]
fn every_block_has_a_language_that_is_checked() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (page, blocks) in pages() {
        for block in blocks {
            count += 1;
            let place = format!("{page}:{}", block.line);
            match problem(&block) {
                None => {}
                Some(problem) => wrong.push(format!("{place}: {problem}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "only {count} blocks were found");
}

/// Why nobody would check a block, if nobody would.
fn problem(block: &Block) -> Option<String> {
    match (block.word(), block.language.as_str()) {
        ("rust", "rust" | "rust,no_run") => None,
        ("rust", other) => Some(format!("`{other}` is not compiled")),
        ("sh" | "console" | "text", _) => None,
        ("yaml", _) => match file_of(block) {
            Some(_) => None,
            None => Some("its first line does not say which file it is".to_owned()),
        },
        ("toml", _) => match block.text.parse::<toml_edit::DocumentMut>() {
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        },
        // One value, or one after the other.
        ("json", _) => serde_json::Deserializer::from_str(&block.text)
            .into_iter::<Value>()
            .find_map(Result::err)
            .map(|error| error.to_string()),
        // What somebody is told to write is written where the page is done.
        ("markdown", _) if block.file.is_some() => None,
        ("", _) => Some("it has no language".to_owned()),
        (other, _) => Some(format!("nobody checks `{other}`")),
    }
}

#[test]
fn blocks_that_nobody_checks_are_found() {
    let page = "```rust\nfn a() {}\n```\n\n```\nb\n```\n```rust,ignore\n```\n```perl\n```\n```yaml\na: 1\n```\n\
                <!-- file: a.yaml -->\n```yaml\na: 1\n```\n```yaml\n# b.yaml\nb: 1\n```\n```json\n{\n```\n";
    let problems = |block: &Block| (block.line, problem(block));
    let found: Vec<(usize, bool)> = blocks(page)
        .iter()
        .map(problems)
        .map(|(line, problem)| (line, problem.is_some()))
        .collect();
    assert_eq!(
        found,
        [
            (1, false),
            (5, true),
            (8, true),
            (10, true),
            (12, true),
            (16, false),
            (19, false),
            (23, true)
        ]
    );
}

#[test]
fn the_code_of_every_page_is_compiled() {
    let compiled = fs::read_to_string(Path::new(ROOT).join("crates/toolsmith/src/lib.rs")).unwrap();
    let examples = examples();
    let mut count = 0;
    for (page, blocks) in pages() {
        for block in blocks.iter().filter(|block| block.word() == "rust") {
            count += 1;
            let page_in_docs = page.strip_prefix("docs/").unwrap_or(&page);
            let is_compiled = compiled.contains(&format!("\"{page_in_docs}\""))
                || examples.iter().any(|code| code.contains(&block.text));
            let place = format!("{page}:{}", block.line);
            assert!(
                is_compiled,
                "{place}: name the page in crates/toolsmith/src/lib.rs, or show an example's code"
            );
        }
    }
    assert!(count > 5, "only {count} blocks were found");
}

/// The code of the workspace's examples.
fn examples() -> Vec<String> {
    let folder = Path::new(ROOT).join("examples");
    let entries = fs::read_dir(folder).unwrap();
    let mains = entries.map(|entry| entry.unwrap().path().join("src/main.rs"));
    mains
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}

/// The file a block is, by the comment before it or by its first line.
fn file_of(block: &Block) -> Option<&str> {
    let named = block.text.lines().next()?.strip_prefix("# ");
    let file = block.file.as_deref().or(named)?;
    (file.ends_with(".yaml") && !file.contains(' ')).then_some(file)
}

#[test]
fn every_file_of_the_documents_loads() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (page, blocks) in pages() {
        let files: Vec<&Block> = blocks
            .iter()
            .filter(|block| block.word() == "yaml" || is_script(block))
            .collect();
        for block in &files {
            count += 1;
            let place = format!("{page}:{}", block.line);
            let user = project(&files, block);
            let ran = user.runs(["check"]);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            let is_fine = said.lines().all(|line| !is_fault(line));
            if ran.status != Some(0) || !is_fine {
                wrong.push(format!("{place}: {said}"));
            }
            if let Some(file) = file_of(block) {
                wrong.extend(misfits(&user, file).map(|fault| format!("{place}: {fault}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 15, "only {count} files were found");
}

/// Whether a line that `check` says is a fault of the file. Pages speak of tools and servers
/// that are not there, and of no others.
fn is_fault(line: &str) -> bool {
    let others = [
        "names no tool",
        "names no source",
        "there is no such tool",
        "there is no entry for",
    ];
    line.starts_with("warning") && !others.iter().any(|about| line.contains(about))
}

/// A project of the files of a page; where a file is shown twice, with this one.
fn project(files: &[&Block], shown: &Block) -> User {
    let mut user = newcomer().having("shop.openapi.yaml", OPENAPI);
    for block in files.iter().copied().chain([shown]) {
        let path = match file_of(block) {
            Some(file) => user.home().join(file),
            None => user.home().join("tools/builtin/script"),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &block.text).unwrap();
        for (kind, name) in references(&block.text) {
            match kind {
                "env" => user = user.with(name, "a-value-of-some-length"),
                _ => {
                    let path = user.home().join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, "a-value-of-some-length").unwrap();
                }
            }
        }
    }
    user
}

/// The references to secrets in a text: the kind and the name of each.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let after = text.split("${").skip(1);
    let inner = after.filter_map(|rest| rest.split_once('}').map(|(inner, _)| inner));
    inner.filter_map(|inner| inner.split_once(':'))
}

/// A script with a header is a file as well.
pub(crate) fn is_script(block: &Block) -> bool {
    block.word() == "sh" && block.text.starts_with("#!")
}

/// In which ways a file does not fit the schema that is published for it.
fn misfits(user: &User, file: &str) -> impl Iterator<Item = String> {
    let schema = user.runs(["schema", file]);
    // Documents of APIs have schemas of their own.
    if schema.status == Some(2) {
        return Vec::new().into_iter();
    }
    let schema = schema.ends_with(0).json();
    let text = fs::read(user.home().join(file)).unwrap();
    let value: Value = toolsmith_manager::yaml::read(file, &text).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    errors.into_iter()
}
