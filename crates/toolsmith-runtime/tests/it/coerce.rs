//! What is mended, what that is called, and what never is.

use serde_json::{Value, json};
use toolsmith_core::{Consent, Outcome, Schema};
use toolsmith_runtime::{Mode, Policy, Toolbox};
use toolsmith_testing::tools::{definition, echoing, taking};
use toolsmith_testing::{call, failure, value};

async fn with(property: Value, came: Value) -> Outcome {
    let schema = Schema::input(json!({"properties": {"x": property}})).unwrap();
    let toolbox = Toolbox::new([echoing(definition("tool").with_input(schema))]).unwrap();
    call(&toolbox, "tool", json!({"x": came})).await
}

#[tokio::test]
async fn what_can_mean_only_one_thing_is_mended_and_named() {
    let of = |kind: &str| json!({"type": kind});
    for (property, came, mended, repair) in [
        (
            of("integer"),
            json!("5"),
            json!(5),
            "`x`: took \"5\" (string) for 5",
        ),
        (
            of("integer"),
            json!(" -7 "),
            json!(-7),
            "`x`: took \" -7 \" (string) for -7",
        ),
        (
            of("number"),
            json!("2.5"),
            json!(2.5),
            "`x`: took \"2.5\" (string) for 2.5",
        ),
        (
            of("number"),
            json!("3"),
            json!(3),
            "`x`: took \"3\" (string) for 3",
        ),
        (
            of("boolean"),
            json!("true"),
            json!(true),
            "`x`: took \"true\" (string) for true",
        ),
        (
            of("boolean"),
            json!("False"),
            json!(false),
            "`x`: took \"False\" (string) for false",
        ),
        (
            of("string"),
            json!(5),
            json!("5"),
            "`x`: took 5 for \"5\" (string)",
        ),
        (
            of("string"),
            json!(true),
            json!("true"),
            "`x`: took true for \"true\" (string)",
        ),
        (
            of("array"),
            json!("[1, 2]"),
            json!([1, 2]),
            "`x`: took \"[1, 2]\" (string) for an array of 2 items",
        ),
        (
            of("object"),
            json!("{\"a\": 1}"),
            json!({"a": 1}),
            "`x`: took \"{\\\"a\\\": 1}\" (string) for an object with 1 fields",
        ),
        (
            json!({"type": ["integer", "null"]}),
            json!("5"),
            json!(5),
            "`x`: took \"5\" (string) for 5",
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!("5"),
            json!(5),
            "`x`: took \"5\" (string) for 5",
        ),
        (
            json!({"items": {"type": "integer"}}),
            json!([1, "2"]),
            json!([1, 2]),
            "`x[1]`: took \"2\" (string) for 2",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!("one"),
            json!(["one"]),
            "`x`: took \"one\" (string) for an array of 1 items",
        ),
        (
            json!({"type": ["array", "null"], "items": {"type": "string"}}),
            json!("one"),
            json!(["one"]),
            "`x`: took \"one\" (string) for an array of 1 items",
        ),
        (
            json!({"type": "array", "items": {"type": "object"}}),
            json!({"a": 1}),
            json!([{"a": 1}]),
            "`x`: took an object with 1 fields for an array of 1 items",
        ),
    ] {
        let outcome = with(property, came).await;
        assert_eq!(value(&outcome), json!({"x": mended}));
        assert_eq!(outcome.facts.repairs, [repair]);
    }
}

#[tokio::test]
async fn mending_one_value_can_uncover_the_next() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let outcome = with(list, json!("[\"1\", 2]")).await;
    assert_eq!(value(&outcome), json!({"x": [1, 2]}));
    assert_eq!(outcome.facts.repairs.len(), 2);
}

