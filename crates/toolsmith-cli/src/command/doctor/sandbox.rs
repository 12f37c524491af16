//! What this machine can do to confine programs, and what that means for the modes.

use toolsmith_manager::sandbox::ProjectSandbox;
use toolsmith_process::{Mode, Support};

use super::{Finding, unwell, well};

/// The first versions of Landlock's interface that can do a thing.
const TRUNCATION: u32 = 3;
const SCOPES: u32 = 6;

/// Tries the layers, and judges by what the project asks for.
pub(super) fn findings(project: &ProjectSandbox) -> Vec<Finding> {
    let support = Support::of_this_machine();
    let asked = project.now();
    let mut found = vec![
        landlock(&support, asked.mode()),
        seccomp(&support),
        namespaces(&support),
    ];
    found.extend(Mode::ALL.map(|mode| in_mode(&support, mode, mode == asked.mode())));
    found
}

fn landlock(support: &Support, asked: Mode) -> Finding {
    match &support.landlock {
        Ok(version) if *version < SCOPES => well(
            "sandbox",
            "landlock",
            format!("version {version}; it holds no signals back, which version {SCOPES} does"),
        ),
        Ok(version) => well("sandbox", "landlock", format!("version {version}")),
        // Where there is no Linux there is nothing to put right.
        Err(why) if asked == Mode::Full || !cfg!(target_os = "linux") => {
            well("sandbox", "landlock", format!("none: {why}"))
        }
        Err(why) => unwell(
            "sandbox",
            "landlock",
            format!("none: {why}"),
            "use Linux 5.13 or later, with landlock among its security modules (lsm=)",
        ),
    }
}

fn seccomp(support: &Support) -> Finding {
    match &support.seccomp {
        Ok(()) => well("sandbox", "seccomp", "system calls can be filtered"),
        Err(why) if !cfg!(target_os = "linux") => {
            well("sandbox", "seccomp", format!("none: {why}"))
        }
        Err(why) => unwell(
            "sandbox",
            "seccomp",
            format!("none: {why}"),
            "use a kernel with CONFIG_SECCOMP_FILTER",
        ),
    }
}

/// They are not needed: without them less is protected, and each result says so.
fn namespaces(support: &Support) -> Finding {
    match &support.namespaces {
        Ok(()) => well(
            "sandbox",
            "namespaces",
            "users, mounts, processes and the network can be set apart",
        ),
        Err(why) => well(
            "sandbox",
            "namespaces",
            format!(
                "none: {why}; so .git and the configuration are not protected from programs, \
                 and each result says so"
            ),
        ),
    }
}

/// Whether programs run in a mode here.
fn in_mode(support: &Support, mode: Mode, is_asked: bool) -> Finding {
    let what = match is_asked {
        true => format!("{mode} (as configured)"),
        false => mode.to_string(),
    };
    let refused = match (mode, &support.landlock, &support.namespaces) {
        _ if support.seccomp.is_err() => Some("without seccomp"),
        (Mode::Full, _, _) => None,
        (_, Err(_), _) => Some("without landlock"),
        (_, Ok(version), Err(_)) if *version < TRUNCATION => {
            Some("with a landlock this old and no namespaces")
        }
        _ => None,
    };
    let partly = support.namespaces.is_err() && mode == Mode::WorkspaceWrite;
    match refused {
        None if partly => well("sandbox", what, "programs run, with less protected"),
        None => well("sandbox", what, "programs run"),
        Some(why) if is_asked && cfg!(target_os = "linux") => unwell(
            "sandbox",
            what,
            format!("programs are refused {why}"),
            "put the layer right, or set `sandbox: { mode: full }` in toolsmith.yaml if \
             programs may write everywhere",
        ),
        Some(why) => well("sandbox", what, format!("programs would be refused {why}")),
    }
}
