//! Logging in to a server that asks for it, from the browser's side too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::newcomer;

/// An upstream that grants authorization itself, at one address.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, address));
        }
    });
    address
}

fn answer(stream: TcpStream, address: SocketAddr) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length, mut bearer) = (String::new(), 0, false);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        bearer |= line == "authorization: bearer the-token";
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (status, more, body) = reply(&first, bearer, &body, address);
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status}\r\n{more}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

fn reply(first: &str, bearer: bool, body: &[u8], address: SocketAddr) -> (u16, String, Value) {
    let url = format!("http://{address}");
    let path = first.split(' ').nth(1).unwrap_or_default();
    let nothing = String::new();
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = format!("{url}/mcp");
            let body = json!({ "resource": resource, "authorization_servers": [url] });
            (200, nothing, body)
        }
        "/.well-known/oauth-authorization-server" => {
            let endpoint = |name: &str| format!("{url}/{name}");
            let body = json!({
                "issuer": url,
                "authorization_endpoint": endpoint("authorize"),
                "token_endpoint": endpoint("token"),
                "registration_endpoint": endpoint("register"),
                "code_challenge_methods_supported": ["S256"],
            });
            (200, nothing, body)
        }
        "/register" => (
            201,
            nothing,
            json!({ "client_id": "us", "redirect_uris": [] }),
        ),
        "/token" => {
            let body = json!({ "access_token": "the-token", "token_type": "Bearer" });
            (200, nothing, body)
        }
        "/mcp" if first.starts_with("POST") && bearer => {
            let message: Value = serde_json::from_slice(body).unwrap();
            let result = match message["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "mock", "version": "1" },
                }),
                Some("tools/list") => json!({ "tools": [] }),
                Some("server/discover") => return (404, nothing, json!({})),
                _ => return (202, nothing, json!({})),
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            (200, nothing, answer)
        }
        "/mcp" if first.starts_with("POST") => {
            let metadata = format!("{url}/.well-known/oauth-protected-resource/mcp");
            let more = format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
            (401, more, json!({}))
        }
        _ => (404, nothing, json!({})),
    }
}

/// Asks for a page of this machine.
fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A parameter of an address, decoded as far as these tests need it.
fn parameter(url: &str, name: &str) -> String {
    let query = url.split_once('?').unwrap().1;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.find(|(key, _)| *key == name).unwrap().1;
    value.replace("%3A", ":").replace("%2F", "/")
}

#[test]
fn a_login_lasts() {
    let address = server();
    let named = format!("mock=http://{address}/mcp");
    let user = newcomer();

    // Before it, the server is told of with what to do.
    let before = user.runs(["--server", &named, "servers"]);
    assert!(before.stderr.contains("servers --login mock"), "{before:?}");

    let mut child = user
        .command(["--server", &named, "servers", "--login", "mock"])
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    let page = told.find_map(|line| {
        let line = line.unwrap();
        line.starts_with("http://").then_some(line)
    });
    let page = page.unwrap();
    let back = parameter(&page, "redirect_uri");
    // A browser asks for other things too.
    assert!(get(&back.replace("/callback", "/favicon.ico")).starts_with("HTTP/1.1 404"));
    // And whoever else is on this machine neither ends the login nor holds it up.
    let silent = TcpStream::connect(parameter(&page, "redirect_uri").split('/').nth(2).unwrap());
    for stray in ["", "error=access_denied", "code=theirs&state=guessed"] {
        let told = get(&format!("{back}?{stray}"));
        assert!(told.starts_with("HTTP/1.1 400"), "{told}");
    }
    let state = parameter(&page, "state");
    let ended = get(&format!("{back}?code=the-code&state={state}"));
    assert!(ended.starts_with("HTTP/1.1 200"), "{ended}");
    drop(silent.unwrap());
    let rest: Vec<String> = told.map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success(), "{rest:?}");

    let file = user.home().join("state/toolsmith/credentials/mock.json");
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let after = user.runs(["--server", &named, "--json", "servers"]);
    assert_eq!(after.json()[0]["state"], "ready", "{after:?}");
    assert!(!after.stderr.contains("the-token"));
}

#[test]
fn a_login_needs_a_server_that_asks_for_one() {
    let user = newcomer();
    let unknown = user.runs(["servers", "--login", "nobody"]);
    unknown.ends_with(2).says("no such server");
    let program = user.runs(["--server", "own=true", "servers", "--login", "own"]);
    program.ends_with(2).says("program of this machine");
}
