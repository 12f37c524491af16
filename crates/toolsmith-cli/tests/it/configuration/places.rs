//! What is in the place of a file and is none.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{beside_good_files, case, in_the_main_file, write};

type Make = fn(&Path);

fn fifo(path: &Path) {
    let made = Command::new("/usr/bin/mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Ways to put something there that cannot be read.
const WAYS: [(&str, Make); 6] = [
    ("a folder", |path| std::fs::create_dir_all(path).unwrap()),
    ("a FIFO", fifo),
    ("a device without an end", |path| {
        symlink("/dev/zero", path).unwrap()
    }),
    ("a terminal", |path| symlink("/dev/tty", path).unwrap()),
    ("a link to itself", |path| {
        symlink(path.file_name().unwrap(), path).unwrap()
    }),
    ("a link in a circle", |path| {
        let other = path.with_extension("other");
        symlink(path.file_name().unwrap(), &other).unwrap();
        symlink(other.file_name().unwrap(), path).unwrap();
    }),
];

#[test]
fn places_of_the_main_file() {
    let cases = WAYS.map(|(name, make)| case(name).made(|home| make(&home.join("toolsmith.yaml"))));
    let missing = [
        case("a file that was asked for and is not there").asking(&["--config", "none.yaml"]),
        case("a folder that was asked for").asking(&["--config", "."]),
        case("a link to nothing that was asked for")
            .made(|home| symlink("nowhere", home.join("other.yaml")).unwrap())
            .asking(&["--config", "other.yaml"]),
        case("a file beneath a file")
            .file("file", "")
            .asking(&["--config", "file/other.yaml"]),
    ];
    insta::assert_snapshot!(in_the_main_file(cases.into_iter().chain(missing)));
}

#[test]
fn places_in_every_folder() {
    let folders = [
        "tools/native",
        "tools/builtin",
        "tools/mcp",
        "configs/tool_sets",
        "agents",
    ];
    let cases = WAYS.map(|(name, make)| {
        case(name).made(|home| {
            for folder in folders {
                std::fs::create_dir_all(home.join(folder)).unwrap();
                make(&home.join(folder).join("bad.yaml"));
            }
            make(&home.join(".mcp.json"));
        })
    });
    insta::assert_snapshot!(beside_good_files(cases));
}

/// A file in the place of a folder says nothing about the other folders.
#[test]
fn places_of_folders() {
    for (folder, further) in [
        ("tools/native", "tools/builtin/x.yaml"),
        ("tools/mcp", "tools/builtin/x.yaml"),
        ("agents", "tools/builtin/x.yaml"),
        ("configs/tool_sets", "tools/builtin/x.yaml"),
    ] {
        let case = case("a file in the place of a folder")
            .file(folder, "")
            .file(further, "{ name: grep, category: looking }\n");
        let told = case.is_refused();
        assert!(
            told.contains(&format!("error: ./{folder}: it cannot be read: ")),
            "{told}"
        );
        case.user.runs(["tools"]).ends_with(0).says(folder);
    }
}

/// Left behind by editors, or not YAML: nobody's business.
#[test]
fn files_that_are_none_of_ours_are_left_alone() {
    let user = case("").user;
    for folder in ["tools/native", "tools/mcp", "configs/tool_sets", "agents"] {
        for name in [
            ".hidden.yaml",
            "old.yaml~",
            ".#lock.yaml",
            "notes.txt",
            "half.yaml.part",
            "README",
        ] {
            write(user.home(), &format!("{folder}/{name}"), "{{{ not: yaml");
        }
    }
    write(user.home(), "tools/builtin/data.bin", [0xff, 0, 0xfe, 1]);
    write(user.home(), "tools/builtin/lib.sh", "echo no header\n");
    user.runs(["check", "--strict"])
        .ends_with(0)
        .tells("")
        .prints("no configuration file: 31 tools, 0 findings\n");
    // But a script that can be run is one that somebody wants to be a tool.
    let plain = "#!/bin/sh\necho no header\n";
    write(user.home(), "tools/builtin/plain.sh", plain);
    user.runs(["check", "--strict"])
        .ends_with(2)
        .says("error: ./tools/builtin/plain.sh: it is no tool: there is no header");
    user.runs(["check"])
        .ends_with(0)
        .says("warning: ./tools/builtin/plain.sh: it is no tool: there is no header");
}

/// A link is followed, also out of the folder: whoever can write there can write files. One that
/// leads nowhere is told of.
#[test]
fn a_link_to_a_good_file_is_a_file() {
    let case = case("")
        .file(
            "elsewhere/a.yaml",
            "{ name: linked, command: [/bin/true] }\n",
        )
        .made(|home| {
            std::fs::create_dir_all(home.join("tools/native")).unwrap();
            symlink(
                "../../elsewhere/a.yaml",
                home.join("tools/native/link.yaml"),
            )
            .unwrap();
            symlink("nowhere.yaml", home.join("tools/native/dangling.yaml")).unwrap();
        });
    let told = "warning: ./tools/native/dangling.yaml: it is a link that leads nowhere; mend or \
                remove it\n";
    case.user.runs(["show", "linked"]).ends_with(0).tells(told);
}

/// A project whose rules are out of reach is not one without rules.
#[test]
fn a_main_file_that_is_a_link_to_nowhere_is_an_error() {
    let case = case("").made(|home| {
        symlink("nowhere.yaml", home.join("toolsmith.yaml")).unwrap();
    });
    case.user.runs(["tools"]).ends_with(2);
}
