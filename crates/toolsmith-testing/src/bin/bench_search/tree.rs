//! The files that are searched: made once, and found again by the next run.
//!
//! A hundred thousand files of about 4 KB that look like source, in folders of folders,
//! with ignore files here and there.

use std::fmt::Write as _;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toolsmith_testing::random::Random;

/// Changes with what is made, so that old trees are not used.
const VERSION: &str = "1";

const FOLDERS: usize = 2100;
const FILES_IN_FOLDER: usize = 50;

/// How many files are changed lately.
const RECENT: usize = 400;

const WORDS: &[&str] = &[
    "buffer", "client", "config", "decode", "entry", "filter", "handle", "index", "layout",
    "manager", "number", "offset", "parser", "query", "result", "session", "token", "update",
    "value", "worker",
];
const EXTENSIONS: &[&str] = &["rs", "py", "ts", "go", "md", "json", "txt", "c"];

/// Returns the folder with the files, and makes them if they are not there.
pub(crate) fn ready(home: &Path) -> io::Result<PathBuf> {
    let root = home.join("tree");
    let marker = home.join("tree-version.txt");
    if fs::read_to_string(&marker).is_ok_and(|version| version == VERSION) {
        refresh(&root)?;
        return Ok(root);
    }
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    println!("making {} files", FOLDERS * FILES_IN_FOLDER);
    // With a repository around them, all programs heed the same ignore files.
    fs::create_dir_all(root.join(".git"))?;
    fs::write(
        root.join(".gitignore"),
        "*.o\n*.log\n/dist\nnode_modules/\n*.tmp\n!keep.tmp\n",
    )?;
    let mut random = Random::new(1);
    let long_ago = SystemTime::now() - Duration::from_secs(400 * 24 * 3600);
    for number in 0..FOLDERS {
        let folder = root.join(folder(number));
        fs::create_dir_all(&folder)?;
        if number % 40 == 0 {
            fs::write(folder.join(".gitignore"), "generated_*\n/*.bak\n")?;
        }
        for file in 0..FILES_IN_FOLDER {
            let path = folder.join(name(number, file));
            fs::write(&path, content(&mut random, number, file))?;
            set_time(&path, long_ago)?;
        }
    }
    fs::write(&marker, VERSION)?;
    refresh(&root)?;
    Ok(root)
}

/// Changes some files, as far as their time tells.
fn refresh(root: &Path) -> io::Result<()> {
    for number in 0..RECENT {
        let number = number * FOLDERS / RECENT;
        set_time(
            &root.join(folder(number)).join(name(number, 7)),
            SystemTime::now(),
        )?;
    }
    Ok(())
}

fn set_time(path: &Path, time: SystemTime) -> io::Result<()> {
    File::open(path)?.set_times(FileTimes::new().set_modified(time))
}

fn folder(number: usize) -> String {
    format!(
        "{}_{}/{}_{}/module_{number}",
        WORDS[number % 7],
        number % 7,
        WORDS[number % 19],
        number % 133,
    )
}

fn name(folder: usize, file: usize) -> String {
    if file == 13 && folder.is_multiple_of(40) {
        return format!("generated_{folder}.rs");
    }
    let word = WORDS[(folder + file) % WORDS.len()];
    let extension = EXTENSIONS[file % EXTENSIONS.len()];
    format!("{word}_{file}.{extension}")
}

fn content(random: &mut Random, folder: usize, file: usize) -> String {
    let mut text = String::new();
    let length = 3000 + random.below(2000);
    while text.len() < length {
        let (one, other) = (*random.one_of(WORDS), *random.one_of(WORDS));
        let number = random.below(1000);
        let _ = match random.below(6) {
            0 => writeln!(text, "fn {one}_{other}({one}: usize) -> Option<{other}> {{"),
            1 => writeln!(text, "    let {one} = self.{other}.get({number})?.{one}();"),
            2 => writeln!(
                text,
                "    // The {one} comes before the {other}, {number} times."
            ),
            3 => writeln!(
                text,
                "    if {one}.len() > {number} && !{other}.is_empty() {{ return None; }}"
            ),
            4 => writeln!(text, "    {one}.push(\"{other} {number}\");"),
            _ => writeln!(text, "}}\n"),
        };
    }
    if (folder * FILES_IN_FOLDER + file).is_multiple_of(250) {
        let _ = writeln!(
            text,
            "fn needle_in_hay_{folder}(error_code: u32) {{ panic!(\"E{file:04}\") }}"
        );
    }
    text
}
