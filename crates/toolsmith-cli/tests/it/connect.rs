//! `connect`: what each client is shown and given. Each client's snapshot holds the
//! entry as it is shown, the file it makes, and a file it was added to.

use std::path::Path;

use serde_json::json;

use crate::support::{Ran, User, newcomer};

/// A client, its file, its file in a folder, and a file somebody has written before.
const CLIENTS: [(&str, &str, Option<&str>, &str); 8] = [
    (
        "claude-code",
        ".claude.json",
        Some(".mcp.json"),
        "{\n    \"numStartups\": 7,\n    \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n    \
         \"projects\": {\"/a\": {\"mcpServers\": {}, \"b\": [1, 2.50, 1e3]}}\n}",
    ),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        None,
        "{\"globalShortcut\":\"\",\"preferences\":{\"a\":true}}",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        Some(".cursor/mcp.json"),
        "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {\n\t\t\t\"url\": \"https://h/mcp\" // there\n\t\t}\n\t}\n}\n",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        Some(".vscode/mcp.json"),
        "// Servers of mine.\n{\n  \"inputs\": [], // none\n  \"servers\": {\n    /* the other */\n    \
         \"other\": { \"type\": \"stdio\", \"command\": \"x\", },\n  },\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        Some(".codex/config.toml"),
        "# mine\nmodel = \"m\" # the model\n\n[mcp_servers.other]\ncommand = 'x'   # single\n\n\
         [mcp_servers.other.env]\nA = \"b\"\n\n# how it looks\n[tui]\nnotifications = true\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        Some(".gemini/settings.json"),
        "{\n  // theme\n  \"ui\": { \"theme\": \"GitHub\" },\n  \"mcpServers\": {}\n}\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        Some(".zed/settings.json"),
        "// Zed settings\n//\n// For information, see the documentation.\n{\n  \"theme\": \"One Dark\",\n  \
         \"context_servers\": {\n    \"other\": {\n      \"command\": \"x\",\n      \"args\": [],\n    },\n  },\n  \
         // \"vim_mode\": true,\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        Some("opencode.json"),
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"model\": \"a/b\", // the model\n}\n",
    ),
];

/// What differs from machine to machine, by names.
fn neutral(user: &User, text: &str) -> String {
    text.replace(env!("CARGO_BIN_EXE_toolsmith"), "<toolsmith>")
        .replace(user.home().to_str().unwrap(), "<home>")
}

fn content(user: &User, file: &str) -> String {
    neutral(
        user,
        &std::fs::read_to_string(user.home().join(file)).unwrap(),
    )
}

fn put(user: &User, file: &str, text: &str) {
    let file = user.home().join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// The files in the folder of a file that are not the file itself.
fn beside(user: &User, file: &str) -> Vec<String> {
    let file = user.home().join(file);
    let mut names: Vec<String> = std::fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name) != Path::new(file.file_name().unwrap()))
        .collect();
    names.sort();
    names
}

fn shown(user: &User, ran: &Ran) -> String {
    neutral(user, &format!("{}---\n{}", ran.stdout, ran.stderr))
}

#[test]
fn every_client_is_shown_and_given_its_own_form() {
    for (client, file, _, existing) in CLIENTS {
        let user = newcomer();
        let mut all = format!(
            "# shown\n{}",
            shown(&user, &user.runs(["connect", client]).ends_with(0))
        );
        user.runs(["connect", client, "--write"])
            .ends_with(0)
            .prints("");
        all += &format!("\n# {file}, made\n{}", content(&user, file));
        put(&user, file, existing);
        let ran = user.runs(["connect", client, "--write"]).ends_with(0);
        all += &format!(
            "\n# {file}, added to\n{}---\n{}",
            content(&user, file),
            shown(&user, &ran)
        );
        let ran = user.runs(["connect", client, "--remove"]).ends_with(0);
        all += &format!(
            "\n# {file}, taken out of\n{}---\n{}",
            content(&user, file),
            shown(&user, &ran)
        );
        let http = [
            "connect",
            client,
            "--http",
            "--token-env",
            "TOOLSMITH_TOKEN",
        ];
        all += &format!("\n# http\n{}", shown(&user, &user.runs(http)));
        insta::assert_snapshot!(client, all);
    }
}

