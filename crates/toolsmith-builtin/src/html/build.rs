//! Builds the tree: which element a tag belongs into, and which ones it ends.
//!
//! These are the rules of HTML that pages rely on: paragraphs, items, cells and options
//! end where the next begins. Depth and number of nodes are bounded; tags beyond the
//! depth are passed over and their text is kept. The standard's own algorithm looks
//! through all open elements at each tag, which a page of nothing but open tags makes
//! quadratic.

use super::prune::is_left_out;
use super::token::{Tag, Token, Tokens};
use super::tree::{Content, Document, Id, ROOT, is_void};

/// How deep elements lie within each other at most.
const DEEPEST: usize = 128;

/// How many nodes and attributes a page has at most; the rest of it is left out. Without its
/// attributes it could not be told what is hidden.
const MOST_NODES: usize = 300_000;
const MOST_ATTRIBUTES: usize = 200_000;

/// Reads a page.
pub(crate) fn parse(html: &str) -> Document {
    let mut builder = Builder {
        document: Document::empty(),
        open: vec![ROOT],
        open_paragraphs: 0,
        passed_over: 0,
        left_out: None,
        attributes: 0,
    };
    for token in Tokens::new(html) {
        if builder.document.nodes.len() >= MOST_NODES || builder.attributes >= MOST_ATTRIBUTES {
            builder.document.is_cut = true;
            break;
        }
        match token {
            Token::Text(text) => builder.text(&text),
            Token::Start(tag) => builder.start(tag),
            Token::End(name) => builder.end(&name),
        }
    }
    builder.document
}

struct Builder {
    document: Document,
    /// The elements that are open, the outermost first.
    open: Vec<Id>,
    /// How many of them are paragraphs.
    open_paragraphs: usize,
    /// How many tags beyond the depth are open.
    passed_over: usize,
    /// Beyond the depth, the element nobody reads that is open, and how many of its name are.
    /// Nothing but its own end tag ends it, so that no other tag brings out what is hidden.
    left_out: Option<(String, usize)>,
    /// How many attributes were kept.
    attributes: usize,
}

impl Builder {
    fn current(&self) -> Id {
        self.open.last().copied().unwrap_or(ROOT)
    }

    fn text(&mut self, text: &str) {
        if self.left_out.is_some() {
            return;
        }
        let parent = self.current();
        let last = self.document.children(parent).last().copied();
        if let Some(last) = last
            && let Content::Text(before) = &mut self.document.node_mut(last).content
        {
            before.push_str(text);
            return;
        }
        if !text.is_empty() {
            self.document.append(parent, Content::Text(text.to_owned()));
        }
    }

    fn start(&mut self, mut tag: Tag) {
        let name = tag.name.as_str();
        if let Some((left_out, open)) = &mut self.left_out {
            *open += usize::from(left_out == name && !tag.ends_itself);
            self.passed_over += usize::from(!is_void(name) && !tag.ends_itself);
            return;
        }
        if matches!(name, "html" | "head" | "body") && self.is_open(name) {
            return;
        }
        // Beyond the depth nothing is looked for: a page of open tags would have every
        // one of them look through all that are open.
        if self.passed_over > 0 && !is_void(name) {
            self.pass_over(&tag);
            return;
        }
        self.end_implied(name);
        if self.open.len() >= DEEPEST && !is_void(name) {
            self.pass_over(&tag);
            return;
        }
        let is_void = is_void(name) || (tag.ends_itself && self.is_foreign());
        let parent = self.current();
        self.attributes += tag.attributes.len();
        // Most have one or two, and a vector begins with room for four.
        tag.attributes.shrink_to_fit();
        let content = Content::Element {
            name: tag.name.into(),
            attributes: tag.attributes,
        };
        let id = self.document.append(parent, content);
        if !is_void {
            self.open_paragraphs += usize::from(self.document.name(id) == "p");
            self.open.push(id);
        }
    }

    /// Leaves out a tag beyond the depth, with its text where nobody reads that.
    fn pass_over(&mut self, tag: &Tag) {
        // What ends itself in SVG and MathML leaves nothing open.
        if tag.ends_itself {
            return;
        }
        self.passed_over += 1;
        if is_left_out(&tag.name, &tag.attributes) {
            self.left_out = Some((tag.name.clone(), 1));
        }
    }

