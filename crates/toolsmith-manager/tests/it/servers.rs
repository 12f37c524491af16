//! Descriptions of servers that are fine, what they mean, and what they refer to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolsmith_manager::servers::{
    Loaded, Protocol, ResolvedServer, ResolvedTransport, ServerEntry, Transport,
};
use toolsmith_manager::yaml::YamlError;
use toolsmith_manager::{ConfigLoader, IfMissing, References, Setup};

/// Files in memory.
pub(crate) struct Files(pub(crate) BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let files = files.into_iter();
        let owned = files.map(|(path, content)| (Path::new("r").join(path), content.to_vec()));
        Self(owned.collect())
    }

    /// All servers of these files.
    pub(crate) fn loaded(&self) -> Loaded {
        let file = Path::new("r/toolsmith.yaml");
        let files = Arc::new(Self(self.0.clone()));
        let setup = Setup::open_with(files, file, IfMissing::UseDefaults);
        match setup.and_then(Setup::load) {
            Ok(manager) => manager.servers(),
            Err(error) => panic!("{error}"),
        }
    }
}

impl ConfigLoader for Files {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        Ok(self.0.get(path).cloned())
    }

    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, YamlError> {
        let files = self.0.keys().filter(|file| file.parent() == Some(folder));
        Ok(files.cloned().collect())
    }
}

/// The one server of a `toolsmith.yaml`, which has no findings.
#[track_caller]
fn yaml(text: &str) -> ServerEntry {
    one(&Files::new([("toolsmith.yaml", text.as_bytes())]))
}

/// The one server of a `.mcp.json`, which has no findings.
#[track_caller]
fn json(text: &str) -> ServerEntry {
    one(&Files::new([(".mcp.json", text.as_bytes())]))
}

#[track_caller]
fn one(files: &Files) -> ServerEntry {
    let loaded = files.loaded();
    assert!(
        loaded.errors.is_empty() && loaded.warnings.is_empty(),
        "{loaded:?}"
    );
    let [server] = <[ServerEntry; 1]>::try_from(loaded.servers).unwrap();
    server
}

/// The words a program is started with, or the address.
fn words(entry: &ServerEntry) -> Vec<&str> {
    match &entry.transport {
        Transport::Stdio { command, args, .. } => {
            let all = std::iter::once(command).chain(args);
            all.map(|word| word.expose_written()).collect()
        }
        Transport::Http { url, .. } => vec![url.expose_written()],
        other => panic!("{other:?}"),
    }
}