#[test]
fn the_same_again_changes_nothing() {
    for (client, file, _, existing) in CLIENTS {
        let user = newcomer();
        put(&user, file, existing);
        user.runs(["connect", client, "--write"]).ends_with(0);
        let once = content(&user, file);
        user.runs(["connect", client, "--write"])
            .ends_with(0)
            .prints("")
            .says("has this entry already");
        assert_eq!(content(&user, file), once);
        user.runs(["connect", client, "--remove"]).ends_with(0);
        user.runs(["connect", client, "--remove"])
            .ends_with(0)
            .prints("")
            .says("has no entry `toolsmith`");
        let user = newcomer();
        user.runs(["connect", client, "--remove"])
            .ends_with(0)
            .says("has no entry `toolsmith`");
        user.runs(["connect", client, "--write"]).ends_with(0);
        user.runs(["connect", client, "--remove"]).ends_with(0);
        assert!(!content(&user, file).contains("toolsmith"), "{client}");
    }
}

#[test]
fn another_entry_of_the_name_is_replaced_by_force_only() {
    for (client, file, _, existing) in CLIENTS {
        let user = newcomer();
        put(&user, file, existing);
        user.runs(["connect", client, "--write"]).ends_with(0);
        std::fs::create_dir(user.home().join("below")).unwrap();
        let before = content(&user, file);
        let other = ["--root", "below", "connect", client, "--write"];
        user.runs(other)
            .ends_with(2)
            .prints("")
            .says("has another entry `toolsmith`: {")
            .says("--force replaces it");
        assert_eq!(content(&user, file), before);
        user.runs(other.into_iter().chain(["--force"])).ends_with(0);
        let after = content(&user, file);
        assert_eq!(
            after,
            before.replace("\"<home>\"", "\"<home>/below\""),
            "{client}"
        );
        user.runs(["connect", client, "--write", "--name", "second"])
            .ends_with(0);
        assert!(content(&user, file).contains("<home>/below"), "{client}");
    }
}

#[test]
fn what_others_keep_secret_is_not_shown() {
    let user = newcomer();
    put(
        &user,
        ".cursor/mcp.json",
        r#"{"mcpServers": {"toolsmith": {"command": "x", "args": ["A: Bearer hunter2", "h?k=hunter2"],
            "env": {"KEY": "hunter2"}}}}"#,
    );
    let ran = user.runs(["connect", "cursor", "--write"]).ends_with(2);
    assert!(!ran.stderr.contains("hunter2"), "{ran:#?}");
    ran.says(r#"{"command":"x","args":["A: Bearer …","h?…"],"env":{"KEY":"…"}}"#);
}

#[test]
fn a_project_has_a_file_of_its_own() {
    for (client, file, project, _) in CLIENTS {
        let user = newcomer();
        std::fs::create_dir(user.home().join("über ❤ b")).unwrap();
        let words = [
            "--root",
            "über ❤ b",
            "connect",
            client,
            "--scope",
            "project",
            "--write",
        ];
        let Some(project) = project else {
            user.runs(words).ends_with(2).says("none for a project");
            continue;
        };
        user.runs(words).ends_with(0);
        let text = content(&user, &format!("über ❤ b/{project}"));
        assert!(text.contains("\"<home>/über ❤ b\""), "{client}: {text}");
        assert!(!user.home().join(file).exists(), "{client}");
    }
}

#[test]
fn the_clients_own_variables_say_where() {
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "x/.claude.json"),
        ("codex", "CODEX_HOME", "x/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "x/.gemini/settings.json"),
        ("zed", "XDG_CONFIG_HOME", "x/zed/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "x/opencode/opencode.json"),
        ("vscode", "XDG_CONFIG_HOME", "x/Code/User/mcp.json"),
    ] {
        let user = newcomer();
        let folder = user.home().join("x");
        let user = user.with(variable, folder.to_str().unwrap());
        user.runs(["connect", client, "--write"]).ends_with(0);
        assert!(user.home().join(file).exists(), "{client}");
    }
    let user = newcomer();
    let mut command = user.command(["connect", "cursor"]);
    let ran = Ran::from(command.env_remove("HOME").output().unwrap());
    ran.ends_with(2).says("HOME is not set");
}

#[test]
fn what_scripts_read() {
    let user = newcomer().having("my.yaml", "");
    let ran = user
        .runs(["connect", "zed", "--json", "--config", "my.yaml"])
        .ends_with(0)
        .tells("");
    let home = user.home().to_str().unwrap();
    assert_eq!(
        ran.json(),
        json!({
            "client": "zed",
            "path": format!("{home}/.config/zed/settings.json"),
            "entry": {
                "command": env!("CARGO_BIN_EXE_toolsmith"),
                "args": ["--root", home, "--config", format!("{home}/my.yaml"), "serve", "--stdio"],
            },
        })
    );
}

