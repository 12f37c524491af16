//! `toolsmith import`: the operations of an OpenAPI document as tools of the project.
//!
//! The document is got by [`source`]; what becomes of it is settled in `toolsmith-rest`.
//! Here the file is tried and written, and what was left out is told.

mod source;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use toolsmith_core::reference::Template;
use toolsmith_manager::NATIVE_FOLDER;
use toolsmith_manager::yaml::{self, MAX_BYTES, MAX_LARGE_BYTES};
use toolsmith_rest::form::{Entry, Placed};
use toolsmith_rest::openapi::{self, Filter, Imported, LeftOut, Options, ReadLimits};

use super::project::{self, free, most, place, schema_line, shown, warn};
use super::trial::Trial;
use super::user_file::Privacy;
use crate::cli::{Cli, Import, ImportOpenApi};
use crate::failure::Failure;
use crate::print;

/// The sort of file, as schemas are called.
const SORT: &str = "native";
/// What can be done about too much.
const FEWER: &str = "choose fewer operations with --tag, --path, --method or their --exclude- \
                     counterparts";

pub(crate) async fn run(cli: &Cli, import: &Import, tools: &Handle) -> Result<u8, Failure> {
    let Import::OpenApi(options) = import;
    let source = source::get(&options.document).await?;
    let told = |error: openapi::OpenApiError| {
        let document = print::visible(&source.shown);
        Failure::usage(format!("{document}: {error}"))
    };
    let document = openapi::read(&source.bytes, &ReadLimits::default()).map_err(told)?;
    let imported = openapi::import(&document, &wanted(options, source.base.clone()));
    let mut imported = imported.map_err(told)?;
    drop(document);
    locate(&mut imported);
    tell_left_out(cli, &imported.left_out);
    for note in &imported.notes {
        print::note(note);
    }
    if imported.entry.tools.is_empty() {
        print::error(&match imported.left_out.len() {
            0 => format!("{}: it has no operations", source.shown),
            left => format!("{}: none of its {left} operations is a tool", source.shown),
        });
        if cli.json {
            print::json(&report(None, &imported))?;
        }
        return Ok(1);
    }
    let path = write(cli, options, &source, &imported, tools)?;
    let path = shown(&path);
    if cli.json {
        print::json(&report(Some(&path), &imported))?;
    } else {
        let count = imported.entry.tools.len();
        let noun = if count == 1 { "tool" } else { "tools" };
        print::line(&format!("{path}: {count} {noun}"))?;
    }
    print::note(match options.dry_run {
        true => "Nothing was written: leave --dry-run out for that.",
        false => "Next: `toolsmith tools --source rest` lists them.",
    });
    Ok(0)
}

/// A document that does not say where its API is leaves that to the environment, as it
/// does with secrets: a tool that is called tells which variable is missing.
fn locate(imported: &mut Imported) {
    let is_located = |tool: &Placed<Entry>| tool.value.api_url.is_some();
    let entry = &mut imported.entry;
    if entry.api_url.is_some() || entry.tools.is_empty() || entry.tools.iter().all(is_located) {
        return;
    }
    let name = entry.name.as_ref().map_or("api", |name| &name.value);
    let letters = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    });
    let mut variable: String = letters.collect();
    if variable.starts_with(|c: char| c.is_ascii_digit()) {
        variable.insert(0, '_');
    }
    variable.push_str("_URL");
    let Ok(url) = format!("${{env:{variable}}}").parse::<Template>() else {
        return;
    };
    entry.api_url = Some(Placed::nowhere(url));
    imported.notes.push(format!(
        "set {variable} to the address of the API, or give it with --api-url"
    ));
}

