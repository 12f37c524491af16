//! What a caller was offered, and under which names it is found.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolsmith::offer::Offer;
use toolsmith::{Binding, Detail, Exposure, ToolDef};

fn tool(name: &str) -> Arc<ToolDef> {
    let definition = ToolDef::new(name).unwrap().with_description("It does it.");
    Arc::new(definition)
}

#[test]
fn a_tool_is_found_under_both_names() {
    let mut offer = Offer::new(Detail::Brief);
    assert!(offer.find("read").is_none());
    assert!(offer.add("acme_read", tool("read"), Exposure::Direct));
    for name in ["acme_read", "read"] {
        assert_eq!(offer.find(name).unwrap().tool.name, "read");
    }
    assert!(offer.find("acme_acme_read").is_none());
}

/// A bare name that is another tool's offered name means the offered one.
#[test]
fn offered_names_come_first() {
    let mut offer = Offer::new(Detail::Brief);
    assert!(offer.add("a_b", tool("b"), Exposure::Direct));
    assert!(offer.add("x_a_b", tool("a_b"), Exposure::Direct));
    assert_eq!(offer.find("a_b").unwrap().tool.name, "b");
    assert_eq!(offer.find("x_a_b").unwrap().tool.name, "a_b");
}

#[test]
fn the_first_of_a_name_stays() {
    let mut offer = Offer::new(Detail::Brief);
    assert!(offer.add("one", tool("a"), Exposure::Direct));
    assert!(!offer.add("one", tool("b"), Exposure::Direct));
    assert!(!offer.add("two", tool("a"), Exposure::Direct));
    assert_eq!(offer.tools().len(), 1);
    assert!(offer.find("b").is_none() && offer.find("two").is_none());
}

#[test]
fn declarations_are_in_order_and_leave_deferred_tools_out() {
    let mut offer = Offer::new(Detail::Full);
    offer.add("p_z", tool("z"), Exposure::Direct);
    offer.add("p_m", tool("m"), Exposure::Deferred);
    offer.add("p_a", tool("a"), Exposure::Direct);
    let parameters = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let declared = |name: &str| {
        json!({
            "name": name,
            "description": "It does it.\n\nTakes no arguments.",
            "parameters": parameters,
        })
    };
    assert_eq!(
        serde_json::to_value(offer.declarations()).unwrap(),
        json!([declared("p_z"), declared("p_a")])
    );
    assert!(offer.find("m").is_some(), "what is deferred can be called");
    assert_eq!(offer.detail(), Detail::Full);
}

#[test]
fn a_binding_is_laid_over_another() {
    let beneath = Binding::default()
        .with_timeout(Duration::from_secs(1))
        .with_retries(3)
        .with_rate("5/s".parse().unwrap())
        .with_prefix("beneath");
    let above = Binding::default()
        .with_prefix("")
        .with_retries(0)
        .with_cache(Duration::from_secs(60))
        .with_exposure(Exposure::Hidden);
    let both = above.over(beneath);
    let written = json!({
        "timeout": "1s",
        "exposure": "hidden",
        "prefix": "",
        "retries": 0,
        "cache": "1m",
        "rate": "5/s",
    });
    assert_eq!(serde_json::to_value(&both).unwrap(), written);
    assert_eq!(serde_json::from_value::<Binding>(written).unwrap(), both);
    assert_eq!(Binding::default().exposure(), Exposure::Direct);
    for wrong in [
        json!({ "timeout": 1 }),
        json!({ "retries": -1 }),
        json!({ "repeats": 1 }),
        json!({ "rate": "often" }),
        json!({ "timeout": "1" }),
    ] {
        assert!(
            serde_json::from_value::<Binding>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}
