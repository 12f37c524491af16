//! How arguments differ between a tool's own schema and the lowered one, both ways.
//!
//! A mapping is a tree of shapes beside the schema. It trusts neither side: what does not
//! have the shape it should is left as it is, for validation to find.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolsmith_core::json::depth_exceeds;

use super::fits::{Steps, fits};
use super::types::TypeSet;

/// How deep arguments are reshaped; what lies deeper stays as it is.
const DEEPEST: usize = 128;

/// How many steps are taken to tell which branches of unions a call's arguments belong to.
const MOST_STEPS: usize = 500_000;

/// How arguments differ between a tool's own schema and the lowered one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    pub(crate) root: Shape,
    /// The shapes of definitions, which [`Shape::Named`] counts.
    pub(crate) named: Vec<Shape>,
    /// The lowered definitions, which the tests of unions refer to.
    pub(crate) definitions: Map<String, Value>,
}

/// How one place differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Shape {
    /// Not at all.
    #[default]
    Same,
    /// Objects have fields that differ.
    Object(Vec<Field>),
    /// Lists have items that differ.
    Items(Box<Shape>),
    /// Objects differ in the first way, lists in the second.
    Both(Box<(Shape, Shape)>),
    /// The value, which is of one of the types, is written as JSON into a text.
    Text(TypeSet),
    /// Values are written as texts.
    Choices(Vec<(String, Value)>),
    /// What fits a lowered schema differs in its way; no value fits two.
    Union(Vec<(Value, Shape)>),
    /// As the definition of that number differs.
    Named(usize),
    /// The value stands alone in an object, under a name.
    Wrapped(&'static str, Box<Shape>),
}

/// How one field of an object differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// What the provider calls it, where that is not its name.
    pub(crate) renamed: Option<String>,
    pub(crate) shape: Shape,
    /// Whether it is required only so that `null` can say that it is not there.
    pub(crate) null_is_absent: bool,
}

impl Field {
    /// What the provider calls it.
    fn declared(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.name)
    }
}

impl Mapping {
    /// Tells whether arguments stay as they are.
    pub(crate) fn is_same(&self) -> bool {
        self.root == Shape::Same
    }

    /// Arguments as the provider sent them, in the tool's own terms.
    pub fn back(&self, arguments: Value) -> Value {
        if self.is_same() {
            return arguments;
        }
        let walk = Walk {
            mapping: self,
            steps: Steps::new(MOST_STEPS),
        };
        walk.shape_back(&self.root, arguments, 0)
    }

    /// Arguments in the tool's own terms, as the provider would send them.
    pub fn out(&self, arguments: Value) -> Value {
        if self.is_same() {
            return arguments;
        }
        let walk = Walk {
            mapping: self,
            steps: Steps::new(MOST_STEPS),
        };
        walk.shape_out(&self.root, arguments, 0)
    }
}

/// One way through a mapping.
struct Walk<'m> {
    mapping: &'m Mapping,
    steps: Steps,
}

