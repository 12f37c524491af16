//! `toolsmith.lock`: written at first use, compared ever after, and never trusted where it
//! cannot be read.

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;
use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, Outcome, ToolDef, ToolSource};
use toolsmith_manager::pins::LOCK_FILE;
use toolsmith_manager::servers::ServerEntry;
use toolsmith_manager::{Manager, Setup};

use crate::sets::{project, put};

/// A source whose tools say what they are told to.
struct Upstream(&'static str, Vec<(String, String)>);

impl ToolSource for Upstream {
    fn name(&self) -> &str {
        self.0
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let tools = self.1.iter().map(|(name, says)| {
            let definition = ToolDef::new(name).unwrap().with_description(says.as_str());
            let definition = definition.with_source(toolsmith_core::Source::Rest);
            AnyTool::from_fn(definition, async |_: Value, _| Outcome::ok(1))
        });
        Ok(tools.collect())
    }
}

/// Hands out tools as a source of this name; each is `name: what it says`.
pub(crate) fn hand_out(manager: &Manager, source: &'static str, tools: &[&str]) {
    let split = |tool: &&str| {
        let (name, says) = tool.split_once(": ").unwrap();
        (name.to_owned(), says.to_owned())
    };
    let upstream = Upstream(source, tools.iter().map(split).collect());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(manager.toolbox().refresh(&upstream))
        .unwrap();
}

/// A clock that is ahead: nothing was changed just now.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

fn manager(root: &Path) -> Manager {
    Setup::open(root)
        .unwrap()
        .with_clock(SystemTime::now)
        .load()
        .unwrap()
}

fn withheld(manager: &Manager) -> Vec<String> {
    let withheld = manager.toolbox().registry().withheld();
    let words = withheld.iter();
    words
        .map(|each| format!("{} {}", each.name, each.why.word()))
        .collect()
}

pub(crate) fn has(manager: &Manager, name: &str) -> bool {
    manager.toolbox().registry().has(name)
}

fn lock(root: &Path) -> String {
    std::fs::read_to_string(root.join(LOCK_FILE)).unwrap()
}

fn pinned() -> TempDir {
    let folder = project(&[]);
    hand_out(&manager(folder.path()), "up", &["a: One.", "b: Two."]);
    folder
}

#[test]
fn the_first_use_is_written_down_and_compared_with_from_then_on() {
    let folder = pinned();
    let text = lock(folder.path());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["version"], 1);
    let tools = &value["sources"]["up"]["tools"];
    assert_eq!(tools["a"]["definition"]["description"]["short"], "One.");
    assert!(
        tools["b"]["digest"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    assert!(text.ends_with("}\n"));
    let keys: Vec<usize> = ["\"a\": {", "\"b\": {", "\"version\""]
        .map(|key| text.find(key).unwrap())
        .into();
    assert!(keys.is_sorted(), "{text}");

    let second = manager(folder.path());
    hand_out(&second, "up", &["a: One.", "b: Another.", "c: Three."]);
    assert_eq!(withheld(&second), ["b changed", "c new"]);
    assert!(has(&second, "a"));
    // Nothing of that is written, and what is gone stays pinned.
    hand_out(&second, "up", &["a: One."]);
    assert_eq!(lock(folder.path()), text);
    assert_eq!(withheld(&second), [] as [&str; 0]);
}

#[test]
fn what_is_approved_elsewhere_is_released_at_the_next_look() {
    let folder = pinned();
    let (running, other) = (manager(folder.path()), manager(folder.path()));
    for manager in [&running, &other] {
        hand_out(manager, "up", &["a: One.", "b: Another.", "c: Three."]);
        assert_eq!(withheld(manager), ["b changed", "c new"]);
    }
    assert!(!running.refresh().changed);
    let tools = other.toolbox().registry().withheld();
    other.pins().approve(&tools[..1]).unwrap();
    assert!(running.refresh().changed);
    assert_eq!(withheld(&running), ["c new"]);
    assert!(has(&running, "b"));
    assert!(!running.refresh().changed);

    // What is forgotten is new again; a source that is forgotten is used for the first time.
    let gone = other.pins().forget(|_, tool| tool == "a").unwrap();
    assert_eq!(gone, [("up".to_owned(), "a".to_owned())]);
    assert!(running.refresh().changed);
    assert_eq!(withheld(&running), ["a new", "c new"]);
    other.pins().forget(|source, _| source == "up").unwrap();
    running.refresh();
    assert_eq!(withheld(&running), [] as [&str; 0]);
}

#[test]
fn a_lock_that_cannot_be_read_withholds_everything_and_is_left_alone() {
    let good = lock(pinned().path());
    let forged = good.replace("One.", "Ono.");
    let digestless = good.replace("sha256:", "md5:");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "it is empty"),
        ("blank", b" \n".to_vec(), "it is empty"),
        ("torn", good.as_bytes()[..good.len() / 2].to_vec(), "line"),
        ("no JSON", b"pins: yes".to_vec(), "line 1 column 1"),
        (
            "not UTF-8",
            b"{\"version\": 1, \"x\": \"\xff\"}".to_vec(),
            "UTF-8",
        ),
        (
            "twice",
            good.replacen("\"version\": 1", "\"version\": 1, \"version\": 1", 1)
                .into_bytes(),
            "duplicate",
        ),
        (
            "newer",
            good.replace("\"version\": 1", "\"version\": 2")
                .into_bytes(),
            "it is of version 2",
        ),
        (
            "older",
            good.replace("\"version\": 1", "\"version\": 0")
                .into_bytes(),
            "none there ever was",
        ),
        ("no version", b"{\"sources\": {}}".to_vec(), "no `version`"),
        (
            "more keys",
            good.replace("\"version\": 1", "\"trust\": true, \"version\": 1")
                .into_bytes(),
            "trust",
        ),
        (
            "a forged definition",
            forged.into_bytes(),
            "its digest is not that of its definition",
        ),
        (
            "another digest",
            digestless.into_bytes(),
            "its digest is not `sha256:`",
        ),
        ("too large", vec![b' '; (16 << 20) + 1], "larger"),
        (
            "deep",
            [b"[".repeat(100_000), b"]".repeat(100_000)].concat(),
            "line 1",
        ),
    ];
    for (what, bytes, told) in cases {
        let folder = project(&[]);
        std::fs::write(folder.path().join(LOCK_FILE), &bytes).unwrap();
        let manager = manager(folder.path());
        hand_out(&manager, "up", &["a: One."]);
        assert_eq!(withheld(&manager), ["a unreadable"], "{what}");
        let problem = manager.errors().join("\n");
        assert!(
            problem.contains(LOCK_FILE) && problem.contains(told),
            "{what}: {problem}"
        );
        assert!(
            problem.contains("no imported tool is used until"),
            "{what}: {problem}"
        );
        let tools = manager.toolbox().registry().withheld();
        assert!(manager.pins().approve(&tools).is_err(), "{what}");
        assert!(manager.pins().forget(|_, _| true).is_err(), "{what}");
        assert_eq!(
            std::fs::read(folder.path().join(LOCK_FILE)).unwrap(),
            bytes,
            "{what}"
        );

        // Mended, it counts at the next look.
        put(folder.path(), LOCK_FILE, &good);
        assert!(manager.refresh().changed, "{what}");
        assert!(has(&manager, "a"), "{what}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_neither_waited_for_nor_replaced() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    for is_fifo in [false, true] {
        let folder = project(&[]);
        let path = folder.path().join(LOCK_FILE);
        match is_fifo {
            true => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
            false => std::fs::create_dir(&path).unwrap(),
        }
        let manager = manager(folder.path());
        hand_out(&manager, "up", &["a: One."]);
        assert_eq!(withheld(&manager), ["a unreadable"]);
        let told = if is_fifo {
            "no regular file"
        } else {
            "it is a folder"
        };
        assert!(
            manager.errors().join("\n").contains(told),
            "{:?}",
            manager.errors()
        );
        let found = std::fs::symlink_metadata(&path).unwrap();
        assert!(!found.is_file());
    }
}

#[test]
fn a_lock_of_another_project_does_no_harm() {
    let folder = project(&[]);
    put(folder.path(), LOCK_FILE, &lock(pinned().path()));
    let manager = manager(folder.path());
    hand_out(&manager, "mine", &["x: One."]);
    assert_eq!(withheld(&manager), [] as [&str; 0]);
    let text = lock(folder.path());
    assert!(
        text.contains("\"mine\"") && text.contains("\"up\""),
        "{text}"
    );
}

#[test]
fn where_it_cannot_be_written_pins_last_for_the_run_and_that_is_told_once() {
    let folder = project(&[]);
    let nowhere = folder.path().join("nowhere");
    let setup = Setup::open(folder.path()).unwrap();
    let manager = setup
        .with_root(&nowhere)
        .with_clock(SystemTime::now)
        .load()
        .unwrap();
    hand_out(&manager, "up", &["a: One."]);
    hand_out(&manager, "other", &["b: Two."]);
    assert!(has(&manager, "a") && has(&manager, "b"));
    let told = manager.pins().told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("pinned for this run only"), "{told:?}");
    hand_out(&manager, "up", &["a: Another."]);
    assert_eq!(withheld(&manager), ["a changed"]);
    let tools = manager.toolbox().registry().withheld();
    assert!(manager.pins().approve(&tools).is_err());
    assert!(!nowhere.exists());
}

