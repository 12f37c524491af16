//! An approver that answers from a script, and counts.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use toolsmith_runtime::Approver;
use toolsmith_runtime::permit::{Approval, ApprovalRequest};

type Script = dyn Fn(&[ApprovalRequest]) -> Vec<Approval> + Send + Sync;

/// Answers by a closure and remembers what it was asked. Clones share the memory.
#[derive(Clone)]
pub struct ScriptedApprover {
    script: Arc<Script>,
    asked: Arc<Mutex<Vec<Vec<ApprovalRequest>>>>,
}

impl ScriptedApprover {
    /// Answers by a closure.
    pub fn new(
        script: impl Fn(&[ApprovalRequest]) -> Vec<Approval> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            asked: Arc::default(),
        }
    }

    /// Says yes to everything.
    pub fn yes() -> Self {
        Self::new(|requests| requests.iter().map(|r| r.grant("the test")).collect())
    }

    /// Says no to everything.
    pub fn no() -> Self {
        Self::new(|requests| {
            let no = Approval::Refused {
                by: "the test".to_owned(),
                reason: "it said no".to_owned(),
            };
            vec![no; requests.len()]
        })
    }

    /// Every question so far, each with the calls it was about.
    pub fn asked(&self) -> Vec<Vec<ApprovalRequest>> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

impl fmt::Debug for ScriptedApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptedApprover, asked {} times", self.asked().len())
    }
}

impl Approver for ScriptedApprover {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(requests.to_vec());
        }
        (self.script)(requests)
    }
}

/// Never answers.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Approver for Silent {
    async fn approve(&self, _requests: &[ApprovalRequest]) -> Vec<Approval> {
        std::future::pending().await
    }
}
