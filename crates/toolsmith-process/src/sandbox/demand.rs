//! Whether a machine can give what a sandbox asks for.
//!
//! A layer that is missing and needed refuses the launch; one that is missing and was not
//! needed becomes a note. Nothing runs with less than was asked for in silence.

use std::ffi::OsStr;

use super::{Mode, Sandbox, Support};
use crate::LaunchError;

/// The first version of Landlock's interface that keeps files from being cut short.
const TRUNCATION: u32 = 3;

/// The layers that will be used for one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means {
    /// The version of Landlock's interface to use, or 0.
    pub(crate) landlock: u32,
    pub(crate) namespaces: bool,
}

impl Means {
    /// Decides on the layers, or says which one is missing.
    pub(crate) fn choose(
        program: &OsStr,
        sandbox: &Sandbox,
        support: &Support,
    ) -> Result<Self, LaunchError> {
        let refuse = |layer: &'static str, why: &str, remedy: &'static str| {
            Err(LaunchError::Unsupported {
                program: program.to_os_string(),
                layer,
                why: why.to_owned(),
                remedy,
            })
        };
        if let Err(why) = &support.seccomp {
            return refuse("seccomp", why, "use a kernel with CONFIG_SECCOMP_FILTER");
        }
        let confines_files = sandbox.mode != Mode::Full;
        let landlock = match &support.landlock {
            Ok(version) => *version,
            Err(why) if confines_files => {
                return refuse(
                    "landlock",
                    why,
                    "use Linux 5.13 or later with landlock among its security modules (lsm=), \
                     or set the sandbox's mode to full if the command may write everywhere",
                );
            }
            Err(_) => 0,
        };
        let namespaces = support.namespaces.is_ok();
        if confines_files && landlock < TRUNCATION && !namespaces {
            let why = format!("version {landlock} does not keep files from being cut short");
            return refuse(
                "landlock",
                &why,
                "use Linux 6.2 or later, or allow user namespaces",
            );
        }
        if let Err(why) = &support.namespaces
            && landlock == 0
            && !sandbox.hidden.is_empty()
        {
            return refuse(
                "namespaces",
                why,
                "allow user namespaces, use a kernel with Landlock, or hide no paths",
            );
        }
        Ok(Self {
            landlock,
            namespaces,
        })
    }
}
