//! Takes out what nobody reads: programs, styles, menus, and what is hidden.
//!
//! What a page hides from people must not speak to a model either.

use super::tree::{Document, Id};

/// Takes out what is not shown. `keeps_menus` tells whether navigation stays.
pub(crate) fn prune(document: &mut Document, keeps_menus: bool) {
    let is_out: Vec<bool> = (document.ids())
        .map(|id| {
            is_never_read(document.name(id))
                || is_hidden(document, id)
                || (!keeps_menus && is_menu(document, id))
        })
        .collect();
    document.take_out(&is_out);
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

fn is_menu(document: &Document, id: Id) -> bool {
    document.name(id) == "nav" || document.attribute(id, "role") == Some("navigation")
}

fn is_hidden(document: &Document, id: Id) -> bool {
    if document.attribute(id, "hidden").is_some()
        || document
            .attribute(id, "aria-hidden")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    {
        return true;
    }
    let Some(style) = document.attribute(id, "style") else {
        return false;
    };
    // Long ones are pictures; what hides stands in short ones.
    let style: String = style
        .chars()
        .take(2000)
        .filter(|c| !c.is_whitespace())
        .collect();
    let style = style.to_ascii_lowercase();
    style.split(';').any(|rule| {
        let Some((property, value)) = rule.split_once(':') else {
            return false;
        };
        let value = value.trim_end_matches("!important");
        let is_nothing = || {
            value
                .trim_end_matches(|c: char| c.is_alphabetic() || c == '%')
                .parse()
                == Ok(0.0_f32)
        };
        match property {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" | "font-size" => is_nothing(),
            _ => false,
        }
    })
}
