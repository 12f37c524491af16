//! Blanks: what a browser would not show is taken out before a page becomes text.
//!
//! Blanks become one, and none stands at the beginning or end of a line. What lies in
//! `pre` stays as it is.

use super::tree::{Content, Document, Id, ROOT, is_block, is_void};

/// Takes out blanks that nobody sees. `is_kept` tells of elements whose blanks count.
pub(super) fn collapse(document: &mut Document, is_kept: impl Fn(&str) -> bool) {
    let mut line = Line::default();
    // Elements are met when they begin, and those with children when they end as well.
    let mut open: Vec<(Id, usize)> = vec![(ROOT, 0)];
    while let Some((parent, at)) = open.last_mut() {
        let Some(child) = document.children(*parent).get(*at).copied() else {
            let (ended, _) = *open.last().unwrap_or(&(ROOT, 0));
            open.pop();
            if ended != ROOT {
                line.meet(document, ended, &is_kept);
            }
            continue;
        };
        *at += 1;
        if document.text(child).is_some() {
            line.text(document, child);
            continue;
        }
        line.meet(document, child, &is_kept);
        if !is_kept(document.name(child)) && !document.children(child).is_empty() {
            open.push((child, 0));
        }
    }
    line.end(document);
    let is_empty: Vec<bool> = (document.nodes.iter())
        .map(|node| matches!(&node.content, Content::Text(text) if text.is_empty()))
        .collect();
    document.take_out(&is_empty);
}

/// What came before on the line.
#[derive(Default)]
struct Line {
    /// The last text.
    last: Option<Id>,
    /// Whether a blank may follow although there was no text: after an image.
    keeps_blank: bool,
}

impl Line {
    fn text(&mut self, document: &mut Document, id: Id) {
        let after_blank = match self.last {
            Some(last) => document.text(last).is_some_and(|text| text.ends_with(' ')),
            None => true,
        };
        let Content::Text(text) = &mut document.node_mut(id).content else {
            return;
        };
        let mut collapsed = squeezed(text);
        if after_blank && !self.keeps_blank && collapsed.starts_with(' ') {
            collapsed.remove(0);
        }
        let is_empty = collapsed.is_empty();
        *text = collapsed;
        if !is_empty {
            self.last = Some(id);
        }
    }

    fn meet(&mut self, document: &mut Document, id: Id, is_kept: &impl Fn(&str) -> bool) {
        let name = document.name(id);
        if is_block(name) || name == "br" {
            self.end(document);
            *self = Self::default();
        } else if is_void(name) || is_kept(name) {
            self.last = None;
            self.keeps_blank = true;
        } else if self.last.is_some() {
            self.keeps_blank = false;
        }
    }

    fn end(&self, document: &mut Document) {
        if let Some(last) = self.last
            && let Content::Text(text) = &mut document.node_mut(last).content
            && text.ends_with(' ')
        {
            text.pop();
        }
    }
}

/// The text with one blank for each run of them. A no-break space is no blank.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut was_blank = false;
    for character in text.chars() {
        let is_blank = matches!(character, ' ' | '\r' | '\n' | '\t');
        match is_blank {
            true if was_blank => {}
            true => squeezed.push(' '),
            false => squeezed.push(character),
        }
        was_blank = is_blank;
    }
    squeezed
}