    /// Ends the elements that a tag ends by beginning.
    fn end_implied(&mut self, name: &str) {
        if self.open_paragraphs > 0 && ends_paragraph(name) {
            self.close(&["p"], is_scope);
        }
        match name {
            "li" => self.close(&["li"], |name| {
                matches!(name, "ul" | "ol" | "menu") || is_scope(name)
            }),
            "dd" | "dt" => self.close(&["dd", "dt"], |name| name == "dl" || is_scope(name)),
            "option" | "optgroup" => {
                self.close(&["option"], |name| name == "select" || is_scope(name))
            }
            "tr" => self.close(&["tr"], |name| name == "table"),
            "td" | "th" => self.close(&["td", "th"], |name| matches!(name, "table" | "tr")),
            "tbody" | "thead" | "tfoot" => {
                self.close(&["tbody", "thead", "tfoot"], |name| name == "table");
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let current = self.document.name(self.current());
                if matches!(current, "h1" | "h2" | "h3" | "h4" | "h5" | "h6") {
                    self.open.pop();
                }
            }
            "a" => self.close(&["a"], is_scope),
            "body" => self.close(&["head"], |_| false),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if name == "br" && self.left_out.is_none() {
            let content = Content::Element {
                name: "br".into(),
                attributes: Vec::new(),
            };
            self.document.append(self.current(), content);
            return;
        }
        // Whatever comes after the end of the page is still in it.
        if is_void(name) || matches!(name, "html" | "body") {
            return;
        }
        if let Some((left_out, open)) = &mut self.left_out {
            *open -= usize::from(left_out == name);
            if *open == 0 {
                self.left_out = None;
            }
            self.passed_over = self.passed_over.saturating_sub(1);
            return;
        }
        if self.passed_over > 0 {
            self.passed_over -= 1;
            return;
        }
        let is_structure = matches!(
            name,
            "table" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" | "caption"
        );
        match is_structure {
            true => self.close(&[name], |other| other == "table" && name != "table"),
            false => self.close(&[name], is_scope),
        }
    }

    /// Ends the nearest open element of these names, and what is open within it, unless
    /// an element that holds its content together lies between.
    fn close(&mut self, names: &[&str], holds: impl Fn(&str) -> bool) {
        for (at, id) in self.open.iter().enumerate().skip(1).rev() {
            let name = self.document.name(*id);
            if names.contains(&name) {
                let ended = self.open.drain(at..);
                let paragraphs = ended.filter(|id| self.document.name(*id) == "p");
                self.open_paragraphs -= paragraphs.count();
                return;
            }
            if holds(name) {
                return;
            }
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.open.iter().any(|id| self.document.name(*id) == name)
    }

    fn is_foreign(&self) -> bool {
        self.is_open("svg") || self.is_open("math")
    }
}

/// Elements beyond which a tag ends nothing.
fn is_scope(name: &str) -> bool {
    matches!(
        name,
        "table" | "td" | "th" | "caption" | "button" | "object" | "template" | "svg"
    )
}

/// Elements that no paragraph holds.
fn ends_paragraph(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "details"
            | "dialog"
            | "dd"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as nested lists: `p(b("x"))`.
    fn shown(html: &str) -> String {
        fn show(document: &Document, id: Id, into: &mut String) {
            if let Some(text) = document.text(id) {
                into.push_str(&format!("{text:?}"));
                return;
            }
            into.push_str(document.name(id));
            let children = document.children(id);
            if !children.is_empty() {
                into.push('(');
                for (number, child) in children.iter().enumerate() {
                    if number > 0 {
                        into.push(' ');
                    }
                    show(document, *child, into);
                }
                into.push(')');
            }
        }
        let mut into = String::new();
        show(&parse(html), ROOT, &mut into);
        into
    }

    #[test]
    fn tags_end_what_browsers_end_with_them() {
        for (html, tree) in [
            ("<p>a<p>b", "(p(\"a\") p(\"b\"))"),
            ("<p>a<div>b</div>c</p>", "(p(\"a\") div(\"b\") \"c\")"),
            (
                "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>",
                "(ul(li(\"a\") li(\"b\" ul(li(\"c\"))) li(\"d\")))",
            ),
            (
                "<dl><dt>a<dd>b<dt>c</dl>",
                "(dl(dt(\"a\") dd(\"b\") dt(\"c\")))",
            ),
            (
                "<table><tr><td>a<td>b<tr><th>c</table>d",
                "(table(tr(td(\"a\") td(\"b\")) tr(th(\"c\"))) \"d\")",
            ),
            (
                "<table><tr><td><table><tr><td>x</table>y</table>",
                "(table(tr(td(table(tr(td(\"x\"))) \"y\"))))",
            ),
            ("<td>a</b></p></td>b", "(td(\"a\") \"b\")"),
            ("<a href=1>a<a href=2>b</a>", "(a(\"a\") a(\"b\"))"),
            ("<b>a<i>b</b>c</i>", "(b(\"a\" i(\"b\")) \"c\")"),
            ("<h1>a<h2>b", "(h1(\"a\") h2(\"b\"))"),
            ("a<br>b</br>c<hr>", "(\"a\" br \"b\" br \"c\" hr)"),
            (
                "<html><head><title>t</title><body>x</body></html>y",
                "(html(head(title(\"t\")) body(\"xy\")))",
            ),
            ("<svg><path/><g/></svg>x", "(svg(path g) \"x\")"),
            ("a<div/>b", "(\"a\" div(\"b\"))"),
        ] {
            assert_eq!(shown(html), tree, "{html}");
        }
    }

    #[test]
    fn depth_is_bounded_and_text_kept() {
        let deep = format!("{}x{}y", "<div>".repeat(100_000), "</div>".repeat(100_000));
        let document = parse(&deep);
        assert!(document.nodes.len() < DEEPEST + 5);
        assert_eq!(document.text_of(ROOT), "xy");
        assert_eq!(
            document.text(*document.children(ROOT).last().unwrap()),
            Some("y")
        );
        let hidden = format!(
            "{}a<script>b</script><p hidden>c</b><i>d</i></p><nav>e</nav>f",
            "<div>".repeat(DEEPEST)
        );
        assert_eq!(parse(&hidden).text_of(ROOT), "af");
        let named = parse(&"<br a b c d>".repeat(MOST_ATTRIBUTES));
        assert!(named.is_cut && named.nodes.len() <= MOST_ATTRIBUTES / 4 + 2);
        let many = parse(&"<br>".repeat(MOST_NODES + 10));
        assert!(many.is_cut && many.nodes.len() == MOST_NODES);
    }
}
