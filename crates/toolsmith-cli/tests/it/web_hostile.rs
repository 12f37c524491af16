//! Servers that mean harm: every call ends by its time limit, within little memory.
//!
//! The binary is a process of its own here, so that its memory can be told.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use wait4::Wait4 as _;

use crate::support::{User, newcomer};

/// What a call is given, in milliseconds; one of a server that answers nothing; and one of
/// a page that takes a moment to convert, in a build that is not optimised.
const LIMIT: u64 = 4000;
const SHORT: u64 = 1500;
const LONG: u64 = 20_000;

/// What it may take beyond that: to start, to convert, to answer.
const SLACK: Duration = Duration::from_secs(6);

/// How much memory it may take.
const MOST_MEMORY: u64 = 300 << 20;

/// 64 MiB of nothing, in brotli.
const BROTLI_BOMB: &str = "cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfbbffcffff032001108705a07bff07";

/// What a server does with a connection whose request was read.
type Deed = dyn Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A server, until it is dropped.
struct Hostile {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Hostile {
    fn new(deed: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let deed: Arc<Deed> = Arc::new(deed);
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (Ok(mut stream), deed) = (stream, Arc::clone(&deed)) else {
                    continue;
                };
                std::thread::spawn(move || {
                    let mut request = [0; 4096];
                    let _ = stream.read(&mut request);
                    // Whoever has enough goes away.
                    let _ = deed(&mut stream);
                });
            }
        });
        Self { address, is_over }
    }

    /// A server that answers with bytes.
    fn saying(answer: Vec<u8>) -> Self {
        Self::new(move |stream| stream.write_all(&answer))
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// What came of a call: its outcome, how long it took, and how much memory.
struct Came {
    outcome: Value,
    took: Duration,
    memory: u64,
}

fn user_of(server: &Hostile) -> User {
    let config = format!("web: {{ allow_hosts: [\"{}\"] }}\n", server.address);
    newcomer().having("toolsmith.yaml", config)
}

fn fetch(server: &Hostile, limit: u64) -> Came {
    let user = user_of(server);
    let url = format!("url=http://{}/", server.address);
    let timeout = format!("timeout={limit}");
    let words = ["--yes", "--json", "call", "web_fetch", &url, &timeout];
    let begun = Instant::now();
    let mut child = user.command(words).spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let mut output = String::new();
    stdout.read_to_string(&mut output).unwrap();
    let end = child.wait4().unwrap();
    let took = begun.elapsed();
    let errors = errors.join().unwrap().unwrap();
    let outcome = serde_json::from_str(&output).unwrap_or_else(|_| panic!("{output}{errors}"));
    Came {
        outcome,
        took,
        memory: end.rusage.maxrss,
    }
}

/// Checks that a call ended as it should, and in bounds.
#[track_caller]
fn check(what: &str, server: &Hostile, expected: &str) -> Value {
    check_within(LIMIT, what, server, expected)
}

#[track_caller]
fn check_within(limit: u64, what: &str, server: &Hostile, expected: &str) -> Value {
    let came = fetch(server, limit);
    let code = came.outcome["error"]["details"]["reason"]
        .as_str()
        .unwrap_or("OK");
    assert_eq!(code, expected, "{what}: {:#}", came.outcome);
    assert!(
        came.took < Duration::from_millis(limit) + SLACK,
        "{what}: {:?}",
        came.took
    );
    assert!(
        came.memory < MOST_MEMORY,
        "{what}: {} MiB",
        came.memory >> 20
    );
    came.outcome
}

fn html(body: &[u8]) -> Vec<u8> {
    encoded("text/html", "identity", body)
}

fn encoded(kind: &str, encoding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: {encoding}\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn bodies_without_end_are_cut() {
    let endless = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
        loop {
            stream.write_all(&[b'a'; 65536])?;
        }
    });
    let outcome = check("an endless body", &endless, "OK");
    assert_eq!(outcome["value"]["content_length"], 10 << 20);
    let chunks = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        loop {
            stream.write_all(b"1\r\na\r\n".repeat(1000).as_slice())?;
        }
    });
    check_within(SHORT, "endless chunks of one byte", &chunks, "TIMED_OUT");
}

#[test]
fn bombs_do_not_go_off() {
    let bomb = gzip(&vec![0; 256 << 20]);
    check(
        "a gzip bomb",
        &Hostile::saying(encoded("text/html", "gzip", &bomb)),
        "BAD_ANSWER",
    );
    let nested = encoded("text/html", "gzip, gzip", &gzip(&bomb));
    check("a bomb in a bomb", &Hostile::saying(nested), "BAD_ANSWER");
    let thrice = encoded("text/html", "gzip, gzip, gzip", &gzip(&gzip(&bomb)));
    check("three deep", &Hostile::saying(thrice), "BAD_ANSWER");
    let brotli: Vec<u8> = (0..BROTLI_BOMB.len() / 2)
        .map(|at| u8::from_str_radix(&BROTLI_BOMB[at * 2..at * 2 + 2], 16).unwrap())
        .collect();
    check(
        "a brotli bomb",
        &Hostile::saying(encoded("text/html", "br", &brotli)),
        "BAD_ANSWER",
    );
    check(
        "no gzip at all",
        &Hostile::saying(encoded("text/html", "gzip", b"hello")),
        "BAD_ANSWER",
    );
}

