//! What holds for the schema of one tool.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Fault, MOST};
use crate::rules::{Choices, Keyword, Recursion, Rules, Types};

/// What a strict schema costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    properties: usize,
    depth: usize,
    characters: usize,
    choices: usize,
    pub(super) optional: usize,
    pub(super) unions: usize,
}

pub(super) fn judge(
    tool: &str,
    rules: &'static Rules,
    schema: &Value,
    faults: &mut Vec<Fault>,
) -> Count {
    let mut judge = Judge {
        tool,
        rules,
        faults,
        root: schema,
        waiting: vec![(schema, String::new(), 0)],
        count: Count::default(),
    };
    judge.judge_root(schema);
    while let Some((schema, path, depth)) = judge.waiting.pop() {
        if judge.faults.len() >= MOST {
            break;
        }
        judge.judge_place(schema, &path, depth);
    }
    judge.judge_limits();
    judge.count
}

struct Judge<'v, 'f> {
    tool: &'v str,
    rules: &'static Rules,
    faults: &'f mut Vec<Fault>,
    root: &'v Value,
    waiting: Vec<(&'v Value, String, usize)>,
    count: Count,
}

impl<'v> Judge<'v, '_> {
    fn fault(&mut self, path: &str, rule: impl Into<String>) {
        self.faults.push(Fault {
            tool: self.tool.to_owned(),
            path: path.to_owned(),
            rule: rule.into(),
            source: self.rules.source,
        });
    }

