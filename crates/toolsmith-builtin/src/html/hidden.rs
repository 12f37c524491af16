//! What a page hides from people: by an attribute, a style of the element's own, or a plain
//! rule of the page's own style sheet. What hides must not speak to a model either.
//!
//! This recognises forms and lays nothing out: text that is covered, or as pale as what is
//! behind it, is not found. A declaration that hides counts even where a later one would
//! win, because which one a browser takes depends on what it understands.

use std::collections::{HashMap, HashSet};

/// The attributes of an element.
type Attributes = [(Box<str>, Box<str>)];

/// How much of a page's style sheets is read, and how many names are kept of them.
const MOST_SHEET: usize = 512 << 10;
const MOST_NAMES: usize = 5_000;

/// Text smaller than this many pixels is not read by anybody.
const TINY: f32 = 2.0;

/// So far out, in pixels, nothing is seen; a page may be long to the right and below.
const OUTSIDE: f32 = 999.0;
const FAR_OUTSIDE: f32 = 9999.0;

/// The classes and identifiers that the page's own style sheets hide.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    hidden: HashSet<String>,
    /// By one of its names, selectors of several names that show what they fit.
    shown: HashMap<String, Vec<Vec<String>>>,
}

impl Sheet {
    /// Reads the rules for a single class or identifier; blocks such as `@media` are passed
    /// over, because where they hold is not known.
    pub(super) fn add(&mut self, text: &str) {
        let text = without_comments(&text[..text.floor_char_boundary(MOST_SHEET)]);
        let mut rest = text.as_str();
        while let Some((selectors, after)) = rest.split_once('{') {
            let selectors = selectors.rsplit([';', '}']).next().unwrap_or_default();
            let is_block = selectors.trim_start().starts_with('@');
            let end = if is_block {
                end_of_block(after)
            } else {
                after.find('}').unwrap_or(after.len())
            };
            if !is_block {
                self.rule(selectors, &after[..end]);
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, selectors: &str, style: &str) {
        let is_hiding = hides(style);
        let is_showing = || style.to_ascii_lowercase().contains("display");
        if !is_hiding && !is_showing() {
            return;
        }
        for selector in selectors.split(',') {
            let Some(names) = names(selector.trim()) else {
                continue;
            };
            if self.hidden.len() + self.shown.len() >= MOST_NAMES {
                return;
            }
            match (is_hiding, &names[..]) {
                (true, [name]) => _ = self.hidden.insert(name.clone()),
                (false, [first, _, ..]) => {
                    let known = self.shown.entry(first.clone()).or_default();
                    if known.len() < 20 {
                        known.push(names);
                    }
                }
                _ => {}
            }
        }
    }

    fn hides(&self, attributes: &Attributes) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let class = attribute(attributes, "class").unwrap_or_default();
        let id = attribute(attributes, "id").map(|id| format!("#{id}"));
        let classes = class.split_whitespace();
        let own: HashSet<String> = classes.map(|name| format!(".{name}")).chain(id).collect();
        let shows = |names: &Vec<String>| names.iter().all(|name| own.contains(name));
        own.iter().any(|name| self.hidden.contains(name))
            && !own
                .iter()
                .filter_map(|name| self.shown.get(name))
                .any(|known| known.iter().any(shows))
    }
}

/// Tells whether an element is hidden.
pub(super) fn is_hidden(name: &str, attributes: &Attributes, sheet: &Sheet) -> bool {
    let has = |name: &str| attribute(attributes, name).is_some();
    let is_closed = name == "dialog" && !has("open");
    let is_silent = attribute(attributes, "aria-hidden")
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    has("hidden")
        || is_closed
        || is_silent
        || attribute(attributes, "style").is_some_and(hides)
        || sheet.hides(attributes)
}

fn attribute<'a>(attributes: &'a Attributes, wanted: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|(name, _)| **name == *wanted);
    found.map(|(_, value)| &**value)
}

/// The names of a selector of classes and identifiers; none where it is made of more.
fn names(selector: &str) -> Option<Vec<String>> {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '#') || !c.is_ascii();
    if !selector.starts_with(['.', '#']) || !selector.chars().all(is_plain) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for letter in selector.chars() {
        match names.last_mut() {
            Some(name) if !matches!(letter, '.' | '#') => name.push(letter),
            _ => names.push(letter.to_string()),
        }
    }
    (names.len() <= 5).then_some(names)
}