#[test]
fn those_that_wait_are_left() {
    let told = |outcome: Value| outcome["error"]["details"].clone();
    let silent = Hostile::new(|stream| stream.read(&mut [0; 1]).map(drop));
    check_within(SHORT, "silence", &silent, "TIMED_OUT");
    let drip = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")?;
        loop {
            stream.write_all(b"a")?;
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    let facts = told(check_within(SHORT, "a drip", &drip, "TIMED_OUT"));
    assert_eq!(facts["status"], 200);
    assert!(facts["received_bytes"].as_u64().unwrap() > 2, "{facts}");
    let head = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"a: b\r\n")?;
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    check_within(SHORT, "a head in drips", &head, "TIMED_OUT");
    let half = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")?;
        stream.read(&mut [0; 1]).map(drop)
    });
    let facts = told(check_within(SHORT, "half a body", &half, "TIMED_OUT"));
    assert_eq!(
        (&facts["status"], &facts["received_bytes"]),
        (&200.into(), &4.into())
    );
}

#[test]
fn what_is_no_http_is_an_error() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\nhello", "a".repeat(1 << 20));
    let longish = format!(
        "HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n",
        "a".repeat(70 << 10)
    );
    let many = format!(
        "HTTP/1.1 200 OK\r\n{}\r\nhello",
        "a: b\r\n".repeat(1_000_000)
    );
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("garbage", vec![0xff; 100_000], "BAD_ANSWER"),
        (
            "another protocol",
            b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(),
            "BAD_ANSWER",
        ),
        ("nothing", Vec::new(), "NETWORK"),
        ("a header of a megabyte", long.into_bytes(), "BAD_ANSWER"),
        ("a header of 70 kB", longish.into_bytes(), "BAD_ANSWER"),
        ("a million headers", many.into_bytes(), "BAD_ANSWER"),
        (
            "a length too long",
            b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort".to_vec(),
            "NETWORK",
        ),
        (
            "two lengths",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_vec(),
            "BAD_ANSWER",
        ),
        (
            "chunks of garbage",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello".to_vec(),
            "NETWORK",
        ),
    ];
    for (what, answer, expected) in cases {
        check(what, &Hostile::saying(answer), expected);
    }
    // Closed while the request is unread, a connection is reset.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let reset = Hostile {
        address,
        is_over: Arc::default(),
    };
    check("a reset", &reset, "NETWORK");
    let endless = Hostile::new(|stream| {
        stream.write_all(b"HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    });
    check("redirects without end", &endless, "TOO_MANY_REDIRECTS");
}

#[test]
fn pages_that_are_made_to_hurt() {
    let nested = |open: &str, times: usize| open.repeat(times).into_bytes();
    let attributes: String = (0..300_000).map(|number| format!("a{number}=b ")).collect();
    let pages: Vec<(&str, Vec<u8>)> = vec![
        ("a million elements deep", nested("<div>", 1_000_000)),
        (
            "text a million elements deep",
            nested("<p><b><i>x", 300_000),
        ),
        ("tables in tables", nested("<table><tr><td>", 200_000)),
        ("lists in lists", nested("<ul><li>a", 300_000)),
        (
            "quotations in quotations",
            nested("<blockquote>a\n", 300_000),
        ),
        (
            "a long attribute",
            format!("<p title='{}'>x</p>", "a".repeat(10_000_000)).into_bytes(),
        ),
        (
            "many attributes",
            format!("<p {attributes}>x</p>").into_bytes(),
        ),
        ("open tags only", nested("<", 3_000_000)),
        ("open comments", nested("<!--", 2_000_000)),
        ("ends without beginnings", nested("</div>", 500_000)),
        ("links in links", nested("<a href=x>y", 300_000)),
        ("references", nested("&amp;&#x41;", 400_000)),
        (
            "code in code",
            format!("{}{}", "<pre>".repeat(150), "a\n".repeat(2_000_000)).into_bytes(),
        ),
        (
            "headings in headings",
            format!("{}{}", "<h1><div>".repeat(60), "word\n".repeat(600_000)).into_bytes(),
        ),
        ("blanks that stay", nested("<b>&nbsp;</b>", 700_000)),
        (
            "a table that begins late",
            [
                b"<table>".to_vec(),
                nested("<b></b>", 140_000),
                nested("<tr><td>a<td>b", 70_000),
            ]
            .concat(),
        ),
        ("nothing but blanks", vec![b' '; 10_000_000]),
        ("scripts", nested("<script>", 500_000)),
        (
            "one long line of code",
            format!("<pre><code>{}", "`".repeat(9_000_000)).into_bytes(),
        ),
        (
            "a list of lines",
            format!("{}{}", "<ul><li>".repeat(10), "a<br>".repeat(500_000)).into_bytes(),
        ),
    ];
    for (what, page) in pages {
        check_within(LONG, what, &Hostile::saying(html(&page)), "OK");
    }
    let list = [nested("[", 1), nested("{},", 3_000_000), nested("{}]", 1)].concat();
    for (what, text) in [
        ("a list of three million", list),
        ("brackets only", nested("[", 9_000_000)),
        (
            "two megabytes of lists",
            [nested("[", 1), nested("[],", 690_000), nested("[]]", 1)].concat(),
        ),
    ] {
        let answer = encoded("application/json", "identity", &text);
        check_within(LONG, what, &Hostile::saying(answer), "OK");
    }
}
