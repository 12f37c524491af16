//! What a program finds in its environment.
//!
//! Of the host's variables those pass that programs need to run, and of them none that
//! looks like a secret. On top come settings that keep programs from waiting for a
//! person. A caller may add variables, but none that makes a program load or run
//! something its command line does not show: rules are written about commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use toolsmith_process::{SAFE_VARIABLES, inherited};

use crate::refusal::{Reason, Refusal};

/// Variables of tool chains that hold no secrets; without them compilers and version
/// managers are not found.
#[rustfmt::skip]
const TOOL_CHAINS: &[&str] = &[
    "LANGUAGE", "CI", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOPATH", "GOROOT",
    "GOCACHE", "GOMODCACHE", "JAVA_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "NVM_DIR", "NVM_BIN",
    "FNM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "PYENV_ROOT", "PYENV_VERSION",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "POETRY_HOME", "PIPX_HOME", "UV_CACHE_DIR",
    "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "NIX_PATH",
    "NIX_PROFILES", "HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY", "SDKMAN_DIR",
    "ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT", "SOURCE_DATE_EPOCH",
];

/// What every program is told: there is no terminal, no pager, no editor and nobody to ask.
const FIXED: &[(&str, &str)] = &[
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("LC_ALL", "C.UTF-8"),
];

/// Names no caller may set; with `*` at the end, all that begin so.
#[rustfmt::skip]
const REFUSED: &[&str] = &[
    "LD_*", "DYLD_*", "BASH_*", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS",
    "CDPATH", "GLOBIGNORE", "PATH", "HOME", "TMPDIR", "TOOLSMITH_*", "GIT_CONFIG*",
    "GIT_EXEC_PATH", "GIT_SSH*", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "SSH_ASKPASS", "PAGER",
    "MANPAGER", "GH_PAGER", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER",
    "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "NODE_OPTIONS", "PERL5OPT", "PERL5DB",
    "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAKEFLAGS",
    "GNUMAKEFLAGS", "MAKEFILES", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER", "GCONV_PATH", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "ZDOTDIR",
];

/// Parts of a name that say its value is a secret.
#[rustfmt::skip]
const SECRET_NAMES: &[&str] = &[
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY",
    "ACCESS_KEY", "PRIVATE_KEY", "COOKIE", "AUTH",
];

/// How keys of well-known services begin.
#[rustfmt::skip]
const SECRET_VALUES: &[&str] = &[
    "-----BEGIN ", "sk-", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-",
    "xoxp-", "AKIA", "ASIA", "AIza", "eyJ", "npm_", "hf_", "dop_v1_",
];

/// Where programs are looked for when the host does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How many variables a caller may add.
const MOST_ADDED: usize = 256;

/// How many bytes they may have, names and values together.
const MOST_BYTES: usize = 128 << 10;

/// What a program finds by default, of what the host has.
pub(crate) fn scrubbed(host: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let names: Vec<&str> = SAFE_VARIABLES.iter().chain(TOOL_CHAINS).copied().collect();
    let passed = inherited(&names, host.iter().cloned());
    let passed = passed.into_iter().filter(|(name, value)| {
        !is_secret_name(name) && !is_secret_value(value) && name != "TMPDIR"
    });
    let mut kept: Vec<(OsString, OsString)> = passed
        .map(|(name, value)| match name == "PATH" {
            true => (name, absolute_only(&value)),
            false => (name, value),
        })
        .collect();
    if !kept.iter().any(|(name, _)| name == "PATH") {
        kept.push(("PATH".into(), USUAL_PATH.into()));
    }
    kept.retain(|(name, _)| FIXED.iter().all(|(fixed, _)| name != fixed));
    kept.extend(
        FIXED
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into())),
    );
    kept
}

/// Checks the variables a caller adds.
pub(crate) fn added(
    variables: &BTreeMap<String, String>,
) -> Result<Vec<(OsString, OsString)>, Refusal> {
    let bytes: usize = variables
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if variables.len() > MOST_ADDED || bytes > MOST_BYTES {
        let message = format!(
            "env has {} variables of {bytes} bytes, and may have {MOST_ADDED} of {MOST_BYTES}",
            variables.len()
        );
        return Err(Refusal::new(Reason::BadArgument, message).next("Put it into a file instead"));
    }
    for (name, value) in variables {
        let first = name.bytes().next();
        let is_name = first.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if !is_name {
            let message = format!("env names {name:?}, which can be no variable's name");
            return Err(Refusal::new(Reason::BadArgument, message)
                .next("Use letters, digits and underscores"));
        }
        if let Some(rule) = REFUSED.iter().find(|rule| fits(rule, name)) {
            let message = format!(
                "env may not set {name} (nothing like {rule}): it decides what programs load, run or find"
            );
            return Err(Refusal::new(Reason::Denied, message)
                .next("Leave it out, or set it in the command itself, where it can be seen"));
        }
        if value.contains('\0') {
            let message = format!("env.{name} holds a NUL character, which no variable can hold");
            return Err(Refusal::new(Reason::BadArgument, message).next("Remove it"));
        }
    }
    let pairs = variables.iter();
    Ok(pairs
        .map(|(name, value)| (name.into(), value.into()))
        .collect())
}

/// Where a program of that name is, in the folders programs are looked for in.
pub(crate) fn find_program(environment: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let (_, path) = environment
        .iter()
        .find(|(variable, _)| variable == "PATH")?;
    let folders = path.as_bytes().split(|byte| *byte == b':');
    let folders = folders.filter(|folder| !folder.is_empty());
    let mut candidates = folders.map(|folder| Path::new(OsStr::from_bytes(folder)).join(name));
    candidates.find(|candidate| is_program(candidate))
}

/// Whether there is a file that may be run.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = path.metadata();
    metadata.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn fits(rule: &str, name: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == rule,
    }
}

fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn is_secret_value(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split('/').next().unwrap_or_default();
        authority.contains('@') && authority.contains(':')
    });
    has_password
        || SECRET_VALUES
            .iter()
            .any(|beginning| value.starts_with(beginning))
}

/// Without folders that are seen from wherever a program happens to run: what lies in a
/// workspace must not stand in for a program of the system.
fn absolute_only(path: &OsStr) -> OsString {
    let folders = path.as_bytes().split(|byte| *byte == b':');
    let absolute: Vec<&[u8]> = folders.filter(|folder| folder.starts_with(b"/")).collect();
    OsString::from_vec(absolute.join(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_of_the_host_passes() {
        let host = [
            ("PATH", ".:/usr/bin::bin:/bin"),
            ("HOME", "/users/u"),
            ("TERM", "xterm"),
            ("TMPDIR", "/tmp/own"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("LD_PRELOAD", "/x.so"),
            ("BASH_ENV", "/x.sh"),
            ("XDG_TOKEN", "x"),
            ("LANG", "https://user:word@host/"),
            ("LC_TIME", "ghp_0123456789"),
            ("CARGO_HOME", "/users/u/.cargo"),
        ];
        let host: Vec<(OsString, OsString)> = host
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let kept = scrubbed(&host);
        let value = |name: &str| {
            let found = kept.iter().find(|(kept, _)| kept == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        assert_eq!(value("PATH").as_deref(), Some("/usr/bin:/bin"));
        assert_eq!(value("HOME").as_deref(), Some("/users/u"));
        assert_eq!(value("TERM").as_deref(), Some("dumb"));
        assert_eq!(value("CARGO_HOME").as_deref(), Some("/users/u/.cargo"));
        assert_eq!(kept.len(), 3 + FIXED.len());
    }
}
