//! Unions: branches that stay branches, each with its own shape, and told apart by more
//! than hope. A union beside properties is merged in [`super::merge`].

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::choices::list;
use super::facts::{Facts, Part, add_properties, is_null};
use super::fits::{Steps, disjoint};
use super::mapping::{Field, Shape};
use super::object::accepts_null;
use super::types::TypeSet;
use super::walk::{Lowered, Walker};
use super::words;
use crate::rules::{Choices, Keyword, Types};

/// How many branches of a union are told apart.
pub(crate) const MOST_BRANCHES: usize = 64;

/// How many schemas are compared to tell the branches of one union apart.
const MOST_COMPARED: usize = 50_000;

/// How many listed values are told by what is said about each.
const MOST_REMARKS: usize = 64;

impl<'a> Walker<'a> {
    /// Writes a union.
    pub(crate) fn union(&mut self, facts: &mut Facts<'a>, parts: &[Part<'a>]) -> Lowered {
        if !facts.properties.is_empty() {
            facts.types = TypeSet::OBJECT;
            if !facts.typed {
                self.change("has no type; it was read as object");
            }
            facts.typed = true;
            return self.typed(facts);
        }
        let (branches, others) = facts.unions.split_first().map_or_else(
            || (&[][..], &[][..]),
            |(first, others)| (first.as_slice(), others),
        );
        self.forget(others);
        if self.closes() && others.iter().any(|other| add_properties(other, facts)) {
            self.change("two unions name properties; it takes anything");
            self.remarks.push(words::one_of(branches.iter()));
            return self.anything();
        }
        facts.nullable |= branches.iter().any(is_null);
        let restricted = facts.typed
            || facts.choices.is_some()
            || facts.speaks_of_objects()
            || facts.speaks_of_lists()
            || facts.rest.iter().any(|(word, _)| !word.is_annotation());
        let inherited = |part: &Part<'a>| Part {
            inherited: true,
            ..*part
        };
        let mut alternatives = Vec::with_capacity(branches.len());
        for branch in branches.iter().filter(|branch| !is_null(branch)) {
            let mut all: Vec<Part<'a>> = Vec::new();
            if restricted {
                all.extend(parts.iter().map(inherited));
            }
            all.push(Part::own(branch));
            alternatives.push(all);
        }
        if restricted {
            self.change("what stands beside the union went into its branches");
        }
        let mut lowered = self.any_of(alternatives);
        // What is said about the place as a whole stays there.
        let annotations = facts.rest.iter().filter(|(word, _)| word.is_annotation());
        let annotations = annotations.copied().collect();
        let rest = std::mem::replace(&mut facts.rest, annotations);
        if self.rules.beside_union {
            self.write_rest(TypeSet::ALL, facts, &mut lowered);
        }
        facts.rest = rest;
        lowered
    }

    /// Puts further unions of one place into words: several at once cannot be said.
    pub(crate) fn forget(&mut self, unions: &[&'a Vec<Value>]) {
        for union in unions {
            self.change("a second union was put into words");
            self.remarks.push(words::one_of(union.iter()));
        }
    }

    /// Writes a place that one of several lists of parts holds for.
    pub(crate) fn any_of(&mut self, mut alternatives: Vec<Vec<Part<'a>>>) -> Lowered {
        if let Some(lowered) = self.collapsed(&alternatives) {
            return lowered;
        }
        if alternatives.len() > MOST_BRANCHES {
            self.change("more branches than are told apart; it takes anything");
            self.tell(&alternatives);
            return self.anything();
        }
        alternatives.retain(
            |parts| !matches!(parts.as_slice(), [part] if *part.schema == Value::Bool(false)),
        );
        let changes = self.changes.len();
        if let Some(lowered) = self.branches(&alternatives) {
            return lowered;
        }
        // Values that were written as texts cannot be told from texts; without that they
        // can.
        if self.rules.choices == Choices::Texts && !self.choices_in_words {
            self.changes.truncate(changes);
            self.choices_in_words = true;
            let lowered = self.branches(&alternatives);
            self.choices_in_words = false;
            if let Some(lowered) = lowered {
                return lowered;
            }
        }
        self.change("branches that cannot be told apart; it takes anything");
        self.tell(&alternatives);
        self.anything()
    }

    /// Puts branches into words.
    fn tell(&mut self, alternatives: &[Vec<Part<'a>>]) {
        let schemas = alternatives.iter().filter_map(|parts| parts.last());
        self.remarks
            .push(words::one_of(schemas.map(|part| part.schema)));
    }

    fn branches(&mut self, alternatives: &[Vec<Part<'a>>]) -> Option<Lowered> {
        let mut branches = Vec::with_capacity(alternatives.len());
        for (index, parts) in alternatives.iter().enumerate() {
            let branch = self.below("anyOf", Cow::Owned(index.to_string()), |walker| {
                walker.node(parts)
            });
            branches.push(branch);
        }
        self.joined(branches)
    }

    /// A union of listed values is one list, with what is said about each in words.
    fn collapsed(&mut self, alternatives: &[Vec<Part<'a>>]) -> Option<Lowered> {
        let quiet = std::mem::replace(&mut self.quiet, true);
        let remarks = self.remarks.len();
        let mut all: Option<Vec<&'a Value>> = Some(Vec::new());
        let mut said = Vec::new();
        for parts in alternatives {
            let facts = self.gather(parts, false);
            let plain = facts.unions.is_empty()
                && facts.definition.is_none()
                && !facts.cut
                && facts.rest.iter().all(|(word, _)| word.is_annotation());
            let only_null = facts.typed && facts.types == TypeSet::NULL;
            let null = only_null.then(|| vec![&Value::Null]);
            let Some(values) = facts.choices.or(null).filter(|_| plain) else {
                all = None;
                break;
            };
            let scalar = |value: &&Value| !value.is_object() && !value.is_array();
            let values: Vec<&Value> = values
                .into_iter()
                .filter(|value| facts.types.holds(value))
                .collect();
            if !values.iter().all(scalar) {
                all = None;
                break;
            }
            if let Some(text) = facts.description {
                let Some(value) = only_value(values.iter().copied()) else {
                    // What is said about several values at once has no place in one list.
                    all = None;
                    break;
                };
                said.push(format!("{value}: {text}"));
            }
            if let Some(all) = &mut all {
                all.extend(values);
                if facts.nullable {
                    all.push(&Value::Null);
                }
            }
        }
        self.remarks.truncate(remarks);
        self.quiet = quiet;
        let all = all.filter(|all| !all.is_empty())?;
        self.change("a union of listed values became one list");
        said.truncate(MOST_REMARKS);
        self.remarks.extend(said);
        let mut facts = self.gather(&[], false);
        facts.choices = Some(all);
        let mut lowered = self.choices(&mut facts);
        if facts.nullable {
            self.make_nullable(&mut lowered);
        }
        Some(lowered)
    }

    /// Joins branches into a union, or into a place that takes anything where they cannot
    /// be told apart.
    pub(crate) fn join(&mut self, branches: Vec<Lowered>) -> Lowered {
        match self.joined(branches) {
            Some(lowered) => lowered,
            None => {
                self.change("branches that cannot be told apart; it takes anything");
                self.anything()
            }
        }
    }

    fn joined(&mut self, branches: Vec<Lowered>) -> Option<Lowered> {
        let mut flat: Vec<Lowered> = Vec::with_capacity(branches.len());
        let mut null = false;
        for branch in branches.into_iter().flat_map(flattened) {
            let is_null = branch.schema.get("type").is_some_and(|word| word == "null");
            let same = (flat.iter_mut().take(MOST_BRANCHES))
                .filter(|known| known.schema == branch.schema)
                .find_map(|known| Some((both(known.shape.clone(), branch.shape.clone())?, known)));
            match (is_null, same) {
                (true, _) => null = true,
                (false, Some((shape, known))) => {
                    known.shape = shape;
                    self.change("a branch that repeats another was left out");
                }
                (false, None) => flat.push(branch),
            }
        }
        if flat.len() > 1
            && let Some(lists) = self.one_list(&flat)
        {
            null |= flat.iter().any(|branch| accepts_null(&branch.schema));
            let said = flat.iter().filter_map(|branch| remark(&branch.schema));
            self.remarks.extend(said.take(MOST_REMARKS));
            flat = lists;
        }
        let mut joined = match flat.len() {
            0 if null => return Some(Lowered::of_type("null")),
            0 => return None,
            1 => flat.pop()?,
            _ => {
                let shape = shape_of(&flat)?;
                let schemas = flat.into_iter().map(|branch| Value::Object(branch.schema));
                let mut lowered = Lowered::new();
                lowered.set("anyOf", schemas.collect::<Vec<_>>());
                lowered.shape = shape;
                lowered
            }
        };
        if null {
            self.make_nullable(&mut joined);
        }
        Some(joined)
    }

    /// Branches that are nothing but lists of values, as one list or as few.
    fn one_list(&self, branches: &[Lowered]) -> Option<Vec<Lowered>> {
        if !branches.iter().all(|branch| lists_only(&branch.schema)) {
            return None;
        }
        if branches.iter().all(|branch| branch.shape == Shape::Same) {
            return Some(self.regrouped(branches));
        }
        joined_texts(branches).map(|texts| vec![texts])
    }

    /// Lists of values as one list, or as one for each type where a list has one type.
    fn regrouped(&self, lists: &[Lowered]) -> Vec<Lowered> {
        let listed = lists.iter().filter_map(|each| each.schema.get("enum"));
        let values: Vec<&Value> = listed
            .filter_map(Value::as_array)
            .flatten()
            .filter(|value| !value.is_null())
            .collect();
        let mut types = values.iter().fold(TypeSet::NONE, |types, value| {
            types.with(TypeSet::of_value(value))
        });
        if types.has(TypeSet::NUMBER) {
            types = types.without(TypeSet::INTEGER);
        }
        if self.rules.types == Types::List {
            return vec![list(&values, types)];
        }
        let of_type = |one: TypeSet| {
            let fitting = values.iter().copied().filter(|value| one.holds(value));
            list(&fitting.collect::<Vec<_>>(), one)
        };
        types.each().map(of_type).collect()
    }

    /// Lets a lowered place be `null` too.
    pub(crate) fn make_nullable(&mut self, lowered: &mut Lowered) {
        if !accepts_null(&lowered.schema) {
            self.add_null(lowered);
        }
    }

    /// Lets a lowered place that is never `null` be that too.
    pub(crate) fn add_null(&mut self, lowered: &mut Lowered) {
        let schema = &mut lowered.schema;
        if self.rules.types == Types::Nullable {
            match schema.get_mut("anyOf") {
                Some(Value::Array(branches)) => {
                    for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                        branch.insert("nullable".to_owned(), true.into());
                    }
                }
                _ => lowered.set("nullable", true),
            }
            return;
        }
        let lists = matches!(self.rules.types, Types::List | Types::ListWithNull);
        let mut said = false;
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("anyOf", Value::Array(branches)) => {
                    branches.push(only_null());
                    return;
                }
                ("type", word @ Value::String(_)) if lists => {
                    *word = Value::Array(vec![word.take(), "null".into()]);
                    said = true;
                }
                ("type", Value::Array(words)) if lists => {
                    if !words.iter().any(|word| word == "null") {
                        words.push("null".into());
                    }
                    said = true;
                }
                // A list has its type, and that stands before it.
                ("enum", Value::Array(choices)) if said => choices.push(Value::Null),
                _ => {}
            }
        }
        if said {
            return;
        }
        // A description and the union.
        let mut inner = std::mem::replace(schema, Map::with_capacity(2));
        // What is said about the place is said about the whole of it.
        if let Some(description) = inner.shift_remove("description") {
            lowered.set("description", description);
        }
        lowered.set("anyOf", vec![Value::Object(inner), only_null()]);
    }
}

