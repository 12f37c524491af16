//! What the attribute writes does not trip the lints of a strict crate.
#![forbid(unsafe_code, missing_docs)]
#![deny(
    nonstandard_style,
    unused,
    unused_qualifications,
    unreachable_pub,
    missing_debug_implementations,
    missing_copy_implementations,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    let_underscore_drop,
    unused_results
)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]

extern crate toolsmith_core as toolsmith;

/// Tools.
pub mod tools {
    use toolsmith::{Plan, ToolContext, tool};

    fn plan(_: &str, _: &[u8]) -> Plan {
        Plan::new("It does.")
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// Never.
    #[tool(
        name = "do_it", title = "t", kind = "edit", effect = "write", category = "c", tags = ["t"],
        consent = "YES", consent_reason = "r", timeout = "5s", prefix = "p", version = "1", id = "i",
        documentation_url = "u", returns = "r", usage_notes = ["n"], important = ["i"], destructive,
        idempotent, open_world = false, confirm = "never", plan = plan, declare
    )]
    pub async fn does(
        /// What.
        what: String,
        #[arg(default = vec![3])] times: Vec<u8>,
        context: ToolContext,
    ) -> Result<String, std::io::Error> {
        drop(context);
        Ok(format!("{what}{times:?}"))
    }

    /// Nothing at all.
    #[tool(confirm = "always")]
    pub fn nothing(context: &ToolContext) {
        context.output("");
    }
}

fn main() {
    assert_eq!(tools::does::tool().definition().name, "do_it");
    assert_eq!(tools::nothing::definition().name, "nothing");
    assert_eq!(toolsmith::declared::take().len(), 1);
}
