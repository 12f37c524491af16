//! The built-in tools over a folder, called as a model calls them.
//!
//! What is measured and what is compared with other programs goes the way of every call.

use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;
use tokio::runtime::Runtime;
use toolsmith_builtin::{Workspace, WorkspaceOptions};
use toolsmith_core::{Block, RawCall};
use toolsmith_runtime::{Caller, Toolbox};

/// The built-in tools over one folder.
#[derive(Debug)]
pub struct BuiltIns {
    runtime: Runtime,
    toolbox: Toolbox,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The value, for programs.
    pub value: Value,
    /// What a model reads.
    pub text: String,
}

impl BuiltIns {
    /// Opens a folder for all tools.
    ///
    /// # Errors
    /// Fails where the folder cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, String> {
        let workspace = Workspace::open([folder], WorkspaceOptions::default())
            .map_err(|error| error.to_string())?;
        let tools = toolsmith_builtin::tools(&workspace, SystemTime::now);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Ok(Self {
            runtime: runtime.map_err(|error| error.to_string())?,
            toolbox: Toolbox::new(tools).map_err(|error| error.to_string())?,
        })
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// Fails with what a model would read of the failure.
    pub fn call(&self, tool: &str, arguments: Value) -> Result<Answer, String> {
        let call = RawCall::new(tool, arguments);
        let caller = Caller::new("test");
        let outcome = self.runtime.block_on(self.toolbox.run(call, &caller));
        let outcome = outcome.into_outcome();
        if let Some(error) = outcome.error {
            return Err(error.to_string());
        }
        let texts = outcome.content.iter().map(|block| match block {
            Block::Text { text } => text.as_str(),
            _ => "",
        });
        let text: String = texts.collect();
        let value = outcome.value.unwrap_or_default();
        // Where a tool says nothing to the model, it reads the value.
        let text = match text.is_empty() {
            true => value.to_string(),
            false => text,
        };
        Ok(Answer { value, text })
    }
}