/// A schema that only `null` fits.
fn only_null() -> Value {
    let mut schema = Map::with_capacity(1);
    schema.insert("type".to_owned(), "null".into());
    Value::Object(schema)
}

/// Lists of texts, some of which stand for other values, as one list; none where they are no
/// such lists, or a text stands for one value here and for another there.
fn joined_texts(lists: &[Lowered]) -> Option<Lowered> {
    let (mut texts, mut pairs) = (Vec::new(), Vec::new());
    let mut seen: HashMap<&str, Option<&Value>> = HashMap::new();
    for each in lists {
        let own: HashMap<&str, &Value> = match &each.shape {
            Shape::Same => HashMap::new(),
            Shape::Choices(own) => own.iter().map(|(text, value)| (&**text, value)).collect(),
            _ => return None,
        };
        for value in each.schema.get("enum")?.as_array()? {
            if value.is_null() {
                continue;
            }
            let text = value.as_str()?;
            // What stands for itself is not said to stand for anything.
            let stands_for = own.get(text).copied().filter(|meant| *meant != value);
            match seen.insert(text, stands_for) {
                None => {
                    texts.push(value.clone());
                    let pair = own
                        .get(text)
                        .map(|meant| (text.to_owned(), (*meant).clone()));
                    pairs.extend(pair);
                }
                Some(before) if before == stands_for => {}
                Some(_) => return None,
            }
        }
    }
    let mut lowered = Lowered::of_type("string");
    lowered.set("enum", texts);
    lowered.shape = Shape::Choices(pairs);
    Some(lowered)
}

