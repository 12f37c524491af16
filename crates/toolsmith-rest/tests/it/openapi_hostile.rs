//! Documents that mean no good: nothing panics, nothing runs away, nothing is lost.

use serde_json::{Map, Value, json};
use toolsmith_rest::openapi::{self, Imported, Options, ReadLimits};

use crate::openapi_check::{
    assert_reads_back, count_operations, document, import_value, names, registered, tool,
};

/// Imports, and checks that every operation is accounted for.
fn survives(value: &Value) -> Imported {
    let imported = import_value(value);
    let accounted = imported.entry.tools.len() + imported.left_out.len();
    assert_eq!(accounted, count_operations(value));
    imported
}

fn query(schema: Value) -> Value {
    json!({ "operationId": "it", "parameters": [{ "name": "a", "in": "query", "schema": schema }] })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[test]
fn wrong_types_everywhere() {
    let odd = [
        json!(null),
        json!(true),
        json!(3),
        json!("text"),
        json!([]),
        json!([[]]),
        json!({ "a": [] }),
    ];
    let fields = [
        "info",
        "servers",
        "paths",
        "components",
        "security",
        "tags",
        "webhooks",
        "externalDocs",
    ];
    let operation = [
        "operationId",
        "summary",
        "description",
        "tags",
        "parameters",
        "requestBody",
        "responses",
        "security",
        "deprecated",
        "servers",
        "externalDocs",
        "callbacks",
    ];
    for wrong in &odd {
        for field in fields {
            let mut value = document(&json!({ "/a": { "get": {} } }), &json!({}));
            value[field] = wrong.clone();
            survives(&value);
        }
        for field in operation {
            let value = document(&json!({ "/a": { "post": { field: wrong } } }), &json!({}));
            survives(&value);
        }
        for field in [
            "name",
            "in",
            "required",
            "schema",
            "content",
            "style",
            "explode",
            "description",
        ] {
            let mut parameter =
                json!({ "name": "a", "in": "query", "schema": { "type": "string" } });
            parameter[field] = wrong.clone();
            let value = document(
                &json!({ "/a": { "get": { "parameters": [parameter] } } }),
                &json!({}),
            );
            survives(&value);
        }
    }
}

#[test]
fn ten_thousand_operations() {
    let mut paths = Map::new();
    for number in 0..5000 {
        let item = json!({ "get": query(reference("X")), "put": {} });
        paths.insert(format!("/path/{number}"), item);
    }
    let schemas = json!({ "schemas": { "X": { "type": "string" } } });
    // Not written and registered, as in the other tests: that takes longer by far.
    let value = document(&Value::Object(paths), &schemas).to_string();
    let read = openapi::read(value.as_bytes(), &ReadLimits::default()).unwrap();
    let imported = openapi::import(&read, &Options::default()).unwrap();
    assert_eq!(imported.entry.tools.len(), 10_000);
    let unlike: std::collections::HashSet<String> = names(&imported).into_iter().collect();
    assert_eq!(unlike.len(), 10_000);
    assert!(imported.notes.len() <= 201);
}

#[test]
fn references_that_expand_without_end_or_measure() {
    let mut schemas = Map::new();
    for level in 0..30 {
        let next = reference(&format!("L{}", level + 1));
        let properties = json!({ "a": next, "b": next });
        schemas.insert(
            format!("L{level}"),
            json!({ "type": "object", "properties": properties }),
        );
        let next = reference(&format!("M{}", level + 1));
        schemas.insert(format!("M{level}"), json!({ "allOf": [next, next] }));
        let next = reference(&format!("N{}", level + 1));
        schemas.insert(
            format!("N{level}"),
            json!({ "oneOf": [next, { "type": "array", "items": next }] }),
        );
    }
    // Each of these is closed around its parts, and gone through three times for that.
    for level in 0..30 {
        let next = json!({ "properties": { "n": reference(&format!("K{}", level + 1)) } });
        let own = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        schemas.insert(format!("K{level}"), json!({ "allOf": [own, next] }));
    }
    for letter in ["K", "L", "M", "N"] {
        schemas.insert(
            format!("{letter}30"),
            json!({ "properties": { "end": { "type": "string" } } }),
        );
    }
    let body = |name: &str| {
        json!({ "requestBody": { "required": true, "content": {
        "application/json": { "schema": reference(name) } } } })
    };
    let answer = |name: &str| {
        json!({ "responses": { "200": { "content": {
        "application/json": { "schema": reference(name) } } } } })
    };
    let paths = json!({
        "/k": { "get": query(reference("K0")), "post": body("K0"), "put": answer("K0") },
        "/l": { "get": query(reference("L0")), "post": body("L0"), "put": answer("L0") },
        "/m": { "get": query(reference("M0")), "post": body("M0"), "put": answer("M0") },
        "/n": { "get": query(reference("N0")), "post": body("N0"), "put": answer("N0") },
    });
    let imported = survives(&document(&paths, &json!({ "schemas": schemas })));
    assert_eq!(imported.entry.tools.len(), 12);
}

#[test]
fn circles_of_every_kind() {
    let schemas = json!({
        "Self": reference("Self"),
        "A": reference("B"), "B": reference("C"), "C": reference("A"),
        "All": { "allOf": [reference("All"), reference("Any")] },
        "Any": { "anyOf": [reference("All"), reference("One")] },
        "One": { "oneOf": [reference("Any"), { "not": reference("One") }] },
        "Deep": { "properties": { "x": { "items": { "allOf": [reference("Deep"), reference("A")] } } } },
        "Pointer": { "$ref": "#/components/schemas/Pointer/properties/x", "properties": { "x": reference("Pointer") } },
        "Root": { "$ref": "#" }, "Slash": { "$ref": "#/" }, "Paths": { "$ref": "#/paths" },
    });
    let mut paths = Map::new();
    for name in schemas.as_object().unwrap().keys() {
        let body = json!({ "required": true, "content": { "application/json": { "schema": reference(name) } } });
        paths.insert(format!("/{name}"), json!({ "get": query(reference(name)), "post": { "requestBody": body,
            "responses": { "200": { "content": { "application/json": { "schema": reference(name) } } } } } }));
    }
    let count = 2 * paths.len();
    let imported = survives(&document(
        &Value::Object(paths),
        &json!({
            "schemas": schemas,
            "parameters": { "P": { "$ref": "#/components/parameters/P" } },
        }),
    ));
    assert_eq!(imported.entry.tools.len(), count);
}

#[test]
fn everything_refers_to_everything() {
    let mut schemas = Map::new();
    let all: Vec<Value> = (0..60)
        .map(|number| reference(&format!("S{number}")))
        .collect();
    for number in 0..60 {
        let properties: Map<String, Value> = all
            .iter()
            .enumerate()
            .map(|(index, to)| (format!("p{index}"), to.clone()))
            .collect();
        let schema = match number % 3 {
            0 => json!({ "properties": properties }),
            1 => json!({ "properties": properties, "anyOf": all }),
            _ => json!({ "allOf": all, "items": { "oneOf": all } }),
        };
        schemas.insert(format!("S{number}"), schema);
    }
    let paths = json!({ "/a": { "get": query(reference("S0")), "post": { "requestBody": { "required": true, "content": {
        "application/json": { "schema": reference("S2") } } } } } });
    let imported = survives(&document(&paths, &json!({ "schemas": schemas })));
    assert_eq!(imported.entry.tools.len(), 2);
}

#[test]
fn schemas_as_deep_as_documents_may_be() {
    let mut schema = json!({ "type": "string" });
    for level in 0..40 {
        schema = match level % 2 {
            0 => json!({ "items": schema }),
            _ => json!({ "anyOf": [schema] }),
        };
    }
    let value = document(&json!({ "/a": { "get": query(schema) } }), &json!({}));
    let imported = survives(&value);
    assert_eq!(names(&imported), ["it"]);
    let mut chain = Map::new();
    for number in 0..5000 {
        let next = reference(&format!("S{}", number + 1));
        chain.insert(
            format!("S{number}"),
            json!({ "properties": { "n": { "items": next } } }),
        );
    }
    let value = document(
        &json!({ "/a": { "get": query(reference("S0")) } }),
        &json!({ "schemas": chain }),
    );
    survives(&value);
}

#[test]
fn lists_of_choices_and_of_parameters_without_measure() {
    let choices: Vec<String> = (0..100_000)
        .map(|number| format!("choice {number}"))
        .collect();
    let imported = survives(&document(
        &json!({ "/a": { "get": query(json!({ "enum": choices })) } }),
        &json!({}),
    ));
    assert_eq!(
        tool(&imported, "it")["parameters"]["properties"]["a"],
        json!({})
    );
    let many: Vec<Value> = (0..1000)
        .map(|number| json!({ "name": format!("p{number}"), "in": "query" }))
        .collect();
    let imported = survives(&document(
        &json!({ "/a": { "get": { "parameters": many } } }),
        &json!({}),
    ));
    assert_eq!(
        imported.left_out[0].reason,
        "it has more than 500 parameters"
    );
    let fields: Map<String, Value> = (0..50_000)
        .map(|number| (format!("f{number}"), json!({})))
        .collect();
    let body = json!({ "required": true, "content": { "application/json": { "schema": { "properties": fields } } } });
    survives(&document(
        &json!({ "/a": { "post": { "requestBody": body } } }),
        &json!({}),
    ));
}

#[test]
fn all_tools_together_are_bounded() {
    let fields: Map<String, Value> = (0..400)
        .map(|number| (format!("field_{number}"), json!({ "type": "string" })))
        .collect();
    let schemas = json!({ "schemas": { "Large": { "properties": fields } } });
    let mut paths = Map::new();
    for number in 0..100 {
        paths.insert(format!("/{number}"), json!({ "get": { "parameters": [
            { "name": "a", "in": "query", "content": { "application/json": { "schema": reference("Large") } } } ] } }));
    }
    let value = document(&Value::Object(paths), &schemas);
    let read = openapi::read(value.to_string().as_bytes(), &ReadLimits::default()).unwrap();
    let mut options = Options::default();
    options.max_total_bytes = 200_000;
    let imported = openapi::import(&read, &options).unwrap();
    let tools = imported.entry.tools.len();
    assert!((5..50).contains(&tools), "{tools}");
    assert_eq!(imported.left_out.len(), 100 - tools);
    assert!(
        imported.left_out[0]
            .reason
            .contains("200000 bytes there are for all")
    );
    assert_eq!(registered(&imported), tools);
}

#[test]
fn names_and_texts_that_steer_or_hide() {
    let odd = "a\u{1b}]0;title\u{7}\u{202e}\u{200b}\u{0}\r\nb: {x} # no\u{2028}\u{e0041}";
    let parameter = json!({ "name": "q", "in": "query", "description": odd, "schema": { "enum": [odd, "no", "1.0", "~", ""] } });
    let value = json!({
        "openapi": "3.1.0",
        "info": { "title": odd, "version": odd, "description": odd },
        "servers": [{ "url": "https://x.example", "description": odd }],
        "paths": {
            "/a": { "get": { "operationId": odd, "summary": odd, "description": odd, "tags": [odd], "parameters": [parameter] } },
            odd: { "get": {} },
            "/odd\u{7}": { "get": { "operationId": odd } },
        },
    });
    let imported = survives(&value);
    let yaml = assert_reads_back(&imported);
    assert!(
        !yaml.chars().any(|c| c.is_control() && c != '\n'),
        "{yaml:?}"
    );
    for hidden in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{2028}'] {
        let shown = json!([
            imported.entry.description,
            imported.entry.name,
            imported.notes
        ]);
        assert!(!shown.to_string().contains(hidden));
    }
    let tool = json!(imported.entry.tools[0]);
    assert_eq!(tool["parameters"]["properties"]["q"]["enum"][0], odd);
    assert!(!tool["description"].to_string().contains('\u{202e}'));
}

