//! Text without what hides or steers.

use toolsmith_core::clean::clean;

#[test]
fn escape_sequences_go_whole() {
    for (text, expected) in [
        ("\u{1b}[1;31mred\u{1b}[0m", "red"),
        // What `tput sgr0` writes.
        ("bold\u{1b}(B\u{1b}[m plain", "bold plain"),
        ("\u{1b}#8full\u{1b} Fascii", "fullascii"),
        ("\u{1b}]0;title\u{7}text", "text"),
        (
            "\u{1b}]8;;http://a.test\u{1b}\\link\u{1b}]8;;\u{1b}\\",
            "link",
        ),
        ("\u{9b}31mred", "red"),
        ("\u{1b}cafter a reset", "after a reset"),
        // What does not end takes no more than its line along.
        ("\u{1b}]0;open\nnext", "\nnext"),
        ("\u{1b}(\nnext", "\nnext"),
        ("end\u{1b}", "end"),
        ("end\u{1b}(", "end"),
        ("\u{1b}\u{1b}[31mtwice", "twice"),
    ] {
        assert_eq!(clean(text), expected, "{text:?}");
        assert_eq!(clean(&clean(text)), expected, "{text:?}");
    }
}
