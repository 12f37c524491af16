//! `add`: servers, requests and sets become files that load.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;

use crate::support::{User, newcomer, user};

const GIT: &str = "tools/mcp/git.yaml";
const SET: &str = "configs/tool_sets/mine.yaml";

fn text(user: &User, file: &str) -> String {
    std::fs::read_to_string(user.home().join(file)).unwrap()
}

/// What a file says beneath its first line.
fn body(user: &User, file: &str) -> String {
    let text = text(user, file);
    let (first, body) = text.split_once("\n\n").unwrap();
    assert!(first.starts_with("# yaml-language-server: $schema=../../.toolsmith/schemas/"));
    let schema = first.rsplit('/').next().unwrap();
    let schema = user.home().join(".toolsmith/schemas").join(schema);
    assert!(schema.is_file(), "{schema:?}");
    body.to_owned()
}

fn put(user: &User, file: &str, content: &str) {
    let path = user.home().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn is_absent(user: &User, file: impl AsRef<Path>) -> bool {
    !user.home().join(file).exists()
}

/// Answers one request, and gives its first line and its headers.
fn answer_once() -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let head = lines.map_while(Result::ok).take_while(|l| !l.is_empty());
        let head: Vec<String> = head.collect();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                      content-length: 11\r\nconnection: close\r\n\r\n{\"ok\":true}";
        stream.write_all(answer.as_bytes()).unwrap();
        head
    });
    (address, seen)
}

#[test]
fn a_command_becomes_a_server() {
    let user = newcomer();
    user.runs(["add", "mcp", "git", "uvx", "mcp-server-git"])
        .ends_with(0)
        .prints("tools/mcp/git.yaml\n")
        .tells("Next: `toolsmith servers` reaches it, and its tools are called mcp__git__…\n");
    assert_eq!(body(&user, GIT), "command: [uvx, mcp-server-git]\n");
    // One word is split as a shell would; options stand behind `--`.
    for words in [
        &["add", "mcp", "one", "npx -y 'a b' $X"][..],
        &["add", "mcp", "one", "--", "npx", "-y", "a b", "$X"],
    ] {
        let user = newcomer();
        user.runs(words).ends_with(0);
        let expected = "command: [npx, \"-y\", \"a b\", \"$X\"]\n";
        assert_eq!(body(&user, "tools/mcp/one.yaml"), expected);
    }
    user.runs(["check", "--strict"]).ends_with(0);
}

#[test]
fn a_url_becomes_a_server() {
    let user = newcomer().with("KEY", "planted-secret");
    let ran = user
        .runs([
            "add",
            "mcp",
            "web",
            "https://x.example/mcp",
            "--header",
            "X-Key: ${env:KEY}",
        ])
        .ends_with(0);
    assert!(!ran.stderr.contains("planted-secret"));
    assert_eq!(
        body(&user, "tools/mcp/web.yaml"),
        "url: \"https://x.example/mcp\"\nheaders:\n  X-Key: \"${env:KEY}\"\n"
    );
    user.runs(["check", "--strict"]).ends_with(0);
}

#[test]
fn what_looks_like_a_secret_is_written_with_a_warning() {
    let user = newcomer();
    user.runs(["add", "mcp", "git", "x", "--env", "GIT_TOKEN=abc"])
        .ends_with(0)
        .says("warning: ./tools/mcp/git.yaml: server `git`: env.GIT_TOKEN is written out; refer");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = user.home().join(GIT).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    // A reference to what is not there is told too.
    user.runs(["add", "mcp", "other", "x", "--env", "A=${env:UNSET}"])
        .ends_with(0)
        .says("the environment variable `UNSET` is not set");
}

#[test]
fn a_file_that_is_there_stays_unless_forced_and_is_kept() {
    let user = newcomer();
    put(&user, GIT, "command: mine\n");
    user.runs(["add", "mcp", "git", "other"])
        .ends_with(2)
        .prints("")
        .tells(
            "error: tools/mcp/git.yaml is there already; --force replaces it and keeps a copy\n",
        );
    assert_eq!(text(&user, GIT), "command: mine\n");
    let report = user
        .runs(["add", "mcp", "git", "other", "--force", "--json"])
        .ends_with(0)
        .json();
    assert_eq!(
        report,
        json!({ "file": GIT, "changed": true, "backup": "tools/mcp/git.yaml.bak-1", "warnings": [] })
    );
    assert_eq!(text(&user, "tools/mcp/git.yaml.bak-1"), "command: mine\n");
    assert_eq!(body(&user, GIT), "command: [other]\n");
    // The other spelling of the file is the same file.
    let user = newcomer();
    put(&user, "tools/mcp/git.yml", "command: mine\n");
    user.runs(["add", "mcp", "git", "other"]).ends_with(2);
    user.runs(["add", "mcp", "git", "other", "--force"])
        .ends_with(0)
        .prints("tools/mcp/git.yml\n");
    assert!(is_absent(&user, GIT));
}

