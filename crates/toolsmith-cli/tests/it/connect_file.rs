//! `connect --write`, seen from the file: backups, links, modes, and files that are
//! better left alone.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::support::{User, newcomer};

const FILE: &str = ".cursor/mcp.json";
const GOOD: &str = "{\"mcpServers\": {}}\n";

/// A user of Cursor, whose file says this.
fn having(text: impl AsRef<[u8]>) -> (User, PathBuf) {
    let user = newcomer();
    let file = user.home().join(FILE);
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    (user, file)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[test]
fn broken_files_are_not_touched() {
    for (client, file, text, place) in [
        (
            "cursor",
            FILE,
            &b"{\"mcpServers\": {\n  \"\xc3\xa9\": [1,]}}"[..],
            ":2:10: trailing commas are not allowed",
        ),
        ("cursor", FILE, b"{\"a\": 1", ":1:1: unterminated object"),
        (
            "cursor",
            FILE,
            b"{} {}",
            ":1:4: text cannot contain more than one JSON value",
        ),
        ("cursor", FILE, b"[]", ": it holds no object"),
        (
            "cursor",
            FILE,
            b"{\"mcpServers\": []}",
            ": `mcpServers` is no object",
        ),
        (
            "cursor",
            FILE,
            b"{\"mcpServers\": {}, \"mcpServers\": {}}",
            ": `mcpServers` stands there twice",
        ),
        (
            "cursor",
            FILE,
            b"{\"mcpServers\": {\"toolsmith\": 1, \"toolsmith\": 2}}",
            ": `toolsmith` stands there twice",
        ),
        (
            "cursor",
            FILE,
            b"{\n\"a\": \"\xff\"}",
            ":2:7: it is not UTF-8 from here on",
        ),
        (
            "cursor",
            FILE,
            b"{'a': 1}",
            ":1:2: single-quoted strings are not allowed",
        ),
        (
            "claude-code",
            ".claude.json",
            b"{ // mine\n}",
            ":1:3: key must be a string",
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            b"{\"a\" 1}",
            ":1:6: expected colon",
        ),
        ("codex", ".codex/config.toml", b"a = 1\nb = \n", ":2:5: "),
        ("codex", ".codex/config.toml", b"a = 1\na = 2\n", ":2:1: "),
        (
            "codex",
            ".codex/config.toml",
            b"mcp_servers = 1\n",
            ": `mcp_servers` is no table",
        ),
    ] {
        let user = newcomer();
        let path = user.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let before = names(path.parent().unwrap());
        for words in [&["--write"][..], &["--write", "--force"]] {
            let words = ["connect", client].into_iter().chain(words.iter().copied());
            let shown = path.display();
            user.runs(words)
                .ends_with(2)
                .prints("")
                .says(&format!("error: {shown}{place}"))
                .says("; the file was left as it is");
        }
        assert_eq!(std::fs::read(&path).unwrap(), text);
        assert_eq!(names(path.parent().unwrap()), before);
    }
    let deep = "[".repeat(100_000);
    let (user, file) = having(&deep);
    user.runs(["connect", "cursor", "--write"])
        .ends_with(2)
        .says("nesting depth");
    assert_eq!(std::fs::read_to_string(file).unwrap(), deep);
}

#[test]
fn every_change_leaves_a_backup_and_none_is_lost() {
    let (user, file) = having(GOOD);
    let folder = file.parent().unwrap();
    std::fs::write(folder.join("mcp.json.bak-2"), "older").unwrap();
    user.runs(["connect", "cursor", "--write"])
        .ends_with(0)
        .says("mcp.json.bak-1");
    user.runs(["connect", "cursor", "--write"])
        .ends_with(0)
        .says("already");
    user.runs(["connect", "cursor", "--remove"])
        .ends_with(0)
        .says("mcp.json.bak-3");
    assert_eq!(
        names(folder),
        [
            "mcp.json",
            "mcp.json.bak-1",
            "mcp.json.bak-2",
            "mcp.json.bak-3"
        ]
    );
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("mcp.json.bak-1"), GOOD);
    assert_eq!(read("mcp.json.bak-2"), "older");
    assert!(read("mcp.json.bak-3").contains("toolsmith"));
}

