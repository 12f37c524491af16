//! Which variables of a caller's environment a child may see.
//!
//! The caller reads its environment; this file only picks. What is not on the list does
//! not pass, so a secret is safe without anybody having recognised it as one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// The variables that programs need to run and that hold no secrets.
///
/// A name that ends in `*` stands for every name with that beginning.
pub const SAFE_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TZ", "TMPDIR", "XDG_*",
];

/// Returns the pairs of `source` whose names are listed in `names`.
///
/// ```
/// use toolsmith_process::{SAFE_VARIABLES, inherited};
///
/// let of_the_caller = [("LC_ALL", "C"), ("API_KEY", "hush")];
/// let of_the_child = inherited(SAFE_VARIABLES, of_the_caller);
/// assert_eq!(of_the_child, [("LC_ALL".into(), "C".into())]);
/// ```
pub fn inherited<N, V>(
    names: &[&str],
    source: impl IntoIterator<Item = (N, V)>,
) -> Vec<(OsString, OsString)>
where
    N: Into<OsString>,
    V: Into<OsString>,
{
    let pairs = source
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    pairs
        .filter(|(name, _)| names.iter().any(|listed| stands_for(listed, name)))
        .collect()
}

fn stands_for(listed: &str, name: &OsStr) -> bool {
    match listed.strip_suffix('*') {
        Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
        None => name == listed,
    }
}
