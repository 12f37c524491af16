//! Outputs too large for a reply: cut, and kept whole where only their owner reads.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::support::{User, user};

fn folder(user: &User) -> PathBuf {
    user.home().join("state/toolsmith/spills")
}

/// The folder for the tools of one root.
fn own_folder(user: &User) -> PathBuf {
    let mut folders = fs::read_dir(folder(user)).unwrap();
    folders
        .find_map(|entry| Some(entry.unwrap().path()).filter(|path| path.is_dir()))
        .unwrap()
}

fn files(user: &User) -> Vec<PathBuf> {
    let entries = fs::read_dir(own_folder(user)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// What `example_flood` returns.
fn flood(bytes: usize) -> String {
    let line = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXY\n";
    line.chars().cycle().take(bytes).collect()
}

#[test]
fn the_whole_output_is_in_a_file_only_its_owner_reads() {
    let user = user();
    let reply = user
        .runs(["call", "example_flood", "bytes=200000", "--json"])
        .ends_with(0)
        .json();
    let whole = flood(200_000);
    let [file] = files(&user).try_into().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    assert_eq!((mode(&file), mode(&folder(&user))), (0o600, 0o700));
    // Head and tail, and between them how much is missing and how to read on.
    let (head, tail) = (20_480, 30_720);
    let omitted = 200_000 - head - tail;
    let location = file.display();
    let read_on = format!("the whole is in {location}; read on with: tail -c +20481 {location}");
    let note = format!("\n[… {omitted} of 200000 bytes left out; {read_on} …]\n");
    let text = [&whole[..head], &note, &whole[200_000 - tail..]].concat();
    assert_eq!(
        reply,
        serde_json::json!({
            "value": text,
            "facts": {
                "tool": "example_flood",
                "call_id": "call-1",
                "omitted_bytes": omitted,
                "spill": {
                    "location": location.to_string(),
                    "bytes": 200_000,
                    "read_on": read_on,
                },
            },
        })
    );
}

#[test]
fn what_fits_is_kept_nowhere() {
    let user = user();
    user.runs(["call", "example_flood", "bytes=51200"])
        .ends_with(0);
    assert_eq!(files(&user).len(), 0);
}

#[test]
fn each_output_has_a_file_of_its_own() {
    let user = user()
        .having("toolsmith.yaml", "limits: { output_bytes: 100 }\n")
        .typing(
            "{\"id\":\"../../x\",\"name\":\"example_flood\",\"arguments\":{\"bytes\":101}}\n"
                .repeat(20),
        );
    user.runs(["batch"]).ends_with(0);
    let files = files(&user);
    assert_eq!(files.len(), 20);
    for file in files {
        assert_eq!(fs::read_to_string(file).unwrap(), flood(101));
    }
}

#[test]
fn files_older_than_a_week_are_removed_and_others_stay() {
    let user = user();
    fs::create_dir_all(folder(&user)).unwrap();
    let week = Duration::from_secs(7 * 24 * 3600);
    for (name, age) in [
        ("tool-1-2-3-0.txt", week + Duration::from_secs(60)),
        ("tool-1-2-4-0.txt", week / 2),
    ] {
        let file = File::create(folder(&user).join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    user.runs(["call", "example_flood", "bytes=60000"])
        .ends_with(0);
    assert!(!folder(&user).join("tool-1-2-3-0.txt").exists());
    assert!(folder(&user).join("tool-1-2-4-0.txt").exists());
    assert_eq!(files(&user).len(), 1);
}

#[test]
fn a_folder_others_could_read_is_closed() {
    let user = user();
    fs::create_dir_all(folder(&user)).unwrap();
    fs::set_permissions(folder(&user), fs::Permissions::from_mode(0o755)).unwrap();
    user.runs(["call", "example_flood", "bytes=60000"])
        .ends_with(0);
    assert_eq!(mode(&folder(&user)), 0o700);
}

#[test]
fn where_nothing_can_be_kept_the_reply_says_so() {
    let user = user().having("state", "a file in the way");
    let ran = user
        .runs(["call", "example_flood", "bytes=60000"])
        .ends_with(0);
    assert!(
        ran.stdout
            .contains("bytes left out; could not keep the whole output: "),
        "{ran:#?}"
    );
}

#[test]
fn the_oldest_make_room_when_there_is_too_much() {
    const OLD: [&str; 3] = ["tool-1-2-3-0.txt", "tool-1-2-4-0.txt", "tool-1-2-5-0.txt"];
    let user = user();
    fs::create_dir_all(folder(&user)).unwrap();
    // Files with a length and nothing in them: no disk is filled by this.
    for (name, hours, megabytes) in [(OLD[0], 3, 200), (OLD[1], 1, 300), (OLD[2], 2, 200)] {
        let file = File::create(folder(&user).join(name)).unwrap();
        file.set_len(megabytes << 20).unwrap();
        let age = Duration::from_secs(hours * 3600);
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    user.runs(["call", "example_flood", "bytes=60000"])
        .ends_with(0);
    let exists = |name: &str| folder(&user).join(name).exists();
    assert_eq!(OLD.map(exists), [false, true, true]);
    assert_eq!(files(&user).len(), 1);
}

/// The way to read on works as it is written, wherever the folder is.
#[test]
fn reading_on_is_a_command_a_shell_understands() {
    let user = user();
    let state = user.home().join("it's a $(touch oops); state");
    let mut command = user.command(["call", "example_flood", "bytes=60000", "--json"]);
    let output = command.env("XDG_STATE_HOME", &state).output().unwrap();
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let read_on = reply["facts"]["spill"]["read_on"].as_str().unwrap();
    let (_, tail) = read_on.split_once("; read on with: ").unwrap();
    let ran = std::process::Command::new("sh")
        .args(["-c", tail])
        .current_dir(user.home())
        .output()
        .unwrap();
    assert_eq!(ran.stdout, &flood(60_000).as_bytes()[20_480..], "{tail}");
    assert!(!user.home().join("oops").exists());
}

/// What one project's tools said is not for another's to read.
#[test]
fn outputs_are_for_the_tools_of_their_own_roots() {
    let user = user();
    fs::create_dir_all(user.home().join("other")).unwrap();
    user.runs(["call", "example_flood", "bytes=60000"])
        .ends_with(0);
    let [file] = files(&user).try_into().unwrap();
    let asked = format!("file_path={}", file.display());
    user.runs(["call", "read", &asked]).ends_with(0);
    let ran = user.runs(["call", "read", &asked, "--root", "other"]);
    assert_ne!(ran.status, Some(0), "{ran:#?}");
    let parent = format!("path={}", folder(&user).display());
    let ran = user.runs(["call", "list_directory", &parent]);
    assert_ne!(ran.status, Some(0), "{ran:#?}");
}
