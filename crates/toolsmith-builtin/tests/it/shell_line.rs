//! Lines are split into the commands that bash would run, or not at all.

use std::os::unix::process::CommandExt;
use std::process::Command;

use toolsmith_builtin::shell_line::split;
use toolsmith_core::{Commands, PlannedCommand};

/// The commands of a line, as rules that allow see them.
fn commands(line: &str) -> Vec<String> {
    match split(line) {
        Commands::Known(commands) => commands.into_iter().map(|each| each.text).collect(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_command_of_a_line_is_told() {
    for (line, expected) in [
        ("git status", &["git status"][..]),
        ("a && b | c; (d e) & f", &["a", "b", "c", "d e", "f"]),
        ("g'i't \"st\"atus \\x", &["git status x"]),
        (
            "a $(b c) `d` <(e)",
            &["a \u{fffc} \u{fffc} \u{fffc}", "b c", "d", "e"],
        ),
        ("a \"x $(b) y\"", &["a \u{fffc}", "b"]),
        ("for f in *; do a \"$f\"; done", &["a \u{fffc}"]),
        (
            "if a; then b; elif c; then d; else e; fi",
            &["a", "b", "c", "d", "e"],
        ),
        ("case $x in y) a;; *) b;; esac", &["a", "b"]),
        ("f() { a; }; f", &["a", "f"]),
        ("while a; do b; done < in", &["a", "b"]),
        ("cat <<E\n$(a)\nE", &["cat", "a"]),
        ("cat <<'E' | a\n$(b)\nE", &["cat", "a"]),
        ("a <<<\"$(b)\"", &["a", "b"]),
        ("! a", &["a"]),
        ("A=1 a b", &["A=1 a b"]),
        ("A=$(b)", &["A=\u{fffc}", "b"]),
        ("export A=1", &["export A=1"]),
        ("a # b; c", &["a"]),
        ("a > out 2>&1", &["a", "> out"]),
        ("a >> $x 2>/dev/null", &["a", "> \u{fffc}"]),
        ("a < /dev/tcp/host/80", &["a", "< /dev/tcp/host/80"]),
        ("[[ -f x ]] && a", &["[[ -f x ]]", "a"]),
        ("((x=1)); a", &["((x=1))", "a"]),
        ("a {b,c}", &["a \u{fffc}"]),
        ("a \\\n  b", &["a b"]),
        ("", &[]),
        ("# nothing", &[]),
    ] {
        assert_eq!(commands(line), expected, "{line}");
    }
}

#[test]
fn what_starts_another_program_is_seen_through() {
    for (line, inner) in [
        ("/bin/rm x", "rm x"),
        ("A=1 rm x", "rm x"),
        ("sudo -u root rm x", "rm x"),
        ("env -i A=1 /usr/bin/rm x", "rm x"),
        ("find . -exec rm x", "rm x"),
        ("timeout 5 nice rm x", "rm x"),
        ("echo y | xargs rm x", "rm x"),
        ("bash -c 'true; rm x'", "rm x"),
        ("sudo sh -euxc 'rm x'", "rm x"),
        ("bash -o pipefail -c 'rm x'", "rm x"),
        ("eval rm x", "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("bash -c \"bash -c 'rm x'\"", "rm x"),
        ("echo y | xargs rm", "rm \u{fffc}"),
        ("env -S'rm x'", "rm x"),
        ("bash -co errexit 'rm x'", "rm x"),
        ("bash -c -O extglob 'rm x'", "rm x"),
        ("su -c 'true; rm x'", "rm x"),
        ("script -c 'true; rm x'", "rm x"),
        ("flock f -c 'true; rm x'", "rm x"),
        ("watch 'true; rm x'", "rm x"),
        ("bash <<< 'rm x'", "\u{fffc}"),
        ("echo 'rm x' | sh", "\u{fffc}"),
        ("source <(echo rm x)", "\u{fffc}"),
        ("compgen -W x", "\u{fffc}"),
    ] {
        let Commands::Known(commands) = split(line) else {
            panic!("{line}");
        };
        let mut also = commands.iter().flat_map(|command| &command.also);
        assert!(also.any(|form| form == inner), "{line}: {commands:?}");
    }
}

#[test]
fn what_cannot_be_told_is_unclear() {
    let deep = "bash -c \"".repeat(9);
    let long = "a ".repeat(40_000);
    let many = "a;".repeat(300);
    let nested = "$(".repeat(20_000);
    for line in [
        "$CMD x",
        "\"$X\" y",
        "${Z} a",
        "$(a) b",
        "{a,b} c",
        "eval \"$x\"",
        "bash -c \"$x\"",
        "bash $x",
        "sudo bash -c \"$x\"",
        "trap \"$x\" EXIT",
        "$'\\x72m' x",
        "a 'unterminated",
        "a \"unterminated",
        "if a; then",
        "a )",
        "a `b \\`c\\``",
        "a <<E\n`b`\nE",
        "a <<E\nb",
        "a >&2'$(b)'",
        "a > x b",
        "a*\\\n$x",
        // Two commands, which the grammar takes for one.
        "a\n\\\nb x",
        "a 1\n\n\\\nb=c",
        "a \\\n\nb x",
        "a \"${x:-'$(b)'}\"",
        "a ${x#$(b)}",
        "a \"${x%%$(b)}\"",
        "a ${x,,$(b)}",
        "a ${x^^[$(b)]}",
        "a ${x#`b`}",
        "a ${x//`b`/y}",
        "a ${x%%*([$(b)])}",
        "a \"${x##${y:-$(b)}}\"",
        "a \"${x:-$'$(b)'}\"",
        "a \"${x='$(b)'}\"",
        "a <<E\n${x:-'$(b)'}\nE",
        "a ${x[\"a[\\$\"\"(b)]\"]}",
        "a ${x[$'a[\\x24(b)]']}",
        "PS4='$(b)'; set -x",
        "[[ 'a[$(b)]' -eq 0 ]]",
        "let 'a[$(b)]'",
        "test -v 'a[$(b)]'",
        "a\0b",
        "a \u{1b}[31m",
        "a\r\nb",
        "a \u{fffc}",
        &deep,
        &long,
        &many,
        &nested,
    ] {
        let split = split(line);
        assert!(
            matches!(split, Commands::Unclear { .. }),
            "{line:.40}: {split:?}"
        );
    }
}

/// What hostile and ordinary lines are made of.
const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "a ",
    "b ",
    "c ",
    "a x ",
    "b y ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "\\",
    "$'",
    "\\\n",
    "#",
    " # ",
    "x",
    "y",
    "\"q r\"",
    "'$(b z)'",
    "$(b y)",
    "`c`",
    "$x",
    "${x:-$(c w)}",
    "${x#",
    "${x%%",
    "${x//",
    "${x^^",
    "}",
    "${x[",
    "]}",
    "\"${x:-'",
    "'}\"",
    "${x}",
    "$((1+$(a)))",
    "<(b)",
    " >f ",
    " 2>&1 ",
    " <f ",
    " >>f ",
    "<<<",
    " <<E\n",
    "\nE\n",
    " <<'E'\n",
    "V=1 ",
    "V=$(a) ",
    "if a; then ",
    "; fi",
    "for i in x y; do ",
    "; done",
    "while false; do ",
    "case x in ",
    "x) ",
    ";; esac",
    "!",
    "[[ ",
    " ]]",
    "((",
    "))",
    "f() ",
    "f ",
    "time ",
    "function f { ",
    "{x,y}",
    "~",
    "*",
    "[x]",
    "=",
    "+=",
    "export V=",
    "eval ",
    "\t",
    "é",
    "-c",
    "--",
    "1>",
    ">&2",
    "coproc ",
    "select i in x; do ",
    "until a; do ",
    "then ",
    "else ",
    "do ",
    "$",
    "$[1]",
    "\\$(b)",
    "\"$(a x)\"",
];

#[test]
fn bash_runs_nothing_that_was_not_told() {
    const PRELUDE: &str = r#"
tell() { local words="$*"; printf '%s\n' "${words//$'\n'/ }" >&9; }
a() { tell a "$@"; }
b() { tell b "$@"; }
c() { tell c "$@"; }
"#;
    let folder = tempfile::tempdir().unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let (mut known, mut ran) = (0, 0);
    let cases = std::env::var("CASES").map_or(3_000, |cases| cases.parse().unwrap());
    for _ in 0..cases {
        let line: String = (0..2 + random(9))
            .map(|_| PIECES[random(PIECES.len())])
            .collect();
        let Commands::Known(commands) = split(&line) else {
            continue;
        };
        known += 1;
        // The functions have words for names, so nothing else on this machine is run.
        let mut bash = Command::new("/bin/bash");
        let script = format!("exec 9>log; {PRELUDE}exec 2>/dev/null </dev/null\n{line}");
        bash.args(["--noprofile", "--norc", "-c", &script])
            .env_clear()
            .env("PATH", "/nowhere")
            .current_dir(folder.path())
            .process_group(0)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let mut child = bash.spawn().unwrap();
        let group = child.id();
        let status = wait(&mut child);
        let _ = Command::new("/bin/bash")
            .args(["-c", &format!("kill -9 -{group} 2>/dev/null")])
            .status();
        if status.is_none() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        for command in log.lines() {
            ran += 1;
            let is_told = |planned: &PlannedCommand| {
                let mut forms = std::iter::once(&planned.text).chain(&planned.also);
                forms.any(|form| fits(form, command))
            };
            assert!(
                commands.iter().any(is_told),
                "{line:?} ran {command:?}, told were {commands:?}"
            );
        }
    }
    assert!(
        known > cases / 20 && ran > cases / 100,
        "{known} were split, and {ran} commands ran"
    );
}

/// Waits a while: some lines wait for what never comes.
fn wait(child: &mut std::process::Child) -> Option<std::process::ExitStatus> {
    for _ in 0..2000 {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    None
}

/// Tells whether a command is of this form; what was open stands for anything.
fn fits(form: &str, command: &str) -> bool {
    let mut pieces = form.split(PlannedCommand::OPEN);
    let first = pieces.next().unwrap_or_default();
    let is_open = form.contains(PlannedCommand::OPEN) || form.contains(['*', '[', '~', '?']);
    match is_open {
        // Words may come to nothing, and to many.
        true => command.starts_with(first.trim_end().split(' ').next().unwrap_or_default()),
        false => form.split_whitespace().eq(command.split_whitespace()),
    }
}

/// Every word of a program that starts others may begin what it starts, with all that
/// follow: what there is to tell grows by their square.
#[test]
fn very_many_words_to_start_are_not_told() {
    let unclear = |line: &str| matches!(split(line), Commands::Unclear { .. });
    for program in ["xargs", "env", "find"] {
        let line = |count: usize| format!("{program}{}", " a".repeat(count));
        assert!(!unclear(&line(256)), "{program}");
        assert!(unclear(&line(3000)), "{program}");
    }
    assert!(unclear(&format!("bash -c{}", " '#'".repeat(3000))));
    // Each of these holds all that are in it.
    let deep = format!("{}x{}", "[[ -n $(".repeat(300), ") ]]".repeat(300));
    assert!(unclear(&deep));
}