#[test]
fn names_lead_nowhere_else() {
    let user = newcomer();
    let long = "x".repeat(300);
    for name in [
        "../x", "a/b", "", "..", ".hidden", "a\\b", "a b", "ü", &long,
    ] {
        for words in [
            &["add", "mcp", name, "x"][..],
            &["add", "rest", name, "https://a.example"],
            &["add", "set", name, "read"],
        ] {
            user.runs(words).ends_with(2).prints("");
        }
    }
    for folder in ["tools", "configs", ".toolsmith"] {
        assert!(is_absent(&user, folder), "{folder}");
    }
}

#[test]
fn what_is_no_server_is_refused() {
    let user = newcomer();
    for (words, why) in [
        (&["ftp://a.b/c"][..], "not by ftp://"),
        (&["https://u:p@a.b"], "user name or password"),
        (&["'a"], "a quote that does not end"),
        (&[""], "there is no command"),
        (&["", "a"], "the command is empty"),
        (&["a", "--env", "B"], "--env takes KEY=VALUE"),
        (&["a", "--env", "=B"], "no name of an environment variable"),
        (&["a", "--env", "A=${nope"], "begins with `${`"),
        (&["a", "--env", "A=1", "--env", "A=2"], "is given twice"),
        (&["a", "--header", "A: b"], "--header goes with a URL"),
        (
            &["https://a.b", "--env", "A=b"],
            "--env goes with a command",
        ),
        (
            &["https://a.b", "--header", "A"],
            "--header takes 'NAME: VALUE'",
        ),
        (
            &["https://a.b", "--header", "A b: c"],
            "is no name of a header",
        ),
        (
            &["https://a.b", "--header", "Host: c"],
            "by the connection itself",
        ),
        (
            &["https://a.b", "--header", "A: 1", "--header", "a: 2"],
            "is given twice",
        ),
    ] {
        let words = ["add", "mcp", "git"].iter().chain(words);
        user.runs(words).ends_with(2).prints("").says(why);
    }
    assert!(is_absent(&user, "tools"));
    assert!(is_absent(&user, ".toolsmith"));
}

#[test]
fn a_broken_configuration_is_told_and_other_broken_files_are_not_in_the_way() {
    let broken = newcomer().having("toolsmith.yaml", "servers: [");
    broken
        .runs(["add", "mcp", "git", "x"])
        .ends_with(2)
        .says("error: ./toolsmith.yaml:1:");
    assert!(is_absent(&broken, "tools"));
    let user = newcomer();
    put(&user, "tools/mcp/bad.yaml", "command: [");
    user.runs(["add", "mcp", "git", "x"]).ends_with(0);
    // What is shadowed is told.
    let user = newcomer().having("toolsmith.yaml", "servers: { git: { command: y } }\n");
    user.runs(["add", "mcp", "git", "x"])
        .ends_with(0)
        .says("server `git` is not used: ./toolsmith.yaml:1:12 has that name first");
}

#[test]
fn a_request_becomes_a_tool_that_reaches_its_server() {
    let (address, seen) = answer_once();
    let user = newcomer().with("API_TOKEN", "planted-secret");
    let url = format!("{address}/users/{{id}}/posts?fixed=1&q={{query}}");
    let ran = user
        .runs(["add", "rest", "posts", &url, "--bearer", "API_TOKEN"])
        .ends_with(0)
        .prints("tools/native/posts.yaml\n")
        .says("complete its descriptions, then try `toolsmith call posts id=… query=…`.");
    assert!(!ran.stderr.contains("warning"), "{ran:#?}");
    user.runs(["check", "--strict"]).ends_with(0);
    let ran = user
        .runs(["call", "posts", "id=a/b", "query=x&y", "--yes"])
        .ends_with(0);
    assert!(ran.stdout.contains("\"ok\""), "{ran:#?}");
    assert!(!ran.stdout.contains("planted-secret"));
    let head = seen.join().unwrap();
    assert_eq!(head[0], "GET /users/a%2Fb/posts?fixed=1&q=x%26y HTTP/1.1");
    let token = "authorization: bearer planted-secret";
    assert!(
        head.iter().any(|line| line.to_lowercase() == token),
        "{head:?}"
    );
    assert!(!text(&user, "tools/native/posts.yaml").contains("planted-secret"));
}

