//! Qwen3-coder: `<function=…>` with `<parameter=…>` inside; Llama's `<function=…>` around
//! JSON is read too.

use serde_json::Value;

use super::TextFormat;
use super::calls::{Block, TextCall};
use super::hermes;
use super::parameters::{self, Mark, Pairs};
use super::write::Written;
use crate::arguments::{self, Read};

pub(super) fn read(block: &Block<'_>) -> Option<Vec<TextCall>> {
    // With a tag around it the function stands in the body, without one it is the opener.
    let mut rest = match block.opener.strip_prefix("<function=") {
        Some(_) => (block.opener, block.body),
        None => split_function(block.body)?,
    };
    let mut calls = Vec::new();
    loop {
        let (opener, body) = rest;
        let name = opener
            .strip_prefix("<function=")
            .and_then(|name| name.strip_suffix('>'));
        let Some(name) = name.map(parameters::read_name) else {
            calls.push(TextCall::new(TextFormat::QwenCoder, "", Read::cut_off()));
            return Some(calls);
        };
        let (call, next) = one(block, &name, body);
        calls.push(call);
        let next = next.strip_prefix("</function>").unwrap_or(next);
        let function = split_function(next);
        // Text behind a function may be that of a value which ended too early.
        let gap = function.map_or(next, |(opener, body)| {
            &next[..next.len() - opener.len() - body.len()]
        });
        if !gap.trim().is_empty() {
            return Some(calls.into_iter().map(TextCall::doubt).collect());
        }
        match function {
            Some(function) => rest = function,
            None => return Some(calls),
        }
    }
}

/// The opener of the next function, and what follows it.
fn split_function(text: &str) -> Option<(&str, &str)> {
    let text = &text[text.find("<function=")?..];
    let end = text.find('>').map_or(text.len(), |end| end + 1);
    Some(text.split_at(end))
}

/// Reads one function, and returns what follows it.
fn one<'b>(block: &Block<'_>, name: &str, body: &'b str) -> (TextCall, &'b str) {
    if body.trim_start().starts_with('{') {
        let (json, next) = match body.rfind("</function>") {
            Some(end) => (&body[..end], &body[end..]),
            None => (body, ""),
        };
        let read = match arguments::read(json.trim()) {
            Read {
                complete: false, ..
            } => Read::cut_off(),
            read => read,
        };
        return (TextCall::new(TextFormat::Llama3, name, read), next);
    }
    let mut pairs = Pairs::new(block, name);
    let mut opens = Mark::new(body, "<parameter=");
    let mut closes = Mark::new(body, "</parameter>");
    let mut ends = Mark::new(body, "</function>");
    let mut at = 0;
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
    (call, &body[next..])
}

pub(super) fn write(calls: &[Written<'_>]) -> String {
    let blocks: Vec<String> = calls.iter().map(block).collect();
    blocks.join("\n")
}

fn block(call: &Written<'_>) -> String {
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
