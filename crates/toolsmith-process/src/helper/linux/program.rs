//! The last steps, which the child takes itself: its folder, its confinement, its program.

use std::convert::Infallible;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::chdir;
use rustix::thread::set_no_new_privs;

use super::run::Reporter;
use super::{AtStage as _, Failure, capabilities, landlock, seccomp, sys};
use crate::sandbox::{Findings, Frame, Order, Stage};

/// Where programs are looked for when the environment does not say.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// Becomes the ordered program, confined; returns only if that failed.
pub(super) fn become_program(
    order: &Order,
    folder: &Path,
    findings: &Findings,
    reporter: &Reporter,
) -> Result<Infallible, Failure> {
    // Made while the memory is there to make them; what follows only leaves.
    let words = words(order)?;
    // Anew, by its name: the folder this process is in may lie beneath a mount by now.
    chdir(folder).at(Stage::Folder)?;
    sys::release_signals().at(Stage::Program)?;
    capabilities::drop_most()?;
    set_no_new_privs(true).at(Stage::Capabilities)?;
    landlock::restrict(order, folder, findings)?;
    seccomp::restrict(order)?;
    reporter.send(&Frame::Ready(findings.clone()));
    Err(Failure::new(Stage::Program, execute(order, &words)))
}

/// What a program is started with, as the system takes it.
struct Words {
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

fn words(order: &Order) -> Result<Words, Failure> {
    let text = |text: OsString| {
        CString::new(text.into_vec()).map_err(|_| Failure::new(Stage::Order, Errno::INVAL))
    };
    let arguments = std::iter::once(&order.program).chain(&order.arguments);
    let pairs = order.environment.iter().map(|(name, value)| {
        let mut pair = name.clone();
        pair.push("=");
        pair.push(value);
        pair
    });
    Ok(Words {
        arguments: arguments.cloned().map(text).collect::<Result<_, _>>()?,
        environment: pairs.map(text).collect::<Result<_, _>>()?,
    })
}

fn execute(order: &Order, words: &Words) -> Errno {
    let start = |program: &[u8]| match CString::new(program) {
        Ok(program) => sys::execute(&program, &words.arguments, &words.environment),
        Err(_) => Errno::INVAL,
    };
    let name = order.program.as_bytes();
    if name.is_empty() {
        return Errno::NOENT;
    }
    if name.contains(&b'/') {
        return start(name);
    }
    let mut outcome = Errno::NOENT;
    for folder in search_path(order).split(|byte| *byte == b':') {
        let place: &[u8] = if folder.is_empty() { b"." } else { folder };
        match start(&[place, b"/", name].concat()) {
            // There may be another one further on.
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => outcome = Errno::ACCESS,
            other => return other,
        }
    }
    outcome
}

fn search_path(order: &Order) -> &[u8] {
    let mut pairs = order.environment.iter();
    let path = pairs.find(|(name, _)| name == OsStr::new("PATH"));
    path.map_or(DEFAULT_PATH, |(_, value)| value.as_bytes())
}
