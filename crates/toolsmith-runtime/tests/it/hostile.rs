//! Bad input of every sort: an error of its kind, and nothing else is disturbed.

use serde_json::{Map, Value, json};
use toolsmith_core::call::Answers;
use toolsmith_core::{Block, Effect, Outcome, RawCall, ToolError};
use toolsmith_runtime::{Caller, Order, Toolbox};
use toolsmith_testing::explain;
use toolsmith_testing::tools::{add, answering, definition, echoing, with_schema};
use toolsmith_testing::{Recording, call, failure, value};

const DEEP: usize = 100_000;

fn deep_list() -> Value {
    (0..DEEP).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

fn deep_object() -> Value {
    (0..DEEP).fold(json!(1), |inner, _| {
        Value::Object(Map::from_iter([("a".to_owned(), inner)]))
    })
}

fn object(value: Value) -> Value {
    Value::Object(Map::from_iter([("x".to_owned(), value)]))
}

#[tokio::test]
async fn arguments_a_hundred_thousand_levels_deep_are_refused() {
    let recording = Recording::new();
    let tools = [echoing(definition("open")), add()];
    let toolbox = Toolbox::builder()
        .tools(tools)
        .recorder(recording.clone())
        .build()
        .unwrap();
    for deep in [deep_list, deep_object] {
        for (name, arguments, code) in [
            ("open", deep(), "invalid_parameters"),
            ("open", object(deep()), "invalid_parameters"),
            ("add", object(deep()), "invalid_parameters"),
            ("nothing", deep(), "unknown_tool"),
        ] {
            let outcome = call(&toolbox, name, arguments).await;
            assert_eq!(failure(&outcome).code(), code, "{name}");
        }
        let explained = explain(
            &toolbox,
            RawCall::new("nothing", deep()),
            &Caller::new("test"),
        );
        assert!(explained.error.is_some());
    }
    assert_eq!(
        value(&call(&toolbox, "add", json!({"a": 1, "b": 1})).await),
        json!(2.0)
    );
}

#[tokio::test]
async fn answers_of_any_depth_are_dropped_without_harm() {
    let toolbox = Toolbox::new([
        echoing(definition("write").with_effect(Effect::Write)),
        add(),
    ])
    .unwrap();
    for name in ["write", "add", "nothing"] {
        let responses = Map::from_iter([("approve".to_owned(), deep_object())]);
        let call = RawCall::new(name, json!({})).with_answers(Answers::new("0.0", responses));
        let reply = toolbox
            .run(call, &Caller::new("test").taking_input_requests())
            .await;
        assert!(!reply.into_outcome().is_success());
    }
}

#[tokio::test]
async fn results_a_hundred_thousand_levels_deep_are_the_tools_own_fault() {
    let toolbox = Toolbox::new([
        answering(definition("in_value"), || Outcome::ok(deep_object())),
        answering(definition("in_metadata"), || {
            Outcome::ok(1).with_metadata("deep", deep_list())
        }),
        answering(definition("in_details"), || {
            Outcome::failure(ToolError::failed("x").with_details(deep_list()))
        }),
        answering(definition("in_detail"), || {
            Outcome::failure(ToolError::failed("x").with_details(object(deep_list())))
        }),
    ])
    .unwrap();
    let outcome = call(&toolbox, "in_value", json!({})).await;
    assert_eq!(
        failure(&outcome).to_string(),
        "internal: the tool returned a value that nests too deep"
    );
    let outcome = call(&toolbox, "in_metadata", json!({})).await;
    assert_eq!(value(&outcome), json!(1));
    assert_eq!(
        Value::Object(outcome.metadata),
        json!({"omitted": "it nested too deep"})
    );
    for name in ["in_details", "in_detail"] {
        let outcome = call(&toolbox, name, json!({})).await;
        let details = failure(&outcome).details.clone();
        assert_eq!(
            details,
            Some(json!({"omitted": "it nested too deep"})),
            "{name}"
        );
    }
}

#[tokio::test]
async fn details_of_any_type_are_bounded() {
    let big = || json!(vec!["x".repeat(1000); 1000]);
    let tool = answering(definition("tool"), move || {
        Outcome::failure(ToolError::failed("y".repeat(1 << 20)).with_details(big()))
            .with_metadata("big", big())
            .with_display("z".repeat(1 << 20))
    });
    let outcome = call(&Toolbox::new([tool]).unwrap(), "tool", json!({})).await;
    let length = serde_json::to_string(&outcome).unwrap().len();
    assert!(length < 50_000, "{length}");
}

#[tokio::test]
async fn a_string_of_64_megabytes_is_refused_and_changes_nothing() {
    let recording = Recording::new();
    let tools = [echoing(definition("open")), add()];
    let toolbox = Toolbox::builder()
        .tools(tools)
        .recorder(recording.clone())
        .build()
        .unwrap();
    let calls = [
        RawCall::new("open", json!({"text": "x".repeat(64 << 20)})),
        RawCall::new("open", Value::String("x".repeat(64 << 20))),
        RawCall::new("x".repeat(64 << 20), json!({})),
        RawCall::new("add", json!({"a": 1, "b": 1})),
    ];
    let replies = toolbox
        .run_all(calls, &Caller::new("test"), Order::Parallel)
        .await;
    let outcomes: Vec<Outcome> = replies.into_iter().map(|r| r.into_outcome()).collect();
    for (outcome, code) in
        outcomes
            .iter()
            .zip(["invalid_parameters", "invalid_parameters", "unknown_tool"])
    {
        assert_eq!(failure(outcome).code(), code);
        assert!(serde_json::to_string(outcome).unwrap().len() < 2000);
    }
    assert_eq!(value(&outcomes[3]), json!(2.0));
    let called = recording.all("called");
    assert!(
        called[0]["arguments"].as_str().unwrap().len() < 5000,
        "records are bounded"
    );
}

#[tokio::test]
async fn a_result_of_64_megabytes_is_bounded() {
    let toolbox = Toolbox::new([
        answering(definition("text"), || Outcome::text("x".repeat(64 << 20))),
        answering(definition("value"), || Outcome::ok("x".repeat(64 << 20))),
        answering(definition("list"), || Outcome::ok(json!(vec![1; 4 << 20]))),
        answering(definition("image"), || {
            Outcome::nothing().with_block(Block::Image {
                data: "A".repeat(64 << 20),
                mime_type: "image/png".to_owned(),
            })
        }),
    ])
    .unwrap();
    for name in ["text", "value", "list", "image"] {
        let outcome = call(&toolbox, name, json!({})).await;
        assert!(outcome.is_success());
        let length = serde_json::to_string(&outcome).unwrap().len();
        assert!(length < 60 << 10, "{name}: {length}");
    }
}

#[tokio::test]
async fn many_arguments_names_and_errors_stay_answerable() {
    let wide: Map<String, Value> = (0..100_000).map(|n| (format!("k{n}"), json!(n))).collect();
    let schema = json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let toolbox = Toolbox::new([echoing(with_schema("closed", schema))]).unwrap();
    let outcome = call(&toolbox, "closed", Value::Object(wide)).await;
    assert!(failure(&outcome).message.len() < 9000);
}

#[tokio::test]
async fn names_from_outside_are_cleaned_before_they_are_shown() {
    let toolbox = Toolbox::new([add()]).unwrap();
    let outcome = call(&toolbox, "ad\u{202e}d\u{1b}[31m\n", json!({})).await;
    let text = serde_json::to_string(&outcome).unwrap();
    for hidden in ["\u{202e}", "\\u001b", "\u{1b}"] {
        assert!(!text.contains(hidden), "{text}");
    }
}

#[tokio::test]
async fn more_faults_than_memory_has_room_for_are_not_told_one_by_one() {
    let of = |inner: Value| json!({"additionalProperties": inner});
    let schema = of(json!({
        "items": {"type": "integer"},
        "additionalProperties": {"type": "integer"},
    }));
    let toolbox = Toolbox::new([echoing(with_schema("counting", schema))]).unwrap();
    let long = "k".repeat(1 << 20);
    let fields: Map<String, Value> = (0..100).map(|n| (format!("f{n}"), json!("x"))).collect();
    for arguments in [
        json!({"a": vec!["x"; 200_000]}),
        Value::Object(Map::from_iter([(long, Value::Object(fields))])),
    ] {
        let outcome = call(&toolbox, "counting", arguments).await;
        let message = &failure(&outcome).message;
        assert!(
            message.contains("hold too many values to say which"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn faults_that_many_schemas_find_in_each_value_are_not_told_one_by_one() {
    let demands: Vec<Value> = (0..500).map(|n| json!({"minimum": n + 10})).collect();
    let tree = json!({"allOf": demands, "items": {"$ref": "#/properties/a"}});
    let fields = json!({"additionalProperties": {"allOf": demands}});
    let names: Vec<String> = (0..500).map(|n| format!("n{n}")).collect();
    let many = json!(vec![1; 4_000]);
    let empty = json!(vec![json!({}); 4_000]);
    let long = Map::from_iter([("k".repeat(300_000), json!(1))]);
    for (schema, argument) in [
        (json!({"items": {"allOf": demands}}), &many),
        (json!({"items": {"anyOf": demands}}), &many),
        (tree, &many),
        (fields, &Value::Object(long)),
        (json!({"items": {"required": names}}), &empty),
    ] {
        let schema = json!({"properties": {"a": schema}});
        let toolbox = Toolbox::new([echoing(with_schema("counting", schema))]).unwrap();
        let outcome = call(&toolbox, "counting", json!({"a": argument})).await;
        let message = &failure(&outcome).message;
        assert!(
            message.contains("hold too many values to say which"),
            "{message}"
        );
        let few = match argument {
            Value::Array(items) => json!({"a": [items[0]]}),
            _ => json!({"a": {"b": 1}}),
        };
        let outcome = call(&toolbox, "counting", few).await;
        let message = &failure(&outcome).message;
        assert!(message.contains("expected"), "{message}");
    }
}

#[tokio::test]
async fn names_that_are_demanded_again_and_again_are_not_told_one_by_one() {
    let names: Vec<String> = (0..20_000).map(|n| format!("n{n}")).collect();
    let again = vec![json!({"$ref": "#/$defs/all"}); 100];
    let schema = json!({"allOf": again, "$defs": {"all": {"required": names}}});
    let toolbox = Toolbox::new([echoing(with_schema("demanding", schema))]).unwrap();
    let outcome = call(&toolbox, "demanding", json!({})).await;
    let message = &failure(&outcome).message;
    assert!(
        message.contains("too many values to say which"),
        "{message}"
    );
}

#[tokio::test]
async fn defaults_are_filled_in_within_the_limit_for_arguments() {
    let item = json!({"properties": {"text": {"default": "x".repeat(500_000)}}});
    let schema = json!({"properties": {"a": {"items": item}}});
    let toolbox = Toolbox::new([echoing(with_schema("filling", schema))]).unwrap();
    let few = call(&toolbox, "filling", json!({"a": vec![json!({}); 3]})).await;
    assert!(few.is_success());
    let many = call(&toolbox, "filling", json!({"a": vec![json!({}); 100]})).await;
    let message = &failure(&many).message;
    assert!(message.contains("bytes with their defaults"), "{message}");
}

#[tokio::test]
async fn many_values_are_mended_and_few_of_them_named() {
    let schema = json!({"additionalProperties": {"type": "string"}});
    let toolbox = Toolbox::new([echoing(with_schema("open", schema))]).unwrap();
    let empty: Map<String, Value> = (0..50_000)
        .map(|n| (format!("k{n}"), json!(null)))
        .collect();
    let outcome = call(&toolbox, "open", Value::Object(empty)).await;
    assert_eq!(value(&outcome), json!({}));
    let repairs = &outcome.facts.repairs;
    assert_eq!(repairs.len(), 101);
    assert_eq!(repairs[0], "`k0`: took null for left out");
    assert_eq!(repairs[100], "49900 more values were read in the same ways");
}

#[tokio::test]
async fn many_values_are_mended_in_time_beside_many_that_are_required() {
    let names: Vec<String> = (0..50_000).map(|n| format!("n{n}")).collect();
    let schema = json!({"additionalProperties": {"type": "string"}, "required": names});
    let toolbox = Toolbox::new([echoing(with_schema("demanding", schema))]).unwrap();
    let empty: Map<String, Value> = (0..50_000)
        .map(|n| (format!("k{n}"), json!(null)))
        .collect();
    let began = std::time::Instant::now();
    let outcome = call(&toolbox, "demanding", Value::Object(empty)).await;
    assert!(failure(&outcome).message.contains("got nothing"));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[tokio::test]
async fn faults_within_a_choice_are_bounded_like_others() {
    let object = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let schema = json!({"properties": {"a": {"anyOf": [
        {"type": "array", "items": object},
        {"type": "array", "items": {"type": "integer"}},
    ]}}});
    let toolbox = Toolbox::new([echoing(with_schema("choosing", schema))]).unwrap();
    let outcome = call(
        &toolbox,
        "choosing",
        json!({"a": vec![json!({"n": "x"}); 1000]}),
    )
    .await;
    let details = failure(&outcome).details.clone().unwrap();
    assert_eq!(details["problems"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_choice_of_a_megabyte_is_neither_compared_nor_repeated() {
    let choices = json!({"enum": ["ab".repeat(400_000), "other"]});
    let schema = json!({"properties": {"a": choices}});
    let toolbox = Toolbox::new([echoing(with_schema("choosing", schema))]).unwrap();
    let outcome = call(&toolbox, "choosing", json!({"a": "ab".repeat(70)})).await;
    let details = failure(&outcome).details.clone().unwrap();
    let problem = &details["problems"][0];
    assert_eq!(problem.get("suggestion"), None);
    assert!(problem["expected"].as_str().unwrap().len() < 1010);
}
