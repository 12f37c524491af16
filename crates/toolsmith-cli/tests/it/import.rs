//! `import`: documents become tools that reach their servers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use serde_json::json;

use crate::support::{User, newcomer};

const FILE: &str = "tools/native/pet_store.yaml";

const PETS: &str = r#"
openapi: 3.0.3
info: { title: "Pet Store!", version: "1" }
servers: [{ url: "https://pets.example/v1" }]
security: [{ key: [] }]
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-Key } } }
paths:
  /pets:
    get:
      operationId: listPets
      tags: [pets]
      summary: Lists all the pets there are.
      parameters:
        - { name: limit, in: query, description: How many., schema: { type: integer } }
      responses: {}
    post:
      operationId: addPet
      tags: [pets]
      summary: Adds a pet to those there are.
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties: { name: { type: string, description: What it is called. } }
      responses: {}
    trace: { operationId: tracePets, responses: {} }
  /pets/{id}:
    delete:
      operationId: dropPet
      tags: [danger]
      summary: Removes a pet for good.
      parameters:
        - { name: id, in: path, required: true, description: Which., schema: { type: integer } }
      responses: {}
"#;

fn owner() -> User {
    newcomer()
        .having("pets.yaml", PETS)
        .with("API_KEY_FOR_PETS_EXAMPLE", "planted-secret")
}

fn text(user: &User, file: &str) -> String {
    std::fs::read_to_string(user.home().join(file)).unwrap()
}

/// Answers requests with a body, and gives each of them as it came.
fn serve(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for body in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !is_whole(&request) {
                let read = stream.read(&mut buffer).unwrap();
                assert_ne!(read, 0);
                request.extend_from_slice(&buffer[..read]);
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                 content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
            requests.push(String::from_utf8(request).unwrap());
        }
        requests
    });
    (address, seen)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.split("\r\n").next());
    let length = length.map_or(0, |length| length.parse().unwrap());
    body.len() >= length
}

#[test]
fn a_document_becomes_tools() {
    let user = owner();
    user.runs(["import", "openapi", "pets.yaml"])
        .ends_with(0)
        .prints("tools/native/pet_store.yaml: 3 tools\n")
        .tells(
            "left out: TRACE /pets: the method TRACE is not supported\n\
             API_KEY_FOR_PETS_EXAMPLE is sent to https://pets.example\n\
             Next: `toolsmith tools --source rest` lists them.\n",
        );
    let file = text(&user, FILE);
    assert!(
        file.starts_with(
            "# yaml-language-server: $schema=../../.toolsmith/schemas/native.json\n\
             # Made of pets.yaml by `toolsmith import openapi`.\n"
        ),
        "{file}"
    );
    assert!(user.home().join(".toolsmith/schemas/native.json").is_file());
    assert!(!file.contains("planted-secret"));
    let ran = user
        .runs(["tools", "--source", "rest"])
        .ends_with(0)
        .tells("");
    for name in ["list_pets", "add_pet", "drop_pet"] {
        assert!(ran.stdout.contains(name), "{ran:#?}");
    }
    user.runs(["check", "--strict"]).ends_with(0);
}

#[test]
fn its_calls_reach_the_api() {
    let (address, seen) = serve(vec!["[]".to_owned(), "{}".to_owned(), "{}".to_owned()]);
    let user = newcomer()
        .having("pets.yaml", PETS)
        .with("ZOO_API_KEY", "planted-secret");
    let url = format!("{address}/v2");
    let named = ["--api-url", &url, "--name", "zoo"];
    user.runs(["import", "openapi", "pets.yaml"].iter().chain(&named))
        .ends_with(0)
        .says(&format!("ZOO_API_KEY is sent to {address}\n"));
    for words in [
        &["call", "list_pets", "limit=3", "--yes"][..],
        &["call", "add_pet", "name=Rex", "--yes"],
        &["call", "drop_pet", "id=7", "--yes"],
    ] {
        let ran = user.runs(words).ends_with(0);
        assert!(!ran.stdout.contains("planted-secret"), "{ran:#?}");
    }
    let requests = seen.join().unwrap();
    let first = |index: usize| requests[index].lines().next().unwrap();
    assert_eq!(first(0), "GET /v2/pets?limit=3 HTTP/1.1");
    assert_eq!(first(1), "POST /v2/pets HTTP/1.1");
    assert!(requests[1].ends_with("{\"name\":\"Rex\"}"), "{requests:?}");
    assert_eq!(first(2), "DELETE /v2/pets/7 HTTP/1.1");
    for request in &requests {
        let request = request.to_lowercase();
        assert!(request.contains("x-key: planted-secret\r\n"), "{request}");
    }
}

