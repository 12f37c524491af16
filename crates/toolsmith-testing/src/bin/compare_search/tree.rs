//! The files that are searched: drawn from a seed, with all that makes searching hard.
//!
//! Ignore files at several levels, repositories in the repository, hidden files, names in
//! other scripts, links, and contents that are not text, or text in other encodings.

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use toolsmith_testing::random::Random;

const FILES: usize = 2000;
const FOLDERS: usize = 180;

/// The first time a file may have been changed, 2025-01-01, and how long after it the
/// last: files are changed at even seconds.
pub(crate) const FIRST_TIME: u64 = 1_735_689_600;
pub(crate) const TIME_SPAN: usize = 300 * 24 * 3600;

/// Words of names and contents.
pub(crate) const WORDS: &[&str] = &[
    "alpha",
    "Beta",
    "gamma",
    "delta",
    "build",
    "cache",
    "docs",
    "error",
    "index",
    "parser",
    "token",
    "Token",
    "naïve",
    "größe",
    "日本語",
    "Ωmega",
    "x",
    "value",
];

/// What names end in.
pub(crate) const EXTENSIONS: &[&str] = &[
    "rs",
    "py",
    "txt",
    "md",
    "log",
    "tmp",
    "tar.gz",
    "JSON",
    "c",
    "h",
    "weird-ext",
    "RS",
];

const FOLDER_NAMES: &[&str] = &[
    "src",
    "docs",
    "build",
    "target",
    "node_modules",
    "cache",
    "Alpha",
    "inner",
    "größe",
    ".config",
    "with space",
    "a.b",
    "lib",
    "日本語",
];

const RULES: &[&str] = &[
    "*.log",
    "!alpha*.log",
    "/build",
    "build/",
    "target/",
    "node_modules",
    "**/cache/**",
    "docs/*.md",
    "/docs/**/*.txt",
    "*.tmp",
    "!*.tmp",
    "/x*",
    "delta*",
    "!delta_1*",
    "[a-c]*.py",
    "*/inner/*",
    "# a comment",
    "",
    "\\#sharp",
    "\\!bang",
    "gamma_?.rs",
    "größe*",
    "cache/",
    "!cache/",
    "**/inner",
    "src/**/parser*",
    "*.tar.gz",
    "token_[0-9]*  ",
    "[unclosed",
    "/*.c",
    "!/index*.c",
    "inner/**",
    "/**/value*.h",
    "*.{md,txt}",
];

/// The files.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: usize,
    /// Folders that ignore rules do not hide, from the root.
    pub(crate) shown: Vec<String>,
}

impl Tree {
    /// Makes the files anew.
    pub(crate) fn make(home: &Path, seed: u64) -> io::Result<Self> {
        fs::create_dir_all(home)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "`fd` matches whole paths, and with them where links lead to"
        )]
        let root = home.canonicalize()?.join("tree");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let mut random = Random::new(seed);
        fs::create_dir_all(root.join(".git/info"))?;
        fs::write(root.join(".git/config"), "alpha gamma value\n")?;
        fs::write(root.join(".git/info/exclude"), "excluded*\n!excluded_1*\n")?;
        let mut folders = vec![root.clone()];
        while folders.len() < FOLDERS {
            let above = random.one_of(&folders).clone();
            let depth = above.components().count() - root.components().count();
            let folder = above.join(random.one_of(FOLDER_NAMES));
            if depth < 6 && !folder.exists() {
                fs::create_dir(&folder)?;
                folders.push(folder);
            }
        }
        for (number, folder) in folders.iter().enumerate() {
            if random.once_in(8) {
                fs::write(folder.join(".gitignore"), rules(&mut random))?;
            }
            if random.once_in(16) {
                fs::write(folder.join(".ignore"), rules(&mut random))?;
            }
            match number {
                40 | 41 => fs::create_dir(folder.join(".git"))?,
                42 => fs::write(folder.join(".git"), "gitdir: /nowhere\n")?,
                _ => {}
            }
        }
        // These hold everywhere, and leave most files to be found.
        fs::write(
            root.join(".gitignore"),
            "*.tmp\n!x*.tmp\n/target\nnode_modules/\n",
        )?;
        fs::write(root.join(".ignore"), "!x_1.tmp\n/*.c\ntoken_2?.*\n")?;
        let mut files = 0;
        while files < FILES {
            let path = random.one_of(&folders).join(name(&mut random));
            if !path.exists() {
                fs::write(&path, content(&mut random))?;
                let time = FIRST_TIME + random.below(TIME_SPAN / 2) as u64 * 2;
                let time = UNIX_EPOCH + Duration::from_secs(time);
                File::open(&path)?.set_times(FileTimes::new().set_modified(time))?;
                files += 1;
            }
        }
        for number in 0..30 {
            let target = random.one_of(&["index_1.rs", "..", "nowhere", "src", "/etc/hostname"]);
            let link = random.one_of(&folders).join(format!("link_{number}.rs"));
            std::os::unix::fs::symlink(target, link)?;
        }
        Ok(Self {
            root,
            files,
            shown: Vec::new(),
        })
    }
}