/// Where a block ends that holds others.
fn end_of_block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Tells whether declarations hide what they are for.
fn hides(style: &str) -> bool {
    let declarations: Vec<(String, String)> = without_comments(style)
        .split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(property, value)| {
            let value = plain(value);
            let value = value.split('!').next().unwrap_or_default().trim();
            (plain(property), value.to_owned())
        })
        .collect();
    let has = |property: &str, fits: fn(&str) -> bool| {
        let mut found = declarations.iter().filter(|(name, _)| name == property);
        found.any(|(_, value)| fits(value))
    };
    let is_small = |value: &str| length(value).is_some_and(|length| length <= 1.0);
    let is_box = ["width", "height", "max-width", "max-height"];
    let is_nothing = is_box.iter().any(|property| has(property, is_small));
    let cuts = |value: &str| value.contains("hidden") || value.contains("clip");
    if is_nothing
        && ["overflow", "overflow-x", "overflow-y"]
            .iter()
            .any(|it| has(it, cuts))
    {
        return true;
    }
    // Letters that show the picture behind them are transparent, and seen.
    let is_picture = ["background-clip", "-webkit-background-clip"];
    let is_picture = is_picture.iter().any(|it| has(it, |value| value == "text"));
    declarations
        .iter()
        .any(|(property, value)| match property.as_str() {
            "color" | "-webkit-text-fill-color" => !is_picture && is_transparent(value),
            property => hides_by(property, value),
        })
}

fn hides_by(property: &str, value: &str) -> bool {
    let size = || length(value);
    match property {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" => number(value).is_some_and(|share| share <= 0.01),
        "font-size" => size().is_some_and(|size| size < TINY),
        "font" => {
            let sizes = value.split_whitespace();
            let sizes = sizes.filter_map(|part| length(part.split('/').next()?));
            sizes.into_iter().any(|size| size < TINY)
        }
        "text-indent" => size().is_some_and(|size| size.abs() >= OUTSIDE),
        "left" | "top" | "right" | "bottom" | "margin-left" | "margin-top" => {
            size().is_some_and(|size| size <= -OUTSIDE || size >= FAR_OUTSIDE)
        }
        "scale" => value.split_whitespace().any(is_no_share),
        "transform" => called(value).any(|(name, parts)| {
            let far = |part: &&str| length(part).is_some_and(|size| size.abs() >= OUTSIDE);
            match name.strip_prefix("scale") {
                Some(_) => parts.iter().any(|part| is_no_share(part)),
                None => name.starts_with("translate") && parts.iter().any(far),
            }
        }),
        "filter" => called(value)
            .any(|(name, parts)| name == "opacity" && parts.iter().any(|part| is_no_share(part))),
        "clip" => called(value).any(|(name, parts)| {
            let sides: Vec<f32> = parts.iter().filter_map(|part| length(part)).collect();
            match (name, &sides[..]) {
                ("rect", [top, right, bottom, left]) => right - left <= 1.0 || bottom - top <= 1.0,
                _ => false,
            }
        }),
        "clip-path" => called(value).any(|(name, parts)| match name {
            "inset" => parts.first().is_some_and(|part| {
                part.strip_suffix('%').and_then(|part| part.parse().ok()) >= Some(50.0_f32)
            }),
            "circle" | "ellipse" | "polygon" => {
                let shape = parts.iter().take_while(|part| **part != "at");
                let mut sizes = shape.filter_map(|part| length(part)).peekable();
                sizes.peek().is_some() && sizes.all(|size| size.abs() <= 1.0)
            }
            _ => false,
        }),
        _ => false,
    }
}

fn is_transparent(value: &str) -> bool {
    if value == "transparent" {
        return true;
    }
    if let Some(digits) = value.strip_prefix('#') {
        return match digits.len() {
            4 => digits.ends_with('0'),
            8 => digits.ends_with("00"),
            _ => false,
        };
    }
    called(value).any(|(name, parts)| {
        let is_color = matches!(name, "rgb" | "rgba" | "hsl" | "hsla");
        is_color && parts.len() == 4 && parts.last().is_some_and(|part| is_no_share(part))
    })
}

/// Calls such as `scale(0, 1)`, with the parts between their brackets.
fn called(value: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    value.split(')').filter_map(|call| {
        let (name, inside) = call.split_once('(')?;
        let parts = inside.split(|c: char| matches!(c, ',' | '/') || c.is_whitespace());
        Some((name.trim(), parts.filter(|part| !part.is_empty()).collect()))
    })
}