impl Walk<'_> {
    fn shape_back(&self, shape: &Shape, value: Value, depth: usize) -> Value {
        if depth > DEEPEST {
            return value;
        }
        match (shape, value) {
            (Shape::Object(fields), Value::Object(object)) => {
                Value::Object(self.object_back(fields, object, depth))
            }
            (Shape::Items(item), Value::Array(list)) => {
                let each = |value| self.shape_back(item, value, depth + 1);
                Value::Array(list.into_iter().map(each).collect())
            }
            (Shape::Both(both), value) => match value {
                Value::Object(_) => self.shape_back(&both.0, value, depth),
                value => self.shape_back(&both.1, value, depth),
            },
            (Shape::Text(types), Value::String(text)) => read(text, *types),
            (Shape::Choices(choices), Value::String(text)) => {
                let known = choices.iter().find(|(declared, _)| *declared == text);
                known.map_or(Value::String(text), |(_, value)| value.clone())
            }
            (Shape::Union(branches), found) => {
                let branch = branches.iter().find(|(schema, _)| {
                    fits(schema, &found, &self.mapping.definitions, &self.steps)
                });
                match branch {
                    Some((_, shape)) => self.shape_back(shape, found, depth),
                    None => found,
                }
            }
            (Shape::Named(index), found) => match self.mapping.named.get(*index) {
                Some(shape) => self.shape_back(shape, found, depth + 1),
                None => found,
            },
            (Shape::Wrapped(name, shape), Value::Object(mut object)) => {
                match object.shift_remove(*name) {
                    Some(inner) if object.is_empty() => self.shape_back(shape, inner, depth + 1),
                    Some(inner) => {
                        object.insert((*name).to_owned(), inner);
                        Value::Object(object)
                    }
                    None => Value::Object(object),
                }
            }
            (_, found) => found,
        }
    }

    fn object_back(
        &self,
        fields: &[Field],
        object: Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let index = Index::new(fields, Field::declared);
        let mut own = Map::with_capacity(object.len());
        for (name, value) in object {
            let Some(field) = index.find(&name) else {
                own.insert(name, value);
                continue;
            };
            if field.null_is_absent && value.is_null() {
                continue;
            }
            let value = self.shape_back(&field.shape, value, depth + 1);
            own.insert(field.name.clone(), value);
        }
        own
    }

    fn shape_out(&self, shape: &Shape, value: Value, depth: usize) -> Value {
        if depth > DEEPEST {
            return value;
        }
        match (shape, value) {
            (Shape::Object(fields), Value::Object(object)) => {
                Value::Object(self.object_out(fields, object, depth))
            }
            (Shape::Items(item), Value::Array(list)) => {
                let each = |value| self.shape_out(item, value, depth + 1);
                Value::Array(list.into_iter().map(each).collect())
            }
            (Shape::Both(both), value) => match value {
                Value::Object(_) => self.shape_out(&both.0, value, depth),
                value => self.shape_out(&both.1, value, depth),
            },
            // Writing recurses; nothing that was read from a text is this deep.
            (Shape::Text(_), value) if depth_exceeds(&value, DEEPEST) => value,
            (Shape::Text(_), value) => Value::String(value.to_string()),
            (Shape::Choices(choices), value) => {
                let known = choices.iter().find(|(_, own)| *own == value);
                known.map_or(value, |(declared, _)| Value::String(declared.clone()))
            }
            (Shape::Union(branches), value) => {
                for (schema, shape) in branches {
                    if !self.steps.take() {
                        break;
                    }
                    if !could_fit(schema, shape, &value) {
                        continue;
                    }
                    let candidate = self.shape_out(shape, value.clone(), depth);
                    if fits(schema, &candidate, &self.mapping.definitions, &self.steps) {
                        return candidate;
                    }
                }
                value
            }
            (Shape::Named(index), value) => match self.mapping.named.get(*index) {
                Some(shape) => self.shape_out(shape, value, depth + 1),
                None => value,
            },
            (Shape::Wrapped(name, shape), value) => {
                let inner = self.shape_out(shape, value, depth + 1);
                Value::Object(Map::from_iter([((*name).to_owned(), inner)]))
            }
            (_, value) => value,
        }
    }

    fn object_out(
        &self,
        fields: &[Field],
        object: Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let index = Index::new(fields, |field| &field.name);
        let mut declared = Map::with_capacity(object.len());
        for (name, value) in object {
            match index.find(&name) {
                Some(field) => {
                    let value = self.shape_out(&field.shape, value, depth + 1);
                    declared.insert(field.declared().to_owned(), value);
                }
                None => {
                    declared.insert(name, value);
                }
            }
        }
        for field in fields {
            if field.null_is_absent && !declared.contains_key(field.declared()) {
                declared.insert(field.declared().to_owned(), Value::Null);
            }
        }
        declared
    }
}

/// Tells at a glance whether an object could become one that fits a branch: whether the
/// branch knows its fields, and lists its texts where it lists any. Most branches are told
/// apart by that, before anything below them is looked at.
fn could_fit(schema: &Value, shape: &Shape, value: &Value) -> bool {
    let Value::Object(object) = value else {
        return true;
    };
    let fields: &[Field] = match shape {
        Shape::Same => &[],
        Shape::Object(fields) => fields,
        _ => return true,
    };
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return true;
    };
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let index = Index::new(fields, |field| &field.name);
    object.iter().all(|(name, value)| {
        let field = index.find(name);
        let declared = field.map_or(name.as_str(), Field::declared);
        let Some(property) = properties.get(declared) else {
            return !closed;
        };
        let same = field.is_none_or(|field| field.shape == Shape::Same);
        match (property.get("enum"), value) {
            (Some(Value::Array(listed)), Value::String(_)) if same => listed.contains(value),
            _ => true,
        }
    })
}

/// Reads a text that should hold JSON. Models forget it for texts: what is no JSON, or not
/// of a type that is taken, is the text itself.
fn read(text: String, types: TypeSet) -> Value {
    match toolsmith_core::json::parse(text.as_bytes(), text.len()) {
        Ok(value) if types.holds(&value) || !types.has(TypeSet::STRING) => value,
        _ => Value::String(text),
    }
}

/// Finds a field by name: by looking where there are few, by a table where there are many.
struct Index<'f> {
    fields: &'f [Field],
    key: fn(&Field) -> &str,
    table: HashMap<&'f str, usize>,
}

const FEW: usize = 16;

impl<'f> Index<'f> {
    fn new(fields: &'f [Field], key: fn(&Field) -> &str) -> Self {
        let mut table = HashMap::new();
        if fields.len() > FEW {
            let entries = fields.iter().enumerate();
            table.extend(entries.map(|(index, field)| (key(field), index)));
        }
        Self { fields, key, table }
    }

    fn find(&self, name: &str) -> Option<&'f Field> {
        if self.fields.len() > FEW {
            return self.table.get(name).map(|&index| &self.fields[index]);
        }
        self.fields.iter().find(|field| (self.key)(field) == name)
    }
}