#[test]
fn the_file_of_a_request() {
    let user = newcomer().with("K", "k").with("U", "u").with("P", "p");
    let run = |name: &str, words: &[&str]| {
        let words = ["add", "rest", name]
            .into_iter()
            .chain(words.iter().copied());
        user.runs(words).ends_with(0);
        body(&user, &format!("tools/native/{name}.yaml"))
    };
    assert_eq!(
        run(
            "add_item",
            &[
                "https://a.example/items?per-page={size}",
                "--method",
                "post",
                "--description",
                "Adds an item: to the list.",
            ],
        ),
        "name: add_item\n\
         description: \"Adds an item: to the list.\"\n\
         api_url: \"https://a.example\"\n\
         method: POST\n\
         path: /items\n\
         parameters:\n  properties:\n    size:\n      type: string\n      \
         description: \"To be completed: what `size` is.\"\n  required: [size]\n\
         places:\n  size: { in: query, name: per-page }\n"
            .replace("path: /items", "path: \"/items\"")
    );
    for (name, words, auth) in [
        (
            "by_header",
            &["--api-key", "K"][..],
            "auth_method: api_key\nauth:\n  key: \"${env:K}\"\n  in: header\n  name: X-API-Key\n",
        ),
        (
            "by_other_header",
            &["--api-key", "K", "--api-key-header", "X-K"],
            "  in: header\n  name: X-K\n",
        ),
        (
            "by_query",
            &["--api-key", "K", "--api-key-query", "appid"],
            "  in: query\n  name: appid\n",
        ),
        (
            "by_password",
            &["--basic", "U:P"],
            "auth_method: basic\nauth:\n  username: \"${env:U}\"\n  password: \"${env:P}\"\n",
        ),
    ] {
        let words: Vec<&str> = ["https://a.example/"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let body = run(name, &words);
        assert!(body.contains(auth), "{name}: {body}");
    }
    user.runs(["check", "--strict"]).ends_with(0);
    user.runs(["add", "rest", "written", "https://a.example/?api_key=abc"])
        .ends_with(0)
        .says("the query's `api_key` is written out; name the variable it is in instead");
}

#[test]
fn what_is_no_request_is_refused() {
    let user = newcomer();
    for (words, why) in [
        (&["a.example"][..], "neither http:// nor https://"),
        (&["https://a.{b}/"], "cannot depend on an argument"),
        (&["https://u:p@a.example/"], "a user name or a password"),
        (&["https://a.example/{b"], "does not end"),
        (&["https://a.example/b}"], "brace"),
        (&["https://a.example/#b"], "it holds a `#`"),
        (&["https://a.example/../b"], "dots"),
        (&["https://a.example/", "--method", "FETCH"], "write GET"),
        (
            &["https://a.example/", "--bearer", "sk-1"],
            "a variable has letters",
        ),
        (&["https://a.example/", "--basic", "U"], "USER:PASSWORD"),
        (
            &["https://a.example/", "--bearer", "A", "--api-key", "B"],
            "cannot be used with",
        ),
        (
            &["https://a.example/", "--api-key-query", "b"],
            "--api-key <VARIABLE>",
        ),
        (
            &[
                "https://a.example/",
                "--api-key",
                "B",
                "--api-key-header",
                "a b",
            ],
            "\"a b\" is no name of a header",
        ),
        (
            &[
                "https://a.example/?k={k}",
                "--api-key",
                "B",
                "--api-key-query",
                "k",
            ],
            "\"k\" stands in the URL already",
        ),
    ] {
        let words = ["add", "rest", "tool"].iter().chain(words);
        user.runs(words).ends_with(2).prints("").says(why);
    }
    assert!(is_absent(&user, "tools"));
    // A tool that hides another is written, and that is told.
    #[cfg(target_os = "linux")]
    user.runs(["add", "rest", "read", "https://a.example/"])
        .ends_with(0)
        .says("tool `read` of built-in tools is shadowed by that of ./tools/native/read.yaml");
}

#[test]
fn a_set_is_made_and_grows_and_its_comments_stay() {
    let user = user();
    user.runs([
        "add",
        "set",
        "mine",
        "example_add",
        "example_add",
        "example_*",
    ])
    .ends_with(0)
    .prints("configs/tool_sets/mine.yaml\n")
    .tells("Next: `toolsmith --set mine tools` lists what it comes to.\n");
    let tools = "tools:\n  - example_add\n  - \"example_*\"\n";
    assert_eq!(body(&user, SET), tools);
    put(
        &user,
        SET,
        "# mine\r\ntools: # all\r\n    - example_add   # sums\r\n# end\r\n",
    );
    user.runs([
        "add",
        "set",
        "mine",
        "example_add",
        "example_echo",
        "--description",
        "For: me",
    ])
    .ends_with(0)
    .says("What it was before is in configs/tool_sets/mine.yaml.bak-1.");
    assert_eq!(
        text(&user, SET),
        "# mine\r\ntools: # all\r\n    - example_add   # sums\r\n    - example_echo\r\n\
         description: \"For: me\"\r\n# end\r\n"
    );
    let before = text(&user, SET);
    let report = user
        .runs(["add", "set", "mine", "example_echo", "--json"])
        .ends_with(0)
        .says("has all of them already")
        .json();
    assert_eq!(
        report,
        json!({ "file": SET, "changed": false, "backup": null, "warnings": [] })
    );
    assert_eq!(text(&user, SET), before);
    user.runs(["check", "--strict"]).ends_with(0);
}

#[test]
fn tools_nobody_knows_are_written_with_a_warning() {
    let user = user();
    user.runs(["add", "set", "mine", "nosuch"])
        .ends_with(0)
        .says("warning: ./configs/tool_sets/mine.yaml: `nosuch` names no tool and no set");
    assert_eq!(body(&user, SET), "tools:\n  - nosuch\n");
    // What it says of the past is not said again.
    let ran = user
        .runs(["add", "set", "mine", "example_add"])
        .ends_with(0);
    assert!(!ran.stderr.contains("nosuch"), "{ran:#?}");
}

#[test]
fn what_would_break_a_set_is_refused() {
    let user = user();
    user.runs(["add", "set", "one", "example_add"]).ends_with(0);
    user.runs(["add", "set", "two", "one"]).ends_with(0);
    let before = text(&user, "configs/tool_sets/one.yaml");
    user.runs(["add", "set", "one", "two"])
        .ends_with(2)
        .prints("")
        .says("nothing was written: ")
        .says("go round in a circle");
    assert_eq!(text(&user, "configs/tool_sets/one.yaml"), before);
    for (content, why) in [
        ("tools: read\n", "`tools` is a text and no list"),
        ("tools: [", ":1:"),
        ("tools: [a]\ntools: [b]\n", "tools"),
    ] {
        put(&user, SET, content);
        user.runs(["add", "set", "mine", "example_add"])
            .ends_with(2)
            .prints("")
            .says(why);
        assert_eq!(text(&user, SET), content);
    }
    for tool in ["", "a[", &"x".repeat(300)] {
        user.runs(["add", "set", "fresh", tool]).ends_with(2);
    }
    assert!(is_absent(&user, "configs/tool_sets/fresh.yaml"));
    // A set with nothing in it but comments is filled.
    put(&user, SET, "# nothing yet\n");
    user.runs(["add", "set", "mine", "example_add"])
        .ends_with(0);
    assert_eq!(text(&user, SET), "# nothing yet\ntools:\n  - example_add\n");
}

#[test]
fn it_goes_where_the_project_begins() {
    let user = newcomer().having("toolsmith.yaml", "");
    std::fs::create_dir(user.home().join("below")).unwrap();
    let mut command = user.command(["add", "mcp", "git", "x"]);
    let output = command.current_dir(user.home().join("below")).output();
    assert!(output.unwrap().status.success());
    assert!(user.home().join(GIT).is_file());
    user.runs(["add", "mcp", "git", "x", "--root", "below"])
        .ends_with(0)
        .prints("below/tools/mcp/git.yaml\n");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let user = newcomer();
    put(&user, "tools/mcp", "a file");
    user.runs(["add", "mcp", "git", "x"])
        .ends_with(2)
        .prints("");
    assert_eq!(text(&user, "tools/mcp"), "a file");
}
