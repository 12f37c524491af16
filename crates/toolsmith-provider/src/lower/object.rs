//! Objects and lists: what they hold, what they demand, and what else they take.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::facts::{Additional, Facts, Part, unsaid};
use super::mapping::{Field, Shape};
use super::types::TypeSet;
use super::walk::{Lowered, Walker};
use super::words;
use crate::rules::Keyword;

/// What an object holds, from one schema or from several together.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) entries: Vec<(&'a str, Entry<'a>)>,
    pub(crate) required: Vec<&'a str>,
    /// What one of several schemas demands: there, null is not the same as absence.
    pub(crate) sometimes: HashSet<&'a str>,
    pub(crate) additional: Additional<'a>,
    /// Whether properties are spoken of, were it to say that there are none.
    pub(crate) stated: bool,
}

/// What holds for one property.
#[derive(Debug)]
pub(crate) enum Entry<'a> {
    One(&'a Value),
    All(Vec<Part<'a>>),
    /// One of several.
    Any(Vec<Vec<Part<'a>>>),
}

/// Names to look up: by looking through few, by a table of many.
#[derive(Debug)]
enum Names<'a> {
    Few(Vec<&'a str>),
    Many(HashSet<&'a str>),
}

impl<'a> Names<'a> {
    fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let few: Vec<&str> = names.collect();
        if few.len() > 16 {
            return Self::Many(few.into_iter().collect());
        }
        Self::Few(few)
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Self::Few(names) => names.contains(&name),
            Self::Many(names) => names.contains(name),
        }
    }
}

/// A schema that takes anything.
pub(crate) static ANYTHING: Value = Value::Bool(true);

impl<'a> Walker<'a> {
    /// What an object holds. Unions beside its properties are merged into it.
    pub(crate) fn fields(&mut self, facts: &Facts<'a>) -> Fields<'a> {
        if facts.unions.is_empty() {
            return self.own_fields(facts);
        }
        self.merged_fields(facts)
    }

    /// What an object holds by itself.
    pub(crate) fn own_fields(&mut self, facts: &Facts<'a>) -> Fields<'a> {
        let entries: Vec<(&str, Entry<'_>)> = match facts.properties.as_slice() {
            [only] => only
                .iter()
                .map(|(name, schema)| (name.as_str(), Entry::One(schema)))
                .collect(),
            several => {
                let mut order: Vec<&str> = Vec::new();
                let mut parts: HashMap<&str, Vec<Part<'a>>> = HashMap::new();
                for (name, schema) in several.iter().flat_map(|map| map.iter()) {
                    let known = parts.entry(name).or_default();
                    if known.is_empty() {
                        order.push(name);
                    }
                    known.push(Part::own(schema));
                }
                let entry = |name| (name, Entry::All(parts.remove(name).unwrap_or_default()));
                order.into_iter().map(entry).collect()
            }
        };
        let mut required: Vec<&str> = Vec::new();
        for name in facts.required.iter().flat_map(|list| list.iter()) {
            match name.as_str() {
                Some(name) => required.push(name),
                None => self.change("a name in required that is no text was left out"),
            }
        }
        let additional = match facts.additional {
            // Closed but for patterns, which cannot be told: it must be opened.
            Additional::Closed if facts.patterns => {
                self.change("additionalProperties was opened for patternProperties");
                Additional::Open
            }
            Additional::Silent if facts.patterns => Additional::Open,
            Additional::Silent if self.closes() && unsaid(facts) => Additional::Open,
            additional => additional,
        };
        Fields {
            entries,
            required,
            sometimes: HashSet::new(),
            additional,
            stated: !facts.properties.is_empty(),
        }
    }

    /// Whether objects must be closed, so that what they do not name cannot be given.
    pub(crate) fn closes(&self) -> bool {
        self.rules.objects.closed
    }

    /// Writes an object. `None` where the rules demand that it be closed, and it is not.
    pub(crate) fn write_object(
        &mut self,
        lowered: &mut Lowered,
        mut fields: Fields<'a>,
        root: bool,
    ) -> Option<Shape> {
        let rules = self.rules.objects;
        let known = Names::new(fields.entries.iter().map(|(name, _)| *name));
        let required = Names::new(fields.required.iter().copied());
        let mut missing: Vec<&str> = Vec::new();
        for name in &fields.required {
            if !known.contains(name) && !missing.contains(name) && missing.len() < 1_000 {
                missing.push(name);
            }
        }
        for name in missing {
            if fields.additional == Additional::Closed {
                self.change("a required property that nothing describes was left out");
            } else {
                self.change("a required property that nothing describes takes anything");
                let schema = match fields.additional {
                    Additional::Schema(schema) => schema,
                    _ => &ANYTHING,
                };
                fields.entries.push((name, Entry::One(schema)));
            }
        }
        if rules.closed && !self.close(&mut fields, root) {
            return None;
        }
        let mut properties = Map::with_capacity(fields.entries.len());
        let mut demanded: Vec<Value> = Vec::with_capacity(fields.entries.len());
        let mut shapes = Vec::new();
        for (name, entry) in fields.entries {
            let is_required = required.contains(name) || entry.says_required();
            if matches!(entry, Entry::One(Value::Bool(false))) && !is_required {
                self.change("a property that can never be given was left out");
                continue;
            }
            let says_null = entry.defaults_to_null() && !fields.sometimes.contains(name);
            let property = self.below("properties", Cow::Borrowed(name), |walker| {
                let mut property = walker.entry(entry);
                if rules.all_required && !is_required {
                    walker.demand(name, &mut property, says_null);
                }
                property
            });
            let renamed = self.renames.of(name, self.rules.properties.as_ref());
            if let Some(renamed) = &renamed {
                self.change_of(name, &format!("is called {renamed}"));
            }
            let declared = renamed.as_deref().unwrap_or(name);
            if is_required || rules.all_required {
                demanded.push(declared.into());
            }
            properties.insert(declared.to_owned(), Value::Object(property.schema));
            let null_is_absent = rules.all_required && !is_required;
            if null_is_absent || renamed.is_some() || property.shape != Shape::Same {
                shapes.push(Field {
                    name: name.to_owned(),
                    renamed,
                    shape: property.shape,
                    null_is_absent,
                });
            }
        }
        if rules.empty && properties.is_empty() && !fields.stated {
            self.change("says nothing of its properties; an empty list was added");
        }
        let writes_empty = rules.empty || (root && rules.closed);
        if writes_empty || !properties.is_empty() {
            lowered.set("properties", properties);
        }
        if !demanded.is_empty() {
            lowered.set("required", demanded);
        }
        self.write_additional(lowered, fields.additional, root);
        Some(if shapes.is_empty() {
            Shape::Same
        } else {
            Shape::Object(shapes)
        })
    }

    /// Closes an object, where that takes nothing away that anybody said it takes.
    fn close(&mut self, fields: &mut Fields<'a>, root: bool) -> bool {
        let silent = fields.additional == Additional::Silent;
        let empty = fields.entries.is_empty();
        if !silent && fields.additional != Additional::Closed {
            if root {
                let why = "it takes arguments beyond those it names";
                self.refusal.get_or_insert_with(|| why.to_owned());
            }
            return root;
        }
        if !root && empty && (silent || !self.rules.objects.empty) {
            return false;
        }
        if silent {
            self.change("was closed: it takes the properties it names");
        }
        fields.additional = Additional::Closed;
        true
    }

    /// Makes an optional property required, with `null` for leaving it out.
    fn demand(&mut self, name: &str, property: &mut Lowered, null_is_default: bool) {
        if accepts_null(&property.schema) {
            if null_is_default {
                return;
            }
            // To some tools null says "remove it", and absence "leave it as it is".
            if property.shape != Shape::Same {
                let why = format!("{name:?} may be null or left out, which are two things");
                self.refusal.get_or_insert(why);
                return;
            }
            self.change("may be null or left out, so it became a string that holds JSON");
            write_as_text(property);
        }
        self.change("is optional, so null stands for leaving it out");
        self.add_null(property);
    }

    fn entry(&mut self, entry: Entry<'a>) -> Lowered {
        match entry {
            Entry::One(schema) => self.node(&[Part::own(schema)]),
            Entry::All(parts) => self.node(&parts),
            Entry::Any(alternatives) => self.any_of(alternatives),
        }
    }

    fn write_additional(&mut self, lowered: &mut Lowered, additional: Additional<'a>, root: bool) {
        let understood = self.rules.objects.additional;
        match additional {
            Additional::Silent => {}
            Additional::Closed if understood => lowered.set("additionalProperties", false),
            Additional::Open if understood => lowered.set("additionalProperties", true),
            Additional::Schema(schema) if understood => {
                let below = self.below("additionalProperties", Cow::Borrowed(""), |walker| {
                    walker.node(&[Part::own(schema)])
                });
                // Properties nobody named cannot be reshaped one by one.
                if below.shape == Shape::Same && !below.schema.is_empty() {
                    lowered.set("additionalProperties", below.schema);
                } else {
                    self.change("additionalProperties became true");
                    lowered.set("additionalProperties", true);
                }
            }
            // Of the arguments as a whole it goes without saying.
            Additional::Closed if root => self.change_of("additionalProperties", "was left out"),
            Additional::Closed => {
                self.change_of("additionalProperties", "was put into words");
                self.remarks.push("No other properties.".to_owned());
            }
            Additional::Open => self.change_of("additionalProperties", "was left out"),
            Additional::Schema(schema) => {
                self.change_of("additionalProperties", "was put into words");
                self.remarks.extend(words::others(schema));
            }
        }
    }

    /// Writes a list, which always says what its items are.
    pub(crate) fn write_list(&mut self, lowered: &mut Lowered, facts: &Facts<'a>) -> Shape {
        let items: Vec<Part<'a>> = facts.items.iter().map(|item| Part::own(item)).collect();
        let below = match facts.prefix {
            Some(prefix) => self.tuple(prefix, items, facts),
            None => {
                if items.is_empty() {
                    self.change("says nothing of its items; they may be anything");
                }
                self.below("items", Cow::Borrowed(""), |walker| walker.node(&items))
            }
        };
        lowered.set("items", below.schema);
        match below.shape {
            Shape::Same => Shape::Same,
            shape => Shape::Items(Box::new(shape)),
        }
    }

    /// Items that differ by their place become items that are one of all of them.
    fn tuple(&mut self, prefix: &'a [Value], rest: Vec<Part<'a>>, facts: &Facts<'a>) -> Lowered {
        self.change("items by their place became one of them each");
        let most = facts.rest.iter().find_map(|(keyword, value)| {
            let limit = *keyword == Keyword::MaxItems;
            limit.then(|| value.as_u64()).flatten()
        });
        let ends = most.is_some_and(|most| most <= prefix.len() as u64)
            || rest.iter().any(|part| *part.schema == Value::Bool(false));
        let few: Vec<String> = prefix.iter().take(8).filter_map(words::quoted).collect();
        self.remarks
            .push(format!("The items, in order: {}.", few.join(", ")));
        let mut alternatives: Vec<Vec<Part<'a>>> = prefix
            .iter()
            .map(|schema| vec![Part::own(schema)])
            .collect();
        if !ends {
            alternatives.push(rest);
        }
        self.below("prefixItems", Cow::Borrowed(""), |walker| {
            if !ends && alternatives.last().is_some_and(Vec::is_empty) {
                return walker.node(&[]);
            }
            walker.any_of(alternatives)
        })
    }
}

impl Entry<'_> {
    /// In draft 3, and in what people write, a property says itself that it is required.
    fn says_required(&self) -> bool {
        match self {
            Self::One(schema) => schema.get("required") == Some(&Value::Bool(true)),
            _ => false,
        }
    }

    fn defaults_to_null(&self) -> bool {
        let null = |schema: &Value| schema.get("default") == Some(&Value::Null);
        match self {
            Self::One(schema) => null(schema),
            Self::All(parts) => parts.iter().any(|part| null(part.schema)),
            Self::Any(_) => false,
        }
    }
}

/// The longest schema that is told in words.
const LONGEST_SCHEMA: usize = 2_000;

/// Makes a place a text that holds JSON of what it took.
fn write_as_text(property: &mut Lowered) {
    let mut schema = std::mem::take(&mut property.schema);
    let types = types_of(&schema, 0);
    let mut words = match schema.shift_remove("description") {
        Some(Value::String(description)) => description + " ",
        _ => String::new(),
    };
    let names: Vec<&str> = types.words().collect();
    let mut kind = names.join(" or ");
    // Where choices are listed, the types alone say too little.
    if lists_choices(&schema) {
        let whole = Value::Object(schema).to_string();
        if whole.len() <= LONGEST_SCHEMA {
            kind = whole;
        }
    }
    words.push_str(&format!(
        "Written as a string that holds JSON ({kind}): \"null\" is null, and null leaves it out."
    ));
    *property = Lowered::of_type("string");
    property.set("description", words);
    property.shape = Shape::Text(types);
}

/// Tells whether choices are listed anywhere in a lowered schema.
fn lists_choices(schema: &Map<String, Value>) -> bool {
    schema.iter().any(|(keyword, value)| match value {
        Value::Object(below) => lists_choices(below),
        Value::Array(_) if keyword == "enum" => true,
        Value::Array(list) => { list.iter() }
            .filter_map(Value::as_object)
            .any(lists_choices),
        _ => false,
    })
}

/// The types a lowered schema takes; all of them where it does not say.
fn types_of(schema: &Map<String, Value>, depth: usize) -> TypeSet {
    let word = |word: &Value| word.as_str().and_then(TypeSet::of_word);
    let sets: Option<Vec<TypeSet>> = match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::Array(words)), _) => words.iter().map(word).collect(),
        (Some(one), _) => word(one).map(|set| vec![set]),
        (None, Some(Value::Array(branches))) if depth < 8 => {
            let of = |branch: &Value| Some(types_of(branch.as_object()?, depth + 1));
            branches.iter().map(of).collect()
        }
        _ => None,
    };
    let all = |sets: Vec<TypeSet>| sets.into_iter().fold(TypeSet::NONE, TypeSet::with);
    sets.map_or(TypeSet::ALL, all)
}

/// Tells whether a lowered schema takes `null`.
pub(crate) fn accepts_null(schema: &Map<String, Value>) -> bool {
    let mut says = false;
    let mut accepts = true;
    // A lowered schema has few keywords: reading them all beats looking some up.
    for (keyword, value) in schema {
        let fits = match (keyword.as_str(), value) {
            ("nullable", Value::Bool(true)) => return true,
            ("anyOf", Value::Array(branches)) => branches
                .iter()
                .any(|branch| branch.as_object().is_some_and(accepts_null)),
            ("enum", Value::Array(choices)) => choices.iter().any(Value::is_null),
            ("type", Value::String(word)) => word == "null",
            ("type", Value::Array(words)) => words.iter().any(|word| word == "null"),
            ("$ref", _) => false,
            _ => continue,
        };
        says = true;
        accepts &= fits;
    }
    accepts || !says
}
