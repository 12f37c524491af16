//! Every environment variable the binary reads, in one place.

use std::path::PathBuf;

/// The prefix of offered names, if `MCP_TOOL_PREFIX` is set, even to nothing.
pub(crate) fn tool_prefix() -> Option<String> {
    let prefix = std::env::var_os("MCP_TOOL_PREFIX")?;
    // What is no Unicode is no prefix; the check for its characters says so.
    Some(prefix.to_string_lossy().into_owned())
}

/// Whether the example tools are wanted: `MCP_INCLUDE_EXAMPLE_TOOLS=true`.
pub(crate) fn wants_examples() -> bool {
    std::env::var_os("MCP_INCLUDE_EXAMPLE_TOOLS").is_some_and(|value| value == "true")
}

/// What to log, if `TOOLSMITH_LOG` says.
pub(crate) fn log_filter() -> Option<String> {
    std::env::var("TOOLSMITH_LOG").ok()
}

/// The folder for large outputs, beneath the user's state folder.
pub(crate) fn spill_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("toolsmith").join("spills"))
}
