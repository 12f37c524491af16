//! JSON Schemas of the files people write, so that editors complete and check them.
//!
//! Each is 2020-12 and made from types that mirror what the readers accept; the readers
//! stay the judges. A schema says less than they do: it knows keys and types, and not
//! whether a glob compiles or a tool exists.

mod agent;
mod builtin;
mod config;
mod defaults;
mod native;
mod openapi;
mod overlay;
mod policy;
mod server;
mod tool_set;
mod words;

use std::ffi::OsStr;
use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// A sort of file, and its schema.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FileSchema {
    /// What it is called, such as `agent`.
    pub name: &'static str,
    /// Where such files are, such as `agents/*.yaml`.
    pub files: &'static str,
    /// Makes the schema.
    pub schema: fn() -> Value,
}

/// Every sort of file, the one each project has first.
pub fn all() -> &'static [FileSchema] {
    const fn sort(name: &'static str, files: &'static str, schema: fn() -> Value) -> FileSchema {
        FileSchema {
            name,
            files,
            schema,
        }
    }
    const ALL: &[FileSchema] = &[
        sort("toolsmith", "toolsmith.yaml", of::<config::ConfigFile>),
        sort("agent", "agents/*.yaml", of::<agent::AgentFile>),
        sort(
            "tool_set",
            "configs/tool_sets/*.yaml",
            of::<tool_set::ToolSetFile>,
        ),
        sort("native", "tools/native/*.yaml", native::schema),
        sort(
            "builtin",
            "tools/builtin/*.yaml",
            of::<builtin::BuiltinFile>,
        ),
        sort("mcp", "tools/mcp/*.yaml", of::<server::ServerFile>),
        sort(
            "tool_descriptions",
            "tool_descriptions.yaml",
            of::<overlay::DescriptionsFile>,
        ),
        sort(
            "tool_examples",
            "tool_examples.yaml",
            of::<overlay::ExamplesFile>,
        ),
    ];
    ALL
}

/// The sort of file with a name.
pub fn named(name: &str) -> Option<&'static FileSchema> {
    all().iter().find(|sort| sort.name == name)
}

/// The sort a file is of, by its name and the folder it lies in. The file need not be
/// there.
///
/// ```
/// use std::path::Path;
/// use toolsmith_manager::schemas;
///
/// let sort = schemas::of_file(Path::new("project/tools/mcp/git.yaml"));
/// assert_eq!(sort.map(|sort| sort.name), Some("mcp"));
/// ```
pub fn of_file(path: &Path) -> Option<&'static FileSchema> {
    let is_yaml = path
        .extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml");
    let stem = path.file_stem().and_then(OsStr::to_str);
    let (true, Some(stem)) = (is_yaml, stem) else {
        return None;
    };
    all().iter().find(|sort| {
        let (folder, file) = sort.files.rsplit_once('/').unwrap_or(("", sort.files));
        match file.strip_suffix(".yaml") {
            Some("*") => path.parent().is_some_and(|parent| parent.ends_with(folder)),
            expected => expected == Some(stem),
        }
    })
}

/// The schema of a type.
fn of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<T>().to_value()
}