#[test]
fn what_scripts_read_of_changes() {
    let user = newcomer();
    let path = user.home().join(".cursor/mcp.json");
    let report = |changed: bool, backup: Option<&str>| {
        let backup = backup.map(|end| format!("{}{end}", path.display()));
        json!({ "client": "cursor", "path": path, "changed": changed, "backup": backup })
    };
    for (word, changed, backup) in [
        ("--remove", false, None),
        ("--write", true, None),
        ("--write", false, None),
        ("--remove", true, Some(".bak-1")),
        ("--write", true, Some(".bak-2")),
    ] {
        let ran = user
            .runs(["connect", "cursor", "--json", word])
            .ends_with(0);
        assert_eq!(ran.json(), report(changed, backup), "{word}");
    }
}

#[test]
fn any_path_arrives_as_it_is() {
    let folder = "a\"b\\c\nd\te\u{1b}[31mf\u{202e}g'h#i\u{2028}j\u{7f}";
    for (client, file, _, existing) in CLIENTS {
        let user = newcomer();
        std::fs::create_dir(user.home().join(folder)).unwrap();
        put(&user, file, existing);
        let words = ["--root", folder, "connect", client];
        user.runs(words.into_iter().chain(["--write"])).ends_with(0);
        user.runs(words.into_iter().chain(["--write"]))
            .ends_with(0)
            .says("has this entry already");
        let ran = user.runs(words).ends_with(0);
        if client == "claude-code" {
            let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            let root = &value["mcpServers"]["toolsmith"]["args"][1];
            assert_eq!(root, user.home().join(folder).to_str().unwrap());
        }
    }
}

#[test]
fn tokens() {
    let user = newcomer()
        .having("token", "hunter2\n")
        .having("bad", "a b\n");
    let file = ["--http", "--token-file", "token"];
    // What is shown ends up in logs, so the token stands only in what is written.
    for (client, written) in [
        ("claude-code", ".claude.json"),
        ("zed", ".config/zed/settings.json"),
        ("codex", ".codex/config.toml"),
        ("vscode", ".config/Code/User/mcp.json"),
    ] {
        let words = [&["connect", client][..], &file].concat();
        let with = |option| user.runs(words.iter().chain([&option])).ends_with(0);
        for ran in [user.runs(&words).ends_with(0), with("--json")] {
            let ran = ran.says("TOKEN stands for the token in token.");
            assert!(ran.stdout.contains("Bearer TOKEN"), "{ran:#?}");
            assert!(!format!("{ran:?}").contains("hunter2"), "{ran:#?}");
        }
        let ran = with("--write");
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:#?}");
        let written = std::fs::read_to_string(user.home().join(written)).unwrap();
        assert!(written.contains("Bearer hunter2"), "{written}");
    }
    user.runs(["connect", "zed", "--http", "--token-env", "A"])
        .ends_with(2)
        .says("Zed takes no token from the environment");
    user.runs(["connect", "cursor", "--http"])
        .ends_with(2)
        .says("--token-env NAME");
    for (word, why) in [
        ("bad", "one word"),
        ("none", "No such file"),
        (".", "no file of at most"),
    ] {
        user.runs(["connect", "zed", "--http", "--token-file", word])
            .ends_with(2)
            .prints("")
            .says(why);
    }
    for words in [
        &["--token-env", "A"][..],
        &["--http", "--token-env", "1A"],
        &["--http", "ftp://h"],
        &["--http", "http://u:p@h"],
        &["--http", "--token-env", "A", "--token-file", "token"],
        &["--force"],
        &["--write", "--remove"],
        &["--name", "a b"],
        &["--scope", "machine"],
    ] {
        let all = ["connect", "cursor"].iter().chain(words);
        user.runs(all).ends_with(2).prints("");
    }
}

#[test]
fn a_client_that_asks_is_told_to_ask() {
    let user = newcomer();
    let (_, file, _, existing) = CLIENTS[3];
    put(&user, file, existing);
    user.runs(["connect", "vscode", "--http", "--write"])
        .ends_with(0);
    insta::assert_snapshot!("vscode_http", content(&user, file));
    user.runs(["connect", "vscode", "--http", "--write"])
        .ends_with(0)
        .says("has this entry already");
    user.runs(["connect", "vscode", "--remove"]).ends_with(0);
    assert!(!content(&user, file).contains("toolsmith"));
}