/// Tells whether a lowered place is a list of values and nothing else that decides. What is
/// said about a single value can be said elsewhere.
fn lists_only(schema: &Map<String, Value>) -> bool {
    let Some(Value::Array(values)) = schema.get("enum") else {
        return false;
    };
    schema.keys().all(|word| match word.as_str() {
        "type" | "enum" | "nullable" => true,
        "description" => only_value(values).is_some(),
        word => Keyword::of(word).is_some_and(Keyword::is_annotation),
    })
}

/// What a list of one value says about it.
fn remark(list: &Map<String, Value>) -> Option<String> {
    let text = list.get("description")?.as_str()?;
    let value = only_value(list.get("enum")?.as_array()?)?;
    Some(format!("{value}: {text}"))
}

/// The one value of a list, beside `null`.
fn only_value<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<&'v Value> {
    let mut values = values.into_iter().filter(|value| !value.is_null());
    values.next().filter(|_| values.next().is_none())
}

/// The branches of a branch that is nothing but a union, or the branch itself.
fn flattened(mut branch: Lowered) -> Vec<Lowered> {
    if branch.schema.len() != 1 {
        return vec![branch];
    }
    let inner = match branch.schema.get_mut("anyOf") {
        Some(Value::Array(inner)) => std::mem::take(inner),
        _ => return vec![branch],
    };
    let shape = |index: usize, schema: &Map<String, Value>| match &branch.shape {
        Shape::Union(shapes) => shapes.get(index).map_or(Shape::Same, |each| each.1.clone()),
        shape => of_branch(shape, schema),
    };
    let inner = inner.into_iter().enumerate();
    inner
        .filter_map(|(index, schema)| match schema {
            Value::Object(schema) => Some(Lowered {
                shape: shape(index, &schema),
                schema,
            }),
            _ => None,
        })
        .collect()
}

