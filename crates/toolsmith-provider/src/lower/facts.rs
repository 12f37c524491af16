//! What the schemas that hold at one place say together.
//!
//! A place is described by a list of parts that must all hold: the schema there, what it
//! refers to, the elements of its `allOf`. [`Walker::gather`] reads each keyword of each
//! part once and sorts it; nothing is copied. Reading is also where nonsense gets its
//! meaning, each time as a named change.

use serde_json::{Map, Value};

use super::references::is_reference;
use super::types::TypeSet;
use super::walk::{Walker, text_of};
use crate::rules::{Keyword, Recursion, Types};

/// A schema that holds at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) schema: &'a Value,
    /// Whether it was read for the place around this one, so that its unions and its
    /// annotations are dealt with.
    pub(crate) inherited: bool,
}

impl<'a> Part<'a> {
    pub(crate) fn own(schema: &'a Value) -> Self {
        Self {
            schema,
            inherited: false,
        }
    }
}

/// What the parts of one place say together.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// Nothing fits.
    pub(crate) never: bool,
    pub(crate) types: TypeSet,
    /// Whether the type was said, rather than left open.
    pub(crate) typed: bool,
    /// Whether `null` fits besides.
    pub(crate) nullable: bool,
    pub(crate) description: Option<&'a str>,
    /// The listed values that fit.
    pub(crate) choices: Option<Vec<&'a Value>>,
    pub(crate) properties: Vec<&'a Map<String, Value>>,
    pub(crate) required: Vec<&'a Vec<Value>>,
    pub(crate) additional: Additional<'a>,
    /// Whether names may match patterns that cannot be told.
    pub(crate) patterns: bool,
    pub(crate) items: Vec<&'a Value>,
    pub(crate) prefix: Option<&'a Vec<Value>>,
    pub(crate) unions: Vec<&'a Vec<Value>>,
    /// Keywords that are passed on or put into words.
    pub(crate) rest: Vec<(Keyword, &'a Value)>,
    /// References that were followed to get here.
    pub(crate) followed: Vec<&'a str>,
    /// A definition that stands for the place.
    pub(crate) definition: Option<&'a str>,
    /// The place would go on without end, or beyond all bounds.
    pub(crate) cut: bool,
}

/// What an object takes beside its properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Additional<'a> {
    /// Nobody says.
    Silent,
    Closed,
    Open,
    Schema(&'a Value),
}

impl Facts<'_> {
    fn new() -> Self {
        Self {
            never: false,
            types: TypeSet::ALL,
            typed: false,
            nullable: false,
            description: None,
            choices: None,
            properties: Vec::new(),
            required: Vec::new(),
            additional: Additional::Silent,
            patterns: false,
            items: Vec::new(),
            prefix: None,
            unions: Vec::new(),
            rest: Vec::new(),
            followed: Vec::new(),
            definition: None,
            cut: false,
        }
    }

    /// Whether anything is said about objects.
    pub(crate) fn speaks_of_objects(&self) -> bool {
        !self.properties.is_empty()
            || !self.required.is_empty()
            || self.additional != Additional::Silent
            || self.patterns
    }

    /// Whether anything is said about lists.
    pub(crate) fn speaks_of_lists(&self) -> bool {
        !self.items.is_empty() || self.prefix.is_some()
    }
}

/// How many schemas may hold at one place.
const MOST_PARTS: usize = 256;

/// How many schemas are entered through references in all.
const MOST_EXPANDED: usize = 4_000;

/// How often a definition is entered within itself before it ends.
const LEVELS: usize = 2;

