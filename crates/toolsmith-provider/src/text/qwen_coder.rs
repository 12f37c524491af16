//! Qwen3-coder: `<function=…>` with `<parameter=…>` inside; Llama's `<function=…>` around
//! JSON is read too.

use serde_json::Value;

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::hermes;
use super::openers::Kind;
use super::parameters::{self, Mark, Pairs};
use super::scan::{Found, Scan};
use super::write::Written;
use crate::arguments::{self, Read};

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    // With a tag around it the function stands in the body, without one it is the opener.
    let mut function = match block.opener.starts_with(FUNCTION) {
        true => (block.opener, 0),
        false => next_function(block.body, 0)?,
    };
    let mut marks = Marks::new(block.body);
    let mut calls = Vec::new();
    loop {
        let (opener, from) = function;
        let name = opener
            .strip_prefix(FUNCTION)
            .and_then(|name| name.strip_suffix('>'));
        let Some(name) = name.map(parameters::read_name) else {
            calls.push(TextCall::new(TextFormat::QwenCoder, "", Read::cut_off()));
            return Some(calls);
        };
        let (call, mut next) = one(block, &name, from, &mut marks);
        calls.push(call);
        if block.body[next..].starts_with(END) {
            next += END.len();
        }
        let following = next_function(block.body, next);
        // Text behind a function may be that of a value which ended too early.
        let gap = following.map_or(block.body.len(), |(opener, behind)| behind - opener.len());
        if !block.body[next..gap].trim().is_empty() {
            return Some(calls.into_iter().map(TextCall::doubt).collect());
        }
        match following {
            Some(following) => function = following,
            None => return Some(calls),
        }
    }
}

const FUNCTION: &str = "<function=";
const END: &str = "</function>";

/// The opener of the next function, and where it ends.
fn next_function(text: &str, from: usize) -> Option<(&str, usize)> {
    let begin = from + text[from..].find(FUNCTION)?;
    let end = text[begin..].find('>');
    let end = end.map_or(text.len(), |end| begin + end + 1);
    Some((&text[begin..end], end))
}

/// The marks within all functions of a block.
struct Marks<'t> {
    opens: Mark<'t>,
    closes: Mark<'t>,
    ends: Mark<'t>,
}

impl<'t> Marks<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            opens: Mark::new(text, "<parameter="),
            closes: Mark::new(text, "</parameter>"),
            ends: Mark::new(text, END),
        }
    }
}

/// Reads the function whose opener ends at a place, and returns where it ends itself.
fn one(block: &Block<'_>, name: &str, from: usize, marks: &mut Marks<'_>) -> (TextCall, usize) {
    let body = block.body;
    if body[from..].trim_start().starts_with('{') {
        return json(body, name, from);
    }
    let mut pairs = Pairs::new(block, name);
    let Marks {
        opens,
        closes,
        ends,
    } = marks;
    let mut at = from;
    let mut complete = block.closed;
    let next = loop {
        let end = ends.next(at);
        let Some(open) = opens
            .next(at)
            .filter(|&open| end.is_none_or(|end| open < end))
        else {
            complete |= end.is_some();
            let end = end.unwrap_or(body.len());
            if complete {
                pairs.gap(&body[at..end]);
            }
            break end;
        };
        pairs.gap(&body[at..open]);
        let key = open + opens.length();
        let Some(length) = body[key..].find('>') else {
            complete = false;
            break body.len();
        };
        let value = key + length + 1;
        // A closing tag that was forgotten is where the next thing begins.
        let close = closes.next(value);
        let begins = [opens.next(value), ends.next(value)]
            .into_iter()
            .flatten()
            .min();
        let Some(stop) = close.or(begins) else {
            complete = false;
            break body.len();
        };
        pairs.add(&body[key..value - 1], &body[value..stop]);
        at = if close.is_some() {
            stop + closes.length()
        } else {
            stop
        };
    };
    let call = TextCall::new(TextFormat::QwenCoder, name, pairs.read(complete));
    (call, next)
}

/// Reads a function that is JSON: it ends at the first mark that stands in no string.
fn json(body: &str, name: &str, from: usize) -> (TextCall, usize) {
    let end = match Scan::new(Kind::Function, 0, false).run(&body[from..], Kind::Function, true) {
        Found::End(end) => from + end.body,
        _ => body.len(),
    };
    let read = match arguments::read(body[from..end].trim()) {
        Read {
            complete: false, ..
        } => Read::cut_off(),
        read => read,
    };
    (TextCall::new(TextFormat::Llama3, name, read), end)
}

pub(super) fn block(call: &Written<'_>) -> String {
    let (name, arguments, _) = call;
    let Value::Object(fields) = arguments else {
        return hermes::block(call);
    };
    let mut text = format!("<tool_call>\n<function={}>\n", parameters::write_name(name));
    for (key, value) in fields {
        let key = parameters::write_name(key);
        let value = parameters::write(value);
        text.push_str(&format!("<parameter={key}>\n{value}\n</parameter>\n"));
    }
    text.push_str("</function>\n</tool_call>");
    text
}