#[test]
fn what_is_shared_is_not_gone_through_without_end() {
    let names: Vec<String> = (0..20_000).map(|number| format!("n{number}")).collect();
    let schema = json!({ "required": names, "enum": names, "type": ["object", "null"], "properties": { "a": {} } });
    let components = json!({
        "requestBodies": { "Large": { "required": true, "content": { "application/json": { "schema": schema } } } },
        "parameters": { "Large": { "name": "p", "in": "query", "schema": schema } },
        "pathItems": { "Shared": { "get": { "tags": names }, "put": {} } },
    });
    let mut paths = Map::new();
    for number in 0..300 {
        paths.insert(
            format!("/a/{number}"),
            json!({ "post": {
            "parameters": [{ "$ref": "#/components/parameters/Large" }],
            "requestBody": { "$ref": "#/components/requestBodies/Large" },
        } }),
        );
        paths.insert(
            format!("/b/{number}"),
            json!({ "$ref": "#/components/pathItems/Shared" }),
        );
    }
    let imported = import_value(&document(&Value::Object(paths), &components));
    // Two operations of each of the first sixteen paths, and the others once each.
    let accounted = imported.entry.tools.len() + imported.left_out.len();
    assert_eq!(accounted, 300 + 2 * 16 + (300 - 16));
    let is_work = |reason: &str| reason.contains("all the work that is allowed");
    assert!(imported.left_out.iter().any(|left| is_work(&left.reason)));
}