impl<'a> Walker<'a> {
    /// Reads what holds at a place. `expand` enters references whatever they mean: the
    /// root and a definition must say themselves what they are.
    pub(crate) fn gather(&mut self, parts: &[Part<'a>], expand: bool) -> Facts<'a> {
        let mut facts = Facts::new();
        let mut more: Vec<Part<'a>> = Vec::new();
        let mut index = 0;
        while let Some(part) = (parts.get(index)).or_else(|| more.get(index - parts.len())) {
            let part = *part;
            index += 1;
            if index > MOST_PARTS || !self.visit(part.schema) {
                facts.cut = true;
                break;
            }
            let quiet = self.quiet;
            self.quiet |= part.inherited;
            match part.schema {
                Value::Bool(true) => {}
                Value::Bool(false) => facts.never = true,
                Value::Object(object) => {
                    for (word, value) in object {
                        self.read(word, value, object, part, &mut facts, &mut more, expand);
                    }
                }
                Value::String(word) if TypeSet::meant_by(word).is_some() => {
                    let types = TypeSet::meant_by(word).unwrap_or(TypeSet::ALL);
                    self.change("a word in place of a schema was read as its type");
                    facts.types = facts.types.and(types);
                    facts.typed |= types != TypeSet::ALL;
                }
                _ => self.change("what is no schema was read as one that takes anything"),
            }
            self.quiet = quiet;
        }
        facts
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one keyword among all it touches"
    )]
    fn read(
        &mut self,
        word: &'a str,
        value: &'a Value,
        object: &'a Map<String, Value>,
        part: Part<'a>,
        facts: &mut Facts<'a>,
        more: &mut Vec<Part<'a>>,
        expand: bool,
    ) {
        match (word, value) {
            ("type", _) => self.read_type(value, facts),
            ("description", Value::String(text)) => {
                if facts.description.is_none() && !part.inherited {
                    facts.description = Some(text);
                }
            }
            ("properties", Value::Object(map)) => facts.properties.push(map),
            // In draft 3 a property says itself that it is required; its object reads that.
            ("required", Value::Bool(_)) | ("optional", _) => {
                self.change_of(word, "is no statement about a value; its object says so");
            }
            ("required", Value::Array(list)) => facts.required.push(list),
            ("items" | "prefixItems", Value::Array(list)) => {
                facts.prefix = facts.prefix.or(Some(list));
            }
            ("items", _) => facts.items.push(value),
            ("additionalItems", _) => {
                if matches!(object.get("items"), Some(Value::Array(_))) {
                    facts.items.push(value);
                }
            }
            ("enum", Value::Array(list)) if !list.is_empty() => {
                restrict(&mut facts.choices, list.iter().collect());
            }
            ("const", _) => {
                self.change("const became a list of one value");
                restrict(&mut facts.choices, vec![value]);
            }
            ("nullable", Value::Bool(nullable)) => {
                if *nullable && self.rules.types != Types::Nullable {
                    self.change("nullable became null beside the type");
                }
                facts.nullable |= nullable;
            }
            ("anyOf" | "oneOf", Value::Array(branches)) if !part.inherited => {
                self.read_union(word, branches, facts, more);
            }
            ("anyOf" | "oneOf", Value::Array(_)) => {}
            ("allOf", Value::Array(all)) => {
                self.change("allOf was merged");
                more.extend(all.iter().map(|schema| Part { schema, ..part }));
            }
            ("additionalProperties", _) => facts.read_additional(value),
            ("unevaluatedProperties", Value::Bool(false)) => {
                // What a union brings is evaluated; the merged object lists it all. What
                // conditions and patterns bring is not listed.
                let conditions = ["if", "dependentSchemas", "dependencies", "$dynamicRef"];
                if conditions.iter().any(|word| object.contains_key(*word)) {
                    self.change("unevaluatedProperties was left out: conditions may add some");
                } else {
                    self.change("unevaluatedProperties became additionalProperties");
                    facts.read_additional(value);
                }
            }
            ("unevaluatedProperties", _) => facts.read_additional(value),
            (_, Value::String(target)) if is_reference(word) => {
                self.refer(target, part, facts, more, expand);
            }
            ("$defs" | "definitions", _) => {}
            ("$schema" | "$id" | "id" | "$comment" | "$anchor" | "$vocabulary", _) => {
                self.change_of(word, "was left out");
            }
            _ => self.read_other(word, value, object, part, facts),
        }
    }

    fn read_other(
        &mut self,
        word: &'a str,
        value: &'a Value,
        object: &'a Map<String, Value>,
        part: Part<'a>,
        facts: &mut Facts<'a>,
    ) {
        let Some(keyword) = Keyword::of(word) else {
            self.change_of(word, "is not a keyword with this value; it was left out");
            return;
        };
        if part.inherited && keyword.is_annotation() {
            return;
        }
        facts.patterns |= keyword == Keyword::PatternProperties;
        // Draft 4 says by `true` that a bound itself does not fit.
        let bound = match (keyword, value) {
            (Keyword::ExclusiveMinimum, Value::Bool(_)) => object.get("minimum"),
            (Keyword::ExclusiveMaximum, Value::Bool(_)) => object.get("maximum"),
            _ => Some(value),
        };
        if value == &Value::Bool(false) && bound != Some(value) {
            return self.change_of(word, "says nothing; it was left out");
        }
        match bound {
            Some(bound) if is_well_formed(keyword, bound) => {
                if bound != value {
                    self.change_of(word, "became the bound it speaks of");
                }
                self.add(keyword, bound, facts);
            }
            _ => self.change_of(word, "has a value it cannot have; it was left out"),
        }
    }

    /// Adds a keyword. Of two the tighter one counts.
    fn add(&mut self, keyword: Keyword, value: &'a Value, facts: &mut Facts<'a>) {
        let same = |(other, _): &&mut (Keyword, &Value)| *other == keyword;
        let Some((_, known)) = facts.rest.iter_mut().find(same) else {
            return facts.rest.push((keyword, value));
        };
        let (Some(before), Some(now)) = (known.as_f64(), value.as_f64()) else {
            if *known != value && !keyword.is_annotation() {
                self.change_of(keyword.word(), "holds twice; only one was kept");
                let said = super::words::words(keyword, value);
                self.remarks.push(said);
            }
            return;
        };
        let grows = keyword.word().starts_with("min") || keyword == Keyword::ExclusiveMinimum;
        if (grows && now > before) || (!grows && now < before) {
            *known = value;
        }
    }

    fn read_type(&mut self, value: &'a Value, facts: &mut Facts<'a>) {
        let mut types = TypeSet::NONE;
        let words: &[Value] = match value {
            Value::Array(list) => list,
            single => std::slice::from_ref(single),
        };
        for word in words {
            let text = word.as_str().unwrap_or("-");
            match TypeSet::of_word(text) {
                Some(set) => types = types.with(set),
                None => {
                    let meant = TypeSet::meant_by(text);
                    let read = meant.filter(|meant| meant.is_one());
                    let read = read.and_then(|meant| meant.words().next());
                    self.change(format!(
                        "the type {} was read as {}",
                        text_of(word),
                        read.unwrap_or("anything")
                    ));
                    types = types.with(meant.unwrap_or(TypeSet::ALL));
                }
            }
        }
        if types.is_empty() {
            types = TypeSet::ALL;
        }
        let both = facts.types.and(types);
        if both.is_empty() {
            self.change("types that exclude each other; the first was kept");
        } else {
            facts.types = both;
        }
        facts.typed |= types.without(TypeSet::INTEGER) != TypeSet::ALL;
    }

    /// A union of one is no union, and `null` in a union is a remark about the rest.
    fn read_union(
        &mut self,
        word: &str,
        branches: &'a Vec<Value>,
        facts: &mut Facts<'a>,
        more: &mut Vec<Part<'a>>,
    ) {
        let mut others = branches.iter().filter(|branch| !is_null(branch));
        match (others.next(), others.next()) {
            (Some(only), None) => {
                if branches.len() > 1 {
                    if self.rules.types != Types::Union {
                        self.change_of(word, "with null became a type that may be null");
                    }
                    facts.nullable = true;
                } else {
                    self.change_of(word, "of one was merged");
                }
                more.push(Part::own(only));
            }
            (None, _) if branches.is_empty() => {
                self.change_of(word, "is empty; it was left out");
            }
            (None, _) => {
                facts.types = facts.types.and(TypeSet::NULL);
                facts.typed = true;
            }
            _ => {
                if word == "oneOf" {
                    self.change("oneOf became anyOf");
                }
                facts.unions.push(branches);
            }
        }
    }

    fn refer(
        &mut self,
        target: &'a str,
        part: Part<'a>,
        facts: &mut Facts<'a>,
        more: &mut Vec<Part<'a>>,
        expand: bool,
    ) {
        let Some(schema) = self.references.resolve(target) else {
            self.change(format!(
                "$ref {:?} leads nowhere; it takes anything",
                target.chars().take(120).collect::<String>()
            ));
            return;
        };
        if facts.followed.contains(&target) {
            return;
        }
        let within = self.active.iter().filter(|each| **each == target).count();
        if !expand {
            let endless = self.keep_references || self.references.is_recursive(target);
            match self.rules.recursion {
                Recursion::Kept if endless => {
                    facts.definition = Some(target);
                    return;
                }
                Recursion::Cut if within >= LEVELS => {
                    facts.cut = true;
                    // What is cut off an object is at least an object.
                    let is_object = schema.get("type") == Some(&Value::from("object"));
                    if is_object && facts.types.has(TypeSet::OBJECT) {
                        facts.types = TypeSet::OBJECT;
                        facts.typed = true;
                    }
                    return;
                }
                _ => {}
            }
        }
        self.expanded += 1;
        if self.expanded > MOST_EXPANDED {
            self.overflown = true;
            facts.cut = true;
            return;
        }
        self.change("$ref was written out");
        facts.followed.push(target);
        more.push(Part { schema, ..part });
    }
}

impl<'a> Facts<'a> {
    /// Of two statements the one that refuses more counts.
    fn read_additional(&mut self, value: &'a Value) {
        let read = match value {
            Value::Bool(false) => Additional::Closed,
            Value::Object(map) if !map.is_empty() => Additional::Schema(value),
            _ => Additional::Open,
        };
        self.additional = match (self.additional, read) {
            (Additional::Closed, _) | (_, Additional::Closed) => Additional::Closed,
            (Additional::Schema(known), _) => Additional::Schema(known),
            (_, read) => read,
        };
    }
}

/// Tells whether properties are named where only words can say them: an object that leaves
/// others open must not be closed then.
pub(crate) fn unsaid(facts: &Facts<'_>) -> bool {
    let known = |name: &str| facts.properties.iter().any(|map| map.contains_key(name));
    let conditional = facts.rest.iter().any(|(keyword, value)| match keyword {
        Keyword::If | Keyword::Then | Keyword::Else => names_more(value, &known, 0),
        Keyword::DependentSchemas | Keyword::Dependencies => {
            let schemas = value.as_object().into_iter().flat_map(Map::values);
            { schemas }.any(|schema| names_more(schema, &known, 0))
        }
        _ => false,
    });
    facts.cut || conditional
}

/// Tells whether one of some schemas names properties that these facts do not know.
pub(crate) fn add_properties(schemas: &[Value], facts: &Facts<'_>) -> bool {
    let known = |name: &str| facts.properties.iter().any(|map| map.contains_key(name));
    { schemas.iter() }.any(|schema| names_more(schema, &known, 0))
}

/// What cannot be followed to its end may name any.
fn names_more(schema: &Value, known: &dyn Fn(&str) -> bool, depth: usize) -> bool {
    let Value::Object(object) = schema else {
        return false;
    };
    depth > MOST_CONDITIONS
        || object
            .iter()
            .any(|(word, value)| match (word.as_str(), value) {
                ("properties", Value::Object(map)) => !map.keys().all(|name| known(name)),
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                    { list.iter() }.any(|each| names_more(each, known, depth + 1))
                }
                ("if" | "then" | "else", value) => names_more(value, known, depth + 1),
                ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                    { map.values() }.any(|each| names_more(each, known, depth + 1))
                }
                (word, _) => is_reference(word),
            })
}