#[test]
fn filters_prefix_and_name() {
    let user = owner();
    let report = user
        .runs([
            "import",
            "openapi",
            "pets.yaml",
            "--json",
            "--name",
            "shop",
            "--prefix",
            "shop_",
            "--tag",
            "pets",
            "--exclude-method",
            "post",
        ])
        .ends_with(0)
        .json();
    let left = |method: &str, path: &str, id: &str, reason: &str| json!({ "method": method, "path": path, "operation_id": id, "reason": reason });
    assert_eq!(report["file"], "tools/native/shop.yaml");
    assert_eq!(report["tools"], json!(["shop_list_pets"]));
    assert_eq!(
        report["left_out"],
        json!([
            left("POST", "/pets", "addPet", "its method is excluded"),
            left(
                "TRACE",
                "/pets",
                "tracePets",
                "the method TRACE is not supported"
            ),
            left(
                "DELETE",
                "/pets/{id}",
                "dropPet",
                "it has none of the tags that are imported"
            ),
        ])
    );
    let sent = "SHOP_API_KEY is sent to https://pets.example";
    assert_eq!(report["notes"], json!([sent]));
    for (words, tools) in [
        (&["--path", "/pets/*"][..], json!(["drop_pet"])),
        (&["--exclude-path", "/pets"], json!(["drop_pet"])),
        (&["--method", "GET"], json!(["list_pets"])),
        (&["--exclude-tag", "PETS"], json!(["drop_pet"])),
    ] {
        let words = ["import", "openapi", "pets.yaml", "--json", "--dry-run"]
            .iter()
            .chain(words);
        let report = user.runs(words).ends_with(0).json();
        assert_eq!(report["tools"], tools);
    }
}

#[test]
fn a_try_writes_nothing() {
    let user = owner();
    user.runs(["import", "openapi", "pets.yaml", "--dry-run"])
        .ends_with(0)
        .prints("tools/native/pet_store.yaml: 3 tools\n")
        .says("Nothing was written");
    assert!(!user.home().join("tools").exists());
    assert!(!user.home().join(".toolsmith").exists());
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let user = owner();
    user.runs(["import", "openapi", "pets.yaml"]).ends_with(0);
    let before = text(&user, FILE);
    user.runs(["import", "openapi", "pets.yaml", "--tag", "pets"])
        .ends_with(2)
        .prints("")
        .says("error: tools/native/pet_store.yaml is there already; --force replaces it");
    assert_eq!(text(&user, FILE), before);
    user.runs(["import", "openapi", "pets.yaml", "--dry-run"])
        .ends_with(0)
        .says("is there already, and replaced with --force only");
    user.runs(["import", "openapi", "pets.yaml", "--tag", "pets", "--force"])
        .ends_with(0)
        .prints("tools/native/pet_store.yaml: 2 tools\n")
        .says("What it was before is in tools/native/pet_store.yaml.bak-1.");
    assert_eq!(text(&user, "tools/native/pet_store.yaml.bak-1"), before);
}

#[test]
fn from_standard_input_into_another_file() {
    let user = newcomer().typing(PETS);
    user.runs(["import", "openapi", "-", "--out", "made/pets.yaml"])
        .ends_with(0)
        .prints("made/pets.yaml: 3 tools\n");
    assert!(
        text(&user, "made/pets.yaml")
            .starts_with("# yaml-language-server: $schema=../.toolsmith/schemas/native.json\n")
    );
    assert!(!user.home().join("tools").exists());
    user.runs(["import", "openapi", "-", "--out", "-"])
        .ends_with(2)
        .says("--out takes the name of a file");
}

#[test]
fn from_an_address_which_the_api_is_at() {
    let document = PETS.replace("https://pets.example/v1", "/v1");
    let (address, seen) = serve(vec![document]);
    let user = owner();
    let url = format!("{address}/docs/pets.yaml?key=planted-key");
    let ran = user.runs(["import", "openapi", &url]).ends_with(0);
    let file = text(&user, FILE);
    assert!(file.contains(&format!("api_url: {address}/v1\n")), "{file}");
    assert!(
        file.contains(&format!("# Made of {address}/docs/pets.yaml by")),
        "{file}"
    );
    assert!(!file.contains("planted-key") && !ran.stderr.contains("planted-key"));
    assert!(seen.join().unwrap()[0].starts_with("GET /docs/pets.yaml?key=planted-key "));
}

#[test]
fn a_document_without_a_tool_ends_with_one() {
    let user = owner();
    user.runs(["import", "openapi", "pets.yaml", "--tag", "nothing"])
        .ends_with(1)
        .prints("")
        .says("left out: GET /pets: it has none of the tags that are imported")
        .says("error: pets.yaml: none of its 4 operations is a tool");
    let report = user
        .runs([
            "import",
            "openapi",
            "pets.yaml",
            "--tag",
            "nothing",
            "--json",
        ])
        .ends_with(1)
        .json();
    assert_eq!(report["file"], json!(null));
    assert_eq!(report["left_out"].as_array().unwrap().len(), 4);
    let empty = newcomer().having("x.yaml", "openapi: 3.1.0\ninfo: {}\npaths: {}\n");
    empty
        .runs(["import", "openapi", "x.yaml"])
        .ends_with(1)
        .says("error: x.yaml: it has no operations");
    assert!(!user.home().join("tools").exists());
}