#[test]
fn names_that_all_come_to_the_same() {
    let odd = |number: u32| char::from_u32(0x4e00 + number).unwrap().to_string();
    let parameters: Vec<Value> = (0..400)
        .map(|number| json!({ "name": odd(number), "in": "query", "schema": { "type": "null" } }))
        .collect();
    let mut additional = Map::new();
    for number in 0..5000 {
        additional.insert(format!("X{}", odd(number)), json!({}));
    }
    let mut components = Map::new();
    let mut all = Vec::new();
    for number in 0..2000 {
        components.insert(format!("c{number}"), json!({ "X": { "type": "string" } }));
        all.push(json!({ "$ref": format!("#/components/schemas/c{number}/X") }));
    }
    let value = document(
        &json!({ "/a": {
        "get": { "operationId": "it", "parameters": parameters },
        "post": { "requestBody": { "required": true, "content": { "application/json": { "schema": { "anyOf": all } } } } },
        "additionalOperations": additional,
    } }),
        &json!({ "schemas": components }),
    );
    let imported = survives(&value);
    assert_eq!(
        tool(&imported, "it")["places"].as_object().unwrap().len(),
        400
    );
    assert_eq!(imported.left_out.len(), 5000);
}

/// Texts that all have one digest, as names are told apart by: two pieces that lead to the
/// same state, and from there two more, again and again.
fn alike(begins: &str, doublings: u32) -> Vec<String> {
    let step = |state: u32, byte: u8| (state ^ u32::from(byte)).wrapping_mul(0x1b3);
    let after = |state: u32, text: &str| text.bytes().fold(state, step);
    let mut state = after(0x8422_2325, begins);
    let mut texts = vec![begins.to_owned()];
    for _ in 0..doublings {
        let mut met = std::collections::HashMap::new();
        let (one, other) = (0_u32..)
            .find_map(|number| {
                let piece = format!("{:08x}/", number.wrapping_mul(0x9e37_79b9));
                let before = met.insert(after(state, &piece), piece.clone());
                before.map(|before| (before, piece))
            })
            .unwrap();
        state = after(state, &one);
        let longer = |piece: String| texts.iter().map(move |text| format!("{text}{piece}"));
        texts = longer(one).chain(longer(other)).collect();
    }
    texts
}

