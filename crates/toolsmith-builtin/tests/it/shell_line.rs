//! Lines are split into the commands that bash would run, or not at all.

use std::os::unix::process::CommandExt;
use std::process::Command;

use toolsmith_builtin::shell_line::{split, with_variables};
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
        ("bash -s x <<< 'rm x'", "\u{fffc}"),
        ("echo rm x | bash -s x", "\u{fffc}"),
        ("echo rm x | bash /dev/fd/0", "\u{fffc}"),
        ("bash /dev/stdin <<< 'rm x'", "\u{fffc}"),
        ("bash /proc/self/fd/0 <<< 'rm x'", "\u{fffc}"),
        ("cd /dev; bash stdin <<< 'rm x'", "\u{fffc}"),
        ("echo rm x | bash -o pipefail", "\u{fffc}"),
        ("echo rm x | bash -O extglob -", "\u{fffc}"),
        ("echo rm x | bash --rcfile f -i", "\u{fffc}"),
        ("echo rm x | sudo bash", "\u{fffc}"),
        ("echo rm x | env A=1 sh -s y", "\u{fffc}"),
        ("echo rm x | sudo -s", "\u{fffc}"),
        ("echo rm x | su", "\u{fffc}"),
        ("echo rm x | su root", "\u{fffc}"),
        ("echo rm x | linux64", "\u{fffc}"),
        ("echo rm x | setarch -R", "\u{fffc}"),
        ("echo rm x | unshare -r", "\u{fffc}"),
        ("echo rm x | chroot /", "\u{fffc}"),
        ("echo rm x | script -q /dev/null", "\u{fffc}"),
        ("echo rm x | newgrp", "\u{fffc}"),
        ("echo rm x | parallel", "\u{fffc}"),
        ("echo rm x | at now", "\u{fffc}"),
        ("echo rm x | xargs env", "\u{fffc}"),
        ("echo 'rm x' | xargs -d y bash -c", "\u{fffc}"),
        ("find . -name y -exec env +", "\u{fffc}"),
        ("builtin . /dev/stdin <<< 'rm x'", "\u{fffc}"),
        ("command source f", "\u{fffc}"),
        ("echo 'rm x' | xargs -I% sh -c %", "\u{fffc}"),
        ("echo 'rm x' | xargs -I % sh -c '%'", "\u{fffc}"),
        ("echo 'rm x' | xargs -iy sh -c y", "\u{fffc}"),
        ("find /bin/rm -exec '{}' x ';'", "\u{fffc}"),
        ("jobs -x rm x", "rm x"),
        ("env '-iSrm x'", "rm x"),
        ("env -S '-i rm x'", "rm x"),
        ("env -S '-u y rm x'", "rm x"),
        ("env --split-string=rm x", "rm x"),
        ("env --split=rm x", "rm x"),
        ("su -lcrm", "rm"),
        ("script -qecrm f", "rm"),
        ("su --comm=rm", "rm"),
        ("rg --pre=rm x", "rm x"),
        ("fd -xrm x", "rm x"),
        ("linux64 rm x", "rm x"),
        ("x86_64 rm x", "rm x"),
        ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", "rm x"),
        ("ssh-agent rm x", "rm x"),
        ("sg users 'rm x'", "rm x"),
        ("choom -n 0 rm x", "rm x"),
        ("dbus-run-session -- rm x", "rm x"),
        ("start-stop-daemon --start --exec /bin/rm -- x", "rm -- x"),
        ("start-stop-daemon -S -x /bin/rm -- x", "rm -- x"),
    ] {
        let Commands::Known(commands) = split(line) else {
            panic!("{line}");
        };
        let mut also = commands.iter().flat_map(|command| &command.also);
        assert!(also.any(|form| form == inner), "{line}: {commands:?}");
    }
}