fn references(root: &Path) -> References {
    let variables = [
        ("KEY", "hunter2"),
        ("EMPTY", ""),
        ("BREAK", "a\r\nX-Evil: b"),
        ("HOST", "example.com"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    References::new(&variables, root)
}

/// The server as it would be started, with its secrets in the open.
fn started(server: &ResolvedServer) -> String {
    use secrecy::ExposeSecret;
    let pairs = |pairs: &[(String, secrecy::SecretString)]| -> String {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| format!(" {name}={}", value.expose_secret()))
            .collect()
    };
    match &server.transport {
        ResolvedTransport::Stdio {
            command,
            args,
            cwd,
            env,
        } => {
            let args: Vec<&str> = args.iter().map(|arg| arg.expose_secret()).collect();
            format!("{command} {args:?} in {}{}", cwd.display(), pairs(env))
        }
        ResolvedTransport::Http { url, headers } => {
            format!("{}{}", url.expose_secret(), pairs(headers))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_with_everything() {
    let server = yaml(
        "servers:\n  git:\n    command: uvx mcp-server-git\n    args: [--repository, 'a b']\n    \
         cwd: work\n    env: { GIT_TOKEN: '${env:KEY}', PORT: 80 }\n    \
         env_passthrough: [PATH, HOST]\n    timeout: 30s\n    allow: ['git_*']\n    \
         deny: [git_push]\n    disabled: true\n    protocol: legacy\n",
    );
    assert_eq!(server.name.as_str(), "git");
    assert_eq!(
        words(&server),
        ["uvx", "mcp-server-git", "--repository", "a b"]
    );
    assert_eq!(server.env["PORT"].expose_written(), "80");
    assert_eq!(server.env_passthrough, ["PATH", "HOST"]);
    assert_eq!(server.timeout, Some(Duration::from_secs(30)));
    assert_eq!(
        (&*server.allow, &*server.deny),
        (&["git_*".to_owned()][..], &["git_push".to_owned()][..])
    );
    assert!(server.disabled);
    assert_eq!(server.protocol, Protocol::Legacy);
    assert_eq!(server.origin.to_string(), "r/toolsmith.yaml:2:3");
    let resolved = server.resolve(&references(Path::new("/srv"))).unwrap();
    assert_eq!(
        started(&resolved),
        "uvx [\"mcp-server-git\", \"--repository\", \"a b\"] in /srv/work HOST=example.com \
         GIT_TOKEN=hunter2 PORT=80"
    );
}

#[test]
fn a_server_with_everything() {
    let server = yaml(
        "servers:\n  search:\n    url: https://${HOST}/mcp?k=${KEY}\n    \
         headers: { X-Team: blue, X-Key: 'k ${env:KEY}' }\n    \
         mcp_api_key: { header: X-Api-Key, value: '${KEY:-none}' }\n    protocol: stateless\n",
    );
    let resolved = server.resolve(&references(Path::new("/srv"))).unwrap();
    assert_eq!(
        started(&resolved),
        "https://example.com/mcp?k=hunter2 X-Key=k hunter2 X-Team=blue X-Api-Key=hunter2"
    );
    let shown = format!("{server:?}{resolved:?}");
    assert!(
        !shown.contains("hunter2") && !shown.contains("blue"),
        "{shown}"
    );
}

#[test]
fn the_ways_to_write_a_command() {
    for (command, expected) in [
        ("npx", &["npx"][..]),
        (
            "npx -y 'a b' \"c d\" e\\ f",
            &["npx", "-y", "a b", "c d", "e f"],
        ),
        ("[npx, -y, 'a b']", &["npx", "-y", "a b"]),
        (
            "['C:\\Program Files\\a.exe']",
            &["C:\\Program Files\\a.exe"],
        ),
        ("sh -c 'a; b | c'", &["sh", "-c", "a; b | c"]),
        ("${HOME}/bin/a", &["${HOME}/bin/a"]),
    ] {
        let text = format!("servers:\n  a:\n    command: {command}\n");
        assert_eq!(words(&yaml(&text)), expected, "{command}");
    }
}

#[test]
fn the_ways_to_write_a_key() {
    for (key, expected) in [
        ("'${env:KEY}'", "Authorization=Bearer hunter2"),
        ("Bearer ${KEY}", "Authorization=Bearer hunter2"),
        ("{header: X-Key, value: 'a${KEY}b'}", "X-Key=ahunter2b"),
        ("'${EMPTY:-default}'", "Authorization=Bearer default"),
        ("'${NONE:-}x'", "Authorization=Bearer x"),
    ] {
        let text =
            format!("servers:\n  a:\n    mcp_server_url: http://h/\n    mcp_api_key: {key}\n");
        let resolved = yaml(&text).resolve(&references(Path::new("/"))).unwrap();
        assert_eq!(started(&resolved), format!("http://h/ {expected}"), "{key}");
    }
}

#[test]
fn files_of_other_clients() {
    let server = json(
        r#"{"mcpServers": {"a": {"type": "stdio", "command": "/opt/a b/run",
            "args": ["${KEY}", "-x"], "env": {"A": "${NONE:-1}", "B": 2, "C": true}}}}"#,
    );
    assert_eq!(words(&server), ["/opt/a b/run", "${KEY}", "-x"]);
    assert_eq!(server.origin.to_string(), "r/.mcp.json");
    let resolved = server.resolve(&references(Path::new("/srv"))).unwrap();
    assert_eq!(
        started(&resolved),
        "/opt/a b/run [\"hunter2\", \"-x\"] in /srv A=1 B=2 C=true"
    );
    let server = json(
        "\u{feff}{\"servers\": {\"a\": {\"type\": \"http\", \"url\": \"https://h/mcp\",
            \"headers\": {\"Authorization\": \"Bearer ${KEY}\"}, \"disabled\": true}}, \"inputs\": []}",
    );
    assert!(server.disabled);
    let resolved = server.resolve(&references(Path::new("/srv"))).unwrap();
    assert_eq!(
        started(&resolved),
        "https://h/mcp Authorization=Bearer hunter2"
    );
    let server =
        json(r#"{"mcpServers": {"a": {"url": "${NONE:-https://h}/mcp", "enabled": false}}}"#);
    assert!(server.disabled);
    for nothing in [r#"{"mcpServers": {}}"#, r#"{"servers": null}"#] {
        let loaded = Files::new([(".mcp.json", nothing.as_bytes())]).loaded();
        assert!(
            loaded.servers.is_empty() && loaded.errors.is_empty(),
            "{loaded:?}"
        );
    }
}

#[test]
fn our_own_entry_is_passed_over() {
    for text in [
        r#"{"mcpServers": {"a": {"command": "/opt/toolsmith", "args": ["--root", "/a", "serve", "--stdio"]}}}"#,
        r#"{"servers": {"a": {"command": "C:\\b\\toolsmith.exe", "args": ["serve", "--stdio"]}}}"#,
        r#"{"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:8765/mcp"}}}"#,
    ] {
        let loaded = Files::new([(".mcp.json", text.as_bytes())]).loaded();
        assert!(loaded.servers.is_empty(), "{loaded:?}");
        assert!(
            loaded.errors.is_empty() && loaded.warnings.is_empty(),
            "{loaded:?}"
        );
    }
    let other = r#"{"mcpServers": {"a": {"command": "toolsmith", "args": ["tools"]}}}"#;
    assert_eq!(words(&json(other)), ["toolsmith", "tools"]);
}

#[test]
fn tools_are_filtered_by_globs() {
    for (rules, admitted) in [
        ("", &["git_log", "git_push", "x"][..]),
        (", allow: ['git_*']", &["git_log", "git_push"]),
        (", deny: [git_push]", &["git_log", "x"]),
        (", allow: ['git_*'], deny: ['*_push']", &["git_log"]),
    ] {
        let server = yaml(&format!("servers:\n  a: {{command: b{rules}}}\n"));
        let filter = server.tool_filter().unwrap();
        let tools = ["git_log", "git_push", "x"];
        let tools: Vec<&str> = tools
            .into_iter()
            .filter(|tool| filter.admits(tool))
            .collect();
        assert_eq!(tools, admitted, "{rules}");
    }
}

#[test]
fn first_come_first_served() {
    let loaded = Files::new([
        ("toolsmith.yaml", &b"servers:\n  c: {command: yaml}\n  a: {command: yaml}\n"[..]),
        ("tools/mcp/b.yaml", b"command: folder\n"),
        ("tools/mcp/a.yaml", b"command: folder\n"),
        ("tools/mcp/z.yaml", b"name: d\ncommand: folder\n"),
        (
            ".mcp.json",
            br#"{"mcpServers": {"e": {"command": "json"}, "b": {"command": "json"}}, "servers": {"e": {"url": "http://h"}}}"#,
        ),
    ])
    .loaded();
    let servers: Vec<String> = loaded
        .servers
        .iter()
        .map(|server| format!("{}={}", server.name, words(server).join(" ")))
        .collect();
    assert_eq!(
        servers,
        ["c=yaml", "a=yaml", "b=folder", "d=folder", "e=json"]
    );
    assert_eq!(
        loaded.warnings,
        [
            "r/tools/mcp/a.yaml: server `a` is not used: r/toolsmith.yaml:3:3 has that name first",
            "r/.mcp.json: server `b` is not used: r/tools/mcp/b.yaml has that name first",
            "r/.mcp.json: server `e` is not used: r/.mcp.json has that name first",
        ]
    );
    assert!(loaded.errors.is_empty(), "{loaded:?}");
}

#[test]
fn one_bad_file_leaves_the_others() {
    let loaded = Files::new([
        ("tools/mcp/a.yaml", &b"comand: a\n"[..]),
        ("tools/mcp/b.yaml", b"command: b\n"),
        ("tools/mcp/b c.yaml", b"command: b\n"),
        (
            ".mcp.json",
            br#"{"mcpServers": {"x y": {"command": "a"}, "c": {"command": "c", "color": 1, "headers": {}}}}"#,
        ),
    ])
    .loaded();
    let names: Vec<&str> = loaded.servers.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
    let errors: Vec<String> = loaded.errors.iter().map(ToString::to_string).collect();
    assert!(
        errors[0]
            .starts_with("r/tools/mcp/a.yaml:1:1: unknown key `comand`; did you mean `command`?"),
        "{errors:?}"
    );
    assert!(
        errors[1].starts_with("r/tools/mcp/b c.yaml: the file's name: \"b c\" is no name")
            && errors[1].ends_with("try `b-c`, or set `name:`"),
        "{errors:?}"
    );
    assert!(
        errors[2].starts_with("r/.mcp.json: mcpServers.x y: \"x y\" is no name"),
        "{errors:?}"
    );
    assert_eq!(
        loaded.warnings,
        [
            "r/.mcp.json: mcpServers.c: the key \"color\" means nothing here",
            "r/.mcp.json: mcpServers.c: the key \"headers\" means nothing here",
        ]
    );
}

#[test]
fn secrets_that_are_written_out_are_warned_of() {
    let loaded = Files::new([(
        "toolsmith.yaml",
        &b"servers:\n  a: {url: 'http://h', mcp_api_key: hunter2}\n  \
           b: {command: b, env: {GITHUB_TOKEN: hunter2, PORT: 1}}\n  \
           c: {url: 'http://h', headers: {Authorization: Bearer hunter2, X-A: b}}\n"[..],
    )])
    .loaded();
    let places: Vec<&str> = loaded
        .warnings
        .iter()
        .filter_map(|warning| {
            warning.strip_suffix(" is written out; refer to it with ${env:NAME} or ${file:PATH}")
        })
        .collect();
    assert_eq!(
        places,
        [
            "r/toolsmith.yaml:2:3: server `a`: mcp_api_key",
            "r/toolsmith.yaml:3:3: server `b`: env.GITHUB_TOKEN",
            "r/toolsmith.yaml:4:3: server `c`: headers.Authorization",
        ]
    );
    assert!(!format!("{loaded:?}").contains("hunter2"), "{loaded:?}");
}

#[test]
fn one_word_of_the_command_line() {
    for (word, name, expected) in [
        (
            "git=uvx mcp-server-git",
            "git",
            &["uvx", "mcp-server-git"][..],
        ),
        ("a='my program' --x=1", "a", &["my program", "--x=1"]),
        (" a = b\\ c ", "a", &["b c"]),
        ("a=https://h/mcp?x=1", "a", &["https://h/mcp?x=1"]),
        ("a=httpd -x", "a", &["httpd", "-x"]),
    ] {
        let server: ServerEntry = word.parse().unwrap();
        assert_eq!(server.name.as_str(), name);
        assert_eq!(words(&server), expected, "{word}");
        assert_eq!(server.origin.to_string(), "--server");
    }
    for (word, message) in [
        (
            "",
            "NAME=COMMAND or NAME=URL, such as `git=uvx mcp-server-git`",
        ),
        ("uvx mcp-server-git", "NAME=COMMAND or NAME=URL"),
        ("=npx", "NAME=COMMAND or NAME=URL"),
        ("https://h/?a=b", "try `https-h-a`"),
        ("a=", "no command behind the `=`"),
        ("a=  ", "no command behind the `=`"),
        ("a=''", "no command behind the `=`"),
        ("a='b", "a quote that does not end"),
        ("a b=c", "try `a-b`"),
        ("a__b=c", "try `a_b`"),
        ("a=http://u:p@h/", "user name or password"),
        ("a=http://", "it is no URL"),
        ("a=${B", "does not end"),
    ] {
        let error = word.parse::<ServerEntry>().unwrap_err().to_string();
        assert!(error.contains(message), "{word}: {error}");
    }
}

#[test]
fn what_cannot_be_looked_up() {
    let head = "servers:\n  a:\n    ";
    for (text, message) in [
        (
            "command: b\n    env: { X: '${env:NONE}' }\n",
            "r/toolsmith.yaml:4:15: server `a`: env.X: the environment variable `NONE` is not set",
        ),
        (
            "command: [b, '${NONE}']\n",
            "r/toolsmith.yaml:3:14: server `a`: args: the environment variable `NONE` is not set",
        ),
        (
            "command: '${EMPTY}'\n",
            "r/toolsmith.yaml:3:14: server `a`: command: what it stands for is empty",
        ),
        (
            "url: 'ftp://${HOST}'\n",
            "r/toolsmith.yaml:3:10: server `a`: url: a server is reached by http:// or https://, not by ftp://",
        ),
        (
            "url: 'http://u:${KEY}@h/'\n",
            "r/toolsmith.yaml:3:10: server `a`: url: a URL with a user name or password in it is not accepted; use headers or mcp_api_key",
        ),
        (
            "url: http://h\n    mcp_api_key: '${BREAK}'\n",
            "r/toolsmith.yaml:4:18: server `a`: headers.Authorization: the value of a header holds a line break or another control character",
        ),
    ] {
        let server = yaml(&format!("{head}{text}"));
        let error = server.resolve(&references(Path::new("/"))).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn secrets_in_files() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("key"), "hunter2\r\n").unwrap();
    std::fs::write(root.path().join("nul"), "a\0b").unwrap();
    std::fs::write(root.path().join("large"), vec![b'x'; 70_000]).unwrap();
    std::fs::write(root.path().join("binary"), b"\xff").unwrap();
    let server = |file: &str| {
        yaml(&format!(
            "servers:\n  a: {{url: 'http://h', mcp_api_key: '${{file:{file}}}'}}\n"
        ))
    };
    let resolved = server("key").resolve(&references(root.path())).unwrap();
    assert_eq!(started(&resolved), "http://h Authorization=Bearer hunter2");
    for (file, message) in [
        ("none", "cannot be read: there is no such file"),
        (".", "it is a folder"),
        ("nul", "holds a NUL character"),
        ("large", "it is larger than 65536 bytes"),
        ("binary", "cannot be read"),
    ] {
        let error = server(file).resolve(&references(root.path()));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(message), "{file}: {error}");
        assert!(
            error.starts_with("r/toolsmith.yaml:2:37: server `a`"),
            "{error}"
        );
    }
}

#[test]
fn the_example_in_the_documentation_is_read() {
    let source = include_str!("../../src/servers/mod.rs");
    let example: String = source
        .lines()
        .skip_while(|line| *line != "//! ```yaml")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//! ").to_owned() + "\n")
        .collect();
    let loaded = Files::new([("toolsmith.yaml", example.as_bytes())]).loaded();
    let names: Vec<&str> = loaded.servers.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["git", "search"], "{example}");
    assert!(loaded.warnings.is_empty(), "{loaded:?}");
}
