//! The files of a project, as far as this program writes them: where they lie, the schema
//! their first line names, and what is told of them.

use std::path::{Component, Path, PathBuf};

use serde_json::json;
use toolsmith_manager::schemas::{self, FileSchema};

use super::user_file::{Privacy, UserFile};
use crate::cli::Cli;
use crate::failure::Failure;
use crate::print;

/// The folder with the schemas, for editors.
const SCHEMAS: &str = ".toolsmith/schemas";
/// How many warnings are shown to who does not ask for more.
const SHOWN: usize = 20;

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) changed: bool,
    pub(crate) backup: Option<PathBuf>,
    pub(crate) warnings: Vec<String>,
}

/// Where the file of a name lies in a folder of the project.
pub(crate) fn place(root: &Path, folder: &str, name: &str) -> PathBuf {
    let folder = root.join(folder);
    let usual = folder.join(format!("{name}.yaml"));
    let other = folder.join(format!("{name}.yml"));
    // Two files of one name would be two of the same thing.
    match !usual.exists() && other.exists() {
        true => other,
        false => usual,
    }
}

/// Reads a file that is to be written, and refuses one that is there.
pub(crate) fn free(path: &Path, force: bool) -> Result<UserFile, Failure> {
    let file = UserFile::read(path)?;
    if file.is_there() && !force {
        let path = shown(path);
        return Err(Failure::usage(format!(
            "{path} is there already; --force replaces it and keeps a copy"
        )));
    }
    Ok(file)
}

/// The first line of a file, by which editors find its schema.
pub(crate) fn schema_line(root: &Path, file: &Path, sort: &str) -> Result<String, Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let path = relative(folder, &schema_path(root, sort))?;
    Ok(format!("# yaml-language-server: $schema={path}"))
}

/// Writes the schema of a sort of file, unless it is there.
pub(crate) fn write_schema(root: &Path, sort: &FileSchema) -> Result<SchemaFile, Failure> {
    let path = schema_path(root, sort.name);
    let file = UserFile::read(&path)?;
    let text = format!("{:#}\n", (sort.schema)());
    if file.is_there() {
        let is_same = file.text() == text;
        return Ok(match is_same {
            true => SchemaFile::Same,
            false => SchemaFile::Other(path),
        });
    }
    file.replace(&text, Privacy::AsUsual)?;
    Ok(SchemaFile::Written(path))
}

/// What became of a schema.
#[derive(Debug)]
pub(crate) enum SchemaFile {
    Written(PathBuf),
    Same,
    /// Something else stands in its place, and stays.
    Other(PathBuf),
}

/// Writes a file, and beside it the schema its first line names.
pub(crate) fn write(
    root: &Path,
    sort: &str,
    file: UserFile,
    text: &str,
    privacy: Privacy,
) -> Result<Written, Failure> {
    if let Some(sort) = schemas::named(sort) {
        write_schema(root, sort)?;
    }
    let backup = file.replace(text, privacy)?;
    Ok(Written {
        changed: true,
        backup,
        ..Written::default()
    })
}

/// Tells what became of a file: its path as data, the rest beside it.
pub(crate) fn tell(cli: &Cli, path: &Path, written: &Written, next: &str) -> Result<(), Failure> {
    let file = shown(path);
    warn(cli, &written.warnings);
    let backup = written.backup.as_deref().map(shown);
    if let Some(backup) = &backup {
        print::note(&format!("What it was before is in {backup}."));
    }
    if cli.json {
        let report = json!({
            "file": file,
            "changed": written.changed,
            "backup": backup,
            "warnings": written.warnings,
        });
        print::json(&report)?;
    } else {
        print::line(&file)?;
    }
    print::note(next);
    Ok(())
}

/// Tells warnings; all of them to who wants to know more.
pub(crate) fn warn(cli: &Cli, warnings: &[String]) {
    let most = most(cli, warnings.len());
    for warning in &warnings[..most] {
        print::warning(warning);
    }
    if most < warnings.len() {
        let more = warnings.len() - most;
        print::warning(&format!("and {more} more; see `toolsmith check`"));
    }
}

/// How many of so many are shown.
pub(crate) fn most(cli: &Cli, all: usize) -> usize {
    match cli.verbose {
        0 => all.min(SHOWN),
        _ => all,
    }
}

/// A path as it is told.
pub(crate) fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    print::visible(&path.display().to_string())
}

fn schema_path(root: &Path, sort: &str) -> PathBuf {
    root.join(SCHEMAS).join(format!("{sort}.json"))
}

/// The way from a folder to a file, as it is written in a file there.
fn relative(folder: &Path, file: &Path) -> Result<String, Failure> {
    let (folder, file) = (plain(folder)?, plain(file)?);
    let shared = folder
        .iter()
        .zip(&file)
        .take_while(|(one, other)| one == other)
        .count();
    let up = vec![".."; folder.len() - shared];
    let mut parts: Vec<&str> = if up.is_empty() { vec!["."] } else { up };
    parts.extend(file[shared..].iter().map(String::as_str));
    Ok(parts.join("/"))
}

/// The parts of a path from the top.
fn plain(path: &Path) -> Result<Vec<String>, Failure> {
    let mut parts = Vec::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_schema() {
        for (folder, file, way) in [
            ("/a", "/a/.toolsmith/x.json", "./.toolsmith/x.json"),
            (
                "/a/tools/mcp",
                "/a/.toolsmith/x.json",
                "../../.toolsmith/x.json",
            ),
            ("/b/c", "/a/x.json", "../../a/x.json"),
            ("/a/b/..", "/a/x.json", "./x.json"),
        ] {
            let found = relative(Path::new(folder), Path::new(file)).unwrap();
            assert_eq!(found, way, "{folder}");
        }
    }
}
