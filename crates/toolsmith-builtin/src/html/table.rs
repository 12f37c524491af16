//! Tables as GitHub writes them, where they are tables and no layout.

use super::markdown::Writer;
use super::rules::block;
use super::tree::{Document, Id};

/// How many columns a cell takes at most.
const WIDEST: usize = 50;

/// By node, the first row of a table of data: one of at least two columns, without a
/// table in it.
pub(super) fn data_tables(document: &Document) -> Vec<Option<Id>> {
    let mut first_row = vec![None; document.nodes.len()];
    let mut is_data = vec![false; document.nodes.len()];
    for id in document.ids().filter(|id| document.name(*id) == "tr") {
        if let Some(table) = table_of(document, id) {
            first_row[table as usize].get_or_insert(id);
            is_data[table as usize] |= cells(document, id).nth(1).is_some();
        }
    }
    for id in document.ids().filter(|id| document.name(*id) == "table") {
        let mut above = document.parent(id);
        // Depth is bounded where the tree is built.
        while above != 0 {
            is_data[above as usize] = false;
            above = document.parent(above);
        }
        is_data[id as usize] &= document.attribute(id, "role") != Some("presentation");
    }
    let rows = first_row.into_iter().zip(is_data);
    rows.map(|(row, is_data)| row.filter(|_| is_data)).collect()
}

/// Writes a cell, a row, a part of a table or a table.
pub(super) fn element(writer: &Writer<'_>, id: Id, content: &str) -> String {
    let document = writer.document;
    let name = document.name(id);
    let table = match name {
        "table" => Some(id),
        "thead" | "tbody" | "tfoot" => Some(document.parent(id)),
        "tr" => table_of(document, id),
        _ => table_of(document, document.parent(id)),
    };
    let first_row = table.and_then(|table| writer.tables[table as usize]);
    let Some(first_row) = first_row else {
        return block(content);
    };
    match name {
        "td" | "th" => cell(writer, id, content),
        "tr" => row(writer, id, content, first_row),
        // Its rows follow those of the part before.
        "thead" | "tbody" | "tfoot" => format!("\n{}\n", content.trim_matches('\n')),
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

fn row(writer: &Writer<'_>, id: Id, content: &str, first_row: Id) -> String {
    let document = writer.document;
    let content = content.trim_matches('\n');
    if id != first_row {
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