#[tokio::test]
async fn what_could_mean_several_things_or_none_is_refused() {
    let of = |kind: &str| json!({"type": kind});
    for (property, came) in [
        (of("integer"), json!("5.5")),
        (of("integer"), json!("five")),
        (of("integer"), json!("")),
        (of("integer"), json!("99999999999999999999")),
        (of("integer"), json!(true)),
        (of("number"), json!("inf")),
        (of("number"), json!("NaN")),
        (of("boolean"), json!("yes")),
        (of("boolean"), json!(1)),
        (of("string"), json!([])),
        (of("array"), json!("{}")),
        (of("array"), json!("[1,]")),
        (of("object"), json!("{\"a\": 1, \"a\": 2}")),
        (
            json!({"type": ["integer", "boolean", "array"]}),
            json!("maybe"),
        ),
        (json!({"type": "integer", "maximum": 4}), json!("5")),
    ] {
        let outcome = with(property.clone(), came.clone()).await;
        assert!(!outcome.is_success(), "{property} took {came}");
    }
}

#[tokio::test]
async fn an_optional_argument_that_is_null_was_left_out() {
    let outcome = with(json!({"type": "string"}), Value::Null).await;
    assert_eq!(value(&outcome), json!({}));
    assert_eq!(outcome.facts.repairs, ["`x`: took null for left out"]);
    let outcome = with(json!({"enum": ["a", "b"], "type": "string"}), Value::Null).await;
    assert_eq!(value(&outcome), json!({}));
    // Where null is a value, it stays one.
    let outcome = with(json!({"type": ["string", "null"]}), Value::Null).await;
    assert_eq!(value(&outcome), json!({"x": null}));

    let toolbox =
        Toolbox::new([echoing(taking("tool", json!({"x": {"type": "string"}})))]).unwrap();
    let outcome = call(&toolbox, "tool", json!({"x": null})).await;
    assert!(
        failure(&outcome)
            .message
            .contains("`x`: expected string, got null")
    );
}

#[tokio::test]
async fn literals_and_choices_are_never_mended() {
    for (property, came) in [
        (json!({"type": "string", "const": "5"}), json!(5)),
        (json!({"type": "string", "const": "true"}), json!(true)),
        (json!({"type": "integer", "const": 5}), json!("5")),
        (json!({"type": "string", "enum": ["1", "2"]}), json!(1)),
        (json!({"type": "integer", "enum": [1, 2]}), json!("1")),
        (json!({"enum": [1, 2]}), json!("1")),
        (json!({"const": true}), json!("true")),
        (
            json!({"anyOf": [{"type": "integer", "const": 5}, {"type": "null"}]}),
            json!("5"),
        ),
    ] {
        let outcome = with(property.clone(), came.clone()).await;
        assert!(!outcome.is_success(), "{property} took {came}");
    }
}

#[tokio::test]
async fn consent_must_be_said_exactly() {
    let consent = |literal: &str| {
        let definition = taking("tool", json!({})).with_consent(Consent::new(literal));
        let policy = Policy::new(Mode::Auto);
        Toolbox::builder()
            .tools([echoing(definition)])
            .policy(policy)
            .build()
            .unwrap()
    };
    let delete = consent("DELETE");
    assert!(
        call(&delete, "tool", json!({"consent": "DELETE"}))
            .await
            .is_success()
    );
    for said in [
        json!({}),
        json!({"consent": "delete"}),
        json!({"consent": " DELETE"}),
        json!({"consent": null}),
        json!({"consent": true}),
        json!({"consent": ["DELETE"]}),
    ] {
        let outcome = call(&delete, "tool", said.clone()).await;
        assert_eq!(failure(&outcome).code(), "invalid_parameters", "{said}");
    }
    let yes = consent("true");
    assert!(
        !call(&yes, "tool", json!({"consent": true}))
            .await
            .is_success()
    );
    assert!(
        call(&yes, "tool", json!({"consent": "true"}))
            .await
            .is_success()
    );
}

#[tokio::test]
async fn repairs_are_cleaned_like_everything_else() {
    let key = "sk-abcdefghijklmnopqrstuvwx";
    let outcome = with(
        json!({"type": "array"}),
        json!(format!("[\"\u{202e}{key}\"]")),
    )
    .await;
    let repairs = outcome.facts.repairs.join("\n");
    assert!(
        !repairs.contains(key) && !repairs.contains('\u{202e}'),
        "{repairs:?}"
    );
    assert!(repairs.contains("[redacted]"), "{repairs:?}");
}
