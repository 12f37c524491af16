//! What the expansion of `#[tool]` calls. Not for people: nothing here is stable.
//!
//! It is all the expansion uses, so a crate that re-exports the attribute has to
//! re-export only this beside it.
//!
//! The expansion knows a function's types only by how they are spelled, so what
//! depends on what they really are is decided here, by method resolution on
//! [`Tag`]: a method of the type itself wins over one of a trait, and a trait
//! for `Tag<T>` wins over one for `&Tag<T>`. A blanket impl over `Serialize` could
//! not do this: it conflicts with one for `Result`, and it would make a success
//! of an error that happens to be `Serialize`.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use {inventory, schemars, serde};

use schemars::JsonSchema;

pub use crate::definition::{Consent, Effect, Kind, ToolDef};
pub use crate::plan::{Confirm, Plan};
pub use crate::tool::{AnyTool, FunctionTool};

use crate::binding::Binding;
use crate::definition::Description;
use crate::error::{ErrorKind, ToolError};
use crate::outcome::Outcome;
use crate::schema::Schema;

#[doc(inline)]
pub use crate::{
    __toolsmith_declare as declare, __toolsmith_outcome as outcome, __toolsmith_output as output,
};

/// Starts the definition of a function. Its name was checked by the attribute.
pub fn define(name: &str, description: &str, input: Schema, output: Option<Schema>) -> ToolDef {
    let mut definition = ToolDef::new(name)
        .expect("the attribute lets only valid names through")
        .with_description(Description::from(description))
        .with_input(input);
    definition.output = output;
    definition
}

/// What the type of one parameter must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "this is not both `Deserialize` and `JsonSchema`",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to it, or take a type that has both"
)]
pub trait Argument: DeserializeOwned + JsonSchema {}

impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// Asks for nothing but the bound, so that its message is given at the type.
pub fn argument<T: Argument>() {}

/// What the one struct of `#[args]` must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    label = "this is not both `Deserialize` and `JsonSchema`",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to it"
)]
pub trait ArgumentStruct: DeserializeOwned + JsonSchema {}

impl<T: DeserializeOwned + JsonSchema> ArgumentStruct for T {}

/// The schema of all arguments in one struct.
pub fn input<T: ArgumentStruct>() -> Schema {
    Schema::arguments_of::<T>()
}

/// A text for an optional field.
pub fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A list of texts.
pub fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// The default binding of a function.
pub fn binding(timeout_nanos: Option<u64>, prefix: Option<&str>) -> Binding {
    Binding {
        timeout: timeout_nanos.map(std::time::Duration::from_nanos),
        prefix: prefix.map(str::to_owned),
        ..Binding::default()
    }
}

/// What `confirm = "always"` says.
pub fn always() -> Confirm {
    Confirm::Required {
        reason: "the tool always asks".to_owned(),
    }
}

/// What a function named by `plan = …` may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plan",
    label = "the function named by `plan` must return `Plan` or `Result<Plan, E>`",
    note = "`E` must convert into `ToolError`"
)]
pub trait IntoPlan {
    /// The plan, or why there is none.
    fn into_plan(self) -> Result<Plan, ToolError>;
}

impl IntoPlan for Plan {
    fn into_plan(self) -> Result<Plan, ToolError> {
        Ok(self)
    }
}

impl<E: Into<ToolError>> IntoPlan for Result<Plan, E> {
    fn into_plan(self) -> Result<Plan, ToolError> {
        self.map_err(Into::into)
    }
}

/// Finishes a plan: what the attribute says about confirming holds where the plan
/// leaves it open.
pub fn planned(plan: impl IntoPlan, confirm: Confirm) -> Result<Plan, ToolError> {
    let mut plan = plan.into_plan()?;
    if plan.confirm == Confirm::Unspecified {
        plan.confirm = confirm;
    }
    Ok(plan)
}

/// One argument struct beside the consent literal, which the struct need not
/// know. Permission has checked the literal before.
#[derive(Debug)]
pub struct Consented<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Consented<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        // The struct may have the field, and may refuse fields it does not have:
        // both are found out only by trying.
        if let Ok(arguments) = T::deserialize(&value) {
            return Ok(Self(arguments));
        }
        if let Value::Object(object) = &mut value {
            object.shift_remove("consent");
        }
        T::deserialize(value).map(Self).map_err(D::Error::custom)
    }
}

/// Stands for a type in method resolution.
#[derive(Debug)]
pub struct Tag<T>(PhantomData<fn() -> T>);

impl<T> Tag<T> {
    /// The tag of a type that can be named.
    pub const NEW: Self = Self(PhantomData);
}

impl<T> Clone for Tag<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Tag<T> {}

/// The tag of a value's type, which may have no name.
pub fn tag<T>(_: &T) -> Tag<T> {
    Tag::NEW
}

impl<T, E> Tag<Result<T, E>> {
    /// Takes a result apart.
    pub fn split(self, value: Result<T, E>) -> Result<T, E> {
        value
    }

    /// The type of the value inside.
    pub fn inside(self) -> Tag<T> {
        Tag::NEW
    }
}

