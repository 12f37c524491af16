//! How a configuration wants programs to be confined.

use std::path::{Component, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toolsmith_process::Limits;
use toolsmith_rest::form::{Network, SandboxMode};

use super::{Positive, few};

/// How programs are confined; what is not set keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SandboxConfig {
    /// Which files they may write.
    pub mode: Option<SandboxMode>,
    /// Whether they may use the network.
    pub network: Option<Network>,
    /// Folders they may write beside the roots. One that is protected by itself is not when
    /// it stands here.
    #[serde(deserialize_with = "paths")]
    pub writable: Vec<PathBuf>,
    /// Paths that they may not write although they lie beneath such a folder, beside those
    /// that are protected by themselves.
    #[serde(deserialize_with = "paths")]
    pub protected: Vec<PathBuf>,
    /// Paths that they may not even read, beside those that are hidden by themselves.
    #[serde(deserialize_with = "paths")]
    pub hidden: Vec<PathBuf>,
    /// How much they may use.
    pub limits: SandboxLimits,
}

/// How much a program may use; what is not set keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SandboxLimits {
    /// How many files each process may have open at once.
    pub open_files: Option<Positive>,
    /// How many processes may live at once.
    pub processes: Option<Positive>,
    /// How many mebibytes each file may have.
    pub file_megabytes: Option<Positive>,
}

impl SandboxLimits {
    /// The limits, with the defaults where nothing is set.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(Positive(count)) = self.open_files {
            limits = limits.open_files(count as u64);
        }
        if let Some(Positive(count)) = self.processes {
            limits = limits.processes(count as u64);
        }
        if let Some(Positive(megabytes)) = self.file_megabytes {
            limits = limits.file_size((megabytes as u64) << 20);
        }
        limits
    }
}

/// Paths that say where they lead: no `..`, which a link turns into somewhere else.
fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Option::<Vec<PlainPath>>::deserialize(deserializer)?.unwrap_or_default();
    few(paths.len(), "paths")?;
    Ok(paths.into_iter().map(|path| path.0).collect())
}

struct PlainPath(PathBuf);

impl<'de> Deserialize<'de> for PlainPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let path = PathBuf::from(&text);
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        if text.is_empty() || text.contains('\0') || leads_up {
            return Err(D::Error::custom(
                "expected a path seen from the root, a full one, or one beneath `~`, without `..`",
            ));
        }
        Ok(Self(path))
    }
}