#[test]
fn pins_outlive_their_file_while_the_program_runs() {
    let folder = pinned();
    let manager = manager(folder.path());
    hand_out(&manager, "up", &["a: One."]);
    std::fs::remove_file(folder.path().join(LOCK_FILE)).unwrap();
    manager.refresh();
    hand_out(&manager, "up", &["a: Another."]);
    assert_eq!(withheld(&manager), ["a changed"]);
    // The next source that is pinned brings the others back.
    hand_out(&manager, "more", &["c: Three."]);
    assert!(lock(folder.path()).contains("One."));
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = project(&[]);
    let names = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    let barrier = Barrier::new(names.len());
    std::thread::scope(|scope| {
        for name in names {
            let (root, barrier) = (folder.path(), &barrier);
            scope.spawn(move || {
                let manager = manager(root);
                barrier.wait();
                hand_out(
                    &manager,
                    name,
                    &[&format!("{name}_a: One."), &format!("{name}_b: Two.")],
                );
                assert!(manager.pins().told().is_empty());
            });
        }
    });
    let value: Value = serde_json::from_str(&lock(folder.path())).unwrap();
    for name in names {
        assert_eq!(
            value["sources"][name]["tools"].as_object().unwrap().len(),
            2,
            "{name}"
        );
    }
    // Nothing was left beside it.
    let files = std::fs::read_dir(folder.path()).unwrap().flatten();
    let left: Vec<_> = files
        .map(|file| file.file_name())
        .filter(|name| name != LOCK_FILE)
        .collect();
    assert_eq!(left.len(), 0, "{left:?}");
}

