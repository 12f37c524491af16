//! That pages which say something wrong are found, and what is written into them.

use super::{Run, free_port, page};

/// Does what a text says.
fn run(text: &str) -> Run {
    page("page.md").run(text)
}

/// Checks that a page is as it should be.
#[track_caller]
fn right(text: &str) {
    let Run { wrong, page } = run(text);
    assert_eq!(wrong, [""; 0]);
    assert_eq!(page, text);
}

/// Checks what is said of a page, and what is made of it.
#[track_caller]
fn wrong(text: &str, problem: &str, update: &str) {
    let run = run(text);
    assert_eq!(run.wrong, [problem]);
    assert_eq!(run.page, update);
    right(update);
}

#[test]
fn files_are_written_and_commands_run_in_one_shell() {
    right(
        "# A page\n\n<!-- file: a/notes.txt -->\n```text\none\n\ntwo\n```\n\nWith text.\n\n\
         ```console\n$ cat a/notes.txt\none\n\ntwo\n$ cd a && export WORD=three\n$ echo $WORD; pwd\n\
         three\n/home/me/project/a\n```\n\n```console\n$ cat notes.txt |\n>   wc -l; (exit 7)\n3\n$ echo $?\n7\n\
         $ echo $?\n0\n```\n\n```sh\nrm -r /\n```\n\n<!-- not run -->\n```console\n$ exit\n```\n",
    );
}

#[test]
fn both_streams_are_seen_as_on_a_terminal() {
    right(
        "```console\n$ echo a; echo b >&2; echo c\na\nb\nc\n$ [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size\n\
         40 100\n$ echo $HOME $NO_COLOR\n/home/me 1\n$ dirname $(which toolsmith)\n\
         /home/me/toolsmith/target/release\n```\n",
    );
}

#[test]
fn what_must_be_there_beforehand_is_there() {
    let text = "```console\n$ cat a/b.txt; echo $WORD\none\ntwo\n```\n";
    let page = page("page.md")
        .having("a/b.txt", "one\n")
        .with("WORD", "two");
    assert_eq!(page.run(text).wrong, [""; 0]);
}

#[test]
fn what_differs_has_its_places() {
    right("```console\n$ echo took 12 ms, 0.3 s\ntook 7 ms, 11.25 s\n```\n");
    right("```console\n$ echo 'a  470us  b'\na   17ms  b\n```\n");
    right("```console\n$ echo 'a     7ms  b'\na  1234ms  b\n```\n");
    right("```console\n$ echo abcabd\na…b…\n$ echo abcabd\n…d\n$ echo\n…\n```\n");
    right(
        "```console\n$ printf '1\\n2\\n3\\n4\\n'\n1\n…\n4\n$ true\n…\n$ printf 'a\\nb\\n'\n…\n```\n",
    );
    let run = run("```console\n$ echo abcabd; echo 3 ms; echo 1 second\na…c\n3\n2 second\n```\n");
    assert_eq!(run.wrong.len(), 1);
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_put_right() {
    wrong(
        "# A page\n\n```console\n$ true\n$ printf 'one\\ntwo %s\\nthree\\n' $$\none\ntwo …\nfour\n```\n\nMore.\n",
        "page.md:5: `printf 'one\\ntwo %s\\nthree\\n' $$` shows\n\
         --- shown\n+++ seen\n@@ -1,3 +1,3 @@\n one\n two …\n-four\n+three\n",
        "# A page\n\n```console\n$ true\n$ printf 'one\\ntwo %s\\nthree\\n' $$\none\ntwo …\nthree\n```\n\nMore.\n",
    );
    wrong(
        "```console\n$ echo a; echo b\na\n```\n\n```console\n$ echo c\nc\n```\n",
        "page.md:2: `echo a; echo b` shows\n--- shown\n+++ seen\n@@ -1 +1,2 @@\n a\n+b\n",
        "```console\n$ echo a; echo b\na\nb\n```\n\n```console\n$ echo c\nc\n```\n",
    );
    wrong(
        "```console\n$ seq 9\n0\n…\n8\n9\n10\n```\n",
        "page.md:2: `seq 9` shows\n--- shown\n+++ seen\n@@ -1,5 +1,4 @@\n-0\n+1\n …\n 8\n 9\n-10\n",
        "```console\n$ seq 9\n1\n…\n8\n9\n```\n",
    );
}

#[test]
fn several_wrong_outputs_are_put_right_at_once() {
    let text = "```console\n$ seq 3\n1\n$ echo a\n$ echo b\nb\n$ true\nx\ny\n$ echo c\nd\n```\n";
    let update =
        "```console\n$ seq 3\n1\n2\n3\n$ echo a\na\n$ echo b\nb\n$ true\n$ echo c\nc\n```\n";
    let run = run(text);
    assert_eq!(run.wrong.len(), 4, "{:?}", run.wrong);
    assert_eq!(run.page, update);
}

#[test]
fn a_person_answers_when_they_are_asked() {
    right(
        "<!-- after \"Sure? \" type \"yes\" -->\n<!-- after \"Really? \" type \"no\" -->\n```console\n\
         $ true\n$ printf 'Sure? '; read a; printf 'Really? '; read b; echo $a $b\n\
         Sure? yes\nReally? no\nyes no\n```\n",
    );
}

#[test]
fn what_goes_on_is_seen_and_ended_with_the_page() {
    let port = free_port();
    let text = "```console\n$ toolsmith serve --no-auth --http 127.0.0.1:1234 &\n\
                listening on http://127.0.0.1:1234/mcp\n…\n\
                $ toolsmith --server it=http://127.0.0.1:1234/mcp servers | tail -n 1\nit  …  ready …\n```\n";
    let run = page("page.md").port(1234, port).run(text);
    assert_eq!(run.wrong, [""; 0]);
    let listening = std::net::TcpListener::bind(("127.0.0.1", port));
    assert!(listening.is_ok(), "{listening:?}");
}

#[test]
fn what_a_page_cannot_mean_is_told() {
    let cases = [
        ("a\n```console\n$ a\n", (2, "this block has no end")),
        ("```console\na\n```\n", (2, "a command begins with `$ `")),
        (
            "<!-- file: a -->\n\ntext\n",
            (3, "a block must follow the comment above"),
        ),
        (
            "<!-- after x type y -->\n",
            (
                1,
                "an answer is written <!-- after \"TEXT\" type \"ANSWER\" -->",
            ),
        ),
        (
            "<!-- after \"x\" type \"y\" -->\n```text\n```\n",
            (2, "answers belong to a block of commands"),
        ),
        (
            "<!-- after \"x\" type \"y\" -->\n```console\n$ a\nx\n```\n",
            (2, "no command shows the question with its answer"),
        ),
    ];
    for (text, problem) in cases {
        assert_eq!(super::blocks::read(text), Err(problem), "{text}");
    }
}