/// What is no `Result` always succeeds.
pub trait NoResult<T> {
    /// Takes the value as a success.
    fn split(self, value: T) -> Result<T, ToolError>;
    /// The type itself.
    fn inside(self) -> Tag<T>;
}

impl<T> NoResult<T> for Tag<T> {
    fn split(self, value: T) -> Result<T, ToolError> {
        Ok(value)
    }
    fn inside(self) -> Self {
        self
    }
}

/// What a tool may return, alone or in a `Result`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this is not `Serialize`",
    note = "a tool returns a value that is `serde::Serialize`, an `Outcome`, `()`, or a `Result` of one of these; derive `serde::Serialize` for your own type"
)]
pub trait Returnable {
    /// The value as an outcome.
    fn into_outcome(self) -> Outcome;
}

impl<T: Serialize> Returnable for T {
    fn into_outcome(self) -> Outcome {
        match serde_json::to_value(self) {
            Ok(value) => Outcome::ok(value),
            Err(error) => Outcome::failure(ToolError::internal(format!(
                "the value could not be written as JSON: {error}"
            ))),
        }
    }
}

impl Tag<Outcome> {
    /// An outcome is one already.
    pub fn value(self, outcome: Outcome) -> Outcome {
        outcome
    }

    /// An outcome's value has no type.
    pub fn schema(self) -> Option<Schema> {
        None
    }
}

impl Tag<()> {
    /// Nothing to say.
    pub fn value(self, (): ()) -> Outcome {
        Outcome::nothing()
    }

    /// No value, so no schema.
    pub fn schema(self) -> Option<Schema> {
        None
    }
}

/// Any other value.
pub trait AnyValue<T> {
    /// The value as an outcome. The bound is the method's, so that a type that
    /// does not meet it is told so instead of "no such method".
    fn value(self, value: T) -> Outcome
    where
        T: Returnable;
}

impl<T> AnyValue<T> for Tag<T> {
    fn value(self, value: T) -> Outcome
    where
        T: Returnable,
    {
        value.into_outcome()
    }
}

/// A value whose type has a schema.
pub trait Described {
    /// The schema, where it says anything.
    fn schema(self) -> Option<Schema>;
}

impl<T: JsonSchema> Described for Tag<T> {
    fn schema(self) -> Option<Schema> {
        Some(Schema::value_of::<T>()).filter(|schema| !schema.is_anything())
    }
}

/// A value whose type has none.
pub trait Undescribed {
    /// None.
    fn schema(self) -> Option<Schema>;
}

impl<T> Undescribed for &Tag<T> {
    fn schema(self) -> Option<Schema> {
        None
    }
}

impl<E: Into<ToolError>> Tag<E> {
    /// An error that knows its kind.
    pub fn error(self, error: E) -> ToolError {
        error.into()
    }
}

/// Any other error.
pub trait AnyError<E> {
    /// The failure of a tool that ran, the error kept as its cause.
    fn error(self, error: E) -> ToolError;
}

impl<E: std::error::Error + Send + Sync + 'static> AnyError<E> for Tag<E> {
    fn error(self, error: E) -> ToolError {
        ToolError::caused(ErrorKind::Failed, error)
    }
}

/// What a tool may fail with when it is no error type.
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`",
    label = "this is no error a model can be told",
    note = "the error of a tool is a `ToolError`, converts into one, or at least implements `std::fmt::Display`"
)]
pub trait Tellable {
    /// What is told.
    fn told(&self) -> String;
}

impl<E: Display> Tellable for E {
    fn told(&self) -> String {
        // The alternate form is how `anyhow` writes the causes beneath.
        format!("{self:#}")
    }
}

/// An error that can only be told.
pub trait ToldError<E> {
    /// The failure of a tool that ran.
    fn error(self, error: E) -> ToolError
    where
        E: Tellable;
}

impl<E> ToldError<E> for &Tag<E> {
    fn error(self, error: E) -> ToolError
    where
        E: Tellable,
    {
        ToolError::failed(error.told())
    }
}

/// What a function returned, as an outcome.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolsmith_outcome {
    // A macro's variables are its own, but a user's unit struct of the same name
    // would be taken for a pattern: hence the long names.
    ($returned:expr) => {{
        use $crate::__private::{AnyError as _, AnyValue as _, NoResult as _, ToldError as _};
        let toolsmith_returned = $returned;
        match $crate::__private::tag(&toolsmith_returned).split(toolsmith_returned) {
            ::core::result::Result::Ok(toolsmith_value) => {
                $crate::__private::tag(&toolsmith_value).value(toolsmith_value)
            }
            ::core::result::Result::Err(toolsmith_error) => $crate::Outcome::failure(
                $crate::__private::tag(&toolsmith_error).error(toolsmith_error),
            ),
        }
    }};
}

/// The schema of what a function returns, where its type has one.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolsmith_output {
    ($type:ty) => {{
        use $crate::__private::{Described as _, NoResult as _, Undescribed as _};
        $crate::__private::Tag::<$type>::NEW.inside().schema()
    }};
}

/// Adds a tool to the declared ones.
#[doc(hidden)]
#[macro_export]
macro_rules! __toolsmith_declare {
    ($make:path) => {
        $crate::__private::inventory::submit! {
            $crate::declared::Declared { make: $make }
        }
    };
}
