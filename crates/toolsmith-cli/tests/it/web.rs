//! The web tools from the command line: what the configuration lets them do.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};

use crate::support::{User, newcomer};

const SECRET: &str = "hunter2-and-some-more";

/// A server that repeats what it was sent, and tells it.
fn echo() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, tell) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 8192];
            let length = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n";
            let length = request.len();
            let answer = format!("{head}content-length: {length}\r\n\r\n{request}");
            let _ = stream.write_all(answer.as_bytes());
            let _ = told.send(request);
        }
    });
    (address, tell)
}

fn user(config: &str) -> User {
    newcomer()
        .having("toolsmith.yaml", config)
        .with("THE_KEY", SECRET)
}

#[test]
fn hosts_are_named_by_the_configuration_and_by_nobody_else() {
    let (address, told) = echo();
    let url = format!("url=http://{address}/page");
    let refused = newcomer()
        .runs(["--yes", "call", "web_fetch", &url])
        .ends_with(3);
    assert!(
        refused.stderr.contains("web.allow_hosts") || refused.stdout.contains("web.allow_hosts"),
        "{refused:?}"
    );
    assert!(told.try_recv().is_err());
    // Reaching the network is asked for, and there is nobody to ask.
    let config = format!("web: {{ allow_hosts: [\"{address}\"] }}\n");
    user(&config).runs(["call", "web_fetch", &url]).ends_with(3);
    let rule = format!("web_fetch(http://{address}/**)");
    user(&config)
        .runs(["--allow", &rule, "call", "web_fetch", &url])
        .ends_with(0);
    assert!(told.recv().unwrap().starts_with("GET /page "));
    let denied = user(&config).runs(["--yes", "--deny", &rule, "call", "web_fetch", &url]);
    denied.ends_with(3);
    assert!(told.try_recv().is_err());
}

#[test]
fn secrets_are_sent_and_neither_printed_nor_recorded() {
    let (address, told) = echo();
    let config = format!(
        "web:\n  allow_hosts: [\"{address}\"]\n  secrets:\n    KEY: {{ value: \"${{env:THE_KEY}}\", hosts: [\"http://{address}\"] }}\n"
    );
    let user = user(&config);
    let url = format!("url=http://{address}/");
    let auth = "auth={\"type\": \"bearer\", \"token\": \"${secret:KEY}\"}";
    let ran = user
        .runs(["--yes", "--json", "call", "api_call", &url, auth])
        .ends_with(0);
    assert!(told.recv().unwrap().contains(&format!("Bearer {SECRET}")));
    assert!(
        ran.stdout.contains("[redacted]") && !format!("{ran:?}").contains("hunter2"),
        "{ran:?}"
    );
    let planned = user
        .runs(["call", "--dry-run", "api_call", &url, auth])
        .ends_with(0);
    assert!(
        planned.stdout.contains("with the secret KEY"),
        "{planned:?}"
    );
    let log = user.runs(["log", "--json"]).ends_with(0);
    assert!(
        log.stdout.contains("api_call") && !log.stdout.contains("hunter2"),
        "{log:?}"
    );
    for entry in walk(user.home()) {
        let content = std::fs::read(&entry).unwrap_or_default();
        let content = String::from_utf8_lossy(&content);
        assert!(!content.contains("hunter2"), "{}", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let nested = entries.flat_map(|path| match path.is_dir() {
        true => walk(&path),
        false => vec![path],
    });
    nested.collect()
}
