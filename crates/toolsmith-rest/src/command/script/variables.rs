//! Arguments as variables of a script's environment.

use std::collections::BTreeMap;

use serde_json::Value;
use toolsmith_core::{Arguments, ToolError};

use crate::command::parameters::Parameters;
use crate::command::text::{plain, present};

/// What each variable begins with, so that no argument can set `PATH`.
const PREFIX: &str = "ARG_";
/// How long one may be, name and all: Linux takes 128 KiB with the NUL at its end.
const BYTES: usize = (128 << 10) - 1;
/// How long all may be together.
const ALL_BYTES: usize = 512 << 10;

/// Which parameter goes into which variable.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Variables {
    of_parameters: BTreeMap<String, String>,
}

impl Variables {
    /// The variables of a tool's parameters.
    ///
    /// # Errors
    /// When two of them would be the same.
    pub(super) fn of(parameters: Parameters<'_>) -> Result<Self, String> {
        let mut taken: BTreeMap<String, &str> = BTreeMap::new();
        let mut of_parameters = BTreeMap::new();
        for name in parameters.names() {
            let variable = variable(name);
            if let Some(other) = taken.insert(variable.clone(), name) {
                return Err(format!(
                    "the parameters `{other}` and `{name}` would both be the variable \
                     {variable}; call one of them something else"
                ));
            }
            of_parameters.insert(name.to_owned(), variable);
        }
        Ok(Self { of_parameters })
    }

    /// The variables of a call: one for each argument that is a text, a number or a
    /// boolean.
    ///
    /// # Errors
    /// When a value can be no variable's. Leaving it out would be worse: the script would
    /// take it for absent.
    pub(in crate::command) fn fill(
        &self,
        arguments: &Arguments,
    ) -> Result<Vec<(String, String)>, ToolError> {
        let mut filled = Vec::new();
        let mut bytes = 0;
        for (name, variable) in &self.of_parameters {
            let value = match present(arguments, name) {
                None | Some(Value::Array(_) | Value::Object(_)) => continue,
                Some(value) => plain(value),
            };
            if value.contains('\0') {
                return Err(ToolError::invalid(format!(
                    "the argument `{name}` holds a NUL character, which no variable can hold"
                )));
            }
            let length = variable.len() + 1 + value.len();
            bytes += length + 1;
            if length > BYTES || bytes > ALL_BYTES {
                return Err(ToolError::invalid(format!(
                    "the argument `{name}` is more than a variable can hold: {} KiB, and {} KiB \
                     in all",
                    (BYTES + 1) >> 10,
                    ALL_BYTES >> 10
                )));
            }
            filled.push((variable.clone(), value));
        }
        Ok(filled)
    }
}

/// The variable of a parameter: `ARG_` and its name in capitals, with `_` for whatever
/// cannot be part of a variable's name.
fn variable(name: &str) -> String {
    let fitting = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    };
    let mut variable = PREFIX.to_owned();
    variable.extend(name.chars().map(fitting));
    variable
}
