//! The form a person fills in whose client shows one: whether the call may run, and whether
//! that is to be remembered. Clients that know of nothing but yes and no answer just that.

use serde_json::{Value, json};

use super::{Approval, ApprovalRequest, Covers, Lasts, Remember, Rule, Verdict};

/// What the answer is filed under.
pub(super) const APPROVE: &str = "approve";
const REMEMBER: &str = "remember";
const RULE: &str = "rule";

/// How long a rule in an answer may be.
const LONGEST: usize = 4096;

impl ApprovalRequest {
    /// The schema of the form: flat, and with one field that must be filled in.
    pub fn form(&self) -> Value {
        let mut properties = json!({
            APPROVE: { "type": "boolean", "description": "Whether the call may run." },
            REMEMBER: {
                "type": "string",
                "enum": ["once", "run", "project"],
                "default": "once",
                "description": "For how long this counts: for this call, until the program \
                                ends, or for the project until it is revoked.",
            },
        });
        if let Some(proposal) = self.proposal() {
            properties[RULE] = json!({
                "type": "string",
                "default": proposal,
                "description": "Which calls this counts for, where it is remembered; empty \
                                for this very call alone.",
            });
        }
        json!({ "type": "object", "properties": properties, "required": [APPROVE] })
    }

    /// The answer that a form came back with, in somebody's name. What is neither yes nor
    /// no is a no; what is remembered is only what was said in so many words.
    pub fn answered(&self, form: &Value, by: &str) -> Approval {
        if form.get(APPROVE) != Some(&Value::Bool(true)) {
            return Approval::Refused {
                by: by.to_owned(),
                reason: "the user said no".to_owned(),
            };
        }
        let granted = self.grant(by);
        let lasts = match form.get(REMEMBER).and_then(Value::as_str) {
            Some("run") => Lasts::Run,
            Some("project") => Lasts::Project,
            _ => return granted,
        };
        let rule = form.get(RULE).and_then(Value::as_str).unwrap_or_default();
        let covers = match rule.trim() {
            "" => Covers::Call,
            rule if rule.len() > LONGEST => return granted,
            rule => match Rule::parse(Verdict::Allow, rule) {
                Ok(rule) if rule.is_of_tool(self.tool.as_str()) => Covers::rule(rule),
                // A client does not speak for other tools than the one it asked about.
                Ok(_) => return granted,
                // It runs once: nobody can tell what else was meant.
                Err(error) => {
                    tracing::warn!(target: "toolsmith::host", "an approval is not remembered: {error}");
                    return granted;
                }
            },
        };
        // It is the client that says so, so it counts for that client.
        granted.remembering(Remember::new(lasts, covers).of_program())
    }
}
