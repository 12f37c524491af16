//! Doc comments as text.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among some attributes, as an expression: a
/// literal, or a concatenation where a comment is itself a macro call such as
/// `include_str!`. None where there is no comment.
pub(crate) fn text(attributes: &[Attribute]) -> Option<TokenStream> {
    let mut parts: Vec<TokenStream> = Vec::new();
    let mut lines = String::new();
    let mut any = false;
    for attribute in attributes {
        let Meta::NameValue(meta) = &attribute.meta else {
            continue;
        };
        if !meta.path.is_ident("doc") {
            continue;
        }
        any = true;
        if let Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) = &meta.value
        {
            lines.push_str(&unindented(&literal.value()));
            lines.push('\n');
        } else {
            let value = &meta.value;
            parts.push(quote!(#lines, #value, "\n"));
            lines.clear();
        }
    }
    if !any {
        return None;
    }
    if parts.is_empty() {
        let text = lines.trim();
        return Some(quote!(#text));
    }
    Some(quote!(::core::concat!(#(#parts,)* #lines)))
}

/// Takes off the space after `///`. A comment of many lines in one attribute
/// (`/** … */`) loses the indentation its lines share.
fn unindented(text: &str) -> String {
    let indent = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let indent = if text.contains('\n') {
        indent
    } else {
        indent.min(1)
    };
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.get(indent..).unwrap_or("").trim_end())
        .collect();
    lines.join("\n")
}
