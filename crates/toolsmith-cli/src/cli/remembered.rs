//! What is said about pins and approvals: what a person has looked at and taken.

use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith pins                          what is pinned, and what is withheld
  toolsmith pins show mcp__git__log       what changed, word by word
  toolsmith pins approve mcp__git__log    use it as it is now
  toolsmith pins approve mcp__git__log@1bcb953786802cf1
                                          only if it is still what `show` showed
  toolsmith pins approve --source git
  toolsmith pins forget --source git      pin it anew when it is next used

A server's tools are pinned in toolsmith.lock when it is first used. One that is changed,
new, renamed, or looks like another afterwards is withheld until it is approved.
Keep the file in version control.")]
pub(crate) struct Pins {
    #[command(subcommand)]
    pub(crate) what: Option<PinsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// Show what a tool says of itself now, and what it said when it was pinned
    #[command(after_help = examples::PINS_SHOW)]
    Show {
        /// The tool.
        name: String,
    },
    /// Use tools as they are now, or as they were shown: NAME@DIGEST
    #[command(after_help = examples::PINS_APPROVE)]
    Approve(Chosen),
    /// Forget what was pinned
    #[command(after_help = examples::PINS_FORGET)]
    Forget(Chosen),
}

#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// The tools.
    #[arg(value_name = "NAME", required_unless_present_any = ["source", "all"])]
    pub(crate) names: Vec<String>,

    /// All tools of this source, such as a server.
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["names", "all"])]
    pub(crate) source: Option<String>,

    /// All tools.
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

impl Chosen {
    /// The tools that were named, each with the digest it is to have.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        // No name of a tool has an `@` in it.
        self.names.iter().map(|name| match name.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (name.as_str(), None),
        })
    }

    /// Tells whether a tool is meant.
    pub(crate) fn holds(&self, source: &str, name: &str) -> bool {
        self.all
            || self.source.as_deref() == Some(source)
            || self.tools().any(|(chosen, _)| chosen == name)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  toolsmith approvals
  toolsmith approvals revoke 1f0c2b9a
  toolsmith approvals revoke --all

What is approved for the project when a call is asked for is kept in the user's state
folder. A server that runs looks there at every call it would ask for.")]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) what: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Take approvals back
    #[command(after_help = examples::REVOKE)]
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The approvals.
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub(crate) ids: Vec<String>,

    /// All of them.
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
}