/// Whether a number or a share of a hundred is nearly nothing, or less.
fn is_no_share(value: &str) -> bool {
    number(value).is_some_and(|share| share.abs() <= 0.01)
}

/// A number, or a share of a hundred as one.
fn number(value: &str) -> Option<f32> {
    match value.strip_suffix('%') {
        Some(share) => share.trim().parse::<f32>().ok().map(|share| share / 100.0),
        None => value.parse().ok(),
    }
}

/// A length in pixels, roughly: what depends on the page is taken as on a usual one.
fn length(value: &str) -> Option<f32> {
    let end = value
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(value.len());
    let amount: f32 = value[..end].parse().ok()?;
    let unit = match &value[end..] {
        "" | "px" => 1.0,
        "pt" => 1.33,
        "em" | "rem" | "ch" | "ex" | "lh" | "pc" => 16.0,
        "%" | "vw" | "vh" | "vmin" | "vmax" => 10.0,
        "cm" | "in" => 40.0,
        "mm" => 4.0,
        _ => return None,
    };
    Some(amount * unit)
}

/// A name or value in lower case, its escapes decoded.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        let mut code = String::new();
        while code.len() < 6
            && let Some(digit) = letters.next_if(char::is_ascii_hexdigit)
        {
            code.push(digit);
        }
        if code.is_empty() {
            plain.extend(letters.next());
            continue;
        }
        // One blank after the digits belongs to them.
        letters.next_if(|c| c.is_whitespace());
        let code = u32::from_str_radix(&code, 16).ok();
        plain.extend(code.and_then(char::from_u32));
    }
    plain.trim().to_ascii_lowercase()
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide() {
        for style in [
            "display:none",
            "DISPLAY : None !important",
            "dis/**/play:/* x */none",
            "d\\69splay:n\\6f ne",
            "color:red;visibility:collapse",
            "opacity:0.005",
            "opacity:-1",
            "opacity:0%",
            "font-size:1px",
            "font-size:0.05em",
            "font:0/0 a",
            "position:absolute;left:-9999px",
            "text-indent:-999em",
            "text-indent:2000px",
            "margin-left:-100vw",
            "width:1px;height:1px;overflow:hidden",
            "max-height:0;overflow-y:clip",
            "clip:rect(0 0 0 0)",
            "clip:rect(1px,1px,1px,1px)",
            "clip-path:inset(50%)",
            "clip-path:circle(0)",
            "clip-path:polygon(0 0, 0 0, 0 0)",
            "color:transparent",
            "color:rgba(0,0,0,0)",
            "color:rgb(0 0 0 / 0%)",
            "color:#0000",
            "content-visibility:hidden",
            "transform:rotate(3deg) scale(0)",
            "transform:translateX(-9999px)",
            "scale:0",
            "filter:opacity(0)",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display:block",
            "opacity:0.5",
            "font-size:12px",
            "font:12px/1.5 serif",
            "left:-20px;top:1500px",
            "text-indent:2em",
            "width:0",
            "overflow:hidden;width:100px",
            "clip:auto",
            "clip:rect(0,100px,100px,0)",
            "clip-path:circle(50% at 0 0)",
            "color:#000",
            "color:rgba(0,0,0,0.8)",
            "color:transparent;background-clip:text",
            "transform:scale(1.05)",
            "content:'/* display:none'",
        ] {
            assert!(!hides(style), "{style}");
        }
    }

    #[test]
    fn rules_that_hide() {
        let mut sheet = Sheet::default();
        sheet.add(
            "@import 'x'; .a, .b > p, #c { display:none } /* .d{display:none} */ \
             @media print { .e { display:none } } .f{color:red} .tab{display:none} \
             .tab.on{display:block} p.g{display:none} .h{visibility:hidden",
        );
        let fits = |class: &str, id: &str| {
            let attributes = [("class".into(), class.into()), ("id".into(), id.into())];
            sheet.hides(&attributes)
        };
        for (class, id, is_hidden) in [
            ("x a", "", true),
            ("", "c", true),
            ("h", "", true),
            ("tab", "", true),
            ("tab on", "", false),
            ("b", "", false),
            ("d", "", false),
            ("e", "", false),
            ("f", "", false),
            ("g", "", false),
            ("", "", false),
        ] {
            assert_eq!(fits(class, id), is_hidden, "{class} {id}");
        }
    }
}
