//! The walker: one pass over a schema, with a provider's rules in hand.
//!
//! It reads what holds at a place ([`super::facts`]), writes it in the words the rules
//! allow, and notes every difference. Objects and lists are written in [`super::object`],
//! values and unions in [`super::union`]. Its depth and the number of schemas it reads are
//! bounded, whatever it is given.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Change;
use super::definitions::{self, Definitions};
use super::facts::{Additional, Facts, Part};
use super::keywords::implied;
use super::mapping::{Mapping, Shape};
use super::references::References;
use super::renames::Renames;
use super::types::TypeSet;
use super::words::{self, cleaned_text, describe};
use crate::rules::{Rules, Types};

/// How deep schemas are read; what lies deeper takes anything.
pub(crate) const DEEPEST: usize = 64;

/// How many schemas are read in all.
const MOST_READ: usize = 400_000;

/// How many bytes of names, texts and listed values are read in all. What is referred to
/// from many places is written as often, so a small schema can say much.
const MOST_BYTES: usize = 16 << 20;

/// The most changes that are told one by one.
const MOST_CHANGES: usize = 10_000;

/// How long the path of a change may be: names of properties have no bound of their own.
const LONGEST_PATH: usize = 1024;

/// How many keywords a lowered place has room for from the start.
const USUAL_KEYWORDS: usize = 4;

/// A lowered place.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) schema: Map<String, Value>,
    pub(crate) shape: Shape,
}

impl Lowered {
    pub(crate) fn new() -> Self {
        Self {
            // Most places have a type, a description and a keyword or two: growing a map
            // step by step costs more than all else that is done to them.
            schema: Map::with_capacity(USUAL_KEYWORDS),
            shape: Shape::Same,
        }
    }

    pub(crate) fn of_type(word: &str) -> Self {
        let mut lowered = Self::new();
        lowered.set("type", word);
        lowered
    }

    pub(crate) fn set(&mut self, keyword: &str, value: impl Into<Value>) {
        self.schema.insert(keyword.to_owned(), value.into());
    }
}