#[test]
fn a_link_stays_a_link() {
    let (user, file) = having(GOOD);
    let real = user.home().join("dotfiles/mcp.json");
    std::fs::create_dir(real.parent().unwrap()).unwrap();
    std::fs::rename(&file, &real).unwrap();
    symlink("middle", &file).unwrap();
    symlink("../dotfiles/mcp.json", file.with_file_name("middle")).unwrap();
    user.runs(["connect", "cursor", "--write"]).ends_with(0);
    assert_eq!(std::fs::read_link(&file).unwrap(), Path::new("middle"));
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("toolsmith")
    );
    assert_eq!(names(real.parent().unwrap()), ["mcp.json"]);
    assert_eq!(
        names(file.parent().unwrap()),
        ["mcp.json", "mcp.json.bak-1", "middle"]
    );

    std::fs::remove_file(&real).unwrap();
    user.runs(["connect", "cursor", "--write"]).ends_with(0);
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("toolsmith")
    );

    std::fs::remove_file(file.with_file_name("middle")).unwrap();
    symlink("mcp.json", file.with_file_name("middle")).unwrap();
    user.runs(["connect", "cursor", "--write"])
        .ends_with(2)
        .says("in a circle");
}

#[test]
fn modes_are_kept_and_secrets_kept_private() {
    for bits in [0o600, 0o640, 0o444] {
        let (user, file) = having(GOOD);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(bits)).unwrap();
        user.runs(["connect", "cursor", "--write"]).ends_with(0);
        assert_eq!(mode(&file), bits);
        let backup = mode(&file.with_file_name("mcp.json.bak-1"));
        assert_eq!(backup & !bits, 0, "{backup:o}");
    }
    let user = newcomer().having("token", "hunter2");
    let words = [
        "connect",
        "cursor",
        "--write",
        "--http",
        "--token-file",
        "token",
    ];
    user.runs(words)
        .ends_with(0)
        .says("warning: the token now stands in");
    assert_eq!(mode(&user.home().join(FILE)), 0o600);
}

#[test]
fn what_is_no_file_or_cannot_be_written() {
    let (user, file) = having("");
    user.runs(["connect", "cursor", "--write"]).ends_with(0);
    assert!(
        std::fs::read_to_string(&file)
            .unwrap()
            .contains("toolsmith")
    );

    let user = newcomer();
    std::fs::create_dir_all(user.home().join(FILE)).unwrap();
    user.runs(["connect", "cursor", "--write"])
        .ends_with(2)
        .says("cannot be read: it is no regular file");

    let user = newcomer().having(".cursor", "in the way");
    let ran = user.runs(["connect", "cursor", "--write"]).ends_with(2);
    assert!(
        ran.stderr.contains("cannot be read: Not a directory"),
        "{ran:#?}"
    );

    let (user, file) = having(GOOD);
    let folder = file.parent().unwrap();
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o555)).unwrap();
    // Whoever may do anything is not held up by a mode.
    if std::fs::write(folder.join("probe"), "").is_err() {
        user.runs(["connect", "cursor", "--write"])
            .ends_with(2)
            .says("cannot be written: Permission denied");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), GOOD);
    }
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn marks_and_line_ends_stay() {
    let (user, file) = having("\u{feff}{\r\n  \"a\": 1\r\n}\r\n");
    user.runs(["connect", "cursor", "--write"]).ends_with(0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("\u{feff}{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n"),
        "{text:?}"
    );
    assert_eq!(
        text.matches('\n').count(),
        text.matches("\r\n").count(),
        "{text:?}"
    );
}