    fn judge_root(&mut self, schema: &Value) {
        if schema.get("type") != Some(&Value::from("object")) {
            self.fault("", "the root is not an object");
        }
        for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "$ref", "if"] {
            if schema.get(keyword).is_some() {
                self.fault("", format!("{keyword} at the root"));
            }
        }
    }

    fn judge_place(&mut self, schema: &'v Value, path: &str, depth: usize) {
        let Some(object) = schema.as_object() else {
            if !(schema.is_boolean() && self.rules.whole) {
                self.fault(path, "not a schema");
            }
            return;
        };
        let mut structured = false;
        for (word, value) in object {
            structured |= matches!(word.as_str(), "anyOf" | "$ref" | "oneOf" | "allOf");
            self.judge_keyword(word, value, object, path);
        }
        let untyped = !object.contains_key("type") && !structured;
        if untyped && !self.rules.untyped {
            self.fault(path, "a place without a type");
        }
        if object.contains_key("anyOf") && !self.rules.beside_union && object.len() > 1 {
            self.fault(path, "something beside anyOf");
        }
        if object.contains_key("anyOf") || object.get("type").is_some_and(Value::is_array) {
            self.count.unions += 1;
        }
        if says_type(object, "object") {
            self.judge_object(object, path, depth);
        }
        if says_type(object, "array") && !object.contains_key("items") {
            self.fault(path, "a list that does not say what its items are");
        }
        self.go_on(object, path, depth);
    }

    fn judge_keyword(
        &mut self,
        word: &str,
        value: &Value,
        object: &Map<String, Value>,
        path: &str,
    ) {
        let rules = self.rules;
        match word {
            "type" => self.judge_type(value, path),
            "description" if value.is_string() => {}
            "properties" if value.is_object() => {}
            "items" if value.is_object() => {}
            "required" => self.judge_required(value, object, path),
            "anyOf" if value.as_array().is_some_and(|list| !list.is_empty()) => {}
            "enum" => self.judge_choices(value, object, path),
            "additionalProperties" if rules.objects.additional => {}
            "nullable" if rules.types == Types::Nullable && value.is_boolean() => {}
            "$defs" if path.is_empty() && rules.recursion == Recursion::Kept => {}
            "$ref" if rules.recursion == Recursion::Kept => {
                let target = value.as_str().and_then(|text| text.strip_prefix('#'));
                if target.is_none_or(|pointer| self.root.pointer(pointer).is_none()) {
                    self.fault(path, "a reference to nothing");
                }
                if object.len() > 1 && !rules.whole {
                    self.fault(path, "something beside $ref");
                }
            }
            "format" if rules.keywords.has(Keyword::Format) => {
                if !value
                    .as_str()
                    .is_some_and(|text| rules.accepts_format(text))
                {
                    self.fault(path, format!("the format {value}"));
                }
            }
            "pattern" if rules.keywords.has(Keyword::Pattern) => {
                if !value
                    .as_str()
                    .is_some_and(|text| rules.accepts_pattern(text))
                {
                    self.fault(path, "a pattern that looks around");
                }
            }
            "minItems" if rules.keywords.has(Keyword::MinItems) => {
                let limit = rules.min_items.unwrap_or(u64::MAX);
                if value.as_u64().is_none_or(|count| count > limit) {
                    self.fault(path, format!("minItems of {value}"));
                }
            }
            _ if rules.whole => {}
            _ if Keyword::of(word).is_some_and(|keyword| rules.keywords.has(keyword)) => {}
            _ => self.fault(path, format!("the keyword {word}")),
        }
    }

    fn judge_type(&mut self, value: &Value, path: &str) {
        const KNOWN: [&str; 7] = [
            "string", "number", "integer", "boolean", "object", "array", "null",
        ];
        let known = |word: &Value| word.as_str().is_some_and(|word| KNOWN.contains(&word));
        let fits = match (value, self.rules.types) {
            (Value::String(word), Types::Nullable) => known(value) && word != "null",
            (Value::String(_), _) => known(value),
            (Value::Array(words), Types::List) => words.iter().all(known) && !words.is_empty(),
            (Value::Array(words), Types::ListWithNull) => {
                words.iter().all(known) && words.len() == 2 && words[1] == "null"
            }
            _ => false,
        };
        if !fits {
            self.fault(path, format!("the type {value}"));
        }
    }

    fn judge_required(&mut self, value: &Value, object: &Map<String, Value>, path: &str) {
        let Some(names) = value.as_array() else {
            return self.fault(path, "required is not a list");
        };
        let mut seen = HashSet::new();
        for name in names {
            let Some(name) = name.as_str() else {
                self.fault(path, "required names something that is no text");
                continue;
            };
            if !seen.insert(name) {
                self.fault(path, "required names something twice");
            }
            let known = object.get("properties").and_then(|all| all.get(name));
            if known.is_none() && !self.rules.whole {
                self.fault(path, "required names something that is no property");
            }
        }
    }

    fn judge_choices(&mut self, value: &Value, object: &Map<String, Value>, path: &str) {
        let Some(values) = value.as_array().filter(|values| !values.is_empty()) else {
            return self.fault(path, "enum is not a list of values");
        };
        let texts = values.iter().filter_map(Value::as_str);
        let length = texts.clone().map(str::len).sum::<usize>();
        self.count.choices += values.len();
        self.count.characters += length;
        let (many, longest) = self.rules.limits.long_list;
        if many > 0 && values.len() > many && length > longest {
            self.fault(path, "listed values that are too long together");
        }
        if self.rules.choices == Choices::Texts {
            let count = texts.filter(|text| !text.is_empty()).count();
            if count < values.len() || object.get("type") != Some(&Value::from("string")) {
                self.fault(path, "listed values that are no texts");
            }
        }
    }

    fn judge_object(&mut self, object: &'v Map<String, Value>, path: &str, depth: usize) {
        let rules = self.rules.objects;
        let properties = object.get("properties").and_then(Value::as_object);
        let count = properties.map_or(0, Map::len);
        let required = object.get("required").and_then(Value::as_array);
        let required = required.map_or(0, Vec::len);
        self.count.properties += count;
        self.count.optional += count.saturating_sub(required);
        self.count.depth = self.count.depth.max(depth + 1);
        if properties.is_none() && rules.listed {
            self.fault(path, "an object without properties");
        }
        if properties.is_some_and(Map::is_empty) && !rules.empty && !path.is_empty() {
            self.fault(path, "an object with empty properties");
        }
        if rules.closed && object.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.fault(path, "an object that is not closed");
        }
        if rules.all_required && required < count {
            self.fault(path, "a property that is not required");
        }
        for name in properties.into_iter().flat_map(Map::keys) {
            self.count.characters += name.len();
            let names = self.rules.properties.as_ref();
            if names.is_some_and(|names| !names.accept(name)) {
                self.fault(path, format!("the name {name:?} of a property"));
            }
        }
    }

    /// Goes to the schemas below.
    fn go_on(&mut self, object: &'v Map<String, Value>, path: &str, depth: usize) {
        for (word, value) in object {
            match (word.as_str(), value) {
                ("properties" | "$defs", Value::Object(map)) => {
                    let depth = if word == "properties" { depth + 1 } else { 0 };
                    for (name, schema) in map {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        let path = format!("{path}/{word}/{name}");
                        self.waiting.push((schema, path, depth));
                    }
                }
                ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                    for (index, schema) in branches.iter().enumerate() {
                        let path = format!("{path}/{word}/{index}");
                        self.waiting.push((schema, path, depth));
                    }
                }
                ("items", schema) => {
                    self.waiting.push((schema, format!("{path}/{word}"), depth));
                }
                ("additionalProperties", Value::Object(_)) => {
                    self.waiting.push((value, format!("{path}/{word}"), depth));
                }
                _ => {}
            }
        }
    }

    fn judge_limits(&mut self) {
        let limits = self.rules.limits;
        let counted = [
            (self.count.properties, limits.properties, "properties"),
            (self.count.depth, limits.depth, "levels of objects"),
            (self.count.characters, limits.characters, "characters"),
            (self.count.choices, limits.choices, "listed values"),
        ];
        for (count, limit, what) in counted {
            if limit > 0 && count > limit {
                self.fault("", format!("{count} {what}, and {limit} are the limit"));
            }
        }
        let required = self.root.get("required").and_then(Value::as_array);
        if required.map_or(0, Vec::len) < limits.required {
            self.fault("", "no required parameter");
        }
    }
}

fn says_type(object: &Map<String, Value>, word: &str) -> bool {
    match object.get("type") {
        Some(Value::String(said)) => said == word,
        Some(Value::Array(words)) => words.iter().any(|said| said == word),
        _ => false,
    }
}
