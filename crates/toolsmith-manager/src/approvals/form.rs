//! A file of approvals as it is written, and what is wrong with one that is not.
//!
//! ```json
//! {
//!   "version": 1,
//!   "root": "/srv/project",
//!   "approvals": [
//!     { "id": "1f0c2b9a", "since": 1767225600, "rule": "write(file_path beneath docs)" },
//!     { "id": "9a3e77d0", "since": 1767225600, "agent": "helper",
//!       "call": { "digest": "…", "tool": "write", "summary": "write docs/a.md, 12 bytes" } }
//!   ]
//! }
//! ```

use std::fs::Metadata;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolsmith_core::{ToolName, json as strict};
use toolsmith_runtime::permit::{CallDigest, Remembered, RememberedCalls, Rule, Verdict};

use crate::files::Stamp;
use crate::loader::load_regular;
use crate::yaml::visible;

/// The version that is written, and the newest that is read.
const VERSION: u64 = 1;

/// How large a file may be.
const MOST_BYTES: usize = 4 << 20;

/// How many approvals one project has.
const MOST: usize = 1000;

/// How many characters of what is wrong are told.
const SHOWN: usize = 800;

/// What to do about a file that cannot be used.
const ADVICE: &str = "nothing in it counts; remove the file to begin anew";

/// An approval with what lists tell of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Approved {
    /// What it is revoked by.
    pub id: String,
    /// When it was given, in seconds since 1970.
    pub since: u64,
    /// Which calls it is for, and whose.
    pub approval: Remembered,
}

/// What stands in the file's place.
pub(super) struct Found {
    pub(super) approved: Vec<Approved>,
    pub(super) stamp: Stamp,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u64,
    root: String,
    approvals: Vec<ApprovalForm>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ApprovalForm {
    id: String,
    since: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallForm>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct CallForm {
    digest: String,
    tool: ToolName,
    summary: String,
}

/// Reads a file; one that is not there holds nothing. The message tells the file, what is
/// wrong and what to do.
pub(super) fn read(path: &Path, name: &str, root: &str) -> Result<Found, String> {
    let stamp = Stamp::look(path);
    let loaded = load_regular(path, name, MOST_BYTES);
    let loaded = loaded.map_err(|error| format!("{error}; {ADVICE}"))?;
    let Some((metadata, bytes)) = loaded else {
        let approved = Vec::new();
        return Ok(Found { approved, stamp });
    };
    let read = private(&metadata).and_then(|()| parse(&bytes, root));
    let approved = read.map_err(|why| format!("{name}: {}; {ADVICE}", visible(&why, SHOWN)))?;
    Ok(Found { approved, stamp })
}

/// A file that others can write says what others want.
#[cfg(unix)]
fn private(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    match metadata.mode() & 0o077 {
        0 => Ok(()),
        _ => {
            let mode = metadata.mode() & 0o777;
            Err(format!(
                "others can read or write it (mode {mode:03o}, and it must be 600)"
            ))
        }
    }
}

#[cfg(not(unix))]
fn private(_: &Metadata) -> Result<(), String> {
    Ok(())
}

fn parse(bytes: &[u8], root: &str) -> Result<Vec<Approved>, String> {
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty".to_owned());
    }
    let value = strict::parse(bytes, MOST_BYTES);
    let value = value.map_err(|error| format!("it cannot be read: {error}"))?;
    // The version comes first: what else a newer one says cannot be known.
    match value.get("version").map(Value::as_u64) {
        Some(Some(VERSION)) => {}
        Some(Some(version)) if version > VERSION => {
            return Err(format!(
                "it is of version {version}, and this program reads up to version {VERSION}; \
                 update toolsmith"
            ));
        }
        Some(_) => return Err("its `version` is none there ever was".to_owned()),
        None => return Err("it has no `version`".to_owned()),
    }
    let form = Form::deserialize(value);
    let form = form.map_err(|error| format!("it cannot be read: {error}"))?;
    if form.root != root {
        return Err(format!("it is of another project, {}", form.root));
    }
    if form.approvals.len() > MOST {
        return Err(format!("it holds more than {MOST} approvals"));
    }
    let approvals = form.approvals.into_iter().map(|form| {
        let id = form.id.clone();
        approved(form).map_err(|why| format!("approval {id:?}: {why}"))
    });
    approvals.collect()
}

fn approved(form: ApprovalForm) -> Result<Approved, String> {
    let calls = match (form.call, form.rule) {
        (Some(call), None) => RememberedCalls::Exactly {
            digest: CallDigest::parse(&call.digest).ok_or("its digest is none")?,
            tool: call.tool,
            summary: call.summary,
        },
        (None, Some(rule)) => {
            let rule = Rule::parse(Verdict::Allow, &rule).map_err(|error| error.to_string())?;
            RememberedCalls::Matching(rule)
        }
        _ => return Err("it has either a `call` or a `rule`".to_owned()),
    };
    Ok(Approved {
        id: form.id,
        since: form.since,
        approval: Remembered::new(calls, form.agent).of_program(form.program),
    })
}

/// The text of a file with these approvals.
pub(super) fn written(root: &str, approved: &[Approved]) -> Result<String, String> {
    if approved.len() > MOST {
        return Err(format!(
            "more than {MOST} approvals are not kept; revoke some with `toolsmith approvals revoke`"
        ));
    }
    let approvals = approved.iter().map(|each| {
        let (rule, call) = match &each.approval.calls {
            RememberedCalls::Matching(rule) => (Some(rule.text().to_owned()), None),
            RememberedCalls::Exactly {
                digest,
                tool,
                summary,
            } => {
                let call = CallForm {
                    digest: digest.to_string(),
                    tool: tool.clone(),
                    summary: summary.clone(),
                };
                (None, Some(call))
            }
            _ => (None, None),
        };
        ApprovalForm {
            id: each.id.clone(),
            since: each.since,
            agent: each.approval.agent.clone(),
            program: each.approval.program.clone(),
            rule,
            call,
        }
    });
    let form = Form {
        version: VERSION,
        root: root.to_owned(),
        approvals: approvals.collect(),
    };
    let text = serde_json::to_string_pretty(&form).map_err(|error| error.to_string())?;
    if text.len() >= MOST_BYTES {
        return Err(format!("it would be larger than {MOST_BYTES} bytes"));
    }
    Ok(text + "\n")
}

/// An id no other approval has.
pub(super) fn id(approval: &Remembered, since: u64, others: &[Approved]) -> String {
    let is_taken = |id: &str| others.iter().any(|other| other.id == id);
    let mut salt = 0_u32;
    loop {
        let digest = Sha256::digest(format!("{approval:?} {since} {salt}"));
        let id: String = digest[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if !is_taken(&id) {
            return id;
        }
        salt += 1;
    }
}