/// Counting each through from the beginning takes minutes.
#[test]
fn names_whose_digests_are_made_alike() {
    let operation = json!({ "operationId": "it" });
    let wholes = alike("GET /", 12);
    let paths = wholes.iter().map(|whole| {
        let path = whole.strip_prefix("GET ").unwrap();
        (path.to_owned(), json!({ "get": operation }))
    });
    let value = document(&Value::Object(paths.collect()), &json!({})).to_string();
    let read = openapi::read(value.as_bytes(), &ReadLimits::default()).unwrap();
    let imported = openapi::import(&read, &Options::default()).unwrap();
    let names = names(&imported);
    let last = &names[names.len() - 1];
    assert!(last.ends_with(&format!("_{}", wholes.len())), "{last}");
    let unlike: std::collections::HashSet<&String> = names.iter().collect();
    assert_eq!(unlike.len(), wholes.len());
}

/// Each operation refers to the same few, and goes through what they hold.
#[test]
fn what_many_operations_refer_to_is_looked_at_within_bounds() {
    let properties: Map<String, Value> = (0..200_000)
        .map(|number| (format!("p{number}"), json!({ "readOnly": true })))
        .collect();
    let components = json!({
        "schemas": { "Wide": { "type": "object", "properties": properties } },
        "parameters": { "Far": { "$ref": format!("#/{}", "x".repeat(1 << 20)) } },
    });
    let mut paths = Map::new();
    for number in 0..600 {
        let body = json!({ "content": { "application/json": { "schema": reference("Wide") } } });
        let far = json!([{ "$ref": "#/components/parameters/Far" }]);
        let item = json!({ "post": { "requestBody": body }, "get": { "parameters": far } });
        paths.insert(format!("/{number}"), item);
    }
    let value = document(&Value::Object(paths), &components).to_string();
    let read = openapi::read(value.as_bytes(), &ReadLimits::default()).unwrap();
    let imported = openapi::import(&read, &Options::default()).unwrap();
    assert_eq!(imported.entry.tools.len(), 600);
    let reason = &imported.left_out[0].reason;
    assert!(reason.contains("is too long"), "{reason}");
}