/// What of a shape that does for all branches concerns this one: what happens to objects and
/// lists is nothing to a branch that takes neither, and may not tell it from its like.
fn of_branch(shape: &Shape, branch: &Map<String, Value>) -> Shape {
    let takes = |word: &str| match branch.get("type") {
        None => true,
        Some(Value::Array(words)) => words.iter().any(|each| each == word),
        Some(only) => only == word,
    };
    match shape {
        Shape::Object(_) if !takes("object") => Shape::Same,
        Shape::Items(_) if !takes("array") => Shape::Same,
        Shape::Both(both) => match (takes("object"), takes("array")) {
            (true, true) => shape.clone(),
            (true, false) => both.0.clone(),
            (false, true) => both.1.clone(),
            (false, false) => Shape::Same,
        },
        _ => shape.clone(),
    }
}

/// The shape of a union: one for all branches, one for each where they can be told apart,
/// or one that does for all what each does.
fn shape_of(branches: &[Lowered]) -> Option<Shape> {
    let first = &branches.first()?.shape;
    if branches.iter().all(|branch| branch.shape == *first) {
        return Some(first.clone());
    }
    let schemas: Vec<Value> = branches
        .iter()
        .map(|branch| Value::Object(branch.schema.clone()))
        .collect();
    let steps = Steps::new(MOST_COMPARED);
    let apart = schemas.iter().enumerate().all(|(index, one)| {
        schemas[..index]
            .iter()
            .all(|other| disjoint(one, other, &steps))
    });
    if apart {
        let shapes = branches.iter().map(|branch| branch.shape.clone());
        return Some(Shape::Union(schemas.into_iter().zip(shapes).collect()));
    }
    let mut shapes = branches.iter().map(|branch| branch.shape.clone());
    let first = shapes.next()?;
    shapes.try_fold(first, both)
}

/// A shape that does what two do, where they do not contradict each other: renaming, which
/// is the same throughout a schema.
fn both(one: Shape, other: Shape) -> Option<Shape> {
    match (one, other) {
        (one, other) if one == other => Some(one),
        (Shape::Same, other) | (other, Shape::Same) => renames_only(&other).then_some(other),
        (Shape::Object(mut fields), Shape::Object(others)) => {
            for field in others {
                match fields.iter_mut().find(|known| known.name == field.name) {
                    None if renames_only_field(&field) => fields.push(field),
                    Some(known) if known.null_is_absent == field.null_is_absent => {
                        known.shape = both(std::mem::take(&mut known.shape), field.shape)?;
                    }
                    _ => return None,
                }
            }
            Some(Shape::Object(fields))
        }
        (Shape::Items(one), Shape::Items(other)) => {
            Some(Shape::Items(Box::new(both(*one, *other)?)))
        }
        (object @ Shape::Object(_), list @ Shape::Items(_))
        | (list @ Shape::Items(_), object @ Shape::Object(_)) => {
            Some(Shape::Both(Box::new((object, list))))
        }
        _ => None,
    }
}

/// Tells whether a shape changes names and nothing else.
fn renames_only(shape: &Shape) -> bool {
    match shape {
        Shape::Same => true,
        Shape::Object(fields) => fields.iter().all(renames_only_field),
        Shape::Items(item) => renames_only(item),
        Shape::Both(both) => renames_only(&both.0) && renames_only(&both.1),
        _ => false,
    }
}

fn renames_only_field(field: &Field) -> bool {
    !field.null_is_absent && renames_only(&field.shape)
}
