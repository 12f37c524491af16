//! Calls that try to reach what they must not, in a network of the test's own.
//!
//! Everything that is not public here is an address of this machine's loopback device
//! within a network namespace, and a server listens on all of them: whatever connects to
//! one of them is seen. Names are asked of a name server of the test's own, by the system's
//! resolver. Where namespaces are refused the same calls are made over names that are told,
//! with servers on loopback; root has no such excuse.

use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use toolsmith_builtin::{Web, WebSettings};
use toolsmith_core::Outcome;
use toolsmith_net::{Reach, is_public};
use toolsmith_runtime::Toolbox;

use crate::web_names::{self, RECORDS};
use crate::web_support::{Seen, Server, ToldNames, answer, call, of, page, redirect};

/// Says that the test runs within its own network.
const WITHIN: &str = "TOOLSMITH_TEST_NETWORK";

/// Makes the network, and runs what is named first in it.
const SCRIPT: &str = r#"
{
    ip link set lo up &&
    for address in 8.8.8.8 8.8.4.4 10.0.0.7 172.16.0.1 192.168.1.1 192.168.1.1 169.254.169.254 \
        100.64.0.1 100.100.100.200 198.18.0.1 192.0.0.192 2606:4700::1111 fd00::7 fd00:ec2::254 \
        64:ff9b::7f00:1 2002:7f00:1:: 2001:0:7f00:1:: fec0::7 fe80::7; do
        ip addr replace "$address" dev lo || exit 99
    done &&
    echo "nameserver 127.0.0.53" > "$TOOLSMITH_TEST_NETWORK" &&
    mount --bind "$TOOLSMITH_TEST_NETWORK" /etc/resolv.conf
} || exit 99
exec "$0" --exact web_ssrf::within_a_network_of_its_own --nocapture
"#;

/// URLs of places that are nobody's business, in all spellings. `PORT` is where somebody listens.
const PLACES: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.0.0.2:PORT/",
    "http://127.255.255.254:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0x0.0.01:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[fec0::7]:PORT/",
    "http://[fe80::7]:PORT/",
    "http://[fe80::7%25lo]:PORT/",
    "http://[fd00::7]:PORT/",
    "http://[fd00:ec2::254]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://10.0.0.7:PORT/",
    "http://10.7:PORT/",
    "http://172.16.0.1:PORT/",
    "http://192.168.1.1:PORT/",
    "http://192.168.257:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.64.0.1:PORT/",
    "http://100.100.100.200:PORT/",
    "http://198.18.0.1:PORT/",
    "http://192.0.0.192:PORT/",
    "http://255.255.255.255:PORT/",
    "http://224.0.0.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "HTTP://127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "http:127.0.0.1:PORT/",
    "http:///127.0.0.1:PORT/",
    "  http://127.0.0.1:PORT/",
    "http://127.0.0.1\t:PORT/",
    "ht\ntp://127.0.0.1:PORT/",
    "http://127.0.0.1:PORT\\@public.test/",
    "http://127.0.0.1:PORT#@public.test/",
    "https://127.0.0.1:PORT/",
    "https://[::1]:PORT/",
    "http://localhost:PORT/",
    "http://localhost.:PORT/",
    "http://LOCALHOST:PORT/",
    "http://app.localhost:PORT/",
    // Not of the web, or not as they seem.
    "http://public.test@127.0.0.1:PORT/",
    "http://public.test:80@127.0.0.1:PORT/",
    "http://user:password@127.0.0.1:PORT/",
    "http://public.test%2f@127.0.0.1:PORT/",
    "http://public.test\\@127.0.0.1:PORT/",
    "http://public.test/\r\nHost: 127.0.0.1",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:0/",
    "http://127.0.0.256:PORT/",
    "http://[::1:PORT/",
    "http://127.0.0.1%00:PORT/",
    "//127.0.0.1:PORT/",
    "ftp://127.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/_GET",
    "file:///etc/passwd",
    "file://127.0.0.1:PORT/etc/passwd",
    "data:text/plain,hello",
    "javascript:fetch('http://127.0.0.1:PORT/')",
    "unix:///run/docker.sock",
    "http+unix://127.0.0.1:PORT/",
    "ws://127.0.0.1:PORT/",
    "dict://127.0.0.1:PORT/",
];

/// Where redirects try to lead.
const REDIRECTS: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://2130706433:PORT/",
    "http://[::1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.7:PORT/",
    "http://localhost:PORT/",
    "http://loopback.test:PORT/",
    "http://mixed.test:PORT/",
    "http://public.test@127.0.0.1:PORT/",
    "http://user:password@8.8.8.8:PORT/",
    "https://127.0.0.1:PORT/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/",
    "javascript:alert(1)",
    "http:\\\\127.0.0.1:PORT\\",
    "http://127.0.0.1:0/",
];

