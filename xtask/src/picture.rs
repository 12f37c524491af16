//! `cargo xtask picture`: draws the run in `docs/agent-run.txt` as the picture of the README.
//!
//! The text is made by a test that runs the real program on a terminal; the picture is that
//! text and nothing else, so it cannot show what does not happen.

use std::fs;
use std::path::Path;

use anyhow::Context;

const TEXT: &str = "docs/agent-run.txt";
const PICTURE: &str = "docs/agent-run.svg";

/// How much room a letter and a line take.
const LETTER: f64 = 8.4;
const LINE: usize = 20;
const MARGIN: usize = 20;

/// Longer lines are cut: a picture has an edge.
const WIDEST: usize = 100;

/// Draws the picture anew.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(root.join(TEXT)).context(TEXT)?;
    fs::write(root.join(PICTURE), draw(&text)).context(PICTURE)
}

fn draw(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(cut).collect();
    let widest = lines.iter().map(|line| line.chars().count()).max();
    let width = (widest.unwrap_or(0) as f64 * LETTER).ceil() as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let rows = lines.iter().enumerate().map(|(row, line)| {
        let y = MARGIN + row * LINE + 14;
        let colour = colour(line);
        let line = escaped(line);
        format!("<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{colour}\">{line}</text>\n")
    });
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <style>text {{ white-space: pre }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n{}</svg>\n",
        rows.collect::<String>()
    )
}

fn cut(line: &str) -> String {
    match line.chars().count() > WIDEST {
        true => line.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

/// What a line is, by how it begins.
fn colour(line: &str) -> &'static str {
    match line.chars().next() {
        Some('$') => "#ffffff",
        Some('→') => "#79b8ff",
        Some('✓') => "#85e89d",
        Some('✗') => "#f97583",
        _ if line.starts_with("Allow it?") || line.starts_with("Asked") => "#ffdf5d",
        _ => "#d1d5da",
    }
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_the_text() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = fs::read_to_string(root.join(TEXT)).unwrap();
        let picture = fs::read_to_string(root.join(PICTURE)).unwrap();
        assert!(
            picture == draw(&text),
            "draw it anew with `cargo xtask picture`"
        );
    }

    #[test]
    fn a_line_is_a_text_of_its_own_and_marks_are_escaped() {
        let picture = draw("$ a < b\n✓ done & well\n");
        assert!(
            picture.contains("fill=\"#ffffff\">$ a &lt; b</text>"),
            "{picture}"
        );
        assert!(
            picture.contains("fill=\"#85e89d\">✓ done &amp; well</text>"),
            "{picture}"
        );
    }
}
