//! Takes out what nobody reads: programs, styles, menus, and what is hidden.
//!
//! What a page hides from people must not speak to a model either.

use super::hidden::{Sheet, is_hidden};
use super::tree::{Content, Document};

/// Takes out what is not shown. `keeps_menus` tells whether navigation stays.
pub(crate) fn prune(document: &mut Document, keeps_menus: bool) {
    let mut sheet = Sheet::default();
    for id in document.ids().filter(|id| document.name(*id) == "style") {
        sheet.add(&document.text_of(id));
    }
    let is_out: Vec<bool> = (document.ids())
        .map(|id| match &document.node(id).content {
            Content::Element { name, attributes } => {
                is_never_read(name)
                    || is_hidden(name, attributes, &sheet)
                    || (!keeps_menus && is_menu(name, attributes))
            }
            Content::Text(_) => false,
        })
        .collect();
    document.take_out(&is_out);
}

/// Tells whether an element is left out whatever else the page says.
pub(super) fn is_left_out(name: &str, attributes: &[(Box<str>, Box<str>)]) -> bool {
    is_never_read(name)
        || is_menu(name, attributes)
        || is_hidden(name, attributes, &Sheet::default())
}

fn is_never_read(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "svg"
            | "math"
            | "head"
            | "title"
            | "iframe"
            | "object"
            | "embed"
            | "canvas"
            | "link"
            | "meta"
            | "base"
            | "input"
            | "select"
            | "textarea"
            | "button"
            | "map"
            | "audio"
            | "video"
            | "noframes"
            | "noembed"
    )
}

fn is_menu(name: &str, attributes: &[(Box<str>, Box<str>)]) -> bool {
    let is_role =
        |(key, value): &(Box<str>, Box<str>)| &**key == "role" && &**value == "navigation";
    name == "nav" || attributes.iter().any(is_role)
}
