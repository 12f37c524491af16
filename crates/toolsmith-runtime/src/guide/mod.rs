//! The usage guide: what the tools are for, how they are called, what they return.
//!
//! A guide is made from the tools a caller may see and from overlays, which a host reads
//! from files. Metadata is assembled (`assemble`), tools are chosen (`select`), sections
//! rendered (`render`) and put together within a budget (`budget`, `document`). What is
//! wrong with the overlays is found by `lints`; `tool` makes the guide a tool itself, and
//! `html` a page for people.

mod assemble;
mod budget;
mod coverage;
mod document;
mod example;
mod html;
mod lints;
mod metadata;
mod overlays;
mod render;
mod request;
mod select;
mod tool;

use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use toolsmith_core::ToolDef;
use toolsmith_core::date::Date;

pub use coverage::Coverage;
pub use example::GuideExample;
pub use html::PageError;
pub use lints::Finding;
pub use metadata::{LifeCycle, MOST_EXAMPLES, PENDING, ToolMetadata};
pub use overlays::{Described, Layer, OverlaySource, Overlays, Place, Snippet};
pub use render::TemplateError;
pub use request::{Budget, ExampleForm, Request, Response, ResponseMetadata, USUAL_BYTES};
pub use tool::tool;

use assemble::Assembler;
use document::{Document, Writer};
use example::one_line;
use render::{Renderer, Template};
use select::Selected;

/// How many of the overlays' own warnings a guide repeats, and how much of each.
const MOST_WARNINGS: usize = 20;
const WARNING_SHOWN: usize = 500;

/// Makes guides.
///
/// ```
/// use std::sync::Arc;
/// use std::time::SystemTime;
/// use toolsmith_core::{Kind, ToolDef};
/// use toolsmith_runtime::guide::{Guide, Overlays, Request};
///
/// let tools = [Arc::new(
///     ToolDef::new("roll_dice")?
///         .with_kind(Kind::Read)
///         .with_description("Rolls dice and returns the sum."),
/// )];
/// let guide = Guide::new(Arc::new(Arc::new(Overlays::default())), || SystemTime::UNIX_EPOCH);
/// let response = guide.answer(&tools, &Request::everything());
/// assert!(response.content.contains("### roll_dice"));
/// assert_eq!(response.metadata.tool_count, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Guide {
    source: Arc<dyn OverlaySource>,
    now: fn() -> SystemTime,
    title: String,
    template: Arc<Template>,
}

impl fmt::Debug for Guide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guide")
            .field("title", &self.title)
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}

impl Guide {
    /// A guide with these overlays; `now` tells the time, for the date on top.
    pub fn new(source: Arc<dyn OverlaySource>, now: fn() -> SystemTime) -> Self {
        Self {
            source,
            now,
            title: "Toolsmith".to_owned(),
            template: Template::shipped(),
        }
    }

    /// Sets whose tools the title speaks of.
    #[must_use]
    pub fn with_title(mut self, title: impl AsRef<str>) -> Self {
        self.title = one_line(title.as_ref()).chars().take(100).collect();
        self
    }

    /// Renders by another template than the shipped one. `name` is what errors call it.
    pub fn with_template(mut self, name: &str, source: &str) -> Result<Self, TemplateError> {
        self.template = Arc::new(Template::new(name, source)?);
        Ok(self)
    }

    /// The source of the shipped template, to begin an own one from.
    pub fn shipped_template() -> &'static str {
        render::SHIPPED_SOURCE
    }

    /// Makes the guide of these tools, which are all that the caller may see. Whatever is
    /// asked for, there is an answer.
    pub fn answer(&self, tools: &[Arc<ToolDef>], request: &Request) -> Response {
        let began = Instant::now();
        let overlays = self.source.current();
        let mut selected = select::select(tools, Assembler::new(&overlays), request);
        let document = self.document(&overlays, &mut selected, request);
        let mut warnings = selected.warnings;
        warnings.extend(overlay_warnings(&overlays));
        let omitted = selected
            .chosen
            .iter()
            .zip(&document.shown)
            .filter(|(_, shown)| !**shown);
        let omitted: Vec<String> = omitted
            .map(|(chosen, _)| chosen.tool.name.as_str().to_owned())
            .collect();
        Response {
            metadata: ResponseMetadata {
                total_tools: tools.len(),
                tool_count: selected.chosen.len() - omitted.len(),
                filtered_count: selected.chosen.len(),
                invalid_names: selected.invalid_names,
                size_bytes: document.content.len(),
                omitted,
                generation_time_ms: began.elapsed().as_secs_f64() * 1000.0,
            },
            content: document.content,
            warnings,
        }
    }

    /// The tools a request asks for, assembled and in the order of the guide, with what was
    /// asked for in vain: for those who show them in another form than Markdown.
    pub fn assembled(
        &self,
        tools: &[Arc<ToolDef>],
        request: &Request,
    ) -> (Vec<ToolMetadata>, Vec<String>) {
        let overlays = self.source.current();
        let assembler = Assembler::new(&overlays);
        let selected = select::select(tools, assembler, request);
        let chosen = selected.chosen.iter();
        let metadata = chosen.map(|chosen| assembler.metadata(chosen.tool, &chosen.category));
        let mut warnings = selected.warnings;
        warnings.extend(overlay_warnings(&overlays));
        (metadata.collect(), warnings)
    }

    /// How far the documentation of each tool is, in the order of the guide; and what the
    /// user's overlays say of tools that there are not.
    pub fn coverage(&self, tools: &[Arc<ToolDef>]) -> Vec<Coverage> {
        coverage::coverage(tools, &self.source.current())
    }

    /// What is not good in the overlays and the examples of these tools.
    pub fn lints(&self, tools: &[Arc<ToolDef>]) -> Vec<Finding> {
        lints::lints(tools, &self.source.current())
    }

    /// Writes the document; by the shipped template where the user's fails.
    fn document(
        &self,
        overlays: &Overlays,
        selected: &mut Selected<'_>,
        request: &Request,
    ) -> Document {
        let date = Date::from((self.now)()).to_string();
        let writer = |template| Writer {
            renderer: Renderer {
                template,
                form: request.examples,
                most: request.budget.limit(),
            },
            budget: request.budget,
            title: &self.title,
            date: &date,
            assembler: Assembler::new(overlays),
        };
        let own = writer(&self.template).write(selected);
        let shipped = Template::shipped();
        let is_shipped = Arc::ptr_eq(&self.template, &shipped);
        let (own, why) = match own {
            Ok(document) if !document.is_least || is_shipped => return document,
            Ok(document) => (document, "it writes more than there is room for".to_owned()),
            Err(error) => (Document::nothing(selected.chosen.len()), error.to_string()),
        };
        match writer(&shipped).write(selected) {
            Ok(document) if !document.is_least => {
                let warning = "The guide's template failed, so the usual one is used";
                selected.warnings.push(format!("{warning}: {why}"));
                document
            }
            _ => own,
        }
    }
}

fn overlay_warnings(overlays: &Overlays) -> impl Iterator<Item = String> {
    let warnings = overlays.warnings.iter().take(MOST_WARNINGS);
    warnings.map(|warning| crate::validate::bounded(&one_line(warning), WARNING_SHOWN))
}