#[test]
fn of_two_that_pin_one_source_at_once_the_second_compares() {
    for _ in 0..10 {
        let folder = project(&[]);
        let barrier = Barrier::new(2);
        let managers: Vec<Arc<Manager>> =
            (0..2).map(|_| Arc::new(manager(folder.path()))).collect();
        std::thread::scope(|scope| {
            for (manager, tool) in managers.iter().zip(["a: One.", "a: Two."]) {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    hand_out(manager, "up", &[tool]);
                });
            }
        });
        let withheld: Vec<String> = managers.iter().flat_map(|each| withheld(each)).collect();
        assert_eq!(withheld, ["a changed"]);
    }
}

#[test]
fn modes_hold_for_all_servers_or_for_one() {
    for (config, first, then) in [
        ("pins: first-use", vec![], vec!["a changed"]),
        ("pins: strict", vec!["a new"], vec!["a new"]),
        ("pins: off", vec![], vec![]),
        (
            "servers: { up: { url: 'http://127.0.0.1:9', pins: off } }",
            vec![],
            vec![],
        ),
        (
            "pins: off\nservers: { up: { url: 'http://127.0.0.1:9', pins: strict } }",
            vec!["a new"],
            vec!["a new"],
        ),
    ] {
        let folder = project(&[("toolsmith.yaml", config)]);
        let manager = manager(folder.path());
        hand_out(&manager, "up", &["a: One."]);
        assert_eq!(withheld(&manager), first, "{config}");
        hand_out(&manager, "up", &["a: Two."]);
        assert_eq!(withheld(&manager), then, "{config}");
        assert_eq!(
            folder.path().join(LOCK_FILE).exists(),
            config == "pins: first-use",
            "{config}"
        );
    }
    // And change with the configuration.
    let folder = project(&[("toolsmith.yaml", "pins: strict")]);
    let setup = Setup::open(folder.path()).unwrap().with_clock(later);
    let manager = setup.load().unwrap();
    hand_out(&manager, "up", &["a: One."]);
    assert!(!has(&manager, "a"));
    put(folder.path(), "toolsmith.yaml", "pins: off");
    assert!(manager.refresh().changed);
    assert!(has(&manager, "a"));
}

