//! What the tests share: a listener that counts and answers, and names that answer as told.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolsmith_net::{Client, ClientLimits, Lookup, Names, Reach, Refused};

/// A server on loopback that answers every request the same way.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    /// Answers with what `answer` makes of a request's first line.
    pub(crate) async fn answering(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (counted, noted) = (connections.clone(), requests.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => request.push(byte),
                        Err(_) => break,
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let answer = answer(request.lines().next().unwrap_or_default());
                noted.lock().unwrap().push(request);
                // The client may have gone.
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self {
            address,
            connections,
            requests,
        }
    }

    pub(crate) async fn saying(text: &'static str) -> Self {
        Self::answering(move |_| ok(text)).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) fn ok(text: &str) -> String {
    let length = text.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}")
}

pub(crate) fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// Names whose answers are told beforehand; the last answer of a name stays.
#[derive(Debug, Default)]
pub(crate) struct TellingNames {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl TellingNames {
    pub(crate) fn new(name: &str, answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let mut answers: Vec<Vec<IpAddr>> = answers.iter().map(parse).collect();
        answers.reverse();
        let answers = Mutex::new(HashMap::from([(name.to_owned(), answers)]));
        Arc::new(Self {
            answers,
            asked: AtomicUsize::new(0),
        })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Names for TellingNames {
    fn lookup(&self, name: &str) -> Lookup {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = match answers.get_mut(name) {
            Some(answers) if answers.len() > 1 => answers.pop(),
            Some(answers) => answers.last().cloned(),
            None => None,
        };
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such name");
        Box::pin(async move { answer.ok_or_else(unknown) })
    }
}

pub(crate) fn client(reach: Reach) -> Client {
    Client::new(reach, ClientLimits::default()).unwrap()
}

/// Sends a request by the inner client, past everything that judges a URL's text.
pub(crate) async fn get_unvetted(client: Client, url: &str) -> Result<String, String> {
    let sent = client.into_inner().get(url).send().await;
    let response = sent.map_err(|error| match Refused::find(&error) {
        Some(refused) => format!("{:?}: {refused}", refused.kind()),
        None => format!("not refused: {error:?}"),
    })?;
    Ok(response.text().await.unwrap())
}
