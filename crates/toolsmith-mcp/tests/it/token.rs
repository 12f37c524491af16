//! The token in its file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use toolsmith_mcp::server::http::{Token, TokenError};

/// A folder of its own that is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("toolsmith-token-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join("token");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_token_is_drawn_once_and_kept_for_its_owner() {
    let folder = Folder::new("kept");
    let path = folder.0.join("a").join("b").join("token");
    let (first, is_new) = Token::kept_in(&path).unwrap();
    assert!(is_new);
    assert_eq!(first.reveal().len(), 64);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let (second, is_new) = Token::kept_in(&path).unwrap();
    assert!(!is_new);
    assert_eq!(first.reveal(), second.reveal());
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "no draft is left");
    assert!(first.is(second.reveal().as_bytes()));
    assert!(!first.is(b"") && !first.is(&second.reveal().as_bytes()[1..]));
}

#[test]
fn what_others_could_read_is_refused() {
    for mode in [0o644, 0o640, 0o604, 0o660, 0o620, 0o602, 0o777] {
        let folder = Folder::new(&format!("open-{mode:o}"));
        let path = folder.file("0123456789abcdef0123456789abcdef", mode);
        let error = Token::kept_in(&path).unwrap_err();
        assert!(
            matches!(error, TokenError::Open { .. }),
            "{mode:o}: {error}"
        );
        let said = error.to_string();
        assert!(
            said.contains("chmod 600") && !said.contains("abcdef"),
            "{said}"
        );
    }
}

#[test]
fn what_is_no_token_is_refused_and_left_alone() {
    let long = "x".repeat(5000);
    for (name, text) in [
        ("empty", ""),
        ("blank", " \n\n"),
        ("short", "secret\n"),
        ("two", "0123456789abcdef 0123456789abcdef"),
        ("lines", "0123456789abcdef\n0123456789abcdef\n"),
        ("unicode", "ü123456789abcdef0123"),
        ("long", &long),
    ] {
        let folder = Folder::new(name);
        let path = folder.file(text, 0o600);
        assert!(Token::kept_in(&path).is_err(), "{name}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let folder = Folder::new("bytes");
    let path = folder.file("", 0o600);
    fs::write(&path, [0xff; 40]).unwrap();
    assert!(Token::kept_in(&path).is_err());
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = Folder::new("folder");
    assert!(matches!(
        Token::kept_in(&folder.0),
        Err(TokenError::File { .. })
    ));
    let missing = folder.0.join("link");
    symlink(folder.0.join("nowhere"), &missing).unwrap();
    assert!(Token::kept_in(&missing).is_err(), "a link to nowhere");
    assert!(!folder.0.join("nowhere").exists());
    assert!(Token::kept_in(&folder.0.join("")).is_err());
    let file = folder.file("0123456789abcdef0123456789abcdef", 0o600);
    assert!(Token::kept_in(&file.join("below")).is_err());
    let pipe = folder.0.join("pipe");
    let made = std::process::Command::new("mkfifo")
        .args(["-m", "600"])
        .arg(&pipe)
        .status();
    assert!(made.unwrap().success());
    assert!(Token::kept_in(&pipe).is_err(), "a pipe nobody writes to");
}

#[test]
fn many_at_once_get_the_same() {
    let folder = Folder::new("many");
    let path = folder.0.join("token");
    let tokens: Vec<(Token, bool)> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| Token::kept_in(&path).unwrap());
        let threads: Vec<_> = (0..16).map(|_| start()).collect();
        let tokens = threads.into_iter().map(|thread| thread.join().unwrap());
        tokens.collect()
    });
    assert_eq!(tokens.iter().filter(|(_, is_new)| *is_new).count(), 1);
    let first = tokens[0].0.reveal();
    assert!(tokens.iter().all(|(token, _)| token.reveal() == first));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}
