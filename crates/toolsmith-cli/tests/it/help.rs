//! Help, completions, and what wrong usage is told.

use crate::support::{newcomer, user};

const COMMANDS: [&str; 19] = [
    "init",
    "add",
    "import",
    "tools",
    "show",
    "call",
    "batch",
    "ask",
    "conversations",
    "declare",
    "parse",
    "prompt",
    "check",
    "pins",
    "approvals",
    "connect",
    "schema",
    "man",
    "completions",
];

#[test]
fn no_arguments_tell_what_to_do_next_and_are_wrong_usage() {
    let ran = newcomer().runs([] as [&str; 0]).ends_with(2).prints("");
    let lines = ran.stderr.lines().map(str::trim);
    let commands: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("toolsmith "))
        .collect();
    assert!(commands.len() > 5, "{}", ran.stderr);
    for command in commands {
        let word = command.split_whitespace().next().unwrap();
        newcomer().runs([word, "--help"]).ends_with(0);
    }
}

#[test]
fn help_names_every_command_and_status() {
    let asked = newcomer().runs(["--help"]).ends_with(0).tells("");
    let text = &asked.stdout;
    assert!(
        text.starts_with("One door between a model and every tool it may use"),
        "{text}"
    );
    assert!(
        text.contains("Usage: toolsmith [OPTIONS] <COMMAND>"),
        "{text}"
    );
    assert!(
        COMMANDS.iter().all(|command| text.contains(command)),
        "{text}"
    );
    assert!(
        text.contains("Exit status: 0 done, 1 the tool failed, 2 wrong usage"),
        "{text}"
    );
}

#[test]
fn manual_pages_of_the_program_and_of_every_command() {
    // It must work where no configuration does.
    let user = newcomer().having("toolsmith.yaml", "broken: [");
    let page = user.runs(["man"]).ends_with(0).tells("");
    assert!(page.stdout.contains(".TH toolsmith 1"), "{}", page.stdout);
    for command in COMMANDS {
        let page = user.runs(["man", command]).ends_with(0).tells("");
        let version = env!("CARGO_PKG_VERSION");
        let head = format!(".TH toolsmith-{command} 1  \"toolsmith {version}\"");
        assert!(page.stdout.contains(&head), "{command}: {}", page.stdout);
        // By its whole name, which is how it is called.
        let synopsis = format!("\\fBtoolsmith {}\\fR", command.replace('-', "\\-"));
        assert!(
            page.stdout.contains(&synopsis),
            "{command}: {}",
            page.stdout
        );
        assert!(
            page.stdout.contains(".SH EXAMPLES"),
            "{command}: {}",
            page.stdout
        );
    }
    let page = user.runs(["man", "add", "mcp"]).ends_with(0).tells("");
    assert!(
        page.stdout.contains(".TH toolsmith-add-mcp 1"),
        "{}",
        page.stdout
    );
    let ran = user.runs(["man", "nothing"]).ends_with(2).prints("");
    assert!(
        ran.stderr.contains("there is no command `nothing`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_command_has_help() {
    for command in COMMANDS {
        let ran = newcomer().runs([command, "--help"]).ends_with(0).tells("");
        let usage = format!("Usage: toolsmith {command}");
        assert!(ran.stdout.contains(&usage), "{command}: {ran:#?}");
        assert!(ran.stdout.contains("\nExamples:\n"), "{command}: {ran:#?}");
    }
    let call = newcomer().runs(["help", "call"]).ends_with(0).tells("");
    assert!(
        call.stdout
            .contains("toolsmith call read file_path=README.md limit=20"),
        "{call:#?}"
    );
}

#[test]
fn a_commands_own_options_come_first() {
    let help = newcomer().runs(["call", "--help"]).ends_with(0).stdout;
    let (options, _) = help.split_once("\nExamples:\n").unwrap();
    let (own, global) = options.split_once("\nGlobal options:\n").unwrap();
    for option in ["--args", "--as", "--dry-run"] {
        assert!(
            own.contains(option) && !global.contains(&format!("{option} ")),
            "{help}"
        );
    }
    for option in [
        "--root", "--config", "--allow", "--deny", "--mode", "--yes", "--json",
    ] {
        assert!(global.contains(option) && !own.contains(option), "{help}");
    }
    for operator in [
        "name: GLOB",
        "name = VALUE",
        "name ^= PREFIX",
        "name ~= REGEX",
        "name in LOW..HIGH",
        "name beneath FOLDER",
    ] {
        assert_eq!(help.matches(operator).count(), 2, "{operator}: {help}");
    }
}

#[test]
fn the_version_is_one_line() {
    newcomer()
        .runs(["--version"])
        .ends_with(0)
        .prints(concat!("toolsmith ", env!("CARGO_PKG_VERSION"), "\n"))
        .tells("");
}

#[test]
fn a_wrong_word_is_wrong_usage_with_a_hint() {
    newcomer()
        .runs(["cal"])
        .ends_with(2)
        .prints("")
        .says("a similar subcommand exists: 'call'");
    newcomer()
        .runs(["call"])
        .ends_with(2)
        .prints("")
        .says("<NAME>");
    newcomer()
        .runs(["tools", "extra"])
        .ends_with(2)
        .prints("")
        .says("unexpected argument 'extra'");
    newcomer()
        .runs(["completions", "tcsh"])
        .ends_with(2)
        .prints("")
        .says("[possible values: ");
}

#[test]
fn completions_for_the_shells() {
    for (shell, mark) in [
        ("bash", "complete -F _toolsmith"),
        ("zsh", "#compdef toolsmith"),
        ("fish", "complete -c toolsmith"),
    ] {
        // It must work where no configuration does.
        let user = newcomer().having("toolsmith.yaml", "broken: [");
        let ran = user.runs(["completions", shell]).ends_with(0).tells("");
        assert!(ran.stdout.contains(mark), "{shell}");
        assert!(
            COMMANDS.iter().all(|command| ran.stdout.contains(command)),
            "{shell}"
        );
    }
}

#[test]
fn the_root_must_be_a_folder() {
    let user = user().having("file", "");
    user.runs(["--root", "missing", "tools"])
        .ends_with(2)
        .prints("")
        .tells("error: --root missing: there is no such folder\n");
    user.runs(["tools", "--root", "file"])
        .ends_with(2)
        .prints("")
        .says("there is no such folder");
    user.runs(["tools", "--root", "\u{1b}[31mred"])
        .ends_with(2)
        .tells("error: --root red: there is no such folder\n");
}

#[test]
fn the_root_is_where_the_configuration_is() {
    let user = user();
    std::fs::create_dir(user.home().join("below")).unwrap();
    let file = user.home().join("below/toolsmith.yaml");
    std::fs::write(file, "serve: { prefix: below }\n").unwrap();
    let ran = user.runs(["--root", "below", "tools"]).ends_with(0);
    assert!(ran.stdout.contains("below_example_add"), "{ran:#?}");
    let ran = user
        .runs(["tools", "--config", "below/toolsmith.yaml"])
        .ends_with(0);
    assert!(ran.stdout.contains("below_example_add"), "{ran:#?}");
    let ran = user.runs(["tools"]).ends_with(0);
    assert!(!ran.stdout.contains("below_example_add"), "{ran:#?}");
}
