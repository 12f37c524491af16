//! Being logged in to upstream servers: what is kept of it, and the browser.
//!
//! Where nobody is at a browser, what was granted before is used and renewed; a server
//! that wants more is told of with the command that logs in to it.

use std::time::{Duration, SystemTime};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::client::authorize::{Authorization, Consent, CredentialFile, is_answer_to};
use toolsmith_mcp::client::{Reach, UpstreamOptions};

use crate::environment;
use crate::print;

/// How many bytes of a request are read; codes are short.
const REQUEST: u64 = 16 << 10;

/// How many requests are heard at once, and for how long each.
const MOST_HEARD: usize = 64;
const HEARD: Duration = Duration::from_secs(5);

/// Where the browser comes back to.
const PATH: &str = "/callback";

/// The page the browser ends on.
const PAGE: &str = "You are back at toolsmith. This page can be closed.";

/// The page of whoever else comes there.
const ASTRAY: &str = "This is no answer to the login under way, which goes on.";

/// An upstream with what is kept of a login to it.
pub(crate) fn with_kept(options: UpstreamOptions) -> UpstreamOptions {
    let name = options.name.clone();
    with(options, Absent { name })
}

/// An upstream, with somebody to consent.
pub(crate) fn with(mut options: UpstreamOptions, consent: impl Consent) -> UpstreamOptions {
    let Reach::Http(http) = &mut options.reach else {
        return options;
    };
    let brings = |name: &str| name.eq_ignore_ascii_case("authorization");
    let brings_its_own = http.headers.iter().any(|(name, _)| brings(name));
    if !brings_its_own && http.authorization.is_none() {
        let mut authorization = Authorization::by_person(consent, SystemTime::now);
        if let Some(file) = environment::credentials_file(&options.name) {
            authorization = authorization.with_credentials(CredentialFile::at(file));
        }
        http.authorization = Some(Box::new(authorization));
    }
    options
}

/// Nobody at a browser.
struct Absent {
    name: String,
}

impl Consent for Absent {
    fn redirect_uri(&self) -> &'static str {
        ""
    }

    fn absent(&self) -> Option<String> {
        let name = &self.name;
        Some(format!("log in with `toolsmith servers --login {name}`"))
    }

    fn visit<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("nobody is there".to_owned())))
    }
}

/// A person with a browser on this machine.
pub(crate) struct Browser {
    listener: TcpListener,
    redirect_uri: String,
}

impl Browser {
    /// Waits for a browser at a port of this machine.
    pub(crate) async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let redirect_uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self {
            listener,
            redirect_uri,
        })
    }

    /// The address the browser came back to from a page. Every program and every web page on
    /// this machine can come here, so only an answer to that page ends the wait, and whoever
    /// connects and says nothing keeps nobody waiting.
    async fn comes_back(&self, page: &str) -> std::io::Result<String> {
        let mut heard = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if heard.len() < MOST_HEARD => {
                    let (stream, _) = accepted?;
                    let (page, here) = (page.to_owned(), self.redirect_uri.clone());
                    heard.spawn(timeout(HEARD, answer(stream, page, here)));
                }
                Some(one) = heard.join_next(), if !heard.is_empty() => {
                    if let Ok(Ok(Ok(Some(back)))) = one {
                        return Ok(back);
                    }
                }
            }
        }
    }
}

impl Consent for Browser {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn visit<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            print::note("Log in with a browser on this machine:");
            print::note(&print::visible(url));
            let back = self.comes_back(url).await;
            back.map_err(|error| error.to_string())
        })
    }
}

/// Answers one request; returns its address where it is the browser that comes back from a
/// page.
async fn answer(
    mut stream: TcpStream,
    page: String,
    here: String,
) -> std::io::Result<Option<String>> {
    let mut request = Vec::new();
    let mut part = [0_u8; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut part).await?;
        if read == 0 || request.len() as u64 > REQUEST {
            return Ok(None);
        }
        request.extend_from_slice(&part[..read]);
    }
    let request = String::from_utf8_lossy(&request);
    let target = request.lines().next().and_then(|line| {
        let target = line.strip_prefix("GET ")?;
        target.split(' ').next()
    });
    let query = target.and_then(|target| target.strip_prefix(PATH)?.strip_prefix('?'));
    let address = query.map(|query| format!("{here}?{query}"));
    let (status, said, back) = match address {
        Some(back) if is_answer_to(&page, &back) => ("200 OK", PAGE, Some(back)),
        Some(_) => ("400 Bad Request", ASTRAY, None),
        None => ("404 Not Found", "There is nothing here.", None),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{said}",
        said.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(back)
}