/// Headers that are not a caller's.
const HEADERS: &[(&str, &str)] = &[
    ("Host", "127.0.0.1"),
    ("X-A", "a\r\nHost: 127.0.0.1"),
    ("X-A", "a\nX-B: c"),
    ("X-A", "a\0b"),
    ("X-A\r\nX-B", "c"),
    ("X A", "b"),
    ("", "b"),
    ("Transfer-Encoding", "chunked"),
    ("Content-Length", "0"),
    ("Connection", "upgrade"),
    ("Upgrade", "h2c"),
    ("Proxy-Authorization", "Basic eDp5"),
    ("TE", "trailers"),
    ("Expect", "100-continue"),
];

/// Where the calls are made.
struct Network {
    /// A server that may be reached.
    front: String,
    /// A port somebody listens on wherever that is.
    port: u16,
    web: Box<dyn Fn(Reach) -> Web>,
    reach: Reach,
    /// All connections that went to what is not public, or to nobody's server.
    forbidden: Box<dyn Fn() -> Vec<String>>,
}

#[test]
fn no_call_reaches_what_it_must_not() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = Command::new("unshare")
        .args(["-Urnm", "sh", "-c", SCRIPT])
        .arg(std::env::current_exe().unwrap())
        .env(WITHIN, folder.path().join("resolv.conf"))
        .output();
    let is_root = rustix::process::getuid().is_root();
    match outcome {
        Ok(output) if output.status.code() != Some(99) && output.status.code() != Some(1) => {
            let told = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}{errors}");
            assert!(told.contains("calls were refused"), "{told}{errors}");
        }
        refused => {
            assert!(!is_root, "root can make a network: {refused:?}");
            over_told_names();
        }
    }
}

/// What is done where namespaces are refused works wherever they are not.
#[test]
fn no_told_name_leads_where_it_must_not() {
    over_told_names();
}

/// The calls themselves. Outside of a network of their own there is nothing to do.
#[tokio::test]
async fn within_a_network_of_its_own() {
    if std::env::var_os(WITHIN).is_none() {
        return;
    }
    web_names::serve("127.0.0.53:53").await;
    let mut servers = Vec::new();
    for port in [80, 443, 8080] {
        servers.push(Server::at(&format!("[::]:{port}"), front).await);
    }
    let is_forbidden = |seen: &std::net::SocketAddr| !is_public(seen.ip().to_canonical());
    let network = Network {
        front: "http://public.test:8080".to_owned(),
        port: 8080,
        web: Box::new(|reach| {
            let mut settings = WebSettings::default();
            settings.reach = reach;
            Web::new(settings)
        }),
        reach: Reach::public(),
        forbidden: Box::new(move || {
            let seen = servers.iter().flat_map(Server::connections);
            seen.filter(is_forbidden).map(|at| at.to_string()).collect()
        }),
    };
    let made = network.run().await;
    assert!(made >= 240, "{made}");
    println!("{made} calls were refused");
}

/// The same without a network of its own: servers on loopback, and names that are told.
fn over_told_names() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = Server::new(front).await;
        let forbidden = Server::new(front).await;
        let port = forbidden.address.port();
        let network = Network {
            front: server.url(""),
            port,
            reach: Reach::public().and_origin(&server.url("/")).unwrap(),
            web: Box::new(|reach| {
                let names = RECORDS
                    .iter()
                    .fold(ToldNames::default(), |names, (name, answers)| {
                        let count = answers.len();
                        let told = (0..count).filter_map(|at| web_names::answer(name, at));
                        let told: Vec<Vec<String>> = told
                            .map(|(_, found)| found.iter().map(ToString::to_string).collect())
                            .collect();
                        let told: Vec<Vec<&str>> = told
                            .iter()
                            .map(|each| each.iter().map(String::as_str).collect())
                            .collect();
                        let told: Vec<&[&str]> = told.iter().map(Vec::as_slice).collect();
                        names.tell(name, &told)
                    });
                let mut settings = WebSettings::default();
                settings.reach = reach;
                Web::with_names(settings, Arc::new(names))
            }),
            forbidden: Box::new(move || forbidden.connections().map(|at| at.to_string()).collect()),
        };
        assert!(network.run().await >= 200);
    });
}

/// The server that may be reached: it redirects where it is told to.
fn front(seen: &Seen) -> Vec<u8> {
    let path = seen.path();
    if let Some(asked) = path.strip_prefix("/redirect/") {
        let (status, to) = asked.split_once("?to=").unwrap();
        let to: Vec<u8> = (0..to.len() / 2)
            .map(|at| u8::from_str_radix(&to[at * 2..at * 2 + 2], 16).unwrap())
            .collect();
        return redirect(status.parse().unwrap(), &String::from_utf8(to).unwrap());
    }
    match path {
        "/refresh" => {
            page("<meta http-equiv=refresh content='0; url=http://127.0.0.1:8080/'><p>stay")
        }
        _ => answer("200 OK", &["content-type: text/plain"], "reached"),
    }
}

