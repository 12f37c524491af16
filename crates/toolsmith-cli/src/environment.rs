//! Every environment variable the binary reads, in one place.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use secrecy::SecretString;
use toolsmith_manager::approvals::FileApprovals;
use toolsmith_manager::conversations::ConversationPlace;
use toolsmith_manager::records::RecordPlace;
use toolsmith_manager::sandbox::{ProjectSandbox, SandboxPlaces};
use toolsmith_manager::serving::ServingPlace;
use toolsmith_manager::spill::FileSpills;

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

/// Where large outputs of tools over these roots are kept, beneath the user's state folder.
pub(crate) fn spills(roots: &[&Path]) -> Option<FileSpills> {
    Some(FileSpills::of_roots(state_folder()?.join("spills"), roots))
}

/// Where what a person approves for the project with this root is kept.
pub(crate) fn approvals(root: &Path) -> Option<FileApprovals> {
    let folder = state_folder()?.join("approvals");
    Some(FileApprovals::of_root(folder, root, SystemTime::now))
}

/// Where the records of the project in this folder are kept, beneath the user's state
/// folder.
pub(crate) fn records(root: &Path) -> Option<RecordPlace> {
    Some(RecordPlace::of_root(state_folder()?.join("records"), root))
}

/// Where the conversations of the project in this folder are kept.
pub(crate) fn conversations(root: &Path) -> Option<ConversationPlace> {
    let all = state_folder()?.join("conversations");
    Some(ConversationPlace::of_root(all, root))
}

/// Where programs that serve this project tell how their sources are doing.
pub(crate) fn serving(root: &Path) -> Option<ServingPlace> {
    Some(ServingPlace::of_root(state_folder()?.join("serving"), root))
}

/// Tells whether the configuration in a folder may be a program's.
pub(crate) fn is_doubted(folder: &Path) -> bool {
    state_folder().is_some_and(|state| toolsmith_manager::sandbox::is_doubted(&state, folder))
}

/// What programs that tools start are kept within.
pub(crate) fn sandbox(project: &Path, roots: &[&Path], config: Option<&Path>) -> ProjectSandbox {
    let roots = roots.iter().map(|root| root.to_path_buf());
    let mut places = SandboxPlaces::new(project, roots);
    places.home = home();
    places.state = state_folder();
    places.config = config.and_then(|file| std::path::absolute(file).ok());
    ProjectSandbox::new(places)
}

/// The collector that OpenTelemetry's variables name, unless they say to leave it.
pub(crate) fn collector() -> Option<String> {
    let is_off = std::env::var_os("OTEL_SDK_DISABLED").is_some_and(|value| value == "true");
    let named = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").ok();
    named.filter(|named| !is_off && !named.trim().is_empty())
}

/// The headers they name for it, as `name=value` with commas between.
pub(crate) fn collector_headers() -> Vec<(String, SecretString)> {
    let headers = std::env::var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
    let pairs = headers.split(',').filter_map(|pair| pair.split_once('='));
    let decoded = |text: &str| {
        let bytes = percent_decoded(text.trim().as_bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    };
    pairs
        .map(|(name, value)| (decoded(name), SecretString::from(decoded(value))))
        .collect()
}

/// What the service is called.
pub(crate) fn service_name() -> Option<String> {
    let name = std::env::var("OTEL_SERVICE_NAME").ok();
    name.filter(|name| !name.trim().is_empty())
}

/// Values in those headers are written as in a URL.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let coded = (digit(text.get(at + 1)), digit(text.get(at + 2)));
        match (byte, coded) {
            (b'%', (Some(high), Some(low))) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

/// The folder for notes on what is being written.
pub(crate) fn journal_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("writing"))
}

/// The file the token of `serve` is kept in.
pub(crate) fn token_file() -> Option<PathBuf> {
    Some(state_folder()?.join("token"))
}

/// The file that the credentials of an upstream server are kept in.
pub(crate) fn credentials_file(server: &str) -> Option<PathBuf> {
    let name = format!("{server}.json");
    Some(state_folder()?.join("credentials").join(name))
}

/// All of it, for what upstream servers refer to and may be given.
pub(crate) fn everything() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Where programs that tools run get folders for their temporary files.
#[cfg(target_os = "linux")]
pub(crate) fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}

/// The folder for what is Toolsmith's own.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let state = folder("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?;
    Some(state.join("toolsmith"))
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
}

/// Where programs keep their settings if they follow the XDG rules.
pub(crate) fn config_home() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
}

/// Where desktop programs keep their settings, which is up to the system.
pub(crate) fn application_data() -> Option<PathBuf> {
    if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Application Support"))
    } else {
        config_home()
    }
}

/// A folder that a variable of an MCP client's own names instead of the usual one.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.is_absolute().then_some(path)
}

/// The program that runs.
pub(crate) fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}
