//! Pages that can be done on any machine are done: those whose `console` blocks show what comes
//! of commands, as tutorials are, and of the others each line of an `sh` block that needs nothing from
//! outside, which must succeed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::pages::page;
use crate::snippets::{Block, is_script, pages};
use crate::support::{User, newcomer};

#[test]
fn record_and_replay() {
    page("docs/record-and-replay.md").check();
}

#[test]
fn records() {
    page("docs/records.md").check();
}

/// The server that changed its tool is this very program, over files of its own.
#[test]
fn pins_and_approvals() {
    let upstream = "toolsmith --root up --mode auto serve --stdio";
    let config = format!("servers: {{ up: {{ command: {upstream}, allow: ['greet*'] }} }}\n");
    let tool = |words: &str| {
        format!(
            "{{ name: greet, description: \"{words}\", command: [/bin/echo, hello], sandbox: none }}\n"
        )
    };
    const FILE: &str = "up/tools/native/greet.yaml";
    // Somebody has used it before.
    let user = newcomer().having("toolsmith.yaml", &config);
    fs::create_dir_all(user.home().join("up/tools/native")).unwrap();
    let user = user.having(FILE, tool("Says many secret words to whoever calls it."));
    let used = || {
        let output = shell(&user, "toolsmith pins").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::read(user.home().join("toolsmith.lock")).ok()
    };
    // A server that is too slow to start is told of, and used the next time.
    let lock = (0..5).find_map(|_| used()).expect("it was used");
    let now = tool("Says m\u{430}ny other words to whoever calls it.");
    page("docs/pins-and-approvals.md")
        .having("toolsmith.yaml", config)
        .having("toolsmith.lock", lock)
        .having(FILE, now)
        .check();
}

/// What a line needs that no test has: a model, another machine, an editor, programs of others.
const OUTSIDE: &[&str] = &[
    " ask ",
    "cargo ",
    "git ",
    "https://",
    "python3",
    "--server ",
    " serve",
    "--follow",
    "mcp__",
    " pins ",
    " approvals ",
];

#[test]
fn lines_that_need_nothing_from_outside_succeed() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, blocks) in pages() {
        // Its examples are of every project, and read by the parser.
        if name == "docs/reference/command-line.md" || name.starts_with("docs/tutorials/") {
            continue;
        }
        let user = reader();
        for (line, command) in lines(&blocks) {
            if OUTSIDE.iter().any(|word| command.contains(word)) {
                continue;
            }
            count += 1;
            let output = shell(&user, command).output().unwrap();
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                wrong.push(format!(
                    "{name}:{line}: {command}\n{}: {said}",
                    output.status
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "only {count} lines were found");
}

/// The lines of the blocks of a page that are for a shell, with their numbers.
fn lines(blocks: &[Block]) -> Vec<(usize, &str)> {
    let for_a_shell = |block: &&Block| block.word() == "sh" && !is_script(block);
    let mut lines = Vec::new();
    for block in blocks.iter().filter(for_a_shell) {
        let commands = block.text.lines().enumerate();
        let commands = commands.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.extend(commands.map(|(at, line)| (block.line + 1 + at, line)));
    }
    lines
}

/// A reader who has the files that pages speak of.
fn reader() -> User {
    let answer = r#"{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}"#;
    let petstore = "openapi: 3.1.0\ninfo: { title: Petstore, version: '1' }\n\
                    servers: [{ url: 'https://pets.example/v1' }]\npaths:\n  /pets:\n    \
                    get: { operationId: listPets, summary: Lists all pets., responses: {} }\n";
    newcomer()
        .having("README.md", "# A project\n\nTODO: write it.\n")
        .having("notes.md", "one\n")
        .having("answer.json", answer)
        .having("what-it-wrote.txt", "Nothing to call.\n")
        .having("petstore.yaml", petstore)
        .with("TERM", "dumb")
}

/// A line for the shell, with the program on its path.
fn shell(user: &User, line: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_toolsmith"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    fs::create_dir_all(user.home().join("state")).unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", line])
        .env_clear()
        .env("PATH", path)
        .env("HOME", user.home())
        .env("XDG_STATE_HOME", user.home().join("state"))
        .current_dir(user.home())
        .stdin(Stdio::null());
    command
}
