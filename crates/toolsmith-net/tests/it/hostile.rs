//! URLs that try to reach what they must not; the listener must see nothing of them.
//!
//! `PORT` stands for the listener's port, on loopback. Each URL is tried twice: with the
//! guard on the URL's text, and by the inner client, which has no such guard.

use std::time::Duration;

use toolsmith_net::{Client, ClientLimits, Method, Reach, RefusedKind};

use crate::support::{Listener, TellingNames, get_unvetted};

/// Spellings of loopback.
const LOOPBACK: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7F.0.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0x0.0.1:PORT/",
    "http://127.0.0.01:PORT/",
    "http://127.0x1:PORT/",
    "http://00000177.1:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://127.255.255.254:PORT/",
    "http://127.0.0.2:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[0000::0001]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::FFFF:7F00:0001]:PORT/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::7f00:1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[::ffff:0.0.0.0]:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "HTTP://127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "http:////127.0.0.1:PORT/",
    "  http://127.0.0.1:PORT/  ",
    "http://127.0.0.1\t:PORT/",
    "ht\ntp://127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@example.com/",
    "http://127.0.0.1:PORT?@example.com/",
    "http://127.0.0.1:PORT/@example.com",
    "http://127.0.0.1:PORT\\@example.com/",
    "https://127.0.0.1:PORT/",
    "https://[::1]:PORT/",
    "https://2130706433:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
];

/// Other places that are nobody's business.
const ELSEWHERE: &[&str] = &[
    "http://10.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://192.168.257/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://240.0.0.1/",
];

/// What is refused for another reason than its address.
const OTHERWISE: &[(&str, RefusedKind)] = &[
    ("ftp://127.0.0.1:PORT/", RefusedKind::Scheme),
    ("file:///etc/passwd", RefusedKind::Scheme),
    ("gopher://127.0.0.1:PORT/_GET", RefusedKind::Scheme),
    ("ws://127.0.0.1:PORT/", RefusedKind::Scheme),
    ("unix:///run/docker.sock", RefusedKind::Scheme),
    ("data:text/plain,hello", RefusedKind::Scheme),
    ("javascript:alert(1)", RefusedKind::Scheme),
    ("http+unix://127.0.0.1:PORT/", RefusedKind::Scheme),
    ("blob:http://127.0.0.1:PORT/", RefusedKind::Scheme),
    ("http://user@127.0.0.1:PORT/", RefusedKind::Credentials),
    (
        "http://user:secret@127.0.0.1:PORT/",
        RefusedKind::Credentials,
    ),
    (
        "http://example.com@127.0.0.1:PORT/",
        RefusedKind::Credentials,
    ),
    (
        "http://example.com:80@127.0.0.1:PORT/",
        RefusedKind::Credentials,
    ),
    ("http://:secret@127.0.0.1:PORT/", RefusedKind::Credentials),
    (
        "http://example.com%2f@127.0.0.1:PORT/",
        RefusedKind::Credentials,
    ),
    ("", RefusedKind::Url),
    ("//127.0.0.1:PORT/", RefusedKind::Url),
    ("127.0.0.1", RefusedKind::Url),
    ("http://", RefusedKind::Url),
    ("http://127.0.0.1:99999/", RefusedKind::Url),
    ("http://127.0.0.256:PORT/", RefusedKind::Url),
    ("http://0x100000000:PORT/", RefusedKind::Url),
    ("http://[::1%25lo]:PORT/", RefusedKind::Url),
    ("http://[::1:PORT/", RefusedKind::Url),
    ("http://127.0.0.1 :PORT/", RefusedKind::Url),
    ("http://127.0.0.1%00:PORT/", RefusedKind::Url),
    ("http://exa\u{0}mple.com/", RefusedKind::Url),
];

/// Names as the system would answer them; each must be refused by its answer.
const NAMES: &[(&str, &str)] = &[
    ("localhost", "127.0.0.1"),
    ("localhost.", "127.0.0.1"),
    ("ip6-localhost", "::1"),
    ("LOCALHOST", "127.0.0.1"),
    ("metadata.google.internal", "169.254.169.254"),
    ("127.0.0.1.nip.io", "127.0.0.1"),
    ("loopback.example.com", "::ffff:127.0.0.1"),
    ("inside.example.com", "10.0.0.7"),
    ("a.b.c.0x7f.example.com", "127.0.0.1"),
    ("xn--bcher-kva.example", "192.168.0.1"),
];

fn short() -> ClientLimits {
    ClientLimits {
        connect_timeout: Duration::from_secs(2),
        ..ClientLimits::default()
    }
}

#[tokio::test]
async fn no_spelling_reaches_a_forbidden_address() {
    let listener = Listener::saying("reached").await;
    let port = listener.address.port().to_string();
    let client = Client::new(Reach::public(), short()).unwrap();
    for url in LOOPBACK.iter().chain(ELSEWHERE) {
        let url = url.replace("PORT", &port);
        let refused = client.request(Method::GET, &url).unwrap_err();
        assert_eq!(refused.kind(), RefusedKind::Address, "{url}");
        let told = get_unvetted(client.clone(), &url).await.unwrap_err();
        assert!(told.starts_with("Address: "), "{url}: {told}");
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn what_is_no_web_address_is_refused_for_what_it_is() {
    let listener = Listener::saying("reached").await;
    let port = listener.address.port().to_string();
    let client = Client::new(Reach::public(), short()).unwrap();
    for (url, kind) in OTHERWISE {
        let url = url.replace("PORT", &port);
        let refused = client.request(Method::GET, &url).unwrap_err();
        assert_eq!(refused.kind(), *kind, "{url}: {refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
        assert!(get_unvetted(client.clone(), &url).await.is_err(), "{url}");
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn no_name_leads_to_a_forbidden_address() {
    let listener = Listener::saying("reached").await;
    let port = listener.address.port();
    for (name, address) in NAMES {
        let names = TellingNames::new(&name.to_lowercase(), &[&[address]]);
        let client = Client::with_names(Reach::public(), short(), names).unwrap();
        let told = get_unvetted(client, &format!("http://{name}:{port}/")).await;
        let told = told.unwrap_err();
        assert!(told.starts_with("Address: "), "{name}: {told}");
    }
    assert_eq!(listener.connections(), 0);
}

#[test]
fn there_are_enough_of_them() {
    assert!(LOOPBACK.len() + ELSEWHERE.len() + OTHERWISE.len() + NAMES.len() >= 80);
}
