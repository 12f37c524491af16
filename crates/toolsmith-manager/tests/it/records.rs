//! Records in files: whole, private, rotated, read again whatever happened to them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolsmith_core::record::Status;
use toolsmith_core::{AnyTool, Outcome, RawCall, ToolDef};
use toolsmith_manager::records::{
    RecordFile, RecordPlace, RecordReader, RecordTerms, Skipped, Stored,
};
use toolsmith_runtime::{Caller, Mode, Policy, Toolbox};

/// A moment all tests agree on.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

struct Project {
    state: TempDir,
    place: RecordPlace,
    file: RecordFile,
}

impl Project {
    fn new() -> Self {
        Self::on(RecordTerms::default())
    }

    fn on(terms: RecordTerms) -> Self {
        let state = TempDir::new().unwrap();
        let place = RecordPlace::of_root(state.path().join("records"), Path::new("/some/project"));
        let file = RecordFile::new(place.clone(), noon).with_terms(terms);
        Self { state, place, file }
    }

    fn toolbox(&self) -> Toolbox {
        let echo = ToolDef::new("echo").unwrap().with_input(anything());
        let echo = AnyTool::from_fn(echo, async |arguments: Value, _| {
            Outcome::text(arguments["text"].as_str().unwrap_or_default())
        });
        let builder = Toolbox::builder().tools([echo]);
        let builder = builder.policy(Policy::new(Mode::Auto)).without_log();
        builder.recorder(self.file.clone()).build().unwrap()
    }

    fn read(&self) -> (Vec<Stored>, Skipped) {
        read(&self.place)
    }
}

fn anything() -> toolsmith_core::Schema {
    let text = json!({"type": "string", "description": "What to say."});
    toolsmith_core::Schema::input(json!({"properties": {"text": text}})).unwrap()
}

fn read(place: &RecordPlace) -> (Vec<Stored>, Skipped) {
    let mut reader = RecordReader::new(place.clone());
    let mut all = Vec::new();
    while let Some(stored) = reader.next().unwrap() {
        all.push(stored);
    }
    let (rest, skipped) = reader.finish();
    all.extend(rest);
    (all, skipped)
}

fn ids(stored: &[Stored]) -> Vec<&str> {
    stored.iter().map(|stored| &*stored.record.id).collect()
}

async fn say(toolbox: &Toolbox, id: &str, text: &str) -> Outcome {
    let call = RawCall::new("echo", json!({ "text": text })).with_id(id);
    let reply = toolbox.run(call, &Caller::new("me")).await;
    reply.into_outcome()
}

#[tokio::test]
async fn a_call_is_a_line_its_owner_alone_can_read() {
    let project = Project::new();
    assert!(
        !project.place.folder().exists(),
        "nothing before the first call"
    );
    say(&project.toolbox(), "c1", "hello").await;
    let text = fs::read_to_string(project.place.current()).unwrap();
    assert!(text.starts_with("{\"v\":1,\"at\":\"2026-09-21T"), "{text}");
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    let (stored, skipped) = project.read();
    assert!(skipped.is_empty(), "{skipped}");
    assert_eq!(stored[0].text, text.trim_end());
    let record = &stored[0].record;
    assert_eq!((&*record.id, record.name()), ("c1", "echo"));
    assert_eq!(record.outcome.status, Status::Ok);
    assert_eq!(record.result.as_deref(), Some("hello"));
    let project_json = fs::read_to_string(project.place.folder().join("project.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&project_json).unwrap(),
        json!({"v": 1, "root": "/some/project"})
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&project.place.current()), 0o600);
        assert_eq!(mode(project.place.folder()), 0o700);
        assert_eq!(mode(&project.state.path().join("records")), 0o700);
        // One that was open to others is closed to them.
        let open = fs::Permissions::from_mode(0o666);
        fs::set_permissions(project.place.current(), open).unwrap();
        let again = RecordFile::new(project.place.clone(), noon);
        let again = Project {
            file: again,
            ..project
        };
        say(&again.toolbox(), "c2", "hello").await;
        assert_eq!(mode(&again.place.current()), 0o600);
    }
}

