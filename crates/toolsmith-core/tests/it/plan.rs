//! What a tool says it is about to do, as it is written.

use std::time::Duration;

use serde_json::json;
use toolsmith::plan::{Access, Confirm, Plan, Touch};

#[test]
fn a_plan_is_written_whole() {
    let plan = Plan::new("Moves a to b.")
        .touching(Touch::read("a").from_argument("source"))
        .touching(Touch::write("b"))
        .touching(Touch::delete("a"))
        .confirmed_because("b exists")
        .within(Duration::from_secs(90));
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({
            "summary": "Moves a to b.",
            "touches": [
                { "path": "a", "access": "read", "argument": "source" },
                { "path": "b", "access": "write" },
                { "path": "a", "access": "delete" },
            ],
            "confirm": { "needed": "required", "reason": "b exists" },
            "timeout": "90s",
        })
    );
}

#[test]
fn a_plan_says_nothing_unless_it_is_told() {
    let plan = Plan::default();
    assert_eq!(plan.confirm, Confirm::Unspecified);
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({ "summary": "", "confirm": { "needed": "unspecified" } })
    );
    let never = serde_json::to_value(Confirm::Never).unwrap();
    assert_eq!(never, json!({ "needed": "never" }));
    assert_eq!(
        serde_json::from_value::<Access>(json!("write")).unwrap(),
        Access::Write
    );
}