/// How deep conditions within conditions are read.
const MOST_CONDITIONS: usize = 16;

/// Keeps what both lists have; where that is nothing, the first stays.
fn restrict<'a>(choices: &mut Option<Vec<&'a Value>>, list: Vec<&'a Value>) {
    let Some(known) = choices else {
        *choices = Some(list);
        return;
    };
    // Only what is cheap to compare: nobody lists many objects twice.
    if known.len().saturating_mul(list.len()) > 1 << 20 {
        return;
    }
    let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
    let both: Vec<&Value> = known
        .iter()
        .copied()
        .filter(|value| !is_scalar(value) || list.iter().any(|l| is_scalar(l) && l == value))
        .collect();
    if !both.is_empty() {
        *known = both;
    }
}

/// Tells whether only `null` fits.
pub(crate) fn is_null(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else {
        return false;
    };
    match (object.get("type"), object.get("const"), object.get("enum")) {
        (Some(Value::String(word)), _, _) => word == "null",
        (None, Some(value), None) => value.is_null(),
        (None, None, Some(Value::Array(values))) => {
            !values.is_empty() && values.iter().all(Value::is_null)
        }
        _ => false,
    }
}

/// Tells whether a keyword has a value it can have.
fn is_well_formed(keyword: Keyword, value: &Value) -> bool {
    match keyword {
        Keyword::Title
        | Keyword::Format
        | Keyword::Pattern
        | Keyword::ContentEncoding
        | Keyword::ContentMediaType => value.is_string(),
        Keyword::MinLength
        | Keyword::MaxLength
        | Keyword::MinItems
        | Keyword::MaxItems
        | Keyword::MinProperties
        | Keyword::MaxProperties
        | Keyword::MinContains
        | Keyword::MaxContains => value.is_u64(),
        Keyword::Minimum
        | Keyword::Maximum
        | Keyword::ExclusiveMinimum
        | Keyword::ExclusiveMaximum => value.is_number(),
        Keyword::MultipleOf => value.as_f64().is_some_and(|step| step > 0.0),
        Keyword::UniqueItems | Keyword::Deprecated | Keyword::ReadOnly | Keyword::WriteOnly => {
            value.is_boolean()
        }
        _ => true,
    }
}
