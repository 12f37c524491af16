//! A value that knows where it stands, so that what is wrong with it later can be
//! pointed at.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_saphyr::Spanned;
use toolsmith_core::reference::Place;

/// A value and its place in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands; zeros where nobody knows.
    pub place: Place,
}

impl<T> Placed<T> {
    /// A value that stands in no file.
    pub fn nowhere(value: T) -> Self {
        Self {
            value,
            place: Place::default(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        let (line, column) = (spanned.referenced.line(), spanned.referenced.column());
        let place = Place {
            line: usize::try_from(line).unwrap_or_default(),
            column: usize::try_from(column).unwrap_or_default(),
        };
        let value = spanned.value;
        Ok(Self { value, place })
    }
}

impl<T: Serialize> Serialize for Placed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
