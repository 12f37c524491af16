//! The forms a function may have.
extern crate toolsmith_core as toolsmith;

use toolsmith::tool;

#[tool]
async fn r#move(r#type: String) -> String {
    r#type
}

/// Takes apart its context.
#[tool]
fn context_without_a_name(_: toolsmith::ToolContext, mut number: u8) -> u8 {
    number += 1;
    number
}

#[doc = concat!("Joined ", "text.")]
/// And more.
#[tool(crate = "toolsmith_core")]
#[must_use]
fn joined(#[allow(unused_variables)] unused: Option<u8>) -> u8 {
    0
}

/**
 A comment in a block.

 With more.
*/
#[tool]
pub(crate) fn block() {}

mod reexported {
    pub(crate) use super::block;
}

fn main() {
    // Inside a function too.
    #[tool]
    async fn inner() {}

    assert_eq!(r#move::definition().name, "move");
    assert_eq!(r#move::definition().input.as_value()["required"][0], "type");
    assert_eq!(context_without_a_name(toolsmith::ToolContext::detached(), 1), 2);
    assert_eq!(context_without_a_name::definition().input.as_value()["required"].to_string(), r#"["number"]"#);
    assert_eq!(joined::definition().description.short, "Joined text. And more.");
    assert_eq!(joined(None), 0);
    let description = reexported::block::definition().description;
    assert_eq!((&*description.short, &*description.long), ("A comment in a block.", "With more."));
    assert_eq!(inner::tool().definition().name, "inner");
}
