//! Makes the schemas that schemars writes fit for models.
use schemars::JsonSchema;
use serde_json::Value;

#[derive(Clone, Copy)]
pub(super) enum Direction {
    Input,
    Output,
}

pub(super) fn schema_of<T: JsonSchema>(direction: Direction) -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let settings = match direction {
        Direction::Input => settings.for_deserialize(),
        Direction::Output => settings.for_serialize(),
    };
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
