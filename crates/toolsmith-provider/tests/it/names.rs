//! Names of tools: one for each, never one for two, and nobody's own is taken away.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use toolsmith_core::{Detail, Exposure, Offer, ToolDef};
use toolsmith_provider::{Options, Provider, declare};

fn offer(names: &[String]) -> Offer {
    let mut offer = Offer::new(Detail::Brief);
    for (index, name) in names.iter().enumerate() {
        let tool = ToolDef::new(format!("t{index}")).unwrap();
        offer.add(name.clone(), Arc::new(tool), Exposure::Direct);
    }
    offer
}

fn is_safe(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 64
        && name
            .chars()
            .all(|each| each.is_ascii_alphanumeric() || "_-".contains(each))
}

fn declared(names: &[String]) -> Vec<(String, String)> {
    let offer = offer(names);
    let declared = declare(Provider::OpenAi, &offer, &Options::default()).unwrap();
    let pairs = declared
        .report
        .iter()
        .map(|each| (each.name.clone(), each.declared_name.clone()));
    for report in &declared.report {
        let dictionary = &declared.dictionary;
        assert_eq!(dictionary.declared(&report.name), report.declared_name);
        assert_eq!(dictionary.name(&report.declared_name), report.name);
        assert!(dictionary.declares(&report.declared_name));
    }
    pairs.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_safe_and_different(
        names in prop::collection::vec("[ab._:/é]{0,4}|[a_]{62,67}", 0..12)
    ) {
        let pairs = declared(&names);
        let mut seen = HashSet::new();
        for (name, declared) in &pairs {
            prop_assert!(is_safe(declared), "{name:?} {declared:?}");
            prop_assert!(seen.insert(declared.clone()), "{declared:?} twice");
            // A name that is safe belongs to whoever has it.
            prop_assert!(!is_safe(name) || name == declared, "{name:?} {declared:?}");
        }
    }

    #[test]
    fn order_does_not_matter(
        names in prop::collection::hash_set("[ab._:]{1,3}", 2..8)
    ) {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        let forward: HashSet<_> = declared(&names).into_iter().collect();
        names.reverse();
        let backward: HashSet<_> = declared(&names).into_iter().collect();
        prop_assert_eq!(forward, backward);
    }
}

#[test]
fn a_name_that_looks_like_a_stand_in_keeps_it() {
    let first = declared(&["a.b".to_owned(), "a_b".to_owned()]);
    let stand_in = first[0].1.clone();
    assert_ne!(stand_in, "a_b");
    let second = declared(&["a.b".to_owned(), "a_b".to_owned(), stand_in.clone()]);
    assert_eq!(second[2].1, stand_in);
    assert_ne!(second[0].1, stand_in);
}

#[test]
fn hosted_tools_keep_their_names() {
    let hosted = serde_json::json!({"type": "x", "name": "web_search"});
    let below = serde_json::json!({"systemTool": {"name": "web_search"}});
    // One by the same name gives way: a request with two of one name is refused.
    for (provider, hosted, name) in [
        (Provider::Anthropic, &hosted, "web.search"),
        (Provider::Anthropic, &hosted, "web_search"),
        (Provider::Bedrock, &below, "web_search"),
    ] {
        let mut options = Options::default();
        options.hosted = vec![hosted.clone()];
        let declared = declare(provider, &offer(&[name.to_owned()]), &options).unwrap();
        let stand_in = &declared.report[0].declared_name;
        assert_ne!(stand_in, "web_search");
        assert_eq!(declared.dictionary.name(stand_in), name);
    }
}

#[test]
fn the_search_for_tools_keeps_its_name() {
    let name = "tool_search_tool_bm25";
    let mut offer = offer(&[name.to_owned()]);
    let found = ToolDef::new("found").unwrap();
    offer.add("found", Arc::new(found), Exposure::Deferred);
    let mut options = Options::default();
    options.deferred = true;
    let declared = declare(Provider::Anthropic, &offer, &options).unwrap();
    assert_ne!(declared.report[0].declared_name, name);
}

#[test]
fn too_many_tools_are_refused_before_they_are_sent() {
    let names: Vec<String> = (0..129).map(|index| format!("t{index}")).collect();
    let error = declare(Provider::OpenAi, &offer(&names), &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "openai takes at most 128 tools in a request, and there are 129; offer a tool set"
    );
    assert!(declare(Provider::Anthropic, &offer(&names), &Options::default()).is_ok());
}
