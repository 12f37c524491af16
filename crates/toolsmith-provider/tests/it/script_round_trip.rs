//! What a script says in a provider's words is understood, whole and streamed alike.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolsmith_core::RawCall;
use toolsmith_provider::parse::parse;
use toolsmith_provider::stream::Stream;
use toolsmith_provider::{Dictionary, Provider, render, script};

/// JSON of a few levels, with everything that is hard in texts.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<i16>().prop_map(|number| json!(f64::from(number) / 4.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::Object),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((text(), inner), 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}",
        "\\PC{0,12}",
        Just("data: [DONE]\n\n".to_owned()),
        Just("\"}]}\\\r\n".to_owned()),
        Just("<tool_call>{\u{1f980}".to_owned()),
    ]
}

fn calls() -> impl Strategy<Value = Vec<RawCall>> {
    let call = ("[a-z_]{1,12}", object(value()))
        .prop_map(|(name, arguments)| RawCall::new(name, arguments));
    prop::collection::vec(call, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_said_is_understood(calls in calls(), said in "|[a-zé][a-zé<{\\[ \n\"]{0,20}", cut in 0_usize..10_000) {
        let dictionary = Dictionary::default();
        for provider in Provider::ALL {
            let (calls, said) = match provider {
                Provider::Text => continue,
                // A request of MCP is one call and nothing else.
                Provider::Mcp => match calls.get(..1) {
                    Some(calls) => (calls, ""),
                    None => continue,
                },
                _ => (calls.as_slice(), said.as_str()),
            };
            let body = script::body(provider, &dictionary, said, calls).to_string();
            let whole = parse(provider, body.as_bytes(), &dictionary).unwrap();
            let bare = |calls: &[RawCall]| -> Vec<(String, String)> {
                calls.iter().map(|call| (call.name.clone(), format!("{:?}", call.arguments))).collect()
            };
            prop_assert_eq!(bare(&whole.raw_calls()), bare(calls), "{}", provider);
            prop_assert!(whole.calls.iter().all(|call| call.complete && call.call.repairs.is_empty()));
            prop_assert_eq!(&whole.text, said, "{}", provider);
            prop_assert_eq!(&whole.turn, &render::calls(provider, &dictionary, said, calls), "{}", provider);

            let bytes = script::stream(provider, &dictionary, said, calls);
            let mut stream = Stream::new(provider, &dictionary);
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            stream.push(left);
            stream.push(right);
            prop_assert_eq!(&stream.finish().unwrap(), &whole, "{}", provider);
            prop_assert_eq!(&parse(provider, &bytes, &dictionary).unwrap(), &whole, "{}", provider);
        }
    }
}

#[test]
fn every_call_has_a_number_of_its_own_that_the_provider_takes() {
    let dictionary = Dictionary::default();
    let calls: Vec<RawCall> = [
        "null",
        "",
        "two words",
        "same",
        "same",
        "abcdefghi",
        "abcdefghi",
    ]
    .into_iter()
    .map(|id| RawCall::new("f", json!({})).with_id(id))
    .collect();
    for provider in Provider::ALL {
        if matches!(provider, Provider::Text | Provider::Mcp) {
            continue;
        }
        let body = script::body(provider, &dictionary, "", &calls).to_string();
        let answer = parse(provider, body.as_bytes(), &dictionary).unwrap();
        let mut ids: Vec<&str> = answer.calls.iter().map(|call| call.id().as_str()).collect();
        assert!(
            ids.contains(&"abcdefghi"),
            "{provider}: a fit number stays: {ids:?}"
        );
        if provider == Provider::Mistral {
            assert!(
                ids.iter()
                    .all(|id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())),
                "{ids:?}"
            );
        }
        assert!(
            ids.iter()
                .all(|id| !id.is_empty() && *id != "null" && !id.contains(' ')),
            "{ids:?}"
        );
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), calls.len(), "{provider}");
    }
}