#[test]
fn a_server_of_the_command_line_is_pinned_for_the_run() {
    let folder = project(&[("toolsmith.yaml", "pins: strict")]);
    let entry: ServerEntry = "up=http://127.0.0.1:9".parse().unwrap();
    let setup = Setup::open(folder.path()).unwrap().with_servers([entry]);
    let manager = setup.load().unwrap();
    hand_out(&manager, "up", &["a: One."]);
    assert!(has(&manager, "a"));
    hand_out(&manager, "up", &["a: Two."]);
    assert_eq!(withheld(&manager), ["a changed"]);
    assert!(!folder.path().join(LOCK_FILE).exists());
    assert!(manager.pins().is_of_run("up"));
}

#[test]
fn a_source_that_renames_its_tools_on_every_list_does_not_make_it_grow() {
    let folder = pinned();
    let (manager, before) = (manager(folder.path()), lock(folder.path()));
    for round in 0..100 {
        hand_out(
            &manager,
            "up",
            &[&format!("v{round}: One."), &format!("w{round}: Two.")],
        );
        assert_eq!(withheld(&manager).len(), 2);
    }
    assert_eq!(lock(folder.path()), before);
}

#[test]
fn a_definition_that_is_too_long_is_kept_as_a_digest() {
    let folder = project(&[]);
    let manager = manager(folder.path());
    let long = format!("a: {}", "word ".repeat(20_000));
    hand_out(&manager, "up", &[&long]);
    assert!(has(&manager, "a"));
    assert!(lock(folder.path()).len() < 1000);
    let second = self::manager(folder.path());
    hand_out(&second, "up", &[&long]);
    assert!(has(&second, "a"));
    hand_out(&second, "up", &[&format!("{long}more")]);
    assert_eq!(withheld(&second), ["a changed"]);
}

#[test]
fn secrets_do_not_get_into_the_file() {
    let folder = project(&[(
        "toolsmith.yaml",
        "servers: { up: { command: 'true', env: { KEY: '${env:UP_KEY}' } } }",
    )]);
    let secret = "s3cr3t-value-of-the-user";
    let environment = [("UP_KEY".into(), secret.into())];
    let setup = Setup::open(folder.path())
        .unwrap()
        .with_environment(&environment);
    let manager = setup.load().unwrap();
    hand_out(&manager, "up", &[&format!("a: Knows {secret}.")]);
    assert!(has(&manager, "a"));
    let text = lock(folder.path());
    assert!(!text.contains(secret), "{text}");
    assert!(text.contains("Knows "), "{text}");
}
