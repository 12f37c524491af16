//! Questions about the names of files, for `glob` and `find` beside `fd`.

use serde_json::{Map, Value, json};
use toolsmith_testing::random::Random;

use super::query::{Program, Query, Reading};
use super::tree::{EXTENSIONS, FIRST_TIME, TIME_SPAN, Tree, WORDS};

const NAMES: &[&str] = &[
    "*",
    "*.rs",
    "*.{md,txt}",
    "?*_1?.*",
    "[a-d]*",
    "*.tar.gz",
    "*[0-9].log",
    "*é*",
    "*ß*",
    ".*",
    "*~",
    "*.weird-ext",
    "[!a-z]*",
    "* *",
    "日*",
    "link_*",
];

/// Draws a question.
pub(crate) fn draw(random: &mut Random, tree: &Tree) -> Query {
    let mut question = Question::new(folder(random, tree));
    match random.below(9) {
        0..=2 => question.glob(random, tree),
        3 => question.named(random),
        _ => question.find(random, tree),
    }
    question.finish()
}

/// A folder that is not ignored, or most often the root.
pub(crate) fn folder(random: &mut Random, tree: &Tree) -> String {
    match random.once_in(6) {
        true => random.one_of(&tree.shown).clone(),
        false => String::new(),
    }
}

/// A pattern for paths from a folder, never literal to its end: what is named literally
/// ours shows even if it is ignored.
pub(crate) fn glob(random: &mut Random, tree: &Tree, from: &str) -> String {
    let name = match random.below(3) {
        0 => format!("{}*", random.one_of(WORDS)),
        1 => format!("*.{}", random.one_of(EXTENSIONS)),
        _ => (*random.one_of(NAMES)).to_owned(),
    };
    let prefix = match from {
        "" => String::new(),
        from => format!("{from}/"),
    };
    let inner: Vec<&str> = tree
        .shown
        .iter()
        .filter_map(|folder| folder.strip_prefix(&prefix))
        .collect();
    match random.below(8) {
        0 => format!("**/{name}"),
        1 => format!("*/{name}"),
        2 if !inner.is_empty() => format!("{}/{name}", random.one_of(&inner)),
        3 if !inner.is_empty() => format!("{}/**/{name}", random.one_of(&inner)),
        4 => format!("**/{{src,lib,inner}}/{name}"),
        _ => name,
    }
}

/// A pattern for what is left out, which is never everything.
pub(crate) fn left_out(random: &mut Random, tree: &Tree, from: &str) -> String {
    loop {
        let pattern = glob(random, tree, from);
        if !matches!(pattern.as_str(), "*" | "**/*" | "*/*") {
            return pattern;
        }
    }
}

/// A question that comes into being.
#[derive(Debug)]
struct Question {
    tool: &'static str,
    arguments: Map<String, Value>,
    reading: Reading,
    program: Program,
    words: Vec<String>,
    folder: String,
    /// The pattern, last on the command line.
    pattern: Option<String>,
}

impl Question {
    fn new(folder: String) -> Self {
        let mut arguments = Map::new();
        arguments.insert("max_results".to_owned(), json!(1000));
        if !folder.is_empty() {
            arguments.insert("path".to_owned(), json!(folder));
        }
        Self {
            tool: "glob",
            arguments,
            reading: Reading::Names,
            program: Program::Fd,
            words: Vec::new(),
            folder,
            pattern: None,
        }
    }

    fn set(&mut self, name: &str, value: Value) {
        self.arguments.insert(name.to_owned(), value);
    }

    fn word(&mut self, word: impl Into<String>) {
        self.words.push(word.into());
    }

    /// Only files, and links, which count as such.
    fn files(&mut self) {
        self.word("--type=file");
        self.word("--type=symlink");
    }

    fn case(&mut self, random: &mut Random) {
        let is_sensitive = random.once_in(2);
        self.set("case_sensitive", json!(is_sensitive));
        self.word(if is_sensitive {
            "--case-sensitive"
        } else {
            "--ignore-case"
        });
    }

    fn glob(&mut self, random: &mut Random, tree: &Tree) {
        let pattern = glob(random, tree, &self.folder);
        self.set("pattern", json!(pattern));
        self.pattern(tree, &pattern);
        self.case(random);
        match random.once_in(3) {
            true => self.set("include_directories", json!(true)),
            false => self.files(),
        }
        self.ignored(random);
        if random.once_in(5) {
            self.set("hidden", json!(false));
            self.word("--no-hidden");
        }
        self.set("sort", json!(random.one_of(&["mtime", "path"])));
    }