#[test]
fn many_that_are_left_out_are_counted() {
    let paths: String = (0..30)
        .map(|n| format!("  /p{n}: {{ trace: {{ responses: {{}} }} }}\n"))
        .collect();
    let document = format!("{}{paths}", PETS.trim_end_matches('\n').to_owned() + "\n");
    let user = owner().having("many.yaml", document);
    let ran = user
        .runs(["import", "openapi", "many.yaml", "--dry-run"])
        .ends_with(0)
        .says("left out: 11 more; -v names them\n");
    assert_eq!(ran.stderr.matches("is not supported").count(), 20);
    let ran = user
        .runs(["import", "openapi", "many.yaml", "--dry-run", "-v"])
        .ends_with(0);
    assert_eq!(ran.stderr.matches("is not supported").count(), 31);
}

#[test]
fn what_is_no_document_is_told() {
    let user = newcomer()
        .having("empty.yaml", " \n")
        .having("page.html", "<!DOCTYPE html><html></html>")
        .having("broken.json", "{\"openapi\": \"3.0.0\",")
        .having("broken.yaml", "openapi: [\n")
        .having("other.yaml", "swagger: '2.0'\n")
        .having("list.json", "[1]")
        .having("bytes.yaml", [0xff, 0xfe, 0x00])
        .having("pets.yaml", PETS);
    for (words, why) in [
        (&["missing.yaml"][..], "missing.yaml: there is no such file"),
        (&["."], ".: it is a folder"),
        (&["empty.yaml"], "empty.yaml: it is empty"),
        (&["-"], "standard input: it is empty"),
        (&["page.html"], "page.html: it is a page in HTML or XML"),
        (&["broken.json"], "broken.json: the document cannot be read"),
        (&["broken.yaml"], "broken.yaml: the document cannot be read"),
        (&["other.yaml"], "the document is Swagger 2.0; convert it"),
        (&["list.json"], "is a list, not an object"),
        (&["bytes.yaml"], "bytes.yaml: "),
        (&["ftp://a.example/x"], "not by ftp://"),
        (&["https://u:p@a.example/x"], "a user name or a password"),
        (&["pets.yaml", "--name", "../x"], "use up to 64 letters"),
        (&["pets.yaml", "--prefix", "A-"], "cannot begin names"),
        (&["pets.yaml", "--method", "trace"], "write GET, HEAD"),
        (&["pets.yaml", "--path", "["], "a path cannot be used"),
        (
            &["pets.yaml", "--api-url", "${nope"],
            "the address of the API",
        ),
    ] {
        let words = ["import", "openapi"].iter().chain(words);
        let ran = user.runs(words).ends_with(2).prints("").says(why);
        assert!(!ran.stderr.contains("planted"), "{ran:#?}");
    }
    // The command was right, and the run failed.
    let ran = user
        .runs(["import", "openapi", "http://127.0.0.1:1/x?key=planted"])
        .ends_with(1)
        .prints("")
        .says("http://127.0.0.1:1/x: fetch the document");
    assert!(!ran.stderr.contains("planted"), "{ran:#?}");
    assert!(!user.home().join("tools").exists());
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_not_waited_for() {
    let user = newcomer();
    user.runs(["import", "openapi", "/dev/zero"])
        .ends_with(2)
        .says("/dev/zero: it is no regular file");
    let file = std::fs::File::create(user.home().join("huge.json")).unwrap();
    file.set_len(65 << 20).unwrap();
    user.runs(["import", "openapi", "huge.json"])
        .ends_with(2)
        .says("huge.json: it cannot be read: it is larger than 67108864 bytes");
}

/// A document that says nothing of where its API is makes tools that say so.
#[test]
fn a_document_without_a_server_leaves_its_address_to_the_environment() {
    let document = "openapi: 3.0.3\ninfo: { title: Small API, version: '1' }\npaths:\n  /a:\n    \
                    get: { operationId: getA, summary: Gets what is at a., responses: {} }\n";
    let user = newcomer().having("small.yaml", document);
    let run = user.runs(["import", "openapi", "small.yaml"]).ends_with(0);
    assert!(
        run.stderr.contains("set SMALL_API_URL to the address"),
        "{run:?}"
    );
    let run = user.runs(["call", "get_a", "--yes"]).ends_with(1);
    assert!(run.stderr.contains("`SMALL_API_URL` is not set"), "{run:?}");
    let user = user.with("SMALL_API_URL", "http://127.0.0.1:1/v1");
    let run = user.runs(["call", "get_a", "--yes"]).ends_with(1);
    assert!(run.stderr.contains("network_error"), "{run:?}");
}
