//! When a server of models asks one to come back.

use std::time::Duration;

use toolsmith_net::{HeaderMap, retry_after, retry_after_millis};

/// How long a server asks to be left alone, by the headers of its answer.
pub(super) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let header = |name| headers.get(name)?.to_str().ok();
    // The finer of the two counts, where both are there.
    let millis = header("retry-after-ms").and_then(retry_after_millis);
    millis.or_else(|| retry_after(header("retry-after")?, header("date")))
}
