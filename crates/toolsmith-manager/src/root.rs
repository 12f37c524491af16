//! Where a project begins.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::setup::CONFIG_FILE;

/// How many folders upwards are looked at.
const MOST: usize = 64;

/// The folder a project begins in: the nearest one, from `start` upwards, that holds a
/// `toolsmith.yaml`; `start` itself where none does.
///
/// What lies above may be somebody else's, as in a shared folder, and what is written
/// there starts programs. So a file above counts only where it and its folder belong to
/// whoever runs this, and the search ends at the first folder that does not. A folder whose
/// file a program may have made (`is_doubted`) is passed over: what holds above it holds in it.
pub fn find_root(start: &Path, is_doubted: impl Fn(&Path) -> bool) -> PathBuf {
    let Ok(whole) = std::path::absolute(start) else {
        return start.to_owned();
    };
    let user = user();
    for (height, folder) in whole.ancestors().take(MOST).enumerate() {
        let config = folder.join(CONFIG_FILE);
        // A link that leads nowhere is there too, and told of by whoever reads it.
        let counts = config.symlink_metadata().is_ok() && !is_doubted(folder);
        if height == 0 {
            if counts {
                break;
            }
            continue;
        }
        if user.is_none() || owner(folder) != user {
            break;
        }
        if counts && config.is_file() && owner(&config) == user {
            return folder.to_owned();
        }
    }
    start.to_owned()
}

#[cfg(unix)]
fn user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// Where nobody can tell, nothing above is taken.
#[cfg(not(unix))]
fn user() -> Option<u32> {
    None
}

#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    // Of what is there itself: a link leads wherever its owner likes.
    Some(std::fs::symlink_metadata(path).ok()?.uid())
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<u32> {
    None
}

/// The name of a project's own folder beneath one for those of all.
pub(crate) fn digest_of(settled: &Path) -> String {
    let digest = Sha256::digest(settled.as_os_str().as_encoded_bytes());
    digest[..16].iter().map(|b| format!("{b:02x}")).collect()
}

/// The folder without links, by which two ways to it are one project.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing is opened by it: it is the name the project is known by"
)]
pub(crate) fn settled(root: &Path) -> PathBuf {
    let root = if root == Path::new("") {
        Path::new(".")
    } else {
        root
    };
    let settled = root.canonicalize().or_else(|_| std::path::absolute(root));
    settled.unwrap_or_else(|_| root.to_owned())
}
