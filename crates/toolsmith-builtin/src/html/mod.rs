//! Pages: HTML in, text out. No network here, and no clock.
//!
//! ```text
//! token ─▶ build ─▶ tree ─▶ prune ─▶ main_content or select ─▶ markdown, text or source
//! ```
//!
//! A page is hostile. Reading one takes time in proportion to its length, depth and
//! number of nodes are bounded, and nothing is recursive, so that whatever it is made of
//! costs its own call and little of that.

mod build;
mod entity;
mod escape;
mod hidden;
mod main_content;
mod markdown;
mod prune;
mod rules;
mod select;
mod source;
mod space;
mod table;
mod token;
mod tree;

use url::Url;

pub use markdown::{CodeBlockStyle, HeadingStyle, LinkStyle, MarkdownOptions};
pub(crate) use select::Selector;
use tree::{Document, Id, ROOT};

/// Converts a page, or a piece of one, to Markdown, with nothing left out of it.
///
/// ```
/// use toolsmith_builtin::html::{MarkdownOptions, to_markdown};
///
/// let text = to_markdown("<h1>Hello</h1><p>a <b>page</b>", &MarkdownOptions::default());
/// assert_eq!(text, "# Hello\n\na **page**");
/// ```
pub fn to_markdown(html: &str, options: &MarkdownOptions) -> String {
    let mut document = build::parse(html);
    markdown::write(&mut document, ROOT, options)
}

/// What a page is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Markdown,
    Text,
    Source,
}

/// What a page came to.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The page's title, if it has one.
    pub(crate) title: Option<String>,
    /// Its text.
    pub(crate) text: String,
    /// Whether the page has more than was read.
    pub(crate) is_cut: bool,
    /// Whether only what the page is about was kept.
    pub(crate) is_extract: bool,
    /// How many elements a selector found; none where none was asked for.
    pub(crate) selected: Option<usize>,
}

/// Reads a page: what it is about, or what a selector finds in it. The page is given up,
/// since its tree holds all of it again.
pub(crate) fn read(html: String, base: &Url, form: Form, selector: Option<&Selector>) -> Read {
    let mut document = build::parse(&html);
    drop(html);
    let title = title(&document);
    let base = base_of(&document, base);
    prune::prune(&mut document, selector.is_some() || form == Form::Source);
    let options = MarkdownOptions {
        base: Some(base),
        ..MarkdownOptions::default()
    };
    let mut read = Read {
        title: title.or_else(|| words_of(&document, document.find("h1")?)),
        is_cut: document.is_cut,
        ..Read::default()
    };
    let from = match selector {
        Some(selector) => {
            let found = selector.find(&document);
            read.selected = Some(found.len());
            gather(&mut document, found)
        }
        None if form == Form::Source => ROOT,
        None => {
            let main = main_content::main_content(&document);
            read.is_extract = document.name(main) != "body" && main != ROOT;
            if read.is_extract {
                main_content::take_out_noise(&mut document, main);
            }
            main
        }
    };
    read.text = match form {
        Form::Markdown => markdown::write(&mut document, from, &options),
        Form::Text => source::plain(&mut document, from),
        Form::Source => source::write(&document, from),
    };
    read
}

/// Puts what was found into the place of everything else.
fn gather(document: &mut Document, found: Vec<Id>) -> Id {
    document.node_mut(ROOT).children = found;
    ROOT
}

/// The title a browser would show: that of the page, and of no picture or hidden part in it.
fn title(document: &Document) -> Option<String> {
    let mut titles = document.ids().filter(|id| document.name(*id) == "title");
    let title = titles.find(|id| {
        let parent = document.name(document.parent(*id));
        matches!(parent, "" | "html" | "head" | "body")
    });
    words_of(document, title?)
}

fn words_of(document: &Document, id: Id) -> Option<String> {
    let text = document.text_of(id);
    let words: Vec<&str> = text.split_whitespace().take(100).collect();
    let title: String = words.join(" ").chars().take(300).collect();
    Some(title).filter(|title| !title.is_empty())
}

/// What links are seen from: what the page says, if it may say that.
fn base_of(document: &Document, page: &Url) -> Url {
    let said = document
        .find("base")
        .and_then(|id| document.attribute(id, "href"));
    let said = said.and_then(|href| page.join(href).ok());
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    said.filter(is_web).unwrap_or_else(|| page.clone())
}
