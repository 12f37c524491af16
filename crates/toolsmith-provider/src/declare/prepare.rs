//! Tools made ready for a provider: which are declared, by which names, with which
//! schemas, and which of them strictly.

use serde_json::{Map, Value};
use toolsmith_core::offer::Offered;
use toolsmith_core::{Exposure, Offer};

use super::{FormatError, Options, ToolChoice, ToolReport};
use crate::dictionary::Dictionary;
use crate::lower::{Lowering, lower};
use crate::names;
use crate::provider::Provider;
use crate::rules::{self, RequestRules, Strict};

/// Tools made ready for a provider, and what is to be known about them afterwards.
pub(super) struct Prepared<'o> {
    pub(super) tools: Tools<'o>,
    pub(super) report: Vec<ToolReport>,
    pub(super) dictionary: Dictionary,
}

/// Tools made ready for a provider.
pub(super) struct Tools<'o> {
    pub(super) list: Vec<Ready<'o>>,
    /// Whether all are strict, where that is one switch.
    pub(super) all_strict: bool,
    /// Whether some are loaded when they are looked for.
    pub(super) some_deferred: bool,
    /// The declared name of the tool that must be called.
    pub(super) chosen: Option<String>,
}

/// One tool made ready.
pub(super) struct Ready<'o> {
    pub(super) offered: &'o Offered,
    pub(super) name: String,
    pub(super) description: String,
    /// The lowered schema; nothing where the provider takes it as it is.
    pub(super) schema: Map<String, Value>,
    pub(super) strict: bool,
    pub(super) deferred: bool,
    pub(super) examples: Vec<Value>,
}

/// The name of Anthropic's own tool for finding deferred ones.
pub(super) const SEARCH_TOOL: &str = "tool_search_tool_bm25";

/// Makes the tools of an offer ready.
pub(super) fn prepare<'o>(
    provider: Provider,
    offer: &'o Offer,
    options: &Options,
) -> Result<Prepared<'o>, FormatError> {
    let rules = rules::of(provider);
    let defers = options.deferred && can_defer(provider);
    let offered: Vec<&Offered> = (offer.tools().iter())
        .filter(|tool| match tool.exposure {
            Exposure::Direct => true,
            Exposure::Deferred => defers,
            _ => false,
        })
        .collect();
    let count = offered.len() + options.hosted.len();
    if let Some(limit) = rules.tools.filter(|&limit| count > limit) {
        return Err(FormatError::TooManyTools {
            provider,
            count,
            limit,
        });
    }
    let wire_names: Vec<&str> = offered.iter().map(|tool| tool.wire_name.as_str()).collect();
    let some_deferred = { offered.iter() }.any(|tool| tool.exposure == Exposure::Deferred);
    let search = (some_deferred && provider == Provider::Anthropic).then_some(SEARCH_TOOL);
    let taken = options.hosted.iter().filter_map(hosted_name).chain(search);
    let names = names::assign(&wire_names, &rules.names, taken);
    let chosen = match &options.choice {
        ToolChoice::Tool(wanted) => {
            let found = wire_names.iter().position(|name| name == wanted);
            let index = found.ok_or_else(|| FormatError::UnknownChoice {
                name: wanted.clone(),
            })?;
            Some(names[index].clone())
        }
        _ => None,
    };
    let lowered = lower_all(provider, rules, &offered, options.strict);
    let mut prepared = Prepared {
        tools: Tools {
            list: Vec::with_capacity(offered.len()),
            all_strict: !lowered.is_empty() && lowered.iter().all(|each| each.strict),
            some_deferred,
            chosen,
        },
        report: Vec::with_capacity(offered.len()),
        dictionary: Dictionary::default(),
    };
    for ((offered, name), decided) in offered.into_iter().zip(names).zip(lowered) {
        let Decided {
            lowering,
            strict,
            because,
        } = decided;
        let mut description = offered.tool.description_for_models(offer.detail());
        if rules.description && description.trim().is_empty() {
            let title = offered.tool.title.as_ref();
            description.clone_from(title.unwrap_or(&offered.wire_name));
        }
        let examples = if options.examples {
            let arguments = offered.tool.examples.iter().map(|each| &each.arguments);
            arguments
                .map(|arguments| lowering.mapping.out(Value::Object(arguments.clone())))
                .collect()
        } else {
            Vec::new()
        };
        prepared.report.push(ToolReport {
            name: offered.wire_name.clone(),
            declared_name: name.clone(),
            strict,
            not_strict_because: because,
            changes: lowering.changes,
        });
        prepared
            .dictionary
            .add(&offered.wire_name, &name, lowering.mapping);
        prepared.tools.list.push(Ready {
            offered,
            name,
            description,
            schema: lowering.schema,
            strict,
            deferred: offered.exposure == Exposure::Deferred,
            examples,
        });
    }
    Ok(prepared)
}

/// The name of a tool the provider runs itself, where it has one: Bedrock's stands below.
fn hosted_name(tool: &Value) -> Option<&str> {
    let name = tool
        .get("name")
        .or_else(|| tool.pointer("/systemTool/name"));
    name.and_then(Value::as_str)
}

