//! Conversations in files: whole whatever happened to whoever wrote them, and found again.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use toolsmith_manager::conversations::{ConversationPlace, Kept};

/// A moment all tests agree on.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

fn place() -> (TempDir, ConversationPlace) {
    let state = TempDir::new().unwrap();
    let place = ConversationPlace::of_root(state.path(), Path::new("/some/project"));
    (state, place)
}

fn begin(place: &ConversationPlace) -> Kept {
    place.begin(None, "ollama/x", None, noon()).unwrap()
}

/// The only file there is.
fn file(state: &TempDir) -> PathBuf {
    let only = |folder: &Path| {
        fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    only(&only(state.path()))
}

fn add(state: &TempDir, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(file(state)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_line_torn_anywhere_is_left_out_and_what_follows_it_is_kept() {
    let line = r#"{"entry":"user","text":"grüß 😀"}"#.as_bytes();
    for cut in 1..=line.len() {
        let (state, place) = place();
        begin(&place).conversation.say("One.").unwrap();
        add(&state, &line[..cut]);
        let (_, read) = place.read(None).unwrap();
        assert_eq!(read.notes().len(), 1, "{cut} bytes");
        let mut resumed = place.resume(None).unwrap();
        resumed.conversation.say("Two.").unwrap();
        drop(resumed);
        let text = fs::read_to_string(file(&state)).unwrap();
        assert_eq!(text.lines().count(), 3, "{cut} bytes: {text}");
        let (_, read) = place.read(None).unwrap();
        assert!(read.notes().is_empty(), "{cut} bytes");
    }
}

#[test]
fn a_head_that_lacks_its_end_stays_one() {
    let (state, place) = place();
    drop(begin(&place));
    let file = file(&state);
    let head = fs::read_to_string(&file).unwrap();
    fs::write(&file, head.trim_end()).unwrap();
    let mut resumed = place.resume(None).unwrap();
    resumed.conversation.say("One.").unwrap();
    drop(resumed);
    let (_, read) = place.read(None).unwrap();
    assert_eq!(read.first_question(), Some("One."));
}

#[test]
fn what_is_no_text_is_no_torn_line() {
    for garbage in [&b"\xff\xfe\n"[..], b"\xff"] {
        let (state, place) = place();
        drop(begin(&place));
        add(&state, garbage);
        assert!(place.read(None).is_err());
    }
}

#[test]
fn what_is_written_can_be_read_again() {
    let (state, place) = place();
    let mut kept = begin(&place);
    // A file of just the size that is read, without the bytes that would take.
    let grown = OpenOptions::new().write(true).open(file(&state)).unwrap();
    grown.set_len(256 << 20).unwrap();
    let error = kept.conversation.say("One more.").unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
}

#[test]
fn the_last_of_very_many_are_found() {
    let (state, place) = place();
    drop(begin(&place));
    let folder = file(&state).parent().unwrap().to_owned();
    let later = SystemTime::now() + Duration::from_secs(3600);
    let mut wanted = Vec::new();
    for number in 0..10_100 {
        let id = format!("a-{number}");
        let file = fs::File::create(folder.join(format!("{id}.jsonl"))).unwrap();
        if number % 10 == 0 {
            file.set_modified(later + Duration::from_secs(number))
                .unwrap();
            wanted.insert(0, id);
        }
    }
    let listed = place.list();
    assert_eq!(listed.len(), 10_000);
    let last: Vec<&str> = { listed.iter().take(wanted.len()) }
        .map(|listed| listed.id.as_str())
        .collect();
    assert!(last == wanted, "{} are not the last ones", last.len());
}
