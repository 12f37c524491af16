//! What is told about overlays and examples that are allowed but not good.

use std::sync::Arc;

use serde_json::json;
use toolsmith_core::{Example, ToolDef};
use toolsmith_runtime::guide::{Described, Layer, Overlays, PENDING};
use toolsmith_testing::tools::{definition, taking};

use crate::guide::{described, guide_over, layer, with_own};

fn catalogue() -> Vec<Arc<ToolDef>> {
    let properties = json!({ "path": { "type": "string" }, "lines": { "type": "integer" } });
    vec![
        Arc::new(taking("read_file", properties)),
        Arc::new(definition("other")),
    ]
}

fn lints(overlays: Overlays) -> Vec<String> {
    let findings = guide_over(overlays).lints(&catalogue());
    findings.iter().map(ToString::to_string).collect()
}

/// An entry for the other tool, so that nobody misses it.
fn descriptions(entries: &[(&str, Described)]) -> Overlays {
    let good = described("A description that is long enough.");
    let mut all = vec![("other", good.clone()), ("read_file", good)];
    all.extend(entries.iter().cloned());
    with_own(layer(&all, &[]))
}

fn examples(snippets: &[&str]) -> Overlays {
    with_own(layer(&[], &[("read_file", snippets), ("other", &[])]))
}

#[test]
fn good_overlays_have_no_findings() {
    assert_eq!(lints(Overlays::default()), Vec::<String>::new());
    assert_eq!(lints(descriptions(&[])), Vec::<String>::new());
    let good = &[
        "# One\nread_file(path='x', lines=1)",
        "{\"path\": \"x\", \"lines\": 2}",
    ];
    assert_eq!(lints(examples(good)), Vec::<String>::new());
}

#[test]
fn lengths_and_the_placeholder_are_found() {
    let too = |length: usize| {
        let text = "é".repeat(length);
        lints(descriptions(&[("read_file", described(&text))]))
    };
    let finding = |length: usize| {
        let best = "20 to 500 are best";
        format!("overlay.yaml:1: tool `read_file`: the description has {length} characters; {best}")
    };
    assert_eq!(too(19), [finding(19)]);
    assert_eq!(too(20), Vec::<String>::new());
    assert_eq!(too(500), Vec::<String>::new());
    assert_eq!(too(501), [finding(501)]);
    assert_eq!(
        lints(descriptions(&[("read_file", described(PENDING))])),
        ["overlay.yaml:1: tool `read_file`: the description is still pending"]
    );
    let mut entry = Described::default();
    entry.category = Some("read".to_owned());
    assert_eq!(
        lints(descriptions(&[("read_file", entry)])),
        Vec::<String>::new()
    );
    let pending = [Arc::new(definition("one").with_description(PENDING))];
    let findings = guide_over(Overlays::default()).lints(&pending);
    assert_eq!(
        findings[0].to_string(),
        "tool `one`: the description is still pending"
    );
}

#[test]
fn unknown_and_missing_entries_are_found() {
    let entry = described("A description that is long enough.");
    assert_eq!(
        lints(descriptions(&[("read_flie", entry.clone())])),
        ["overlay.yaml:1: tool `read_flie`: there is no such tool; is it `read_file`?"]
    );
    let overlays = with_own(layer(&[("other", entry.clone())], &[("zzz", &["zzz()"])]));
    assert_eq!(
        lints(overlays.clone()),
        [
            "overlay.yaml: tool `read_file`: there is no entry for its description",
            "overlay.yaml: tool `read_file`: there is no entry for its examples",
            "overlay.yaml: tool `other`: there is no entry for its examples",
            "overlay.yaml:1: tool `zzz`: there is no such tool",
        ]
    );
    // What came with the program needs no entry of the user's.
    let mut overlays = with_own(layer(&[("other", entry.clone())], &[]));
    overlays.shipped = Arc::new(layer(&[("read_file", entry.clone()), ("gone", entry)], &[]));
    assert_eq!(lints(overlays), Vec::<String>::new());
}

#[test]
fn examples_are_checked() {
    let many: Vec<&str> = std::iter::repeat_n("read_file(path='x', lines=1)", 6).collect();
    assert_eq!(
        lints(examples(&many)),
        ["overlay.yaml:6: tool `read_file`: there are 6 examples; only the first 5 are shown"]
    );
    let long = format!("read_file(path='x',{}lines=1)", "\n".repeat(10));
    let lines = lints(examples(&[
        &long,
        "read_file(path='x', lines='2')",
        "print(1)",
        "x + y",
    ]));
    assert_eq!(
        lines,
        [
            "overlay.yaml:1: tool `read_file`: the example has 11 lines; at most 10 are best",
            "overlay.yaml:2: tool `read_file`: the example does not fit the schema: `lines`: \
             expected integer, got \"2\" (string)",
            "overlay.yaml:3: tool `read_file`: the example cannot be checked: it calls `print`, \
             not `read_file`",
            "overlay.yaml:4: tool `read_file`: the example cannot be checked: it is no call of \
             the form read_file(key=value, …)",
        ]
    );
    let lines = lints(examples(&["read_file(paths='x')"]));
    assert!(lines[0].contains("does not fit the schema") && lines[0].ends_with("more)"));
    let wrong = json!({ "lines": "x" }).as_object().unwrap().clone();
    let tools = [Arc::new(
        taking("one", json!({ "lines": { "type": "integer" } })).with_example(Example::new(wrong)),
    )];
    let findings = guide_over(Overlays::default()).lints(&tools);
    assert_eq!(
        findings[0].to_string(),
        "tool `one`: the example does not fit the schema: `lines`: expected integer, got \"x\" (string)"
    );
}

#[test]
fn a_file_of_another_sort_is_told_of_within_bounds() {
    let mut own = Layer::default();
    for n in 0..20_000 {
        own.descriptions
            .insert(format!("{n} {}", "x".repeat(200)), described("short"));
    }
    let findings = guide_over(with_own(own)).lints(&catalogue());
    assert_eq!(findings.len(), 1000);
    assert!(
        findings
            .iter()
            .all(|finding| finding.to_string().len() < 300)
    );
}