    fn pattern(&mut self, tree: &Tree, pattern: &str) {
        self.word("--glob");
        self.pattern = Some(match pattern.contains('/') {
            true => {
                self.word("--full-path");
                let from = tree.root.join(&self.folder);
                from.join(pattern).display().to_string()
            }
            false => pattern.to_owned(),
        });
    }

    fn ignored(&mut self, random: &mut Random) {
        if random.once_in(6) {
            self.set("include_ignored", json!(true));
            self.word("--no-ignore");
        }
    }

    /// A file that is named literally is shown even if it is ignored; `rg` does the same.
    fn named(&mut self, random: &mut Random) {
        let name = format!("{}_{}.rs", random.one_of(WORDS), random.below(30));
        let name = *random.one_of(&[name.as_str(), "Makefile", "makefile", "README.md"]);
        self.set("pattern", json!(name));
        self.program = Program::RgFiles;
        self.reading = Reading::NamesButLinks;
        self.word(format!("--iglob={name}"));
    }

    fn find(&mut self, random: &mut Random, tree: &Tree) {
        self.tool = "find";
        self.case(random);
        self.ignored(random);
        if random.once_in(2) {
            let name = glob(random, tree, &self.folder);
            self.set("name", json!(name));
            self.pattern(tree, &name);
        }
        if random.once_in(if self.pattern.is_some() { 12 } else { 3 }) {
            let extension = *random.one_of(EXTENSIONS);
            let dot = *random.one_of(&["", "."]);
            self.set("extension", json!(format!("{dot}{extension}")));
            self.word(format!("--extension={extension}"));
        }
        let depth = match random.once_in(3) {
            true => random.below(5),
            false => 20,
        };
        self.set("max_depth", json!(depth));
        self.word(format!("--max-depth={}", depth + 1));
        match random.below(5) {
            0 => {
                let (least, most) = (random.below(500), 300 + random.below(2000));
                self.set("size_min", json!(least.min(most)));
                self.set("size_max", json!(most));
                self.word(format!("--size=+{}b", least.min(most)));
                self.word(format!("--size=-{most}b"));
                self.word("--type=file");
                self.reading = Reading::NamesButLinks;
            }
            1 => {
                self.set("type", json!("file"));
                self.word("--type=file");
                // Which links count as files depends on where they lead.
                self.reading = Reading::NamesButLinks;
            }
            2 => {
                self.set("type", json!("directory"));
                self.word("--type=directory");
            }
            _ => {}
        }
        if random.once_in(4) {
            // At an odd second nothing was changed.
            let time = FIRST_TIME + random.below(TIME_SPAN / 2) as u64 * 2 + 1;
            let (argument, option) = *random.one_of(&[
                ("modified_after", "changed-within"),
                ("modified_before", "changed-before"),
            ]);
            let time = stamp(time);
            self.set(argument, json!(time));
            self.word(format!("--{option}={time}"));
        }
        if random.once_in(4) {
            let left_out = left_out(random, tree, &self.folder);
            self.set("exclude_patterns", json!([left_out]));
            self.word(format!("--exclude={left_out}"));
            // Others always heed capital letters in these.
            self.set("case_sensitive", json!(true));
            self.words.retain(|word| word != "--ignore-case");
            self.word("--case-sensitive");
        }
        self.set("sort", json!(random.one_of(&["mtime", "path", "size"])));
    }

    fn finish(mut self) -> Query {
        if self.program == Program::Fd {
            let pattern = self.pattern.take().unwrap_or_else(|| ".".to_owned());
            self.word("--");
            self.word(pattern);
        }
        Query {
            tool: self.tool,
            arguments: self.arguments.into(),
            reading: self.reading,
            program: self.program,
            words: self.words,
            folder: self.folder,
            glob: None,
        }
    }
}

/// A second of 2025 as a date and a time.
fn stamp(time: u64) -> String {
    let second = time - FIRST_TIME;
    let (mut day, second) = (second / 86_400, second % 86_400);
    let mut month = 1;
    for length in [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "2025-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z",
        day + 1,
        second % 60
    )
}
