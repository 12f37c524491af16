//! What each element becomes, given what its content became.

use url::Url;

use super::escape::{attribute, code, destination, escaped, fence, title};
use super::markdown::{CodeBlockStyle, HeadingStyle, LinkStyle, MOST_BYTES, Writer};
use super::table;
use super::tree::{Id, is_block};

/// Classes of code blocks that name their language.
const LANGUAGES: [&str; 4] = ["language-", "lang-", "highlight-source-", "brush:"];

/// Writes an element. Lists and quotations too deep to be indented are written flat.
pub(super) fn element(
    writer: &mut Writer<'_>,
    id: Id,
    content: String,
    may_indent: bool,
) -> String {
    let document = writer.document;
    let options = writer.options;
    let name = document.name(id);
    let lone_code = is_code_block(writer, id);
    match name {
        "p" => block(&content),
        "br" => format!("{}\n", options.line_break),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => heading(writer, name, &content),
        "blockquote" if may_indent => block(&quoted(trim_breaks(&content))),
        "ul" | "ol" => list(writer, id, &content),
        "li" if may_indent => item(writer, id, &content),
        "hr" => block(&options.rule),
        "pre" if lone_code || options.github => code_block(writer, id, lone_code),
        "a" => link(writer, id, content),
        "em" | "i" if !content.trim().is_empty() => around(&content, &options.emphasis.to_string()),
        "strong" | "b" if !content.trim().is_empty() => around(&content, &options.strong),
        "em" | "i" | "strong" | "b" => String::new(),
        "del" | "s" | "strike" if options.github && !content.trim().is_empty() => {
            around(&content, "~~")
        }
        "code" => inline_code(writer, id, content),
        "img" => image(writer, id),
        "td" | "th" | "tr" | "thead" | "tbody" | "tfoot" | "table" if options.github => {
            table::element(writer, id, &content)
        }
        _ if is_block(name) => block(&content),
        _ => content,
    }
}

pub(super) fn block(content: &str) -> String {
    format!("\n\n{content}\n\n")
}

fn around(content: &str, mark: &str) -> String {
    format!("{mark}{content}{mark}")
}

fn trim_breaks(text: &str) -> &str {
    text.trim_matches('\n')
}

fn quoted(text: &str) -> String {
    marked(text, "> ", "> ")
}

/// A text with one mark before its first line and another before the rest, as far as a text
/// may grow: a page of nothing but line breaks would be all marks.
fn marked(text: &str, first: &str, others: &str) -> String {
    let mut marked = first.to_owned();
    for (number, line) in text.split('\n').enumerate() {
        if marked.len() > MOST_BYTES {
            break;
        }
        if number > 0 {
            marked.push('\n');
            marked.push_str(others);
        }
        marked.push_str(line);
    }
    marked
}

fn heading(writer: &Writer<'_>, name: &str, content: &str) -> String {
    let level = name[1..].parse::<usize>().unwrap_or(1);
    if writer.options.headings == HeadingStyle::Setext && level < 3 {
        let mark = if level == 1 { "=" } else { "-" };
        let line = mark.repeat(content.encode_utf16().count());
        return block(&format!("{content}\n{line}"));
    }
    // A heading is one line.
    let content = match writer.options.github {
        true => on_one_line(content),
        false => content.to_owned(),
    };
    block(&format!("{} {content}", "#".repeat(level)))
}

/// A text without line breaks. One that has none is not gone through again: elements
/// that want this may lie within each other.
fn on_one_line(text: &str) -> String {
    let text = text.trim();
    match text.contains('\n') {
        true => text.split_whitespace().collect::<Vec<_>>().join(" "),
        false => text.to_owned(),
    }
}

fn list(writer: &Writer<'_>, id: Id, content: &str) -> String {
    let document = writer.document;
    let parent = document.parent(id);
    let siblings = document.children(parent).iter().rev();
    let last = siblings
        .copied()
        .find(|each| document.text(*each).is_none());
    match document.name(parent) == "li" && last == Some(id) {
        true => format!("\n{content}"),
        false => block(content),
    }
}

fn item(writer: &Writer<'_>, id: Id, content: &str) -> String {
    let document = writer.document;
    let options = writer.options;
    let parent = document.parent(id);
    let blanks = options.item_blanks;
    let before = match document.name(parent) {
        "ol" => {
            let start = document.attribute(parent, "start");
            let start = start.and_then(|start| start.trim().parse::<u64>().ok());
            let number = start.unwrap_or(1).saturating_add(writer.element_number(id));
            format!("{number}.{}", " ".repeat(blanks.saturating_sub(1).max(1)))
        }
        _ => format!("{}{}", options.bullet, " ".repeat(blanks)),
    };
    let has_paragraphs = content.ends_with('\n') && blanks > 1;
    let mut content = trim_breaks(content).to_owned();
    if has_paragraphs {
        content.push('\n');
    }
    let content = marked(&content, &before, &" ".repeat(before.len()));
    let end = match writer.sibling(id, 1) {
        Some(_) => "\n",
        None => "",
    };
    format!("{content}{end}")
}

