//! `toolsmith approvals`: what was approved for this project, and how to take it back.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use toolsmith_core::date::Date;
use toolsmith_manager::approvals::{Approved, FileApprovals};
use toolsmith_runtime::permit::{ApprovalStoreError, RememberedCalls};

use crate::cli::{Approvals, ApprovalsCommand, Revoke};
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) fn run(session: &Session, options: &Approvals, as_json: bool) -> Result<u8, Failure> {
    let Some(approvals) = session.manager.approvals() else {
        return Err(Failure::usage(
            "there is no folder to keep approvals in; set HOME or XDG_STATE_HOME",
        ));
    };
    match &options.what {
        None => list(approvals, as_json),
        Some(ApprovalsCommand::Revoke(revoke)) => self::revoke(approvals, revoke),
    }
}

fn list(approvals: &FileApprovals, as_json: bool) -> Result<u8, Failure> {
    let rows: Vec<Value> = approvals.all()?.iter().map(row).collect();
    if as_json {
        print::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        print::note("Nothing is approved for this project beyond single calls.");
        return Ok(0);
    }
    let text = |row: &Value, key: &str| print::visible(row[key].as_str().unwrap_or_default());
    for row in &rows {
        let what = match row["rule"].as_str() {
            Some(_) => format!("rule  {}", text(row, "rule")),
            None => format!("call  {}: {}", text(row, "tool"), text(row, "summary")),
        };
        let mut whose = String::new();
        for key in ["agent", "program"] {
            if row[key].is_string() {
                whose.push_str(&format!("  ({key} {})", text(row, key)));
            }
        }
        print::line(&format!(
            "{}  {}  {what}{whose}",
            text(row, "id"),
            text(row, "since")
        ))?;
    }
    Ok(0)
}

fn revoke(approvals: &FileApprovals, chosen: &Revoke) -> Result<u8, Failure> {
    let all = approvals.all()?;
    for id in &chosen.ids {
        if !all.iter().any(|each| each.id == *id) {
            let id = print::visible(id);
            let failure = Failure::usage(format!("there is no approval `{id}`"));
            return Err(failure.with_advice("see `toolsmith approvals`"));
        }
    }
    let is_chosen = |each: &Approved| chosen.all || chosen.ids.contains(&each.id);
    for revoked in approvals.revoke(is_chosen)? {
        print::line(&format!("revoked: {}", print::visible(&revoked.id)))?;
    }
    Ok(0)
}

fn row(approved: &Approved) -> Value {
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(approved.since));
    let since = since.unwrap_or(UNIX_EPOCH);
    let mut row = json!({
        "id": approved.id,
        "since": Date::from(since).to_string(),
        "agent": approved.approval.agent,
        "program": approved.approval.program,
    });
    match &approved.approval.calls {
        RememberedCalls::Matching(rule) => row["rule"] = rule.text().into(),
        RememberedCalls::Exactly { tool, summary, .. } => {
            row["tool"] = json!(tool);
            row["summary"] = summary.as_str().into();
        }
        _ => {}
    }
    row
}

impl From<ApprovalStoreError> for Failure {
    fn from(error: ApprovalStoreError) -> Self {
        Self::usage(error.to_string())
    }
}
