//! Confines the child with Landlock: what it writes, where it connects, whom it signals.
//!
//! Landlock grants and cannot take back. Where mounts hide the hidden paths, one rule lets
//! everything be read. Where they do not, the rule is taken apart: everything beside the
//! way to a hidden path is granted by name, and nothing of the way itself, so those folders
//! cannot be listed.

use std::fs;
use std::path::{Path, PathBuf};

use ::landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::fs::{Mode as FileMode, OFlags, open};
use rustix::io::Errno;

use super::mounts::{is_folder, is_missing, place, real_path};
use super::{Failure, sys};
use crate::sandbox::{Findings, Mode, Order, Stage};

/// Devices that hold nothing, and the terminal, of which a child has none.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];
/// Terminals, where they are the child's own.
const TERMINALS: &[&str] = &["/dev/ptmx", "/dev/pts"];
/// Memory that is the child's own where it has namespaces.
const SHARED_MEMORY: &str = "/dev/shm";
/// How many names may lie beside the ways to hidden paths.
const MAX_BESIDE: usize = 20_000;

/// Returns the version of Landlock's interface, or why there is none.
pub(crate) fn version() -> Result<u32, String> {
    sys::landlock_version().map_err(|errno| match errno {
        Errno::OPNOTSUPP => "it is switched off (lsm= on the kernel's command line)".to_owned(),
        Errno::NOSYS => "the kernel has none; Linux 5.13 and later can have it".to_owned(),
        other => format!("the system refuses it: {other}"),
    })
}

/// Confines this process.
pub(super) fn restrict(order: &Order, folder: &Path, findings: &Findings) -> Result<(), Failure> {
    let abi = ABI::from(i32::try_from(order.landlock).unwrap_or(i32::MAX));
    if abi == ABI::Unsupported {
        return Ok(());
    }
    let has_hidden = !order.hidden.is_empty() && !order.namespaces;
    let confines_files = order.mode != Mode::Full || has_hidden;
    let confines_network = !order.network && abi >= ABI::V4;
    if !confines_files && !confines_network && abi < ABI::V6 {
        return Ok(());
    }
    let ruleset =
        ruleset(abi, confines_files, confines_network).map_err(|error| refused(&error))?;
    let ruleset = if confines_files {
        grant(ruleset, order, folder, findings, abi)?
    } else {
        ruleset
    };
    ruleset
        .restrict_self()
        .map(drop)
        .map_err(|error| refused(&error))
}

fn ruleset(abi: ABI, files: bool, network: bool) -> Result<RulesetCreated, RulesetError> {
    // What the kernel turns out not to know fails the launch.
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if files {
        ruleset = ruleset.handle_access(AccessFs::from_all(abi))?;
    }
    if network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    ruleset.create()
}

fn grant(
    mut ruleset: RulesetCreated,
    order: &Order,
    folder: &Path,
    findings: &Findings,
    abi: ABI,
) -> Result<RulesetCreated, Failure> {
    let read = AccessFs::from_read(abi);
    let hidden = if order.namespaces {
        Vec::new()
    } else {
        hidden(order, folder)?
    };
    let mut allowed = Vec::new();
    beside(Path::new("/"), &hidden, &mut allowed)?;
    for path in allowed {
        ruleset = allow(ruleset, &path, read, abi)?;
    }
    // Making devices is nobody's business, and their ioctls need their own.
    let write = AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    for path in &order.writable {
        let path = folder.join(path);
        if order.mode == Mode::Full {
            ruleset = allow(ruleset, &path, AccessFs::from_all(abi), abi)?;
        } else {
            let unless_device = write & !BitFlags::from(AccessFs::IoctlDev);
            ruleset = allow(ruleset, &path, unless_device, abi)?;
        }
    }
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let terminals = findings.has_own_terminals.then_some(TERMINALS);
    for path in DEVICES.iter().chain(terminals.into_iter().flatten()) {
        ruleset = allow(ruleset, Path::new(path), device, abi)?;
    }
    if order.namespaces && order.mode != Mode::Full {
        let unless_device = write & !BitFlags::from(AccessFs::IoctlDev);
        ruleset = allow(ruleset, Path::new(SHARED_MEMORY), unless_device, abi)?;
    }
    Ok(ruleset)
}

/// Adds a rule for a path; what is not there needs none.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<RulesetCreated, Failure> {
    let failed = |errno| Failure::new(Stage::Landlock, errno);
    let handle = match open(path, OFlags::PATH | OFlags::CLOEXEC, FileMode::empty()) {
        Ok(handle) => handle,
        Err(errno) if is_missing(errno) || errno == Errno::ACCESS => return Ok(ruleset),
        Err(errno) => return Err(failed(errno)),
    };
    let mut access = access & AccessFs::from_all(abi);
    if !is_folder(&handle).map_err(failed)? {
        access &= AccessFs::from_file(abi);
    }
    let rule = PathBeneath::new(handle, access);
    ruleset.add_rule(rule).map_err(|error| refused(&error))
}

/// Returns where the hidden paths really are.
fn hidden(order: &Order, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let resolve = |path: &Path| match place(folder, path) {
        Ok(handle) => real_path(&handle).map(Some),
        Err(errno) if is_missing(errno) || errno == Errno::ACCESS => Ok(None),
        Err(errno) => Err(errno),
    };
    let mut writable = Vec::new();
    for (index, path) in order.writable.iter().enumerate() {
        let real = resolve(path).map_err(|errno| Failure::at(Stage::Writable, errno, index))?;
        writable.extend(real);
    }
    let mut found = Vec::new();
    for (index, path) in order.hidden.iter().enumerate() {
        let real = resolve(path).map_err(|errno| Failure::at(Stage::Hidden, errno, index))?;
        let Some(real) = real else { continue };
        if writable.iter().any(|folder| real.starts_with(folder)) {
            let stage = Stage::HiddenBeneathWritable;
            return Err(Failure::at(stage, Errno::OPNOTSUPP, index));
        }
        found.push(real);
    }
    Ok(found)
}

/// Collects what lies beside the ways from a folder to the hidden paths.
fn beside(folder: &Path, hidden: &[PathBuf], allowed: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let on_the_way: Vec<PathBuf> = hidden
        .iter()
        .filter(|path| path.starts_with(folder))
        .cloned()
        .collect();
    if on_the_way.is_empty() {
        allowed.push(folder.to_path_buf());
        return Ok(());
    }
    if on_the_way.iter().any(|path| path == folder) {
        return Ok(());
    }
    // A folder that cannot be listed grants nothing.
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        if allowed.len() >= MAX_BESIDE {
            return Err(Failure::new(Stage::Hidden, Errno::TOOBIG));
        }
        // A link is followed without a rule; what it leads to has its own.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            beside(&entry.path(), &on_the_way, allowed)?;
        }
    }
    Ok(())
}

fn refused(error: &RulesetError) -> Failure {
    // The cause at the bottom is the system's.
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut errno = Errno::INVAL;
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            errno = super::errno(error);
        }
        cause = error.source();
    }
    Failure::new(Stage::Landlock, errno)
}