/// Writes the file, unless only a try is wanted; gives its path.
fn write(
    cli: &Cli,
    options: &ImportOpenApi,
    source: &source::Source,
    imported: &Imported,
    tools: &Handle,
) -> Result<PathBuf, Failure> {
    let trial = Trial::begin(cli, tools)?;
    let root = trial.root();
    let named = imported.entry.name.as_ref().map(|name| name.value.as_str());
    let name = options.name.as_deref().or(named).unwrap_or("api");
    let path = match &options.out {
        Some(out) if out.as_os_str() == "-" => {
            return Err(Failure::usage("--out takes the name of a file"));
        }
        Some(out) => out.clone(),
        None => place(root, NATIVE_FOLDER, name),
    };
    // A try may be about what is there, and tells that it is.
    let file = free(&path, options.force || options.dry_run)?;
    if options.dry_run && file.is_there() && !options.force {
        let path = shown(&path);
        print::note(&format!(
            "{path} is there already, and replaced with --force only."
        ));
    }
    let header = format!(
        "{}\nMade of {} by `toolsmith import openapi`.",
        schema_line(root, &path, SORT)?.trim_start_matches("# "),
        print::visible(&source.told),
    );
    let text = openapi::to_yaml(imported, &header);
    let text = text.map_err(|error| Failure::usage(error.to_string()))?;
    if text.len() > MAX_LARGE_BYTES {
        return Err(Failure::usage(format!(
            "the file would have {} bytes, and {MAX_LARGE_BYTES} are read",
            text.len()
        ))
        .with_advice(FEWER));
    }
    let warnings = match is_loaded(root, &path) {
        true => {
            let tried = trial.with(&in_project(root, &path), &text);
            // A large file may have too much in it to be read.
            tried.map_err(|failure| match text.len() > MAX_BYTES {
                true => failure.with_advice(FEWER),
                false => failure,
            })?
        }
        false => {
            // Elsewhere it is no tool yet, but must be able to be one.
            let read = yaml::read_large::<Entry>(&shown(&path), text.as_bytes());
            read.map_err(|error| Failure::usage(format!("nothing was written: {error}")))?;
            Vec::new()
        }
    };
    warn(cli, &warnings);
    if options.dry_run {
        return Ok(path);
    }
    let written = project::write(root, SORT, file, &text, Privacy::AsUsual)?;
    if let Some(backup) = &written.backup {
        print::note(&format!("What it was before is in {}.", shown(backup)));
    }
    Ok(path)
}

/// Tells whether a file lies where tools are looked for.
fn is_loaded(root: &Path, path: &Path) -> bool {
    let folder = std::path::absolute(root.join(NATIVE_FOLDER)).ok();
    let parent = std::path::absolute(path).ok();
    let parent = parent.as_deref().and_then(Path::parent);
    let is_yaml = path
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml");
    is_yaml && folder.is_some() && folder.as_deref() == parent
}

/// A file of the project, as it is called when it is loaded.
fn in_project(root: &Path, path: &Path) -> PathBuf {
    let folder = root.join(NATIVE_FOLDER);
    path.file_name()
        .map_or_else(|| path.to_owned(), |name| folder.join(name))
}

fn wanted(options: &ImportOpenApi, base: Option<String>) -> Options {
    let filter = |tags: &[String], paths: &[String], methods: &[_]| {
        let mut filter = Filter::default();
        filter.tags = tags.to_vec();
        filter.paths = paths.to_vec();
        filter.methods = methods.to_vec();
        filter
    };
    let mut wanted = Options::default();
    wanted.name.clone_from(&options.name);
    wanted.prefix = options.prefix.clone().unwrap_or_default();
    wanted.include = filter(&options.tag, &options.path, &options.method);
    wanted.exclude = filter(
        &options.exclude_tag,
        &options.exclude_path,
        &options.exclude_method,
    );
    wanted.api_url.clone_from(&options.api_url);
    wanted.base = base;
    wanted
}

fn tell_left_out(cli: &Cli, left_out: &[LeftOut]) {
    let most = most(cli, left_out.len());
    for left in &left_out[..most] {
        print::note(&format!("left out: {left}"));
    }
    if most < left_out.len() {
        let more = left_out.len() - most;
        print::note(&format!("left out: {more} more; -v names them"));
    }
}

fn report(file: Option<&str>, imported: &Imported) -> Value {
    let tools = imported.entry.tools.iter();
    let names = tools.filter_map(|tool| tool.value.name.as_ref());
    let names: Vec<&str> = names.map(|name| name.value.as_str()).collect();
    let left_out = imported.left_out.iter().map(|left| {
        json!({
            "method": left.method,
            "path": left.path,
            "operation_id": left.operation_id,
            "reason": left.reason,
        })
    });
    let left_out: Vec<Value> = left_out.collect();
    json!({ "file": file, "tools": names, "left_out": left_out, "notes": imported.notes })
}
