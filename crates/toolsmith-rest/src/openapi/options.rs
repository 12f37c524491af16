//! What of a document is imported, and how much.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::read::OpenApiError;
use crate::form::HttpMethod;

/// How a document is imported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// What the API is called; by its title unless set. If it is, variables for its keys are
    /// named after it, else after the servers they are sent to.
    pub name: Option<String>,
    /// What every tool's name begins with, such as `petstore_`.
    pub prefix: String,
    /// What is imported; everything unless something is named.
    pub include: Filter,
    /// What is not.
    pub exclude: Filter,
    /// Where the API is, whatever the document says.
    pub api_url: Option<String>,
    /// Where the document comes from: addresses in it may be relative to that.
    pub base: Option<String>,
    /// How many tools are made at most.
    pub max_tools: usize,
    /// How large the schema of a tool's arguments is at most.
    pub max_schema_bytes: usize,
    /// How large the schema of a tool's answer is at most; a larger one is left out.
    pub max_response_bytes: usize,
    /// How large all schemas are together, with what a tool says of keys and tokens by
    /// itself. Those of answers take no more than half.
    pub max_total_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            prefix: String::new(),
            include: Filter::default(),
            exclude: Filter::default(),
            api_url: None,
            base: None,
            max_tools: 10_000,
            max_schema_bytes: 32 << 10,
            max_response_bytes: 8 << 10,
            max_total_bytes: 12 << 20,
        }
    }
}

/// Names operations: by a tag, a path and a method, as far as each is given.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Tags, without regard to case.
    pub tags: Vec<String>,
    /// Paths as globs: `/users/*` names what is directly beneath, `/users/**` all.
    /// Braces stand for themselves.
    pub paths: Vec<String>,
    /// Methods.
    pub methods: Vec<HttpMethod>,
}

/// Both filters, ready for use.
pub(super) struct Chosen<'o> {
    options: &'o Options,
    included: GlobSet,
    excluded: GlobSet,
}

impl<'o> Chosen<'o> {
    pub(super) fn new(options: &'o Options) -> Result<Self, OpenApiError> {
        Ok(Self {
            options,
            included: globs(&options.include.paths)?,
            excluded: globs(&options.exclude.paths)?,
        })
    }

    /// Why an operation is not wanted, if it is not.
    pub(super) fn refusal(
        &self,
        method: HttpMethod,
        path: &str,
        tags: &[String],
    ) -> Option<&'static str> {
        let has = |wanted: &[String]| {
            let is_one = |tag: &String| wanted.iter().any(|w| w.eq_ignore_ascii_case(tag));
            tags.iter().any(is_one)
        };
        let (include, exclude) = (&self.options.include, &self.options.exclude);
        let is_left = |given: bool, is_met: bool| given && !is_met;
        if is_left(!include.tags.is_empty(), has(&include.tags)) {
            return Some("it has none of the tags that are imported");
        }
        if is_left(!include.paths.is_empty(), self.included.is_match(path)) {
            return Some("its path is none that is imported");
        }
        if is_left(
            !include.methods.is_empty(),
            include.methods.contains(&method),
        ) {
            return Some("its method is none that is imported");
        }
        if has(&exclude.tags) {
            return Some("a tag of it is excluded");
        }
        if self.excluded.is_match(path) {
            return Some("its path is excluded");
        }
        if exclude.methods.contains(&method) {
            return Some("its method is excluded");
        }
        None
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, OpenApiError> {
    let wrong =
        |error: globset::Error| OpenApiError::Option(format!("a path cannot be used: {error}"));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        // In paths of APIs braces are parameters, and no choice of words.
        let pattern = pattern.replace('{', "\\{").replace('}', "\\}");
        let glob = GlobBuilder::new(&pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        set.add(glob.map_err(wrong)?);
    }
    set.build().map_err(wrong)
}