#[test]
fn opencode_of_either_generation() {
    let user = newcomer();
    let commented = ".config/opencode/opencode.jsonc";
    put(
        &user,
        commented,
        "{ \"mcp\": { \"servers\": {} } } // two\n",
    );
    user.runs(["connect", "opencode", "--write"]).ends_with(0);
    insta::assert_snapshot!("opencode_second", content(&user, commented));
    user.runs(["connect", "opencode", "--write"])
        .ends_with(0)
        .says("already");
    user.runs(["connect", "opencode", "--remove"]).ends_with(0);
    assert!(!content(&user, commented).contains("toolsmith"));
    put(
        &user,
        commented,
        "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"x\"]}}}",
    );
    user.runs(["connect", "opencode", "--write"]).ends_with(0);
    let text = content(&user, commented);
    assert!(text.contains("\"enabled\": true"), "{text}");
}

#[test]
fn a_path_that_reads_as_a_variable_is_refused() {
    let user = newcomer();
    for (folder, client) in [
        ("${A}", "claude-code"),
        ("$A", "gemini"),
        ("{env:A}", "opencode"),
    ] {
        std::fs::create_dir(user.home().join(folder)).unwrap();
        user.runs(["--root", folder, "connect", client])
            .ends_with(2)
            .prints("")
            .says("which the client would take for a variable");
        user.runs(["--root", folder, "connect", "codex"])
            .ends_with(0);
    }
    user.runs(["--root", "none", "connect", "codex"])
        .ends_with(2)
        .says("there is no such folder");
    user.runs(["--config", "none", "connect", "codex"])
        .ends_with(2)
        .says("there is no such file");
}

#[test]
fn a_broken_configuration_is_no_obstacle() {
    let user = newcomer().having("toolsmith.yaml", "broken: [");
    user.runs(["connect", "cursor", "--write"]).ends_with(0);
    assert_eq!(beside(&user, ".cursor/mcp.json"), [] as [&str; 0]);
}

#[test]
fn a_set_or_an_agent_is_carried_into_the_entry() {
    let user = newcomer();
    let entry = |words: &[&str]| {
        let ran = user.runs(["connect", "cursor", "--json"].iter().chain(words));
        ran.ends_with(0).json()["entry"].clone()
    };
    let home = user.home().to_str().unwrap();
    for (words, named) in [
        (&["--set", "looking"][..], &["--set", "looking"][..]),
        (&["--agent", "re.viewer"], &["--agent", "re.viewer"]),
        (&["--set=-odd"], &["--set=-odd"]),
    ] {
        let args = [&["--root", home][..], named, &["serve", "--stdio"]].concat();
        assert_eq!(entry(words)["args"], json!(args));
    }
    let own = "https://tools.example/a/mcp";
    for (words, url) in [
        (
            &["--set", "looking", "--http"][..],
            "http://127.0.0.1:8765/mcp/sets/looking",
        ),
        (
            &["--agent", "reviewer", "--http"],
            "http://127.0.0.1:8765/mcp/agents/reviewer",
        ),
        (
            &["--set", "looking", "--http", own],
            "https://tools.example/a/mcp/sets/looking",
        ),
        (
            &["--agent", "reviewer", "--http", "http://127.0.0.1:1/mcp/"],
            "http://127.0.0.1:1/mcp/agents/reviewer",
        ),
        (&["--http", own], own),
    ] {
        let words = [words, &["--token-env", "T"]].concat();
        assert_eq!(entry(&words)["url"], url);
    }
}

#[test]
fn a_set_that_cannot_be_named_is_refused() {
    let user = newcomer();
    for (words, why) in [
        (&["--set", "../x"][..], "is no name of a set or an agent"),
        (&["--agent", "a b"], "is no name of a set or an agent"),
        (&["--set", "", "--http"], "is no name of a set or an agent"),
        (
            &["--set", "a", "--http", "http://127.0.0.1:1/other"],
            "beneath /mcp",
        ),
        (
            &["--agent", "a", "--http", "http://127.0.0.1:1/mcp?x=/mcp"],
            "beneath /mcp",
        ),
    ] {
        let all = ["connect", "vscode", "--write"].iter().chain(words);
        user.runs(all).ends_with(2).prints("").says(why);
        assert!(!user.home().join(".config/Code").exists(), "{words:?}");
    }
}
