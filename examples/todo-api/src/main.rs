//! The API of docs/tutorials/import-an-api.md: things to do, in memory, and an OpenAPI document
//! that tells of them. One request at a time, HTTP/1.1 by hand, for this machine and for learning.
#![expect(clippy::print_stdout, reason = "it says where it listens")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// Where it listens unless the first argument says otherwise.
const ADDRESS: &str = "127.0.0.1:8080";

/// What describes the API.
const DOCUMENT: &str = include_str!("openapi.json");

/// How many bytes the head and the body of a request may have.
const MOST: u64 = 64 << 10;

/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or(ADDRESS))?;
    println!("the API is at http://{}", listener.local_addr()?);
    let mut todos = Vec::new();
    for stream in listener.incoming() {
        // Who goes away in the middle is not missed.
        let _ = serve(&stream?, &mut todos);
    }
    Ok(())
}

/// A request, as far as it matters.
struct Request {
    method: String,
    path: String,
    query: String,
    body: Vec<u8>,
}

/// Answers one request.
fn serve(stream: &TcpStream, todos: &mut Vec<Value>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (status, body) = match read(stream) {
        Ok(request) => answer(&request, todos),
        Err(error) => (400, json!({ "error": error.to_string() })),
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all((head + &body).as_bytes())
}

fn read(stream: &TcpStream) -> io::Result<Request> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut reader = BufReader::new(stream.take(MOST));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(wrong("this is no request"));
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(wrong("the request broke off"));
        }
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value
                .trim()
                .parse()
                .map_err(|_| wrong("the length is no number"))?;
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body,
    })
}

/// The status and the body that answer a request.
fn answer(request: &Request, todos: &mut Vec<Value>) -> (u16, Value) {
    let parts: Vec<&str> = request.path.split('/').skip(1).collect();
    match (request.method.as_str(), &parts[..]) {
        ("GET", ["openapi.json"]) => {
            let document = serde_json::from_str(DOCUMENT).expect("the document is JSON");
            (200, document)
        }
        ("GET", ["todos"]) => {
            let is_wanted = |todo: &&Value| match request.query.as_str() {
                "done=true" => todo["done"] == true,
                "done=false" => todo["done"] == false,
                _ => true,
            };
            (200, todos.iter().filter(is_wanted).cloned().collect())
        }
        ("POST", ["todos"]) => {
            let said: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let Some(title) = said["title"].as_str() else {
                return (400, json!({ "error": "there is no title" }));
            };
            let todo = json!({ "id": todos.len() + 1, "title": title, "done": false });
            todos.push(todo.clone());
            (201, todo)
        }
        ("PUT", ["todos", id, "done"]) => {
            let place = id.parse().ok().and_then(|id: usize| id.checked_sub(1));
            match place.and_then(|place| todos.get_mut(place)) {
                Some(todo) => {
                    todo["done"] = json!(true);
                    (200, todo.clone())
                }
                None => (404, json!({ "error": format!("there is no todo {id}") })),
            }
        }
        _ => (404, json!({ "error": "there is nothing here" })),
    }
}
