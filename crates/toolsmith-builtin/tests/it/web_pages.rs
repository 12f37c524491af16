//! HTML to Markdown: pieces of pages and what they come to, and pages of chance.

use proptest::prelude::*;
use toolsmith_builtin::html::{
    CodeBlockStyle, HeadingStyle, LinkStyle, MarkdownOptions, to_markdown,
};

use super::torture::peak;

/// HTML, and the Markdown it comes to.
const PIECES: &[(&str, &str)] = &[
    ("", ""),
    ("  \n\t ", ""),
    ("<p>one</p><p>two", "one\n\ntwo"),
    ("one<br>two", "one  \ntwo"),
    ("<h1>A</h1><h3>B <em>c</em></h3>", "# A\n\n### B _c_"),
    ("<h2>over<br>two lines</h2>", "## over two lines"),
    ("a <b> b </b> c", "a **b** c"),
    ("a<i></i>b", "ab"),
    ("<b>bold</b><i>it</i>", "**bold**_it_"),
    ("<del>gone</del>", "~~gone~~"),
    ("<code>a`b</code>", "``a`b``"),
    ("<code>*not* _this_</code>", "`*not* _this_`"),
    ("* a_b [c] `d` \\", "\\* a\\_b \\[c\\] \\`d\\` \\\\"),
    ("# no\n", "\\# no"),
    ("1. no", "1\\. no"),
    ("v1. 2", "v1. 2"),
    ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
    ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
    ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
    ("<ul><li><p>a<p>b</ul>", "- a\n  \n  b"),
    ("<blockquote><p>a<p>b</blockquote>", "> a\n> \n> b"),
    ("a<hr>b", "a\n\n---\n\nb"),
    ("<pre>a\n  b\n</pre>", "```\na\n  b\n```"),
    (
        "<pre class='lang-js'><code>x()</code></pre>",
        "```js\nx()\n```",
    ),
    ("<pre><code>```\n</code></pre>", "````\n```\n````"),
    ("<a href='/x'>y</a>", "[y](/x)"),
    (
        "<a href='/a b(c)' title='t \"q\"'>y</a>",
        "[y](</a b\\(c\\)> \"t \\\"q\\\"\")",
    ),
    ("<a>y</a><a href=x></a>", "y"),
    ("<a href=x><h2>T</h2><p>text</a>", "[## T text](x)"),
    ("<img src=a.png alt='[x]'>", "![\\[x\\]](a.png)"),
    ("<img alt=none>", "none"),
    (
        "<table><thead><tr><th>a<th>b<tbody><tr><td>1<td>2|3</table>",
        "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |",
    ),
    (
        "<table><tr><td colspan=2>a<tr><td>b<td>c</table>",
        "| a | |\n| --- | --- |\n| b | c |",
    ),
    ("<table><tr><td>only<tr><td>one</table>", "only\n\none"),
    ("<p>a&nbsp;b&copy;&lt;c&gt;", "a\u{a0}b\u{a9}<c>"),
    ("<div><div>a</div></div><span>b</span>", "a\n\nb"),
    ("x<!-- no -->y", "xy"),
];

#[test]
fn pieces_of_pages() {
    for (html, markdown) in PIECES {
        assert_eq!(
            to_markdown(html, &MarkdownOptions::default()),
            *markdown,
            "{html}"
        );
    }
}

#[test]
fn other_ways_to_write() {
    let mut options = MarkdownOptions::default();
    options.headings = HeadingStyle::Setext;
    options.code_blocks = CodeBlockStyle::Indented;
    options.links = LinkStyle::Numbered;
    options.bullet = '*';
    options.item_blanks = 3;
    options.rule = "* * *".to_owned();
    options.github = false;
    let html = "<h1>Top</h1><h2>Next</h2><ul><li>a</li><li><a href=x>b</a></li></ul><hr><pre><code>c\nd</code></pre>";
    assert_eq!(
        to_markdown(html, &options),
        "Top\n===\n\nNext\n----\n\n*   a\n*   [b][1]\n\n* * *\n\n    c\n    d\n\n[1]: x"
    );
}

/// Each of very many lines gets a mark, and the text is cut all the same: what the marks take
/// meanwhile is bounded too.
#[test]
fn lines_without_end_cost_little_memory() {
    let breaks = "\n".repeat(6 << 20);
    for (begin, mark) in [
        ("<blockquote>", "> "),
        ("<ol start=1000000><li>", "1000000. "),
    ] {
        let page = format!("{begin}<pre>x{breaks}y</pre>");
        let before = peak();
        let markdown = to_markdown(&page, &MarkdownOptions::default());
        let cost = peak() - before;
        assert!(markdown.starts_with(mark) && markdown.len() <= 13 << 20);
        assert!(cost < 150 << 10, "{begin} took {cost} kB");
    }
}

/// Pieces that pages of chance are made of.
const BITS: [&str; 28] = [
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<ul>",
    "<li>",
    "</ul>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<pre>",
    "<code>",
    "</code>",
    "</pre>",
    "<a href='",
    "'>",
    "</a>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "&amp;",
    "&#x1F980;",
    " ",
    "\n",
    "é🦀",
    "<h1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever a page is made of, it is read to its end.
    #[test]
    fn pages_of_chance(bits in proptest::collection::vec(0..BITS.len(), 0..60), text in ".{0,20}") {
        let mut html: String = bits.iter().map(|bit| BITS[*bit]).collect();
        html.push_str(&text);
        for github in [true, false] {
            let mut options = MarkdownOptions::default();
            options.github = github;
            let markdown = to_markdown(&html, &options);
            prop_assert!(!markdown.starts_with('\n') && markdown.trim_end() == markdown);
        }
    }

    /// So is any text at all.
    #[test]
    fn texts_of_chance(text in "[<>/!&#;='\" a-c\\-é\\n]{0,80}") {
        let _ = to_markdown(&text, &MarkdownOptions::default());
    }
}
