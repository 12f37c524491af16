//! The guide as one page for a browser: it needs no network, and no script to be read.
//!
//! What tools say of themselves is hostile. It is cleaned, and escaped by the template
//! engine, never by hand; and the page forbids the browser every script and style but its
//! own, which it names by their hashes.

mod parameters;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minijinja::{AutoEscape, Environment, Value, context};
use sha2::{Digest, Sha256};
use toolsmith_core::ToolDef;
use toolsmith_core::date::Date;

use self::parameters::parameters;
use self::words::{cleaned, list, paragraphs};
use super::Guide;
use super::example::GuideExample;
use super::metadata::{LifeCycle, ToolMetadata};
use super::render::json;
use super::request::{ExampleForm, Request};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[error("failed to render the page")]
pub struct PageError(#[source] minijinja::Error);

impl Guide {
    /// Makes the guide of these tools as one page for a browser. It has room for all that
    /// is asked for: the budget is a model's, not a person's.
    ///
    /// # Errors
    /// None is known: the template is a constant, and takes every text.
    pub fn html(&self, tools: &[Arc<ToolDef>], request: &Request) -> Result<String, PageError> {
        let (shown, warnings) = self.assembled(tools, request);
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let template = environment.template_from_str(TEMPLATE).map_err(PageError)?;
        let values = context! {
            title => format!("{} Tools Usage Guide", self.title),
            generated => Date::from((self.now)()).to_string(),
            category => request.category.as_deref().map(cleaned),
            shown => shown.len(),
            total => tools.len(),
            warnings => list(&warnings),
            categories => categories(&shown),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            policy => POLICY.as_str(),
        };
        template.render(values).map_err(PageError)
    }
}

const TEMPLATE: &str = include_str!("guide.html.j2");
const STYLE: &str = include_str!("guide.css");
const SCRIPT: &str = include_str!("guide.js");

/// What the browser may do: show this page, with its own style and its own script.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
});

/// The tools by category, each where its first stands.
fn categories(tools: &[ToolMetadata]) -> Vec<Value> {
    let mut order: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for tool in tools {
        let at = *known.entry(&tool.category).or_insert_with(|| {
            order.push((&tool.category, Vec::new()));
            order.len() - 1
        });
        order[at].1.push(shown(tool));
    }
    let categories = order.into_iter().enumerate();
    let categories = categories.map(|(index, (name, tools))| {
        context! {
            name => capitalized(&cleaned(name)),
            id => format!("category-{}", index + 1),
            count => tools.len(),
            tools,
        }
    });
    categories.collect()
}

fn shown(tool: &ToolMetadata) -> Value {
    let schema = tool.input_schema.as_value();
    // As in Markdown: nothing in it is hidden, and it is still the same value.
    let pretty = json::pretty(schema, usize::MAX).unwrap_or_default();
    let name = cleaned(&tool.name);
    let title = tool.title.as_deref().map(cleaned);
    context! {
        id => format!("tool-{name}"),
        // What only repeats the name tells nothing.
        title => title.filter(|title| !title.eq_ignore_ascii_case(&name)),
        name,
        is_pending => tool.description.is_none(),
        purpose => paragraphs(tool.purpose()),
        details => tool.details.as_deref().map(paragraphs),
        important => list(&tool.important),
        notes => list(&tool.notes),
        parameters => parameters(schema),
        schema => pretty,
        examples => tool.examples.iter().map(|it| example(it, tool)).collect::<Vec<_>>(),
        returns => tool.returns.as_deref().map(paragraphs),
        state => state(tool.state),
        is_complete => tool.state == LifeCycle::Complete,
    }
}

/// An example in the three forms a reader may want, or as it stands where it could not be
/// read.
fn example(example: &GuideExample, tool: &ToolMetadata) -> Value {
    let written = |form| cleaned(&example.written(form, &tool.name, &tool.input_schema));
    let comment = example.comment().map(cleaned);
    match example {
        GuideExample::Shown { code, why, .. } => context! {
            comment,
            code => cleaned(code),
            why => cleaned(why),
        },
        GuideExample::Parsed { .. } => context! {
            comment,
            python => written(ExampleForm::Python),
            json => written(ExampleForm::Json),
            command => written(ExampleForm::CommandLine),
        },
    }
}

/// A state of the life cycle, in words.
fn state(state: LifeCycle) -> &'static str {
    match state {
        LifeCycle::Unregistered => "Not registered",
        LifeCycle::SchemaOnly => "Schema only",
        LifeCycle::Documented => "Documented",
        LifeCycle::Complete => "Complete",
    }
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    match rest.next() {
        Some(first) => first.to_uppercase().chain(rest).collect(),
        None => String::new(),
    }
}