#[tokio::test]
async fn texts_and_lines_are_bounded() {
    let project = Project::new();
    let toolbox = project.toolbox();
    say(&toolbox, "long", &"word ".repeat(10_000)).await;
    // Each of these takes two bytes in a file, and two more within the arguments.
    say(&toolbox, "escaped", &"\"\\\n\t".repeat(5000)).await;
    for line in fs::read_to_string(project.place.current()).unwrap().lines() {
        assert!(line.len() <= 16 << 10, "{}", line.len());
    }
    let (stored, _) = project.read();
    assert_eq!(ids(&stored), ["long", "escaped"]);
    let result = stored[0].record.result.as_deref().unwrap();
    assert!(
        result.len() <= 2051 && result.ends_with('…'),
        "{}",
        result.len()
    );
    assert_eq!(project.file.lost(), 0);
}

#[tokio::test]
async fn without_texts_the_digest_remains_and_without_records_nothing() {
    let mut terms = RecordTerms::default();
    terms.text_bytes = 0;
    let project = Project::on(terms);
    let toolbox = project.toolbox();
    say(&toolbox, "c1", "private matters").await;
    let (stored, _) = project.read();
    assert!(
        !stored[0].text.contains("private matters"),
        "{}",
        stored[0].text
    );
    assert!(stored[0].record.digest.is_some());
    terms.enabled = false;
    project.file.set_terms(terms);
    say(&toolbox, "c2", "x").await;
    assert_eq!(ids(&project.read().0), ["c1"]);
}

fn small(files: usize) -> RecordTerms {
    sized(4096, files)
}

fn sized(bytes: u64, files: usize) -> RecordTerms {
    let mut terms = RecordTerms::default();
    (terms.bytes, terms.files) = (bytes, files);
    terms
}

#[tokio::test]
async fn full_files_give_way_and_the_oldest_goes() {
    let project = Project::on(small(3));
    let toolbox = project.toolbox();
    let all: Vec<String> = (0..60).map(|n| format!("c{n}")).collect();
    for id in &all {
        say(&toolbox, id, "hello").await;
    }
    let mut names: Vec<String> = fs::read_dir(project.place.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "calls.1.jsonl",
            "calls.2.jsonl",
            "calls.jsonl",
            "lock",
            "project.json"
        ]
    );
    let (stored, skipped) = project.read();
    assert!(skipped.is_empty(), "{skipped}");
    let kept = ids(&stored);
    assert!(kept.len() > 15 && kept.len() < 60, "{}", kept.len());
    assert_eq!(
        kept,
        all[60 - kept.len()..],
        "the youngest, in order, each once"
    );
    // Fewer than once are kept from now on.
    project.file.set_terms(small(2));
    for n in 0..20 {
        say(&toolbox, &format!("d{n}"), "hello").await;
    }
    assert!(!project.place.folder().join("calls.2.jsonl").exists());
}

