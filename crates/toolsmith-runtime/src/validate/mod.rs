//! Validate: do the arguments fit, and what must be mended to make them fit?
//!
//! Everything wrong with a call is told at once, in a text a model can correct
//! itself from. Defaults are filled in; safe coercions are made and named. What
//! comes out is a [`ValidCall`], whose arguments cannot be changed any more.

mod alias;
mod cache;
pub(crate) mod choice;
mod coerce;
mod dialect;
mod normalise;
mod problem;
mod text;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolsmith_core::call::RawArguments;
use toolsmith_core::{Arguments, ErrorKind, Schema, Source, ToolDef, ToolError, json};

pub(crate) use cache::{Cache, CompiledSlot, compile};
pub(crate) use dialect::Dialect;
pub use problem::Problem;
pub(crate) use text::bounded;

use crate::registry::{Entry, measure};
use crate::resolve::ResolvedCall;

/// Mending one value can uncover the next (a list inside a string), but not often.
const ROUNDS: usize = 4;

/// A call whose arguments fit its tool's schema.
#[derive(Clone, Debug)]
pub struct ValidCall {
    entry: Arc<Entry>,
    arguments: Arguments,
    repairs: Vec<String>,
}

impl ValidCall {
    /// The tool.
    pub fn tool(&self) -> &Arc<ToolDef> {
        &self.entry.definition
    }

    /// The arguments, with defaults filled in.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// What was mended, in words.
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }
}

/// Tells whether a value fits a schema; one that cannot be followed fits nothing.
/// For answers to questions, whose schemas are small and used once.
pub fn fits(schema: &Schema, value: &Value) -> bool {
    !json::depth_exceeds(value, json::MAX_DEPTH)
        && compile(schema.as_value()).is_ok_and(|compiled| compiled.is_valid(value))
}

/// What is wrong with each of some examples of a tool's arguments. Unlike in a call, nothing
/// is mended or filled in: an example shows how it is done.
pub(crate) fn misfits(tool: &ToolDef, examples: &[&Map<String, Value>]) -> Vec<Vec<Problem>> {
    let schema = tool.input.as_value();
    let (Ok(compiled), Ok(measure)) = (compile(schema), measure(schema)) else {
        return vec![Vec::new(); examples.len()];
    };
    let problems = |arguments: &&Map<String, Value>| {
        let value = Value::Object((*arguments).clone());
        let is_bearable = !json::depth_exceeds(&value, measure.argument_depth);
        if !is_bearable || !measure.affords(&value) || compiled.is_valid(&value) {
            return Vec::new();
        }
        if !problem::can_be_told(schema, &measure, &value) {
            return Vec::new();
        }
        problem::problems(tool, &compiled, &value)
    };
    examples.iter().map(problems).collect()
}

/// Checks a call's arguments.
pub(crate) fn validate(
    call: ResolvedCall,
    cache: &Cache,
    byte_limit: usize,
) -> Result<ValidCall, ToolError> {
    let ResolvedCall {
        entry,
        arguments,
        mut repairs,
    } = call;
    let tool = Arc::clone(&entry.definition);
    let mut object = into_object(&tool, arguments, &entry, byte_limit)?;
    alias::rename(&tool, &mut object, &mut repairs);
    let compiled = cache.compiled(&entry)?;
    let mut value = Value::Object(object);
    // The schemas of imported tools document what their server does by itself;
    // filling in their defaults could only change what it is sent.
    let is_own = !matches!(tool.source, Source::Mcp { .. });
    let mut round = 0;
    loop {
        // What coercion uncovers has defaults and whole numbers too. A `null` it
        // took away is not filled in again.
        let schema = tool.input.as_value();
        if is_own && !normalise::normalise(schema, &mut value, round == 0, byte_limit) {
            let what = format!("take more than {byte_limit} bytes with their defaults");
            return Err(refusal(&tool, &what));
        }
        if compiled.is_valid(&value) {
            break;
        }
        if !problem::can_be_told(tool.input.as_value(), &entry.measure, &value) {
            let what = "do not fit, and hold too many values to say which; send fewer at once";
            return Err(refusal(&tool, what));
        }
        if round == ROUNDS || !coerce::coerce(&tool, &compiled, &mut value, &mut repairs) {
            let problems = problem::problems(&tool, &compiled, &value);
            return Err(problem::error(&tool, &problems));
        }
        // A string can hold what the arguments themselves may not.
        value = bearable(&tool, value, &entry, byte_limit)?;
        round += 1;
    }
    let Value::Object(object) = value else {
        return Err(ToolError::internal("arguments stopped being an object"));
    };
    Ok(ValidCall {
        entry,
        arguments: Arguments::new(object),
        repairs,
    })
}

/// The arguments as an object of bearable size and depth.
fn into_object(
    tool: &ToolDef,
    arguments: RawArguments,
    entry: &Entry,
    byte_limit: usize,
) -> Result<Map<String, Value>, ToolError> {
    let value = match arguments {
        RawArguments::Json(value) => value,
        RawArguments::Malformed(reason) => {
            return Err(refusal(tool, &format!("cannot be read: {reason}")));
        }
        _ => return Err(refusal(tool, "come in a form this version does not know")),
    };
    match bearable(tool, value, entry, byte_limit)? {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        other => Err(refusal(
            tool,
            &format!("must be an object, not {}", problem::shown(&other)),
        )),
    }
}

/// The value, if its depth and its size can be borne.
fn bearable(
    tool: &ToolDef,
    value: Value,
    entry: &Entry,
    byte_limit: usize,
) -> Result<Value, ToolError> {
    let deepest = entry.measure.argument_depth;
    if json::depth_exceeds(&value, deepest) {
        json::dismantle(value);
        return Err(refusal(tool, &format!("nest deeper than {deepest} levels")));
    }
    if json::size_exceeds(&value, byte_limit) {
        return Err(refusal(tool, &format!("take more than {byte_limit} bytes")));
    }
    if !entry.measure.affords(&value) {
        let what = "are too large for a schema that makes so much work of each value; \
                    send less at once";
        return Err(refusal(tool, what));
    }
    Ok(value)
}

fn refusal(tool: &ToolDef, what: &str) -> ToolError {
    ToolError::new(
        ErrorKind::InvalidParameters,
        format!("the arguments of `{}` {what}", tool.name),
    )
}
