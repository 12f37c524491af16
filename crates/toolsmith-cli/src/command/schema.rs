//! `toolsmith schema`: the JSON Schemas of the files people write.
//!
//! It needs no configuration: whoever asks is about to write one.

use std::path::Path;

use serde_json::{Value, json};
use toolsmith_manager::schemas::{self, FileSchema};

use crate::failure::Failure;
use crate::print;

pub(crate) fn run(file: Option<&str>, as_json: bool) -> Result<u8, Failure> {
    let Some(file) = file else {
        list(as_json)?;
        return Ok(0);
    };
    let sort = schemas::named(file).or_else(|| schemas::of_file(Path::new(file)));
    let schema = (sort.ok_or_else(|| unknown(file))?.schema)();
    if as_json {
        print::json(&schema)?;
    } else {
        // Readable in a file too, which is where most of them end up.
        print::line(&format!("{schema:#}"))?;
    }
    Ok(0)
}

fn list(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let row = |sort: &FileSchema| json!({ "name": sort.name, "files": sort.files });
        let rows: Vec<Value> = schemas::all().iter().map(row).collect();
        return Ok(print::json(&rows)?);
    }
    let width = schemas::all().iter().map(|sort| sort.name.len()).max();
    let width = width.unwrap_or_default();
    let row = |sort: &FileSchema| format!("{:width$}  {}", sort.name, sort.files);
    let rows: Vec<String> = schemas::all().iter().map(row).collect();
    Ok(print::line(&rows.join("\n"))?)
}

fn unknown(file: &str) -> Failure {
    let names: Vec<&str> = schemas::all().iter().map(|sort| sort.name).collect();
    Failure::usage(format!(
        "{file:?} is no file that a schema is known for; name it by where it will lie, such as \
         agents/writer.yaml, or by one of {}",
        names.join(", ")
    ))
}
