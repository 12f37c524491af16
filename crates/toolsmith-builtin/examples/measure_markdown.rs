//! Measures the conversion of HTML to Markdown on cases from elsewhere.
//!
//! `cargo run -p toolsmith-builtin --example measure_markdown -- FILE` reads lines of
//! `{"name", "options", "html", "expected"}`, where the options are those of Turndown, and
//! tells how many come out as expected once both sides are trimmed.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measure prints, and stops where it stands"
)]

use serde_json::Value;
use toolsmith_builtin::html::{
    CodeBlockStyle, HeadingStyle, LinkStyle, MarkdownOptions, to_markdown,
};

fn main() {
    let file = std::env::args().nth(1).expect("a file of cases is named");
    let cases = std::fs::read_to_string(file).unwrap();
    let (mut passed, mut failed) = (0_u32, 0_u32);
    for line in cases.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap();
        let found = to_markdown(text("html"), &options(&case["options"]));
        if found.trim() == text("expected").trim() {
            passed += 1;
        } else {
            failed += 1;
            println!(
                "{}\n  expected {:?}\n  found    {found:?}",
                text("name"),
                text("expected")
            );
        }
    }
    let all = f64::from(passed + failed);
    println!(
        "{passed} passed, {failed} failed: {:.1} %",
        f64::from(passed) * 100.0 / all
    );
}

/// The options of a case over the defaults of the program it was written for.
fn options(given: &Value) -> MarkdownOptions {
    let text = |key: &str, usual: &str| given[key].as_str().unwrap_or(usual).to_owned();
    let mut options = MarkdownOptions::default();
    options.github = false;
    options.item_blanks = 3;
    options.headings = match text("headingStyle", "setext").as_str() {
        "atx" => HeadingStyle::Atx,
        _ => HeadingStyle::Setext,
    };
    options.code_blocks = match text("codeBlockStyle", "indented").as_str() {
        "fenced" => CodeBlockStyle::Fenced,
        _ => CodeBlockStyle::Indented,
    };
    options.links = match (
        text("linkStyle", "").as_str(),
        text("linkReferenceStyle", "").as_str(),
    ) {
        ("referenced", "collapsed") => LinkStyle::Collapsed,
        ("referenced", "shortcut") => LinkStyle::Shortcut,
        ("referenced", _) => LinkStyle::Numbered,
        _ => LinkStyle::Inline,
    };
    options.fence = text("fence", "```");
    options.rule = text("hr", "* * *");
    options.line_break = text("br", "  ");
    options.strong = text("strongDelimiter", "**");
    options.emphasis = text("emDelimiter", "_").chars().next().unwrap_or('_');
    options.bullet = text("bulletListMarker", "*").chars().next().unwrap_or('*');
    options.preformatted_code = given["preformattedCode"] == true;
    options
}
