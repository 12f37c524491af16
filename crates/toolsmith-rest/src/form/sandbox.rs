//! What a program is kept within: a word, or a few settings.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toolsmith_process::Mode;

/// What a program is kept within: a mode, or settings laid over the project's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Sandbox {
    /// A mode, or `none`.
    Word(SandboxWord),
    /// Settings.
    Settings(SandboxSettings),
}

/// How much a program is kept within, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SandboxWord {
    /// Nothing: it may do whatever its user may.
    None,
    /// It may write temporary files only.
    ReadOnly,
    /// It may write the workspace too.
    WorkspaceWrite,
    /// It may write whatever its user may.
    Full,
}

/// Settings of one program's sandbox; what is not set is as the project has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// Which files it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<SandboxMode>,
    /// Whether it may use the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Folders it may write beside the workspace, seen from the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
}

/// Which files a program may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SandboxMode {
    /// Temporary files only.
    ReadOnly,
    /// The workspace too.
    WorkspaceWrite,
    /// Whatever its user may.
    Full,
}

/// Whether a program may use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Network {
    /// It may.
    On,
    /// It may not.
    Off,
}

impl From<SandboxMode> for Mode {
    fn from(mode: SandboxMode) -> Self {
        match mode {
            SandboxMode::ReadOnly => Self::ReadOnly,
            SandboxMode::WorkspaceWrite => Self::WorkspaceWrite,
            SandboxMode::Full => Self::Full,
        }
    }
}

impl Sandbox {
    /// The settings it comes to; none for no sandbox at all.
    pub fn settings(&self) -> Option<SandboxSettings> {
        let mode = match self {
            Self::Settings(settings) => return Some(settings.clone()),
            Self::Word(SandboxWord::None) => return None,
            Self::Word(SandboxWord::ReadOnly) => SandboxMode::ReadOnly,
            Self::Word(SandboxWord::WorkspaceWrite) => SandboxMode::WorkspaceWrite,
            Self::Word(SandboxWord::Full) => SandboxMode::Full,
        };
        Some(SandboxSettings {
            mode: Some(mode),
            ..SandboxSettings::default()
        })
    }
}

/// By hand, so that what is wrong within the settings is told where it is.
impl<'de> Deserialize<'de> for Sandbox {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Sandbox;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word such as `workspace-write`, or settings such as `network: on`")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Sandbox, E> {
                SandboxWord::deserialize(word.into_deserializer()).map(Sandbox::Word)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Sandbox, A::Error> {
                let settings = MapAccessDeserializer::new(map);
                SandboxSettings::deserialize(settings).map(Sandbox::Settings)
            }
        }

        deserializer.deserialize_any(Either)
    }
}