fn redirecting(front: &str, status: u16, to: &str) -> String {
    let to: String = to.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{front}/redirect/{status}?to={to}")
}

impl Network {
    /// Makes every call, and returns how many there were.
    async fn run(&self) -> usize {
        let toolbox = of(&(self.web)(self.reach.clone()), &[]);
        let mut made = self.places(&toolbox).await;
        made += self.names(&toolbox).await;
        made += self.redirects(&toolbox).await;
        made += self.headers(&toolbox).await;
        made += self.rebinding().await;
        assert_eq!((self.forbidden)(), Vec::<String>::new());
        // The server sees what it should: nothing above succeeded for want of one.
        let reach = self.reach.clone().and_loopback();
        let toolbox = of(&(self.web)(reach), &[]);
        let url = format!("http://127.0.0.1:{}/", self.port);
        reached(&call(&toolbox, "web_fetch", json!({ "url": url })).await);
        assert_eq!((self.forbidden)().len(), 1);
        made
    }

    async fn places(&self, toolbox: &Toolbox) -> usize {
        let mut made = 0;
        for place in PLACES {
            let url = place.replace("PORT", &self.port.to_string());
            for tool in ["web_fetch", "api_call"] {
                self.refused(toolbox, tool, json!({ "url": url })).await;
                made += 1;
            }
        }
        made
    }

    async fn names(&self, toolbox: &Toolbox) -> usize {
        let mut made = 0;
        for (name, _) in RECORDS {
            if name.starts_with("public") || name.starts_with("rebinding") {
                continue;
            }
            let url = format!("http://{name}:{}/", self.port);
            self.refused(toolbox, "web_fetch", json!({ "url": url }))
                .await;
            self.refused(toolbox, "api_call", json!({ "url": url }))
                .await;
            made += 2;
        }
        made
    }

    async fn redirects(&self, toolbox: &Toolbox) -> usize {
        let mut made = 0;
        for status in [301, 302, 303, 307, 308] {
            for target in REDIRECTS {
                let target = target.replace("PORT", &self.port.to_string());
                let url = redirecting(&self.front, status, &target);
                self.refused(toolbox, "web_fetch", json!({ "url": url }))
                    .await;
                // Behind one that is allowed.
                let url = redirecting(&self.front, status, &url);
                self.refused(toolbox, "api_call", json!({ "url": url }))
                    .await;
                made += 2;
            }
        }
        let url = format!("{}/refresh", self.front);
        let stays = call(toolbox, "web_fetch", json!({ "url": url })).await;
        reached(&stays);
        assert!(stays.model_text().contains("stay"));
        made + 1
    }

    async fn headers(&self, toolbox: &Toolbox) -> usize {
        for (name, value) in HEADERS {
            let arguments = json!({"url": format!("{}/", self.front), "headers": {*name: value}});
            for tool in ["web_fetch", "api_call"] {
                let outcome = self.refused(toolbox, tool, arguments.clone()).await;
                let code = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
                assert_eq!(code, Some("invalid_parameters"), "{name}: {value:?}");
            }
        }
        HEADERS.len() * 2
    }

    /// Names that are public when they are asked first, and private afterwards.
    async fn rebinding(&self) -> usize {
        if !self.front.contains("public.test") {
            return 0;
        }
        let toolbox = of(&(self.web)(self.reach.clone()), &[]);
        let url = |name: &str, path: &str| format!("http://{name}:{}{path}", self.port);
        let first = json!({"url": url("rebinding.test", "/first")});
        reached(&call(&toolbox, "web_fetch", first).await);
        let second = json!({"url": url("rebinding.test", "/second")});
        self.refused(&toolbox, "web_fetch", second).await;
        // A redirect to the very host that was asked.
        let front = url("rebinding-again.test", "");
        let again = redirecting(&front, 302, &url("rebinding-again.test", "/second"));
        self.refused(&toolbox, "web_fetch", json!({ "url": again }))
            .await;
        let late = url("rebinding-late.test", "");
        let again = redirecting(
            &late,
            307,
            &redirecting(&late, 307, &format!("{late}/third")),
        );
        self.refused(&toolbox, "api_call", json!({ "url": again }))
            .await;
        4
    }

    /// Makes a call that must fail, and looks who noticed.
    async fn refused(&self, toolbox: &Toolbox, tool: &str, mut arguments: Value) -> Outcome {
        arguments["timeout"] = 5000.into();
        let outcome = call(toolbox, tool, arguments.clone()).await;
        let kind = outcome.error.as_ref().map(toolsmith_core::ToolError::code);
        assert!(
            matches!(kind, Some("permission_denied" | "invalid_parameters")),
            "{tool} {arguments}: {outcome:?}"
        );
        assert_eq!(
            (self.forbidden)(),
            Vec::<String>::new(),
            "{tool} {arguments}"
        );
        outcome
    }
}

fn reached(outcome: &Outcome) {
    assert!(outcome.is_success(), "{outcome:?}");
}
