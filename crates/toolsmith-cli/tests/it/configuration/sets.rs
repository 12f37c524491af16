//! Sets and agents that come to nothing.

use super::{all_in_one_folder, beside_good_files, case};

#[test]
fn sets() {
    let chain = |case: super::Case| {
        (0..100).fold(case, |case, n| {
            let text = format!("tool_sets: [s{}]\n", n + 1);
            case.file(&format!("configs/tool_sets/s{n}.yaml"), text)
        })
    };
    let cases = [
        case("a set of itself").file("configs/tool_sets/a.yaml", "tools: [a]\n"),
        case("a circle")
            .file("configs/tool_sets/a.yaml", "tools: [read, b]\n")
            .file("configs/tool_sets/b.yaml", "tool_sets: [c]\n")
            .file("configs/tool_sets/c.yaml", "tools: [a]\n"),
        case("an agent of a circle")
            .file("configs/tool_sets/a.yaml", "tools: [b]\n")
            .file("configs/tool_sets/b.yaml", "tools: [a]\n")
            .file("agents/x.yaml", "tool_sets: [a]\n"),
        chain(case("sets in sets without an end"))
            .file("configs/tool_sets/s100.yaml", "tools: [read]\n"),
        case("an unknown key").file("configs/tool_sets/a.yaml", "tool: [read]\n"),
        case("a text for tools").file("configs/tool_sets/a.yaml", "tools: read\n"),
        case("a mapping for tools").file("configs/tool_sets/a.yaml", "tools: { read: {} }\n"),
        case("a number for a member").file("configs/tool_sets/a.yaml", "tools: [{ a: b }]\n"),
        case("a glob that is none").file("configs/tool_sets/a.yaml", "tools: ['[']\n"),
        case("a name with a path").file(
            "configs/tool_sets/a.yaml",
            "name: ../../agents/good\ntools: [read]\n",
        ),
        case("a name of dots").file("configs/tool_sets/a.yaml", "name: ..\ntools: [read]\n"),
        case("a file's name that is none").file("configs/tool_sets/a b?c.yaml", "tools: [read]\n"),
        case("a file's name that steers a terminal").file(
            "configs/tool_sets/a\u{1b}[31m\u{202e}.yaml",
            "tools: [read]\n",
        ),
        case("too many members").file(
            "configs/tool_sets/a.yaml",
            format!("tools: [{}]\n", "read, ".repeat(20_000)),
        ),
    ];
    insta::assert_snapshot!(beside_good_files(cases));
}

#[test]
fn agents() {
    let cases = [
        ("an unknown key", "tool_set: [good]\n"),
        ("an unknown key of the policy", "policy: { mod: auto }\n"),
        (
            "an unknown key of the strategy",
            "output_strategy: { fallback: true }\n",
        ),
        ("a mode nobody knows", "policy: { mode: yolo }\n"),
        ("a rule that is none", "policy: { allow: ['write('] }\n"),
        ("a text for sets", "tool_sets: good\n"),
        ("a set with a path", "tool_sets: [../good]\n"),
        ("a list for a model", "model: [a]\n"),
        (
            "a number for a switch",
            "output_strategy: { function_calling: 1 }\n",
        ),
    ];
    insta::assert_snapshot!(all_in_one_folder("agents", "yaml", cases));
}

/// What nobody knows is worth a word, and more than that for whoever is strict.
#[test]
fn members_nobody_knows() {
    let case = case("unknown members")
        .file(
            "configs/tool_sets/a.yaml",
            "tools: [read, reed, nobody_*]\ntool_sets: [gone]\n",
        )
        .file("agents/x.yaml", "tools: [wirte]\ntool_sets: [a, missing]\n");
    case.user.runs(["check"]).ends_with(0).says("warning: ");
    case.user.runs(["tools", "--agent", "x"]).ends_with(0);
    let told = beside_good_files([case.asking(&["--strict"])]);
    insta::assert_snapshot!(told);
}

/// Two of one name, however they come to it: the first stays, the word names both.
#[test]
fn two_of_one_name() {
    let case = case("one name twice")
        .file("configs/tool_sets/a.yaml", "name: same\ntools: [read]\n")
        .file("configs/tool_sets/same.yaml", "tools: [write]\n")
        .file("agents/a.yaml", "name: who\ntools: [read]\n")
        .file("agents/who.yaml", "tools: [write]\n")
        .file("tools/mcp/b.yaml", "name: srv\ncommand: /nowhere/1\n")
        .file("tools/mcp/srv.yaml", "command: /nowhere/2\n");
    case.user.runs(["tools", "--set", "same"]).ends_with(0);
    let told = beside_good_files([case.asking(&["--strict"])]);
    insta::assert_snapshot!(told);
}

/// Who asks for what is not there is told what is.
#[test]
fn asking_for_nobody() {
    let case = case("")
        .file("configs/tool_sets/good.yaml", "tools: [read]\n")
        .file("agents/one.yaml", "{}\n");
    for (words, said) in [
        (["--set", "god"], "good"),
        (["--agent", "ome"], "one"),
        (["--set", "../good"], "good"),
        (["--set", ""], "good"),
        (["--agent", "\u{1b}[31m"], "one"),
    ] {
        for command in ["tools", "check", "guide", "sets"] {
            let words = [&[command], &words[..]].concat();
            case.user.runs(words).ends_with(2).prints("").says(said);
        }
    }
}
