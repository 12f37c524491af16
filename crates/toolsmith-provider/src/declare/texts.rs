//! Tools for models that know none: a prompt says what there is and how to call it.

use serde_json::{Map, Value};
use toolsmith_core::{Offer, Schema, ToolDeclaration, json};

use super::prepare::{Ready, Tools, prepare};
use super::{Declared, FormatError, Options, Structured, ToolChoice};
use crate::provider::Provider;
use crate::text::{self, TextFormat};

/// Declares the tools of an offer in a prompt, for a model behind any provider.
pub fn declare_as_text(
    provider: Provider,
    offer: &Offer,
    options: &Options,
) -> Result<Declared, FormatError> {
    if !options.hosted.is_empty() {
        return Err(FormatError::Unsupported {
            provider: Provider::Text,
            what: "tools of its own",
        });
    }
    let prepared = prepare(Provider::Text, offer, options)?;
    let declarations: Vec<ToolDeclaration> = (prepared.tools.list.iter())
        .map(|tool| declaration(tool, offer))
        .collect();
    let structured = if declarations.is_empty() || options.choice == ToolChoice::None {
        None
    } else {
        Some(Structured {
            format: format(options),
            prompt: prompt(&prepared.tools, &declarations, options),
        })
    };
    Ok(Declared {
        provider,
        request: Map::new(),
        structured,
        report: prepared.report,
        dictionary: prepared.dictionary,
        schemas: text::Tools::from(declarations.as_slice()),
    })
}

/// A tool as it is: text has no rules. A schema deeper than any arguments may be is not
/// written down, because whoever writes or copies it would run out of stack.
fn declaration(tool: &Ready<'_>, offer: &Offer) -> ToolDeclaration {
    let mut declaration = ToolDeclaration::new(&tool.name, &tool.offered.tool, offer.detail());
    if json::depth_exceeds(declaration.parameters.as_value(), DEEPEST) {
        declaration.parameters =
            Schema::as_received(Value::Bool(true)).expect("a boolean is a schema");
    }
    declaration
}

/// The deepest schema that is written down: objects of arguments take two levels each.
const DEEPEST: usize = 2 * json::MAX_DEPTH;

fn format(options: &Options) -> TextFormat {
    options.format.unwrap_or(TextFormat::Json)
}

fn prompt(tools: &Tools<'_>, declarations: &[ToolDeclaration], options: &Options) -> String {
    let mut prompt = text::prompt(format(options), declarations);
    match &tools.chosen {
        Some(name) => prompt.push_str(&format!("\n\nYou must call {name} now.")),
        None if options.choice == ToolChoice::Required => {
            prompt.push_str("\n\nYou must call a tool now.");
        }
        None => {}
    }
    if options.parallel == Some(false) {
        prompt.push_str("\n\nMake at most one call at a time.");
    }
    prompt
}