#[tokio::test]
async fn a_file_that_only_looks_like_one_stops_no_rotation() {
    let project = Project::on(small(3));
    let toolbox = project.toolbox();
    say(&toolbox, "first", "hello").await;
    let folder = project.place.folder();
    fs::write(folder.join("calls.01.jsonl"), "").unwrap();
    for n in 0..60 {
        say(&toolbox, &format!("c{n}"), "hello").await;
    }
    for name in ["calls.1.jsonl", "calls.2.jsonl", "calls.01.jsonl"] {
        assert!(folder.join(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn several_writers_lose_nothing_when_they_rotate() {
    let terms = sized(32 << 10, 100);
    let project = Project::on(terms);
    let writers = (0..4).map(|writer| {
        let place = project.place.clone();
        std::thread::spawn(move || {
            // As another process would: with a descriptor of its own.
            let file = RecordFile::new(place.clone(), noon).with_terms(terms);
            let state = TempDir::new().unwrap();
            let one = Project { state, place, file };
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_time().build().unwrap();
            runtime.block_on(async {
                let toolbox = one.toolbox();
                for n in 0..200 {
                    say(&toolbox, &format!("{writer}-{n}"), "hello").await;
                }
            });
            assert_eq!(one.file.lost(), 0);
        })
    });
    let writers: Vec<_> = writers.collect();
    // Somebody follows all the while.
    let mut reader = RecordReader::new(project.place.clone());
    let mut seen = Vec::new();
    let mut are_done = false;
    loop {
        match reader.next().unwrap() {
            Some(stored) => seen.push(stored.record.id.into_owned()),
            None if are_done => break,
            None => are_done = writers.iter().all(|writer| writer.is_finished()),
        }
    }
    for writer in writers {
        writer.join().unwrap();
    }
    let (stored, skipped) = project.read();
    assert!(skipped.is_empty(), "{skipped}");
    let mut expected: Vec<String> = (0..4)
        .flat_map(|w| (0..200).map(move |n| format!("{w}-{n}")))
        .collect();
    expected.sort();
    let mut found = ids(&stored);
    found.sort_unstable();
    assert!(found == expected, "{} of {}", found.len(), expected.len());
    seen.sort();
    // Who follows sees each once, across rotations.
    assert!(seen == expected, "{} of {}", seen.len(), expected.len());
}

#[tokio::test]
async fn a_file_that_is_removed_or_moved_is_begun_again() {
    let project = Project::new();
    let toolbox = project.toolbox();
    say(&toolbox, "c1", "x").await;
    fs::remove_file(project.place.current()).unwrap();
    say(&toolbox, "c2", "x").await;
    assert_eq!(ids(&project.read().0), ["c2"]);
    fs::remove_dir_all(project.place.folder()).unwrap();
    say(&toolbox, "c3", "x").await;
    assert_eq!(ids(&project.read().0), ["c3"]);
}

#[tokio::test]
async fn what_is_broken_is_passed_over_and_counted() {
    let project = Project::new();
    let toolbox = project.toolbox();
    for id in ["a", "b", "c"] {
        say(&toolbox, id, "x").await;
    }
    let text = fs::read_to_string(project.place.current()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let half = &lines[0][..lines[0].len() / 2];
    let newer = lines[0].replace("{\"v\":1,", "{\"v\":2,\"other\":[],");
    let strange = lines[0].replace("{\"v\":1,", "{\"v\":1,\"unknown\":{\"x\":1},");
    let null = "\0".repeat(300);
    let huge = "x".repeat(600 << 10);
    let deep = "[".repeat(100_000);
    let wrong = "{\"v\":1,\"at\":7}";
    for (content, expected, unreadable, line, newer_ones) in [
        // Torn at the end, as SIGKILL leaves it.
        (
            format!("{}\n{}\n{half}", lines[0], lines[1]),
            vec!["a", "b"],
            1,
            3,
            0,
        ),
        // Torn in the middle, and another process went on right behind it.
        (
            format!("{}\n{half}{}\n{}\n", lines[0], lines[1], lines[2]),
            vec!["a", "b", "c"],
            1,
            2,
            0,
        ),
        // A whole record that only lacks its end.
        (
            format!("{}\n{}", lines[0], lines[1]),
            vec!["a", "b"],
            0,
            0,
            0,
        ),
        (
            format!("\n\n{}\n\n{}\n", lines[0], lines[1]),
            vec!["a", "b"],
            0,
            0,
            0,
        ),
        (
            format!("{null}\n{}\nnonsense\n{wrong}\n", lines[0]),
            vec!["a"],
            3,
            1,
            0,
        ),
        (
            format!("{huge}\n{}\n{deep}\n", lines[0]),
            vec!["a"],
            2,
            1,
            0,
        ),
        (format!("{newer}\n{}\n", lines[1]), vec!["b"], 0, 0, 1),
        (
            format!("{strange}\n{}\n", lines[1]),
            vec!["a", "b"],
            0,
            0,
            0,
        ),
        (String::new(), vec![], 0, 0, 0),
    ] {
        fs::write(project.place.current(), &content).unwrap();
        let (stored, skipped) = project.read();
        let told: String = content.chars().take(200).collect();
        assert_eq!(ids(&stored), expected, "{told}");
        assert_eq!(
            (skipped.unreadable, skipped.newer),
            (unreadable, newer_ones),
            "{told}"
        );
        let first = (unreadable > 0).then(|| ("calls.jsonl".to_owned(), line));
        assert_eq!(skipped.first, first, "{told}");
    }
    let mut not_text = lines[0].as_bytes().to_vec();
    not_text.extend_from_slice(b"\n\xff\xfe{\"v\":1\n");
    fs::write(project.place.current(), not_text).unwrap();
    assert_eq!(project.read().1.unreadable, 2);
}

#[tokio::test]
async fn the_next_start_begins_on_a_line_of_its_own() {
    let project = Project::new();
    say(&project.toolbox(), "a", "x").await;
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(project.place.current())
        .unwrap();
    file.write_all(b"{\"v\":1,\"at\":\"2026").unwrap();
    let again = RecordFile::new(project.place.clone(), noon);
    let again = Project {
        file: again,
        ..project
    };
    say(&again.toolbox(), "b", "x").await;
    let text = fs::read_to_string(again.place.current()).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    let (stored, skipped) = again.read();
    assert_eq!(ids(&stored), ["a", "b"]);
    assert_eq!(
        skipped.to_string(),
        "1 line that is no whole record was skipped (calls.jsonl, line 2)"
    );
}

#[tokio::test]
async fn nothing_recorded_is_no_error() {
    let project = Project::new();
    assert_eq!(project.read(), (Vec::new(), Skipped::default()));
}

/// Calls go on, and what is wrong is told once.
async fn goes_on(project: &Project) -> Vec<String> {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let echo = ToolDef::new("echo").unwrap();
    let echo = AnyTool::from_fn(echo, async |_: Value, _| Outcome::text("hi"));
    let told_here = std::sync::Arc::clone(&told);
    let toolbox = Toolbox::builder()
        .tools([echo])
        .policy(Policy::new(Mode::Auto))
        .recorder(project.file.clone())
        .on_recorder_fault(move |fault| told_here.lock().unwrap().push(fault.to_owned()))
        .build()
        .unwrap();
    for _ in 0..5 {
        let reply = toolbox
            .run(RawCall::new("echo", json!({})), &Caller::new("me"))
            .await;
        assert!(reply.into_outcome().is_success());
    }
    told.lock().unwrap().clone()
}

#[cfg(unix)]
#[tokio::test]
async fn what_cannot_be_written_is_told_once() {
    type Prepare = fn(&Project) -> PathBuf;
    let folder: Prepare = |project| {
        fs::create_dir_all(project.place.current()).unwrap();
        project.place.current()
    };
    let fifo: Prepare = |project| {
        fs::create_dir_all(project.place.folder()).unwrap();
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            project.place.current(),
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        )
        .unwrap();
        project.place.current()
    };
    let link: Prepare = |project| {
        fs::create_dir_all(project.place.folder()).unwrap();
        let elsewhere = project.state.path().join("elsewhere");
        fs::write(&elsewhere, "precious\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, project.place.current()).unwrap();
        elsewhere
    };
    let file_for_folder: Prepare = |project| {
        fs::write(project.state.path().join("records"), "precious\n").unwrap();
        project.state.path().join("records")
    };
    for (what, prepare) in [
        ("a folder", folder),
        ("a FIFO", fifo),
        ("a link", link),
        ("a file for the folder", file_for_folder),
    ] {
        let project = Project::new();
        let there = prepare(&project);
        let told = goes_on(&project).await;
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        assert!(told[0].contains("calls go on without records"), "{told:?}");
        assert_eq!(project.file.lost(), 5, "{what}");
        if there.is_file() {
            assert_eq!(fs::read_to_string(there).unwrap(), "precious\n", "{what}");
        }
    }
    // What has become possible again is done, and told anew when it fails anew.
    let project = Project::new();
    let there = folder(&project);
    assert_eq!(goes_on(&project).await.len(), 1);
    fs::remove_dir(&there).unwrap();
    assert_eq!(goes_on(&project).await, Vec::<String>::new());
    assert_eq!(project.read().0.len(), 5);
}

#[tokio::test]
async fn a_clock_that_is_set_back_breaks_nothing() {
    fn early() -> SystemTime {
        SystemTime::UNIX_EPOCH - Duration::from_secs(5)
    }
    let project = Project::new();
    say(&project.toolbox(), "a", "x").await;
    let back = RecordFile::new(project.place.clone(), early);
    let back = Project {
        file: back,
        ..project
    };
    say(&back.toolbox(), "b", "x").await;
    let (stored, _) = back.read();
    assert_eq!(ids(&stored), ["a", "b"], "in the order they were written");
    assert_eq!(
        stored[1].record.at.to_string(),
        "1970-01-01T00:00:00.000000Z"
    );
}

#[test]
fn each_project_has_a_place_of_its_own() {
    let (all, top) = (Path::new("/state"), TempDir::new().unwrap());
    let of = |root: &str| {
        let place = RecordPlace::of_root(all, &top.path().join(root));
        place.folder().to_owned()
    };
    for folder in ["b", "c", "x"] {
        fs::create_dir(top.path().join(folder)).unwrap();
    }
    assert_eq!(of("b"), of("x/../b/."));
    assert_ne!(of("b"), of("c"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("b", top.path().join("link")).unwrap();
        assert_eq!(of("b"), of("link"));
    }
}
