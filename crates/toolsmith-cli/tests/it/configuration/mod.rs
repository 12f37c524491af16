//! Files that are wrong, by accident or on purpose, one small folder each. `check` names
//! what is wrong and where, spends little time on it, and everything else in the folder
//! works on. What is told is kept in snapshots, to be read as a person reads it.

mod documents;
mod places;
mod servers;
mod sets;
mod texts;
mod tools;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Ran, User, newcomer};

/// Folders of files that are read, and a good file for each.
const GOOD: [(&str, &str); 6] = [
    (
        "tools/native/good.yaml",
        "{ name: good_native, description: 'A tool that is good, beside others that are not.', command: [/bin/echo, hello], sandbox: none }\n",
    ),
    (
        "tools/builtin/good.sh",
        "#!/bin/sh\n# ---\n# name: good_script\n# description: A script that is good, beside others that are not.\n# sandbox: none\n# ---\necho hello\n",
    ),
    (
        "tools/builtin/good.yaml",
        "{ name: grep, category: looking }\n",
    ),
    ("tools/mcp/good.yaml", "command: /nowhere/good-server\n"),
    (
        "configs/tool_sets/good.yaml",
        "tools: [read, good_native, good_script]\n",
    ),
    ("agents/good.yaml", "tool_sets: [good]\n"),
];

/// A folder in which something is wrong.
pub(super) struct Case {
    name: &'static str,
    user: User,
    words: Vec<&'static str>,
}

pub(super) fn case(name: &'static str) -> Case {
    Case {
        name,
        user: newcomer(),
        words: Vec::new(),
    }
}

impl Case {
    /// With a file in it.
    pub(super) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        write(self.user.home(), path, content);
        self
    }

    /// With the main file.
    pub(super) fn main(self, content: impl AsRef<[u8]>) -> Self {
        self.file("toolsmith.yaml", content)
    }

    /// With whatever this makes of it.
    pub(super) fn made(self, make: impl FnOnce(&Path)) -> Self {
        make(self.user.home());
        self
    }

    pub(super) fn with(mut self, variable: &str, value: &str) -> Self {
        self.user = self.user.with(variable, value);
        self
    }

    /// Asked with these words too.
    pub(super) fn asking(mut self, words: &[&'static str]) -> Self {
        self.words.extend(words);
        self
    }

    /// What `check` says. It must be an error of the configuration, found within little
    /// time, and steer no terminal.
    #[track_caller]
    fn is_refused(&self) -> String {
        let words = [&["check"], &self.words[..]].concat();
        let ran = within_five_seconds(&self.user, &words);
        assert_eq!(ran.status, Some(2), "{}: {ran:#?}", self.name);
        is_plain(self.name, &ran.stderr);
        is_plain(self.name, &ran.stdout);
        let longest = ran.stderr.lines().map(str::len).max();
        assert!(longest < Some(2000), "{}: {longest:?}", self.name);
        assert!(ran.stderr.contains("error: "), "{}: {ran:#?}", self.name);
        let home = self.user.home().to_str().unwrap();
        ran.stderr.replace(home, "[HOME]")
    }

    /// The good files beside the bad ones are in use.
    #[track_caller]
    fn works_on(&self) {
        let words = ["tools", "--json", "--agent", "good"];
        let ran = within_five_seconds(&self.user, &words);
        assert_eq!(ran.status, Some(0), "{}: {ran:#?}", self.name);
        is_plain(self.name, &ran.stderr);
        let list = ran.json();
        let names: Vec<&str> = (list.as_array().unwrap().iter())
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        let good = ["read", "good_native", "good_script"];
        assert_eq!(names, good, "{}", self.name);
    }
}

/// What is told of files of one folder, each with its own mistake, all at once: each is
/// told of by its name, and the good files beside them work on.
#[track_caller]
pub(super) fn all_in_one_folder<T: AsRef<[u8]>>(
    folder: &str,
    end: &str,
    files: impl IntoIterator<Item = (&'static str, T)>,
) -> String {
    let mut all = case("all at once");
    let mut paths = Vec::new();
    for (name, text) in files {
        let name = name.replace([' ', ','], "_").replace("__", "_");
        paths.push(format!("{folder}/{name}.{end}"));
        all = all.file(paths.last().unwrap(), text);
    }
    let told = beside_good_files([all]);
    for path in paths {
        assert!(
            told.contains(&format!("error: ./{path}:")),
            "{path} is not in {told}"
        );
    }
    told
}

/// What is told of each, one after the other: the good files beside them work on.
#[track_caller]
pub(super) fn beside_good_files(cases: impl IntoIterator<Item = Case>) -> String {
    let mut told = String::new();
    for case in cases {
        let case = GOOD
            .iter()
            .fold(case, |case, (path, content)| case.file(path, content));
        write!(told, "# {}\n{}\n", case.name, case.is_refused()).unwrap();
        case.works_on();
    }
    told
}

/// What is told of each, one after the other: nothing works with such a main file, and
/// every command says so as `check` does.
#[track_caller]
pub(super) fn in_the_main_file(cases: impl IntoIterator<Item = Case>) -> String {
    let mut told = String::new();
    for case in cases {
        let refused = case.is_refused();
        let words = [&["tools"], &case.words[..]].concat();
        let ran = within_five_seconds(&case.user, &words);
        assert_eq!(ran.status, Some(2), "{}: {ran:#?}", case.name);
        assert_eq!(ran.stdout, "", "{}", case.name);
        write!(told, "# {}\n{refused}\n", case.name).unwrap();
    }
    told
}

pub(super) fn write(home: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Runs it; the system ends what takes more than five seconds of a processor's time.
fn within_five_seconds(user: &User, words: &[&str]) -> Ran {
    let bare = user.command(words);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -t 5; exec \"$0\" \"$@\""])
        .arg(bare.get_program())
        .args(bare.get_args())
        .env_clear()
        .envs(
            bare.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(user.home())
        .stdin(Stdio::null());
    Ran::from(command.output().unwrap())
}

/// Nothing in it but text: whatever could steer a terminal or hide is gone.
#[track_caller]
fn is_plain(name: &str, text: &str) {
    let is_odd = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    assert!(!text.contains(is_odd), "{name}: {text:?}");
}
