//! Why a child could not be started.
//!
//! The system says "no such file" for a missing program, a missing folder and a missing
//! interpreter alike; this file tells them apart, because the remedies differ.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Why a child could not be started, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no such program.
    #[error(
        "start {program:?}: no such program; check the spelling, install it, or name it by its full path"
    )]
    NotFound {
        /// The program as it was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The file exists but is no program that may be run.
    #[error(
        "start {program:?}: the file may not be executed; make it executable (chmod +x), or start it through its interpreter"
    )]
    NotExecutable {
        /// The program as it was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The script exists, but what its first line names does not.
    #[error(
        "start {program:?}: the interpreter it names is missing; correct its first line, or install the interpreter"
    )]
    NoInterpreter {
        /// The program as it was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The folder to start in does not exist or is none.
    #[error(
        "start {program:?} in {folder:?}: no such folder; create it, or name another working folder"
    )]
    NoFolder {
        /// The program as it was asked for.
        program: OsString,
        /// The folder it was to start in.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no tokio runtime to watch the child, or one that watches no pipes.
    #[error(
        "start {program:?}: no runtime to watch it; call from within a tokio runtime that was built with enable_all()"
    )]
    NoRuntime {
        /// The program as it was asked for.
        program: OsString,
    },
    /// The command line and the environment are longer than the system takes.
    #[error(
        "start {program:?}: its arguments and environment are too long for the system; pass long text through its standard input or a file"
    )]
    TooLong {
        /// The program as it was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// No program is known that could set up a sandbox.
    #[error(
        "start {program:?} in a sandbox: no helper is known; call toolsmith_process::helper() first in main, or name a program that does with use_helper()"
    )]
    NoHelper {
        /// The program as it was asked for.
        program: OsString,
    },
    /// The program that sets up sandboxes could not be started.
    #[error("start {program:?} in a sandbox: the helper {helper:?} cannot be started: {source}")]
    Helper {
        /// The program as it was asked for.
        program: OsString,
        /// The helper.
        helper: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program that sets up sandboxes said nothing that can be understood.
    #[error("start {program:?} in a sandbox: the helper {why}")]
    HelperLost {
        /// The program as it was asked for.
        program: OsString,
        /// What it did instead.
        why: String,
    },
    /// This machine cannot give what the sandbox asks for, so nothing was started.
    #[error("start {program:?} in a sandbox: no {layer}: {why}; {remedy}")]
    Unsupported {
        /// The program as it was asked for.
        program: OsString,
        /// The layer that is missing: `landlock`, `seccomp` or `namespaces`.
        layer: &'static str,
        /// Why it is missing.
        why: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A step of setting up the sandbox failed, so nothing was started.
    #[error(
        "start {program:?} in a sandbox: it failed to {deed}{}: {source}; `toolsmith doctor` shows what this machine can do",
        path.as_ref().map(|path| format!(" ({})", path.display())).unwrap_or_default()
    )]
    Sandbox {
        /// The program as it was asked for.
        program: OsString,
        /// What failed, as it goes after "failed to".
        deed: &'static str,
        /// The path it was about.
        path: Option<PathBuf>,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused for another reason.
    #[error("start {program:?}: {source}")]
    Refused {
        /// The program as it was asked for.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
}

impl LaunchError {
    /// Finds out what the system's answer meant.
    pub(crate) fn explain(program: &OsStr, folder: Option<&Path>, source: io::Error) -> Self {
        let program = program.to_os_string();
        let is_path_trouble = matches!(
            source.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied
        );
        if let Some(folder) = folder.filter(|folder| is_path_trouble && !folder.is_dir()) {
            let folder = folder.to_path_buf();
            return Self::NoFolder {
                program,
                folder,
                source,
            };
        }
        match source.kind() {
            io::ErrorKind::NotFound if is_file(&program, folder) => {
                Self::NoInterpreter { program, source }
            }
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::NotFound { program, source }
            }
            io::ErrorKind::PermissionDenied => Self::NotExecutable { program, source },
            _ if source.raw_os_error() == Some(libc::ENOEXEC) => {
                Self::NotExecutable { program, source }
            }
            _ if source.raw_os_error() == Some(libc::E2BIG) => Self::TooLong { program, source },
            _ => Self::Refused { program, source },
        }
    }
}

/// Tells whether the program was named by a path, and that path is a file.
fn is_file(program: &OsStr, folder: Option<&Path>) -> bool {
    let path = Path::new(program);
    let is_named_by_path = path.components().count() > 1;
    // The child has changed its folder when it looks for the program.
    is_named_by_path && folder.map_or_else(|| path.is_file(), |folder| folder.join(path).is_file())
}