/// Whether an element is a `pre` that begins with `code`.
fn is_code_block(writer: &Writer<'_>, id: Id) -> bool {
    let document = writer.document;
    let first = document.children(id).first();
    document.name(id) == "pre" && first.is_some_and(|first| document.name(*first) == "code")
}

fn code_block(writer: &Writer<'_>, id: Id, lone_code: bool) -> String {
    let document = writer.document;
    let options = writer.options;
    let first = document.children(id).first().copied().filter(|_| lone_code);
    let text = match (first, options.github) {
        (Some(first), false) => document.text_of(first),
        _ => document.text_of(id),
    };
    if options.code_blocks == CodeBlockStyle::Indented {
        return format!("\n\n    {}\n\n", text.replace('\n', "\n    "));
    }
    let class = first.and_then(|first| document.attribute(first, "class"));
    let class = class.or_else(|| document.attribute(id, "class").filter(|_| options.github));
    let language = language(class.unwrap_or_default());
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let fence = fence(text, &options.fence);
    format!("\n\n{fence}{language}\n{text}\n{fence}\n\n")
}

fn language(class: &str) -> &str {
    let mut words = class.split_whitespace();
    let found = words.find_map(|word| {
        LANGUAGES
            .iter()
            .find_map(|before| word.strip_prefix(before))
    });
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '#' | '.' | '_');
    found
        .filter(|name| name.len() <= 40 && name.chars().all(is_plain))
        .unwrap_or_default()
}

fn inline_code(writer: &Writer<'_>, id: Id, content: String) -> String {
    let document = writer.document;
    let has_siblings = writer.sibling(id, -1).is_some() || writer.sibling(id, 1).is_some();
    // Its `pre` writes it.
    match document.name(document.parent(id)) == "pre" && !has_siblings {
        true => content,
        false => code(&content),
    }
}

fn link(writer: &mut Writer<'_>, id: Id, content: String) -> String {
    let document = writer.document;
    let Some(href) = document
        .attribute(id, "href")
        .filter(|href| !href.is_empty())
    else {
        return content;
    };
    let Some(href) = resolved(writer.options.base.as_ref(), href) else {
        return content;
    };
    // A link without a text leads nobody anywhere, and a page has hundreds.
    if writer.options.github && content.trim().is_empty() {
        return String::new();
    }
    let href = destination(&href);
    let title = title(document.attribute(id, "title"));
    let number = writer.references.len() + 1;
    let (link, reference) = match writer.options.links {
        LinkStyle::Inline => {
            // A link that goes over several blocks is one line.
            let content = match writer.options.github {
                true => on_one_line(&content),
                false => content,
            };
            return format!("[{content}]({href}{title})");
        }
        LinkStyle::Numbered => (
            format!("[{content}][{number}]"),
            format!("[{number}]: {href}{title}"),
        ),
        LinkStyle::Collapsed => (
            format!("[{content}][]"),
            format!("[{content}]: {href}{title}"),
        ),
        LinkStyle::Shortcut => (
            format!("[{content}]"),
            format!("[{content}]: {href}{title}"),
        ),
    };
    writer.references.push(reference);
    link
}

fn image(writer: &Writer<'_>, id: Id) -> String {
    let document = writer.document;
    let source = document.attribute(id, "src").unwrap_or_default();
    let alt = escaped(&attribute(document.attribute(id, "alt")));
    let source = match resolved(writer.options.base.as_ref(), source) {
        Some(source) if !source.is_empty() => destination(&source),
        // What stands in the page itself is of no use as an address.
        _ => return alt_alone(writer, alt),
    };
    let title = title(document.attribute(id, "title"));
    format!("![{alt}]({source}{title})")
}

fn alt_alone(writer: &Writer<'_>, alt: String) -> String {
    match writer.options.github {
        true => alt,
        false => String::new(),
    }
}

/// An address seen from the page; none for what leads nowhere outside a browser.
fn resolved(base: Option<&Url>, address: &str) -> Option<String> {
    let Some(base) = base else {
        return Some(address.to_owned());
    };
    let found = base.join(address.trim()).ok()?;
    match found.scheme() {
        "http" | "https" | "mailto" | "tel" | "ftp" => Some(found.to_string()),
        _ => None,
    }
}
