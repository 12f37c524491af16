//! Names and references.

use serde_json::json;
use toolsmith::name::{CallId, MAX_NAME_LENGTH, NameError, ToolRef};
use toolsmith::{ToolDef, ToolName};

#[test]
fn what_is_a_name() {
    for name in [
        "a",
        "read_file",
        "A.b-C_9",
        "9",
        "_",
        &"x".repeat(MAX_NAME_LENGTH),
    ] {
        assert_eq!(ToolName::new(name).unwrap().as_str(), name);
    }
    assert_eq!(ToolName::new(""), Err(NameError::Empty));
    for (name, found) in [
        ("a b", ' '),
        ("ä", 'ä'),
        ("a/b", '/'),
        ("a\0", '\0'),
        ("a\n", '\n'),
    ] {
        let name = name.to_owned();
        assert_eq!(
            ToolName::new(&name),
            Err(NameError::Character { name, found })
        );
    }
    let long = "x".repeat(MAX_NAME_LENGTH + 1);
    let error = ToolName::new(&long).unwrap_err();
    assert_eq!(
        error,
        NameError::TooLong {
            name: long,
            length: 65
        }
    );
    let huge = ToolName::new("x".repeat(1_000_000))
        .unwrap_err()
        .to_string();
    assert!(huge.len() < 200, "{huge}");
}

#[test]
fn own_tools_keep_to_lower_case_and_underscores() {
    for (name, own) in [
        ("read_file", true),
        ("a9", true),
        ("_a", false),
        ("9a", false),
        ("Read", false),
        ("a-b", false),
        ("a.b", false),
    ] {
        assert_eq!(ToolName::new(name).unwrap().is_own_form(), own, "{name}");
    }
}

#[test]
fn a_name_is_checked_when_it_is_read() {
    let name: ToolName = serde_json::from_value(json!("read")).unwrap();
    assert_eq!(serde_json::to_value(&name).unwrap(), json!("read"));
    let error = serde_json::from_value::<ToolName>(json!("a b")).unwrap_err();
    assert!(error.to_string().contains("holds ' '"), "{error}");
    assert_eq!("read".parse::<ToolName>().unwrap(), "read");
}

#[test]
fn a_reference_is_a_name_or_an_id() {
    let name = ToolRef::name("read");
    let id = ToolRef::id("tool-7");
    assert_eq!(serde_json::to_value(&name).unwrap(), json!("read"));
    assert_eq!(
        serde_json::to_value(&id).unwrap(),
        json!({ "id": "tool-7" })
    );
    for reference in [name, id] {
        let value = serde_json::to_value(&reference).unwrap();
        assert_eq!(serde_json::from_value::<ToolRef>(value).unwrap(), reference);
    }
    assert_eq!(ToolRef::from("read").to_string(), "read");
    assert_eq!(ToolRef::id("tool-7").to_string(), "id:tool-7");
    assert_eq!(
        ToolRef::from(&ToolDef::new("read").unwrap().name),
        ToolRef::name("read")
    );
    for wrong in [json!(1), json!(null), json!({}), json!({ "name": "read" })] {
        assert!(
            serde_json::from_value::<ToolRef>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_call_id_is_any_text() {
    let id = CallId::new("../\u{1b} 7");
    let text = serde_json::to_string(&id).unwrap();
    assert_eq!(serde_json::from_str::<CallId>(&text).unwrap(), id);
}
