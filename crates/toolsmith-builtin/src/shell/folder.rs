//! The folder a program runs in, and the one a shell was in at its end.
//!
//! The shell itself notes where it is when it exits, in a file: through `BASH_ENV` it is
//! told to before the command is read, so that the command's own lines, its syntax errors
//! and its `exit` stay what they are. A command may set a trap of its own for its end; the
//! note is then made after that. What is never done is to read it from the output.

use std::path::{Path, PathBuf};

use super::Shells;
use super::process::Ended;
use super::supervise::note_in;
use crate::missing;
use crate::refusal::{Reason, Refusal};
use toolsmith_core::ToolContext;

/// What `bash` reads before the command.
pub(crate) const PRELUDE: &str = ".toolsmith-prelude";

/// A folder to run in.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// How a caller is shown it.
    pub(crate) shown: String,
    /// What the caller should know about it.
    pub(crate) note: Option<String>,
}

/// Which folder a session is in, and whether this call may change that.
#[derive(Debug)]
pub(crate) struct SessionUse {
    pub(crate) name: String,
    /// The call names its own folder, and leaves the session's alone.
    pub(crate) is_elsewhere: bool,
}

/// The folder a call names, or the workspace's.
pub(crate) fn named(
    shells: &Shells,
    cwd: Option<&str>,
    context: &ToolContext,
) -> Result<Folder, Refusal> {
    let workspace = &shells.inner().workspace;
    let opened = missing::open_directory(workspace, cwd.unwrap_or("."), context)?;
    Ok(Folder {
        path: workspace.whole(&opened.place),
        shown: opened.shown,
        note: None,
    })
}

/// The folder a call names, or else that of its session.
pub(crate) fn of_session(
    shells: &Shells,
    session: &SessionUse,
    cwd: Option<&str>,
    context: &ToolContext,
) -> Result<Folder, Refusal> {
    let sessions = &shells.inner().sessions;
    let kept = match cwd {
        Some(_) => None,
        None => sessions.folder(context.caller(), &session.name),
    };
    let Some(kept) = kept else {
        return named(shells, cwd, context);
    };
    match shells.inner().workspace.open_directory(&kept) {
        Ok(_) => named(shells, Some(&kept), context),
        Err(_) => {
            sessions.forget(context.caller(), &session.name);
            let mut folder = named(shells, None, context)?;
            folder.note = Some(format!(
                "the folder {kept}, in which the session was, is gone; this ran in the workspace's own folder"
            ));
            Ok(folder)
        }
    }
}

/// Has a shell note its folder when it exits: what to write into the job's own folder, and
/// the variable that names it.
pub(crate) fn prelude(folder: &Path) -> Option<String> {
    let note = note_in(folder);
    // The path is the host's; what a shell would read otherwise is not quoted, but left.
    let note = note.to_str().filter(|path| !path.contains('\''))?;
    Some(format!(
        r#"unset BASH_ENV
builtin trap "{{ builtin pwd -P >|'{note}'; }} 2>/dev/null" EXIT
trap() {{
  case " $* " in
    *" EXIT "* | *" 0 "* | *" exit "*)
      builtin trap "$@" || return
      [[ $BASHPID == "$$" ]] || return 0
      local __toolsmith
      __toolsmith=$(builtin trap -p EXIT)
      [[ $__toolsmith == *'{FOLDER_NOTE}'* ]] && return 0
      __toolsmith=${{__toolsmith#trap -- }}
      eval "__toolsmith=${{__toolsmith% EXIT}}"
      builtin trap -- "$__toolsmith"$'\n'"{{ builtin pwd -P >|'{note}'; }} 2>/dev/null" EXIT ;;
    *) builtin trap "$@" ;;
  esac
}}
"#,
        FOLDER_NOTE = super::supervise::FOLDER_NOTE,
    ))
}

/// Keeps the folder in which a session's shell ended. Returns how that is shown, and what
/// the caller should know.
pub(crate) fn keep(
    shells: &Shells,
    caller: &str,
    session: &SessionUse,
    began: &str,
    ended: &Ended,
) -> (String, Option<String>) {
    let inner = shells.inner();
    let Some(noted) = &ended.folder else {
        let is_unknown = !ended.was_ended && !session.is_elsewhere;
        let note = is_unknown.then(|| {
            format!("the shell was replaced or killed before it could tell its folder; the session stays in {began}")
        });
        return (began.to_owned(), note);
    };
    let path = noted.strip_suffix(b"\n").unwrap_or(noted);
    if path.is_empty() {
        if !session.is_elsewhere {
            inner.sessions.forget(caller, &session.name);
        }
        let note =
            "the folder it ended in is gone; the next call runs in the workspace's own folder";
        return (".".to_owned(), Some(note.to_owned()));
    }
    let opened = std::str::from_utf8(path)
        .map_err(|_| Refusal::new(Reason::Encoding, "it is not UTF-8"))
        .and_then(|path| inner.workspace.open_directory(path));
    match opened {
        Ok(opened) if session.is_elsewhere => (opened.shown, None),
        Ok(opened) => {
            inner
                .sessions
                .note(caller, &session.name, opened.shown.clone());
            let note =
                (opened.shown != began).then(|| format!("the session is now in {}", opened.shown));
            (opened.shown, note)
        }
        Err(refusal) => {
            let path = String::from_utf8_lossy(path);
            let why = match refusal.reason {
                Reason::OutsideRoot => "is not in the workspace",
                _ => "cannot be used",
            };
            let note = format!("it ended in {path}, which {why}; the session stays in {began}");
            (began.to_owned(), Some(note))
        }
    }
}
