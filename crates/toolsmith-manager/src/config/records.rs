//! How a configuration wants calls to be recorded.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::Positive;
use crate::records::RecordTerms;

/// The smallest file that is begun: some records fit into it.
const LEAST_BYTES: usize = 64 << 10;
/// How many files are kept at most.
const MOST_FILES: usize = 100;

/// How calls are recorded; what is not set keeps its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RecordsConfig {
    /// Whether they are, where the host keeps records.
    pub enabled: Option<bool>,
    /// How large a file may grow before another is begun.
    #[serde(deserialize_with = "bytes")]
    pub bytes: Option<Positive>,
    /// How many files are kept.
    #[serde(deserialize_with = "files")]
    pub files: Option<Positive>,
    /// Whether a bounded and redacted part of arguments and results is kept.
    pub keep_arguments: Option<bool>,
}

impl RecordsConfig {
    /// The terms, with the defaults where nothing is set.
    pub fn terms(&self) -> RecordTerms {
        let mut terms = RecordTerms::default();
        terms.enabled = self.enabled.unwrap_or(terms.enabled);
        if let Some(Positive(bytes)) = self.bytes {
            terms.bytes = bytes as u64;
        }
        if let Some(Positive(files)) = self.files {
            terms.files = files;
        }
        if self.keep_arguments == Some(false) {
            terms.text_bytes = 0;
        }
        terms
    }
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Positive>, D::Error> {
    let bytes = Option::<Positive>::deserialize(deserializer)?;
    match bytes {
        Some(Positive(bytes)) if bytes < LEAST_BYTES => Err(D::Error::custom(format!(
            "a file of records has at least {LEAST_BYTES} bytes, found {bytes}"
        ))),
        bytes => Ok(bytes),
    }
}

fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Positive>, D::Error> {
    let files = Option::<Positive>::deserialize(deserializer)?;
    match files {
        // With one alone, what was just written would be gone when another is begun.
        Some(Positive(files)) if !(2..=MOST_FILES).contains(&files) => Err(D::Error::custom(
            format!("from 2 to {MOST_FILES} files of records can be kept, found {files}"),
        )),
        files => Ok(files),
    }
}