/// Whether a provider can load tools when they are looked for.
fn can_defer(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::OpenAiResponses)
}

/// A lowered schema, and whether it is enforced.
struct Decided {
    lowering: Lowering,
    strict: bool,
    because: Option<String>,
}

fn lower_all(
    provider: Provider,
    rules: &'static RequestRules,
    offered: &[&Offered],
    strict: bool,
) -> Vec<Decided> {
    let decided = match (&rules.strict, strict) {
        (Some(strict), true) => lower_strictly(rules, strict, offered),
        (None, true) => {
            let why = format!("{provider} has no strict mode");
            plain(rules, offered, Some(&why))
        }
        (_, false) => plain(rules, offered, None),
    };
    let all_or_none = rules
        .strict
        .as_ref()
        .is_some_and(|strict| strict.all_or_none);
    if !all_or_none || !strict {
        return decided;
    }
    // One tool that cannot be strict keeps all others from it.
    let culprit = decided.iter().zip(offered).find(|(each, _)| !each.strict);
    let Some((_, culprit)) = culprit else {
        return decided;
    };
    let why = format!(
        "{provider} enforces all tools or none, and {:?} cannot be",
        culprit.wire_name
    );
    let mut all = plain(rules, offered, Some(&why));
    for (each, before) in all.iter_mut().zip(decided) {
        if before.because.is_some() {
            each.because = before.because;
        }
    }
    all
}

fn plain(rules: &RequestRules, offered: &[&Offered], because: Option<&str>) -> Vec<Decided> {
    let one = |tool: &&Offered| Decided {
        lowering: lower_plainly(rules, tool),
        strict: false,
        because: because.map(str::to_owned),
    };
    offered.iter().map(one).collect()
}

fn lower_plainly(rules: &RequestRules, offered: &Offered) -> Lowering {
    match rules.plain {
        Some(rules) => lower(offered.tool.input.as_value(), rules),
        None => Lowering::untouched(),
    }
}

/// Spends what the provider allows, in the order of the offer.
fn lower_strictly(rules: &RequestRules, strict: &Strict, offered: &[&Offered]) -> Vec<Decided> {
    let budget = strict.budget;
    let (mut tools, mut optional, mut unions) = (0, 0, 0);
    let exceeds = |spent: usize, limit: usize| limit > 0 && spent > limit;
    let mut all = Vec::with_capacity(offered.len());
    for tool in offered {
        let mut because;
        let mut lowered = None;
        let too_many_optional = |count: usize| {
            exceeds(optional + count, budget.optional).then(|| {
                format!(
                    "its {count} optional parameters would exceed the {} of a request",
                    budget.optional
                )
            })
        };
        let schema = tool.tool.input.as_value();
        if exceeds(tools + 1, budget.tools) {
            because = Some(format!("{} strict tools are the limit", budget.tools));
        } else if let Some(why) = too_many_optional(plainly_optional(schema)) {
            // Told without lowering it twice: where many tools are offered, most end here.
            because = Some(why);
        } else {
            let lowering = lower(schema, strict.rules);
            let cost = lowering.measure;
            because = too_many_optional(cost.optional);
            if because.is_none() && exceeds(unions + cost.unions, budget.unions) {
                because = Some(format!(
                    "its {} unions would exceed the {} of a request",
                    cost.unions, budget.unions
                ));
            }
            because = lowering.refusal.clone().or(because);
            if because.is_some() && strict.all_or_none {
                // One is enough; the others need not be looked at.
                all.push(Decided {
                    lowering,
                    strict: false,
                    because,
                });
                return all;
            }
            if because.is_none() {
                tools += 1;
                optional += cost.optional;
                unions += cost.unions;
                lowered = Some(lowering);
            }
        }
        all.push(Decided {
            strict: lowered.is_some(),
            lowering: lowered.unwrap_or_else(|| lower_plainly(rules, tool)),
            because,
        });
    }
    all
}

/// How many optional parameters a tool has at the least, as far as its arguments say so
/// themselves: none where anything beside them might demand or forbid some.
fn plainly_optional(schema: &Value) -> usize {
    const PLAIN: [&str; 7] = [
        "type",
        "description",
        "title",
        "properties",
        "required",
        "additionalProperties",
        "$schema",
    ];
    let Some(object) = schema.as_object() else {
        return 0;
    };
    let Some(Value::Object(properties)) = object.get("properties") else {
        return 0;
    };
    let required = match object.get("required") {
        Some(Value::Array(names)) => names.len(),
        None => 0,
        Some(_) => return 0,
    };
    if !object.keys().all(|word| PLAIN.contains(&word.as_str())) {
        return 0;
    }
    // One that is `false` can never be given, and in draft 3 one says itself that it is required.
    let optional = |schema: &&Value| {
        **schema != Value::Bool(false) && schema.get("required") != Some(&Value::Bool(true))
    };
    let optional = properties.values().filter(optional).count();
    optional.saturating_sub(required)
}
