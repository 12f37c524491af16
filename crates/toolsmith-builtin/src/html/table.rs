//! Tables as GitHub writes them, where they are tables and no layout.

use super::markdown::Writer;
use super::rules::block;
use super::tree::{Document, Id};

/// How many columns a cell takes at most.
const WIDEST: usize = 50;

/// By node, whether it is a table of data: of at least two columns, without a table in it.
pub(super) fn data_tables(document: &Document) -> Vec<bool> {
    let mut is_data = vec![false; document.nodes.len()];
    for id in document.ids() {
        if document.name(id) == "tr" && cells(document, id).count() >= 2 {
            if let Some(table) = table_of(document, id) {
                is_data[table as usize] = true;
            }
        }
    }
    for id in document.ids().filter(|id| document.name(*id) == "table") {
        let mut above = document.parent(id);
        // Depth is bounded where the tree is built.
        while above != 0 {
            if document.name(above) == "table" {
                is_data[above as usize] = false;
            }
            above = document.parent(above);
        }
        if document.attribute(id, "role") == Some("presentation") {
            is_data[id as usize] = false;
        }
    }
    is_data
}

/// Writes a cell, a row or a table.
pub(super) fn element(writer: &Writer<'_>, id: Id, content: String) -> String {
    let document = writer.document;
    let name = document.name(id);
    let table = match name {
        "table" => Some(id),
        "tr" => table_of(document, id),
        _ => table_of(document, document.parent(id)),
    };
    if !table.is_some_and(|table| writer.tables[table as usize]) {
        return block(&content);
    }
    match name {
        "td" | "th" => cell(writer, id, &content),
        "tr" => row(writer, id, &content),
        _ => block(content.trim_matches('\n')),
    }
}

fn cell(writer: &Writer<'_>, id: Id, content: &str) -> String {
    let words: Vec<&str> = content.split_whitespace().collect();
    let content = words.join(" ").replace('|', "\\|");
    let before = match writer.element_number(id) {
        0 => "| ",
        _ => " ",
    };
    let more = " |".repeat(width(writer.document, id) - 1);
    format!("{before}{content} |{more}")
}

fn row(writer: &Writer<'_>, id: Id, content: &str) -> String {
    let document = writer.document;
    let content = content.trim_matches('\n');
    if !is_first_row(document, id) {
        return format!("\n{content}\n");
    }
    let columns: usize = cells(document, id).map(|cell| width(document, cell)).sum();
    let line = " --- |".repeat(columns.min(WIDEST));
    format!("\n\n{content}\n|{line}\n")
}

/// How many columns a cell takes.
fn width(document: &Document, id: Id) -> usize {
    let width = document.attribute(id, "colspan");
    let width = width.and_then(|width| width.trim().parse().ok());
    width.unwrap_or(1).clamp(1, WIDEST)
}

fn cells(document: &Document, row: Id) -> impl Iterator<Item = Id> {
    let children = document.children(row).iter().copied();
    children.filter(|child| matches!(document.name(*child), "td" | "th"))
}

/// The table a row is in, directly or in a part of it.
fn table_of(document: &Document, row: Id) -> Option<Id> {
    if document.name(row) != "tr" {
        return None;
    }
    let above = document.parent(row);
    let table = match document.name(above) {
        "thead" | "tbody" | "tfoot" => document.parent(above),
        _ => above,
    };
    (document.name(table) == "table").then_some(table)
}

/// Whether no row of its table comes before it.
fn is_first_row(document: &Document, row: Id) -> bool {
    let is_first = |id: Id| {
        let siblings = document.children(document.parent(id)).iter().copied();
        let mut before = siblings.take_while(|each| *each != id);
        !before.any(|each| matches!(document.name(each), "tr" | "thead" | "tbody" | "tfoot"))
    };
    let above = document.parent(row);
    match document.name(above) {
        "table" => is_first(row),
        _ => is_first(row) && is_first(above),
    }
}
