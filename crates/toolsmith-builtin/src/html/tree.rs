//! A page as a tree of elements and texts.
//!
//! Nodes are numbers into one list, and a child's number is greater than its parent's,
//! so that whatever is told from below upwards takes one pass and no recursion.

/// A node of a [`Document`].
pub(crate) type Id = u32;

/// The node everything lies beneath.
pub(crate) const ROOT: Id = 0;

/// A page.
#[derive(Debug)]
pub(crate) struct Document {
    pub(super) nodes: Vec<Node>,
    /// Whether the page has more than was read of it.
    pub(crate) is_cut: bool,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: Id,
    pub(super) children: Vec<Id>,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Element {
        name: Box<str>,
        attributes: Vec<(Box<str>, Box<str>)>,
    },
    Text(String),
}

impl Document {
    pub(super) fn empty() -> Self {
        let root = Node {
            parent: ROOT,
            children: Vec::new(),
            content: Content::Element {
                name: "".into(),
                attributes: Vec::new(),
            },
        };
        Self {
            nodes: vec![root],
            is_cut: false,
        }
    }

    pub(super) fn append(&mut self, parent: Id, content: Content) -> Id {
        let id = Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        self.nodes.push(Node {
            parent,
            children: Vec::new(),
            content,
        });
        self.node_mut(parent).children.push(id);
        id
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// Every number there is, parents before children.
    pub(super) fn ids(&self) -> impl DoubleEndedIterator<Item = Id> + use<> {
        0..Id::try_from(self.nodes.len()).unwrap_or(Id::MAX)
    }

    /// The name of an element; empty for texts and the root.
    pub(crate) fn name(&self, id: Id) -> &str {
        match &self.node(id).content {
            Content::Element { name, .. } => name,
            Content::Text(_) => "",
        }
    }

    pub(crate) fn parent(&self, id: Id) -> Id {
        self.node(id).parent
    }

    pub(crate) fn children(&self, id: Id) -> &[Id] {
        &self.node(id).children
    }

    /// The text of a text node.
    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match &self.node(id).content {
            Content::Text(text) => Some(text),
            Content::Element { .. } => None,
        }
    }

    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match &self.node(id).content {
            Content::Element { attributes, .. } => {
                let found = attributes.iter().find(|(name, _)| **name == *wanted);
                found.map(|(_, value)| &**value)
            }
            Content::Text(_) => None,
        }
    }

    /// Everything beneath a node, itself first, in the order of the page.
    pub(crate) fn beneath(&self, id: Id) -> Beneath<'_> {
        Beneath {
            document: self,
            open: vec![id],
        }
    }

    /// All the text beneath a node.
    pub(crate) fn text_of(&self, id: Id) -> String {
        self.beneath(id)
            .filter_map(|each| self.text(each))
            .collect()
    }

    /// The first element of a name.
    pub(crate) fn find(&self, name: &str) -> Option<Id> {
        self.beneath(ROOT).find(|id| self.name(*id) == name)
    }

    /// Takes out the nodes that are marked, with all beneath them.
    pub(super) fn take_out(&mut self, is_out: &[bool]) {
        for node in &mut self.nodes {
            node.children.retain(|child| !is_out[*child as usize]);
        }
    }
}

/// Nodes in the order of the page.
pub(crate) struct Beneath<'d> {
    document: &'d Document,
    open: Vec<Id>,
}

impl Iterator for Beneath<'_> {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        let id = self.open.pop()?;
        self.open.extend(self.document.children(id).iter().rev());
        Some(id)
    }
}

/// Elements that stand on lines of their own.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "audio"
            | "blockquote"
            | "body"
            | "canvas"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "frameset"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "isindex"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "noframes"
            | "noscript"
            | "ol"
            | "output"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// Elements that have no content and no end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "command"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}
