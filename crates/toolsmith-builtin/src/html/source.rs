//! A page as plain text, and as HTML again without what nobody reads.

use super::space;
use super::tree::{Content, Document, Id, ROOT, is_block, is_void};

/// What happens on the way through a page.
enum Step {
    Begin(Id),
    End(Id),
}

/// Goes through everything beneath a node.
fn walk(document: &Document, from: Id, mut meet: impl FnMut(Step)) {
    let mut open: Vec<(Id, usize)> = vec![(from, 0)];
    while let Some((id, next)) = open.last_mut() {
        let id = *id;
        if let Some(child) = document.children(id).get(*next).copied() {
            *next += 1;
            meet(Step::Begin(child));
            open.push((child, 0));
        } else {
            open.pop();
            if id != from {
                meet(Step::End(id));
            }
        }
    }
}

/// The text as a person would copy it from the page.
pub(super) fn plain(document: &mut Document, from: Id) -> String {
    space::collapse(document, |name| name == "pre");
    let mut text = String::new();
    // How many line breaks are due before the next text.
    let mut due = 0;
    walk(document, from, |step| match step {
        Step::Begin(id) => {
            if let Some(piece) = document.text(id) {
                if !text.is_empty() {
                    text.extend(std::iter::repeat_n('\n', due));
                }
                due = 0;
                text.push_str(piece);
                return;
            }
            let name = document.name(id);
            match name {
                "br" => due = (due + 1).min(2),
                "li" => {
                    if !text.is_empty() {
                        text.extend(std::iter::repeat_n('\n', due.max(1)));
                    }
                    due = 0;
                    text.push_str("- ");
                }
                "td" | "th" if due == 0 && !text.is_empty() => text.push('\t'),
                "td" | "th" => {}
                _ => due = due.max(breaks(document, id)),
            }
        }
        Step::End(id) => {
            let name = document.name(id);
            if !matches!(name, "td" | "th") {
                due = due.max(breaks(document, id));
            }
        }
    });
    text.trim().to_owned()
}

/// How many line breaks stand around an element.
fn breaks(document: &Document, id: Id) -> usize {
    let name = document.name(id);
    match name {
        "ul" | "ol" if document.name(document.parent(id)) == "li" => 1,
        "p" | "pre" | "blockquote" | "table" | "ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "h5"
        | "h6" => 2,
        _ if is_block(name) => 1,
        _ => 0,
    }
}

/// HTML that means what is left of the page.
pub(super) fn write(document: &Document, from: Id) -> String {
    let mut html = String::new();
    // What was selected is written with its own tags.
    walk(document, from, |step| match step {
        Step::Begin(id) => match &document.node(id).content {
            Content::Text(text) => html.push_str(&as_html(text)),
            Content::Element { name, attributes } => {
                html.push('<');
                html.push_str(name);
                for (name, value) in attributes.iter().filter(|(name, _)| is_told(name)) {
                    html.push_str(&format!(
                        " {name}=\"{}\"",
                        as_html(value).replace('"', "&quot;")
                    ));
                }
                html.push('>');
            }
        },
        Step::End(id) => {
            let name = document.name(id);
            if id != ROOT && !name.is_empty() && !is_void(name) {
                html.push_str(&format!("</{name}>"));
            }
        }
    });
    html.trim().to_owned()
}

/// What of an element matters to a reader: no styles, no programs.
fn is_told(attribute: &str) -> bool {
    attribute != "style" && !attribute.starts_with("on") && !attribute.contains(['"', '<', '>'])
}

fn as_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