fn rules(random: &mut Random) -> Vec<u8> {
    let end = if random.once_in(5) { "\r\n" } else { "\n" };
    let mut text = String::new();
    if random.once_in(8) {
        text.push('\u{FEFF}');
    }
    for _ in 0..=random.below(5) {
        let rule: &&str = random.one_of(RULES);
        text.push_str(rule);
        text.push_str(end);
    }
    text.into_bytes()
}

fn name(random: &mut Random) -> String {
    let word = *random.one_of(WORDS);
    let extension = *random.one_of(EXTENSIONS);
    let number = random.below(30);
    match random.below(16) {
        0 => format!(".{word}_{number}.{extension}"),
        1 => format!("{word}_{number}"),
        2 => format!("{word} {number}.{extension}"),
        3 => format!("excluded_{number}.{extension}"),
        4 => format!("{word}.{number}.{extension}"),
        5 => random
            .one_of(&[
                "Makefile",
                "README.md",
                "#sharp",
                "!bang",
                "Dockerfile",
                "foo~",
                "-dash.rs",
            ])
            .to_string(),
        _ => format!("{word}_{number}.{extension}"),
    }
}

fn content(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    let end = if random.once_in(6) { "\r\n" } else { "\n" };
    for _ in 0..random.below(40) {
        text.push_str(&line(random));
        text.push_str(end);
    }
    if random.once_in(5) {
        text.push_str(&line(random));
    }
    match random.below(30) {
        0 => Vec::new(),
        1 => [b"\xFF\xFE".to_vec(), utf16(&text, u16::to_le_bytes)].concat(),
        2 => [b"\xFE\xFF".to_vec(), utf16(&text, u16::to_be_bytes)].concat(),
        3 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        4 => [text.as_bytes(), b"\0\x01binary alpha\0", text.as_bytes()].concat(),
        5 => [b"\x7FELF\0\0", text.as_bytes()].concat(),
        6 => [b"caf\xE9 gamma\n", text.as_bytes()].concat(),
        _ => text.into_bytes(),
    }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn line(random: &mut Random) -> String {
    let (one, other) = (*random.one_of(WORDS), *random.one_of(WORDS));
    let number = random.below(100);
    match random.below(9) {
        0 => String::new(),
        1 => format!("fn {one}_{other}(items: &[{other}]) {{"),
        2 => format!("    let {one} = items[{number}].{other};"),
        3 => format!("# {one} and {other}: {number}"),
        4 => format!("\t{one}({other})  "),
        5 => format!("begin {one}"),
        6 => format!("end {other};"),
        7 => format!("{} {number}", one.to_uppercase()),
        _ => format!("{one} {other} {one} {number}"),
    }
}