/// What only looks like it starts something that reads lines is no reason to ask.
#[test]
fn programs_and_files_that_are_named_are_known() {
    for line in [
        "bash x.sh -s",
        "bash -x x.sh",
        "bash -o pipefail x.sh",
        "sh ./configure --prefix=x",
        "bash -c 'ls'",
        "sudo ls -s",
        "sudo bash x.sh",
        "env A=1 make",
        "find . -name bash",
        "rg -n source src",
        "fd script",
        "xargs grep env",
        "xargs bash -c 'ls' y",
        "find . -exec bash -c 'ls' y +",
        "su -c ls",
        "chroot /x ls",
        "unshare -r -- true x",
        "timeout 5 make",
        "linux64 ls",
        "script -c ls out",
        "parallel ls",
        "find . -exec grep x '{}' ';'",
        "command ls",
    ] {
        let Commands::Known(commands) = split(line) else {
            panic!("{line}");
        };
        let mut also = commands.iter().flat_map(|command| &command.also);
        let open = PlannedCommand::OPEN.to_string();
        assert!(!also.any(|form| *form == open), "{line}: {commands:?}");
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
        // A word, which the grammar takes for a test and a comment.
        "[x]#${x:-$(b)}",
        "[x] y",
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
        "env -S rm\\\\_x",
        "env '-iSrm\\_x'",
        "env --split-string='rm\\_x'",
        "env -S \"$x\"",
        "BASH_ENV=/dev/stdin bash -c : <<< 'rm x'",
        "env BASH_ENV=/dev/stdin bash -c : <<< 'rm x'",
        "env 'PS4=$(rm${IFS}x)' bash -xc :",
        "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls",
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

/// Bash evaluates the value of a name in an expression, and what it is told to take for a
/// prompt, a second time: what stands there is run.
#[test]
fn what_bash_evaluates_a_second_time_is_unclear() {
    for line in [
        "echo '$(touch pwn)'; echo ${_@P}",
        "echo '$(touch pwn)' ${BASH_COMMAND@P}",
        "echo 'a[$(touch pwn)]'; echo $((_))",
        "echo 'a[$(touch pwn)]'; echo $[_]",
        r#"echo 'a[$(touch pwn)]'; echo "$[_]""#,
        r#"echo 'a[$(touch pwn)]'; echo "$((_))""#,
        "echo 'a[$(touch pwn)]'; echo ${PWD:_}",
        "echo 'a[$(touch pwn)]'; echo ${PWD:0:_}",
        "echo 'a[$(touch pwn)]'; echo ${@:_}",
        r#"echo 'a[$(touch pwn)]'; echo "${PWD: _ }""#,
        "for x in 'a[$(touch pwn)]'; do echo $((x)); done",
        "for x in '$(touch pwn)'; do echo ${x@P}; done",
        "echo ${@@P} ${*@P}",
        "echo ${1@P}",
        "read x <<< 'a[$(touch pwn)]'; echo $((x))",
        "read -r PS4 <<< '$(touch pwn)'; set -x; :",
        "printf -v PS4 '%s%s' '$' '(touch pwn)'; set -x; :",
        "printf -vPS4 '%s%s' '$' '(touch pwn)'; set -x; :",
        "builtin printf -v PS4 '%s%s' '$' '(touch pwn)'; set -x; :",
        "PS4=$a$b; set -x; :",
        r#"export "PS4=$a$b"; set -x; :"#,
        r#"x=$(printf 'a[\44(touch pwn)]'); echo $((x))"#,
        "for SECONDS in $x; do :; done",
        ": $x; RANDOM=_",
        "SECONDS=$x",
        "set -o history -o histexpand",
        "exec {a[$x]}>f",
        "exec {PATH}>f",
        "x=0; read x; echo $((x))",
        "x=0; eval 'read x'; echo $((x))",
        "x=0; declare -n r=x; r=$y; echo $((x))",
        "x=0; x=$1; echo $((x))",
        "y=$1; x=0; x=$y; echo $((x))",
        "x=0; a=$x; a5=$1; echo $((a$x))",
        "echo $(( $(cat f) ))",
        "echo $(($1))",
        "f() { echo $(($1)); }; f 'a[$(touch pwn)]'",
        "let x",
        r#"let "x=$y""#,
        "let x=y",
        "[[ x -eq 1 ]]",
        "[[ $x -eq 1 ]]",
        r#"[[ "$x" -lt 5 ]]"#,
        "[[ -v $x ]]",
        r#"[ -v "$x" ]"#,
        r#"test -v "$x""#,
        "test -v 'a[x]'",
        r#"unset "$x""#,
        "unset 'a[x]'",
        "unset -v a[x]",
        r#"printf -v "$x" y"#,
        "printf -v 'a[x]' y",
        r#"read "$x" y"#,
        "read 'a[x]'",
        r#"wait -n -p "$x""#,
        r#"wait -np "a[x]""#,
        r#"declare "$x=1""#,
        "declare -i y=x",
        "declare -i y; y=$x",
        r#"declare -a a="$x""#,
        r#"a=(1); declare a="$x""#,
        r#"declare -A m; export m="$x"; declare m="$x""#,
        "declare -n r=$x; echo $r",
        r#"readonly -a a="$x""#,
        "a[x]=1",
        "a[$x]=1",
        "a=([x]=1)",
        "a=([$x]=1)",
        "((x))",
        "((y=x))",
        "for ((i=x;i<3;i++)); do :; done",
        "alias t=touch",
        "hash -p /usr/bin/touch t; t pwn",
        "enable -f ./x.so x",
        "BASH_CMDS[t]=/usr/bin/touch; t pwn",
        "BASH_ALIASES[t]=touch",
        "BASH_ENV=$x bash -c :",
        "echo ${x:=_} ; x=; echo $((x))",
        "time read PS4",
        "command read -r PS4",
        "mapfile -t PS4",
        "getopts a PS4",
        "cat <<< $((_))",
        "case $((_)) in 1) a;; esac",
        "echo {1..3}$((_))",
        "if [[ a[1] -eq 1 ]]; then a; fi",
        "x=1; (( x = $(cat f) ))",
        "date() { cat f; }; echo $(( $(date +%s) ))",
        "echo $(( `cat f` ))",
        "select PS4 in x; do a; done",
        "while [[ $# -gt _ ]]; do a; done",
        "x=5; [[ x$y -eq 1 ]]",
        "echo ${#_} ${_:0:1} ${x:_}",
        "echo $((PWD))",
        "echo ${PWD:OLDPWD}",
        "_=5; echo $((_))",
        "echo 'a[$(touch pwn)]'; cat <<E\n$((_))\nE",
        "echo 'a[$(touch pwn)]'; cat <<E\n$[_]\nE",
        "set -o history -o histexpand\necho touch pwn\n!echo:1 pwn",
    ] {
        let split = split(line);
        assert!(
            matches!(split, Commands::Unclear { .. }),
            "{line}: {split:?}"
        );
    }
}

#[test]
fn variables_of_the_call_are_in_front_unless_they_may_be_run() {
    let with = |value: &str| {
        let variables = [("x".to_owned(), value.to_owned())];
        let variables = variables.iter().map(|(name, value)| (name, value));
        with_variables(split("(x=0); echo $((x))"), variables)
    };
    let unclear = with("a[$(touch pwn)]");
    assert!(matches!(unclear, Commands::Unclear { .. }), "{unclear:?}");
    let Commands::Known(commands) = with("a[1]") else {
        panic!("it is clear");
    };
    assert_eq!(commands[1].text, "x=a[1] echo \u{fffc}");
}

#[test]
fn ordinary_variables_and_numbers_are_clear() {
    for line in [
        r#"for f in *.rs; do wc -l "$f"; done"#,
        "i=0; echo $((i+1))",
        "echo ${x:-default} ${x:+a} ${x:?b} ${x-default}",
        r#"echo ${x:0:3} ${x: -3} ${x:1} "${x%.*}" ${x##*/} ${x%@*} ${x#*@P} ${x/@/b}"#,
        r#"echo "$@" $* $# $1 ${1} ${@} ${#} ${1:-x}"#,
        "echo ${x@Q} ${#x}",
        "for i in 1 2 3; do echo $((i*2)); done",
        "for i in {1..10}; do echo $((i % 3)); done",
        "for i in $(seq 1 5); do echo $((i*i)); done",
        r#"for ((i=0;i<10;i++)); do echo "$i"; done"#,
        "i=0; while [[ $i -lt 5 ]]; do echo $i; i=$((i+1)); done",
        "i=0; while [ $i -lt 5 ]; do echo $i; ((i++)); done",
        "start=$(date +%s); make; end=$(date +%s); echo $((end-start)) $((end - $start))",
        "echo $(( $(wc -l < f) + 1 )) $(( $(ls | wc -l) * 2 ))",
        "n=$(cat f | wc -l); if [[ $n -gt 5 ]]; then echo many; fi",
        "if [[ $# -eq 0 ]]; then echo usage; fi",
        "if [[ $? -ne 0 ]]; then echo failed; fi",
        "make; rc=$?; if [[ $rc -ne 0 ]]; then exit $rc; fi",
        "((x=1)); echo $((x+1))",
        "a=0; b=1; for i in {1..9}; do echo $a; t=$((a+b)); a=$b; b=$t; done",
        "s=hello; for ((i=0;i<${#s};i++)); do echo ${s:i:1}; done",
        r#"declare -i n=0; n=5; let n=n+1; let n++; let "n += 2""#,
        r#"OPTIND=1; while getopts "ab:" opt; do echo $opt; done"#,
        r#"while IFS= read -r line; do echo "$line"; done < f"#,
        r#"read -r -p "Name $x: " name"#,
        "mapfile -t lines < f; echo done",
        r#"printf '%s\n' "$x" -v y"#,
        r#"printf "$fmt" "$x""#,
        "PATH=$HOME/bin:$PATH make",
        r#"export PATH="$HOME/bin:$PATH"; export FOO"#,
        "export $(grep -v '^#' .env); make",
        r#"x=$(cmd); echo "$x" > f"#,
        r#"f() { local x="$1"; echo "$x"; }; f y"#,
        "arr=(a b); echo x",
        "unset FOO BAR; unset -v x",
        "wait $pid; wait -n; wait",
        "set -euo pipefail; set -x; make",
        "[ -v FOO ] || echo no; [[ -v FOO ]]; test -v FOO",
        r#"[[ -n "$x" && "$x" == foo* ]]; [ "$x" -eq 1 ]; test "$x" -gt 3"#,
        "echo $RANDOM $((RANDOM % 6)) $((16#ff)) $((1<<3)) $((0777))",
        "alias",
        "hash -r",
        "trap 'echo bye' EXIT; set -x; make",
        r#"for FILE in a b; do cat "$FILE"; done"#,
        "exec {fd}>file",
        "{ ls; }>f",
        r#"for f in src/[a-z]*.rs "$d"/*; do wc "$f"; done"#,
        "for x; do echo $x; done",
        "echo $((2 * (3 + 4))) $((5 > 3 ? 1 : 0))",
        "A=1 B=2 make C=3",
        "declare -x FOO=$x; readonly Y=$x; local z",
        "shopt -s globstar; for f in **/*.rs; do wc -l $f; done",
        r#"total=0; for f in *.rs; do n=$(wc -l < "$f"); total=$((total + n)); done; echo $total"#,
    ] {
        commands(line);
    }
}

/// Commands and loops that set variables which decide about other commands count as the
/// assignments they are.
#[test]
fn variables_that_decide_are_told_however_they_are_set() {
    for (line, expected) in [
        (
            "for PATH in $PWD/evil:/bin; do git status; done",
            &["PATH=\u{fffc}", "git status"][..],
        ),
        (
            "for HOME in /a /b; do git log; done",
            &["HOME=/a", "HOME=/b", "git log"],
        ),
        (
            "for PAGER; do git log; done",
            &["PAGER=\u{fffc}", "git log"],
        ),
        ("select EDITOR in vi; do a; done", &["EDITOR=vi", "a"]),
        (
            "for npm_config_script_shell in x; do npm test; done",
            &["npm_config_script_shell=x", "npm test"],
        ),
        (
            "read -r PATH < f; git log",
            &["PATH=\u{fffc}", "read -r PATH", "git log"],
        ),
        (
            "builtin printf -vPATH %s x",
            &["PATH=\u{fffc}", "builtin printf -vPATH %s x"],
        ),
        (
            "printf $o PATH x",
            &["PATH=\u{fffc}", "printf \u{fffc} PATH x"],
        ),
        (
            "for f in a b; do c; done; for _ in 1 2; do d; done",
            &["c", "d"],
        ),
    ] {
        assert_eq!(commands(line), expected, "{line}");
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
    " 'v[$(b z)]' ",
    "$((_))",
    "$((x))",
    "$[_]",
    "${_@P}",
    "${x@P}",
    "${x:_}",
    "${x:0:x}",
    "x=",
    "x=1;",
    "i=0;",
    "((i++))",
    "read x ",
    "let x ",
    "let ",
    "[[ x -eq ",
    "test -v ",
    "declare ",
    "declare -i x=",
    "declare -a x=",
    "printf -v ",
    "unset ",
    "PS4=",
    "PS4 ",
    "set -x;",
    "for x in ",
    "; do ",
    "$_",
    "$i",
    "v[",
    "]",
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