#[derive(Debug)]
pub(crate) struct Walker<'a> {
    pub(crate) rules: &'static Rules,
    pub(crate) references: References<'a>,
    root: &'a Value,
    path: Vec<Cow<'a, str>>,
    pub(crate) changes: Vec<Change>,
    /// Changes are not told: what is read was read before.
    pub(crate) quiet: bool,
    /// References that were followed to get to the place.
    pub(crate) active: Vec<&'a str>,
    /// Definitions that stay.
    definitions: Definitions<'a>,
    /// What must be said in the description of the place.
    pub(crate) remarks: Vec<String>,
    depth: usize,
    read: usize,
    bytes: usize,
    pub(crate) expanded: usize,
    /// More was written out than is good.
    pub(crate) overflown: bool,
    /// Every reference stays one.
    pub(crate) keep_references: bool,
    /// Listed values that are no texts are put into words.
    pub(crate) choices_in_words: bool,
    pub(crate) renames: Renames<'a>,
    /// Why these rules cannot be kept at all.
    pub(crate) refusal: Option<String>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(root: &'a Value, rules: &'static Rules) -> Self {
        Self {
            rules,
            references: References::new(root),
            root,
            path: Vec::new(),
            changes: Vec::new(),
            quiet: false,
            active: Vec::new(),
            definitions: Definitions::default(),
            remarks: Vec::new(),
            depth: 0,
            read: 0,
            bytes: 0,
            expanded: 0,
            overflown: false,
            keep_references: false,
            choices_in_words: false,
            renames: Renames::new(root),
            refusal: None,
        }
    }

    /// Lowers the whole schema: arguments are an object.
    pub(crate) fn run(&mut self) -> (Map<String, Value>, Mapping) {
        let mut facts = self.gather(&[Part::own(self.root)], true);
        self.active.extend(&facts.followed);
        let mut root = if facts.typed && !facts.types.has(TypeSet::OBJECT) {
            self.wrapped()
        } else {
            if !facts.typed || !facts.types.is_one() {
                self.change("the arguments are an object");
            }
            facts.types = TypeSet::OBJECT;
            facts.typed = true;
            self.root_object(&mut facts)
        };
        self.finish(&facts, &mut root);
        let mut mapping = Mapping {
            root: root.shape,
            ..Mapping::default()
        };
        let mut definitions = Map::new();
        let mut index = 0;
        // Definitions may bring further ones.
        while let Some((target, name)) = self.definitions.get(index) {
            let name = name.to_owned();
            self.path = vec![Cow::Borrowed(target.trim_start_matches("#/"))];
            self.active = vec![target];
            let parts = self.references.resolve(target).map(Part::own);
            let lowered = self.node_of(parts.as_slice(), true);
            definitions.insert(name, Value::Object(lowered.schema));
            mapping.named.push(lowered.shape);
            index += 1;
        }
        if !definitions.is_empty() {
            mapping.definitions.clone_from(&definitions);
            let used = definitions::in_use(&root.schema, definitions);
            if !used.is_empty() {
                root.schema.insert("$defs".to_owned(), Value::Object(used));
            }
        }
        (root.schema, mapping)
    }

    fn root_object(&mut self, facts: &mut Facts<'a>) -> Lowered {
        if let Some(choices) = facts.choices.take() {
            self.change("a list of whole objects was put into words");
            self.remarks.push(words::one_of(choices.into_iter()));
        }
        if facts.cut {
            self.change("more schemas than are read; the rest takes anything");
        }
        let mut root = Lowered::of_type("object");
        let fields = self.fields(facts);
        if let Some(shape) = self.write_object(&mut root, fields, true) {
            root.shape = shape;
        }
        self.write_rest(TypeSet::OBJECT, facts, &mut root);
        root
    }

    /// Puts what is no object into one.
    fn wrapped(&mut self) -> Lowered {
        const NAME: &str = "value";
        self.change("arguments are an object, so the value stands in one");
        let inner = self.node_of(&[Part::own(self.root)], true);
        let mut root = Lowered::of_type("object");
        let properties = Map::from_iter([(NAME.to_owned(), Value::Object(inner.schema))]);
        root.set("properties", properties);
        root.set("required", vec![NAME]);
        if self.rules.objects.additional {
            root.set("additionalProperties", false);
        }
        root.shape = Shape::Wrapped(NAME, Box::new(inner.shape));
        root
    }

    /// Lowers what holds at a place.
    pub(crate) fn node(&mut self, parts: &[Part<'a>]) -> Lowered {
        self.node_of(parts, false)
    }

    fn node_of(&mut self, parts: &[Part<'a>], expand: bool) -> Lowered {
        if self.depth >= DEEPEST {
            self.change("nested too deep; what follows takes anything");
            return self.anything();
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.remarks);
        let mut facts = self.gather(parts, expand);
        let active = self.active.len();
        self.active.extend(&facts.followed);
        let mut lowered = self.place(&mut facts, parts);
        if facts.nullable {
            self.make_nullable(&mut lowered);
        }
        self.finish(&facts, &mut lowered);
        self.active.truncate(active);
        self.remarks = outer;
        self.depth -= 1;
        lowered
    }

    fn place(&mut self, facts: &mut Facts<'a>, parts: &[Part<'a>]) -> Lowered {
        if let Some(target) = facts.definition {
            return self.definition(target);
        }
        if facts.never {
            self.change("nothing fits `false`; it takes anything");
            self.remarks.push("Nothing fits here.".to_owned());
            return self.anything();
        }
        if facts.cut {
            self.change("cut here; the rest takes anything");
            self.remarks.push("More of the same may follow.".to_owned());
            if facts.types != TypeSet::OBJECT || self.rules.objects.closed {
                return self.anything();
            }
        }
        if !facts.unions.is_empty() {
            return self.union(facts, parts);
        }
        if facts.choices.is_some() {
            return self.choices(facts);
        }
        self.typed(facts)
    }

    /// Writes a place of one type, of several, or of any.
    pub(crate) fn typed(&mut self, facts: &Facts<'a>) -> Lowered {
        let mut types = facts.types.without(TypeSet::NULL);
        if types.has(TypeSet::NUMBER) {
            types = types.without(TypeSet::INTEGER);
        }
        if !facts.typed {
            if self.rules.untyped {
                return self.write(TypeSet::ALL, false, facts);
            }
            let implied = implied(facts);
            if !implied.is_one() {
                self.lose(facts);
                return self.anything();
            }
            let word = implied.words().next().unwrap_or_default();
            self.change(format!("has no type; it was read as {word}"));
            types = implied;
        }
        let nullable = facts.typed && facts.types.has(TypeSet::NULL);
        let mut lowered = if types.is_empty() {
            if self.rules.types == Types::Nullable {
                self.change("null became a nullable string");
                Lowered::of_type("string")
            } else {
                return Lowered::of_type("null");
            }
        } else if types.is_one() {
            self.write(types, true, facts)
        } else if self.rules.types == Types::List {
            let all = if nullable {
                types.with(TypeSet::NULL)
            } else {
                types
            };
            return self.write(all, true, facts);
        } else {
            self.change("a list of types became anyOf");
            let each = types.each().map(|one| self.write(one, true, facts));
            let each = each.collect();
            self.join(each)
        };
        if nullable {
            self.make_nullable(&mut lowered);
        }
        lowered
    }

    /// Writes a place of these types with all that is said about them.
    fn write(&mut self, types: TypeSet, typed: bool, facts: &Facts<'a>) -> Lowered {
        let mut lowered = Lowered::new();
        if typed {
            let mut words = types.words();
            match (words.next(), types.is_one()) {
                (Some(word), true) => lowered.set("type", word),
                _ => lowered.set("type", types.words().collect::<Vec<_>>()),
            }
        }
        let mut object = Shape::Same;
        if types.has(TypeSet::OBJECT) && (typed || facts.speaks_of_objects()) {
            let fields = self.fields(facts);
            match self.write_object(&mut lowered, fields, false) {
                Some(shape) => object = shape,
                None => return self.text(types, facts),
            }
        }
        let mut list = Shape::Same;
        if types.has(TypeSet::ARRAY) && (typed || facts.speaks_of_lists()) {
            list = self.write_list(&mut lowered, facts);
        }
        self.write_rest(
            if typed { types } else { TypeSet::ALL },
            facts,
            &mut lowered,
        );
        lowered.shape = match (object, list) {
            (object, Shape::Same) => object,
            (Shape::Same, list) => list,
            both => Shape::Both(Box::new(both)),
        };
        lowered
    }

    /// A place that takes anything.
    pub(crate) fn anything(&mut self) -> Lowered {
        if self.rules.untyped {
            return Lowered::new();
        }
        self.change("takes anything, so it became a string that holds JSON");
        self.remarks.push(JSON_TEXT.to_owned());
        let mut lowered = Lowered::of_type("string");
        lowered.shape = Shape::Text(TypeSet::ALL);
        lowered
    }

    /// A place whose value is written as JSON into a text, since it cannot be closed.
    fn text(&mut self, types: TypeSet, facts: &Facts<'a>) -> Lowered {
        self.change("is open, so it became a string that holds JSON");
        self.remarks.push(if types == TypeSet::OBJECT {
            "A JSON object, written as a string.".to_owned()
        } else {
            JSON_TEXT.to_owned()
        });
        for properties in &facts.properties {
            self.remarks.push(words::fields(properties));
        }
        if let Additional::Schema(schema) = facts.additional {
            self.remarks.extend(words::others(schema));
        }
        self.lose(facts);
        let mut lowered = Lowered::of_type("string");
        lowered.shape = Shape::Text(types);
        lowered
    }

    /// A place that a definition stands for.
    fn definition(&mut self, target: &'a str) -> Lowered {
        let (index, name) = self.definitions.of(target);
        let mut lowered = Lowered::new();
        lowered.set("$ref", format!("#/$defs/{name}"));
        lowered.shape = Shape::Named(index);
        lowered
    }

    /// Adds the description, and to it what could not be said otherwise.
    fn finish(&mut self, facts: &Facts<'a>, lowered: &mut Lowered) {
        let remarks = std::mem::take(&mut self.remarks);
        if facts.description.is_none() && remarks.iter().all(String::is_empty) {
            return;
        }
        let mut description = facts.description.unwrap_or_default().to_owned();
        describe(&mut description, &remarks);
        let mut description = cleaned_text(description);
        let first = lowered.schema.keys().next();
        if first.is_some_and(|key| key == "$ref") {
            return self.change("nothing may stand beside $ref; what did was left out");
        }
        if !self.rules.beside_union
            && let Some(Value::Array(branches)) = lowered.schema.get_mut("anyOf")
        {
            if let Some(Value::Object(first)) = branches.first_mut() {
                if let Some(Value::String(said)) = first.get("description") {
                    describe(&mut description, std::slice::from_ref(said));
                }
                first.insert("description".to_owned(), description.into());
            }
            return;
        }
        let place = usize::from(
            lowered
                .schema
                .keys()
                .next()
                .is_some_and(|key| key == "type"),
        );
        lowered
            .schema
            .shift_insert(place, "description".to_owned(), description.into());
    }

    /// Counts a schema that is read. `false` when there are too many.
    pub(crate) fn visit(&mut self, schema: &Value) -> bool {
        self.read += 1;
        self.read <= MOST_READ && self.spend(words::weight(schema))
    }

    /// Counts what is read and may be written. `false` when it is too much.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.overflown |= self.bytes > MOST_BYTES;
        self.bytes <= MOST_BYTES
    }

    /// Goes to a schema below, and back.
    pub(crate) fn below<T>(
        &mut self,
        keyword: &'static str,
        name: Cow<'a, str>,
        visit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let length = self.path.len();
        self.path.push(Cow::Borrowed(keyword));
        if !name.is_empty() || keyword == "properties" {
            self.path.push(name);
        }
        let result = visit(self);
        self.path.truncate(length);
        result
    }

    /// Notes a change of the place.
    pub(crate) fn change(&mut self, what: impl Into<Cow<'static, str>>) {
        if self.quiet || self.changes.len() >= MOST_CHANGES {
            return;
        }
        let length: usize = self.path.iter().map(|segment| segment.len() + 1).sum();
        let mut path = String::with_capacity(length.min(LONGEST_PATH));
        for segment in &self.path {
            let room = LONGEST_PATH.saturating_sub(path.len() + 1);
            if segment.len() > room {
                path.push('/');
                path.push_str(&segment[..segment.floor_char_boundary(room)]);
                path.push('…');
                break;
            }
            path.push('/');
            if segment.contains(['~', '/']) && !segment.starts_with('$') {
                path.push_str(&segment.replace('~', "~0").replace('/', "~1"));
            } else {
                path.push_str(segment);
            }
        }
        let what = what.into();
        let change = Change { path, what };
        if self.changes.last() != Some(&change) {
            self.changes.push(change);
        }
    }

    /// Notes a change of a keyword.
    pub(crate) fn change_of(&mut self, keyword: &str, what: &str) {
        if self.quiet {
            return;
        }
        let end = keyword.floor_char_boundary(80.min(keyword.len()));
        let mut text = String::with_capacity(end + what.len() + 1);
        text.push_str(&keyword[..end]);
        text.push(' ');
        text.push_str(what);
        self.change(text);
    }
}

/// What a model is told of a text that holds JSON.
const JSON_TEXT: &str = "JSON, written as a string.";

/// A value as it is told in a change.
pub(crate) fn text_of(value: &Value) -> String {
    words::quoted(value).unwrap_or_else(|| "…".to_owned())
}
