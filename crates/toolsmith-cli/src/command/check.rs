//! `toolsmith check`: is everything in order?

use serde_json::json;

use crate::failure::{Failure, USAGE};
use crate::print;
use crate::session::Session;

pub(crate) fn run(session: &Session, strict: bool, as_json: bool) -> Result<u8, Failure> {
    let findings = session.manager.lint(&session.toolbox);
    let file = session
        .manager
        .file()
        .map(|file| file.display().to_string());
    let tools = session.toolbox.registry().len();
    let bad = strict && !findings.is_empty();
    if as_json {
        let report = json!({
            "file": file,
            "tools": tools,
            "findings": findings,
            "ok": !bad,
        });
        print::json(&report)?;
    } else {
        for finding in &findings {
            if strict {
                print::error(finding);
            } else {
                print::warning(finding);
            }
        }
        let file = file.unwrap_or_else(|| "no configuration file".to_owned());
        print::line(&format!(
            "{file}: {tools} tools, {} findings",
            findings.len()
        ))?;
    }
    Ok(if bad { USAGE } else { 0 })
}
