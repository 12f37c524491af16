//! Matchers: what an argument must look like for a rule to be about it.
//!
//! An argument can be read in several ways: as it was spelled, with `.` and `..`
//! resolved, and as the paths its tool says it means. A rule that forbids must not
//! be dodged by a spelling, and a rule that allows must not be fooled by one, so
//! every reading is a candidate. How paths and addresses are read stands in `place`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;
use toolsmith_core::Plan;

use super::place;

/// What an argument must look like.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Matcher {
    /// Exactly this.
    Equals(String),
    /// A glob. With a `/` in it, `*` stays within one folder.
    Glob(Globs),
    /// Begins with this.
    Prefix(String),
    /// A regular expression, found anywhere unless anchored.
    Regex(Regex),
    /// A number between two bounds, both included.
    Range {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// A path in this folder or below.
    Beneath(String),
}

/// A glob in both readings: over text, and over paths.
#[derive(Clone, Debug)]
pub struct Globs {
    text: GlobMatcher,
    path: GlobMatcher,
    is_path: bool,
    start: Start,
}

/// Why something is no matcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MatcherError(String);

impl Matcher {
    /// A glob.
    pub fn glob(pattern: &str) -> Result<Self, MatcherError> {
        let build = |separator| {
            GlobBuilder::new(pattern)
                .literal_separator(separator)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| MatcherError(error.to_string()))
        };
        Ok(Self::Glob(Globs {
            text: build(false)?,
            path: build(true)?,
            is_path: pattern.contains('/'),
            start: Start::of(pattern),
        }))
    }

    /// A regular expression, within a size that cannot hurt.
    pub fn regex(pattern: &str) -> Result<Self, MatcherError> {
        RegexBuilder::new(pattern)
            .size_limit(1 << 20)
            .build()
            .map(Self::Regex)
            .map_err(|error| MatcherError(error.to_string()))
    }

    /// A matcher as the command line writes it: an operator and a value.
    pub(super) fn parse(operator: &str, value: &str) -> Result<Self, MatcherError> {
        if value.is_empty() {
            return Err(MatcherError(format!("nothing stands after `{operator}`")));
        }
        match operator {
            ":" => Self::glob(value),
            "=" => Ok(Self::Equals(value.to_owned())),
            "^=" => Ok(Self::Prefix(value.to_owned())),
            "~=" => Self::regex(value),
            "beneath" => Ok(Self::Beneath(value.to_owned())),
            _ => Self::range(value),
        }
    }

    fn range(text: &str) -> Result<Self, MatcherError> {
        let error = || MatcherError(format!("{text:?} is no range; write LOW..HIGH"));
        let (low, high) = text.split_once("..").ok_or_else(error)?;
        let bound = |text: &str, open: f64| match text.trim() {
            "" => Ok(open),
            number => number.parse::<f64>().map_err(|_| error()),
        };
        let low = bound(low, f64::NEG_INFINITY)?;
        let high = bound(high, f64::INFINITY)?;
        if low.is_nan() || high.is_nan() || low > high {
            return Err(error());
        }
        Ok(Self::Range { low, high })
    }

    /// A matcher as configuration files write it: a text, which is a glob, or an
    /// object with one of the named forms.
    pub(super) fn from_config(value: &Value) -> Result<Self, MatcherError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Form {
            Equals(Value),
            Glob(String),
            Prefix(String),
            Regex(String),
            Range(String),
            Beneath(String),
        }
        if let Value::String(glob) = value {
            return Self::glob(glob);
        }
        if let Value::Number(_) | Value::Bool(_) = value {
            return Ok(Self::Equals(plain_text(value)));
        }
        let form: Form = serde_json::from_value(value.clone()).map_err(|_| {
            MatcherError(
                "use a glob, or one of equals, glob, prefix, regex, range, beneath".to_owned(),
            )
        })?;
        match form {
            Form::Equals(value) => Ok(Self::Equals(plain_text(&value))),
            Form::Glob(glob) => Self::glob(&glob),
            Form::Prefix(prefix) => Ok(Self::Prefix(prefix)),
            Form::Regex(regex) => Self::regex(&regex),
            Form::Range(range) => Self::range(&range),
            Form::Beneath(folder) => Ok(Self::Beneath(folder)),
        }
    }

    /// Tells whether any reading fits: what forbids.
    pub(super) fn fits_any(&self, candidates: &Candidates) -> bool {
        let lower = || self.with_server_in_lower_case();
        self.is_fitted_by(candidates) || lower().is_some_and(|it| it.is_fitted_by(candidates))
    }

    /// The same for the server it names as most people write it, where it does not.
    fn with_server_in_lower_case(&self) -> Option<Self> {
        match self {
            Self::Equals(text) => place::lower(text).map(Self::Equals),
            Self::Prefix(text) => place::lower(text).map(Self::Prefix),
            Self::Beneath(text) => place::lower(text).map(Self::Beneath),
            Self::Glob(globs) => Self::glob(&place::lower(globs.text.glob().glob())?).ok(),
            Self::Regex(_) | Self::Range { .. } => None,
        }
    }

    fn is_fitted_by(&self, candidates: &Candidates) -> bool {
        let texts = candidates.spelled.iter().chain(&candidates.resolved);
        let texts = texts.chain(&candidates.fetched);
        let paths = candidates.paths.iter().flatten();
        texts.chain(paths).any(|text| {
            // The rule may be spelled with a `./` in front, the call with a slash
            // behind.
            let front = if text.starts_with('/') { "" } else { "./" };
            let server = place::server(text);
            [text, text.trim_end_matches('/'), &format!("{front}{text}")]
                .into_iter()
                .chain(server.as_deref())
                .any(|text| self.fits(text, Reading::Text) || self.fits(text, Reading::Path))
                || self.is_same_number(text)
        }) || candidates.trees.iter().any(|tree| self.is_within(tree))
    }

    /// Tells whether a place this names lies in a folder the call goes through. Patterns
    /// that begin with a wildcard name no place.
    fn is_within(&self, tree: &str) -> bool {
        let place = match self {
            Self::Beneath(place) | Self::Equals(place) | Self::Prefix(place) => place.as_str(),
            Self::Glob(globs) => {
                let pattern = globs.path.glob().glob();
                match pattern.find(['*', '?', '[', '{', '\\']) {
                    Some(wild) => pattern[..wild].rsplit_once('/').map_or("", |split| split.0),
                    None => pattern,
                }
            }
            Self::Regex(_) | Self::Range { .. } => "",
        };
        let tree = Self::Beneath(tree.to_owned());
        !place.is_empty() && tree.fits(place, Reading::Path)
    }

    /// Tells whether this may fit a text of which only the beginning is known.
    pub(super) fn may_begin(&self, known: &str) -> bool {
        let begin = match self {
            Self::Equals(text) | Self::Prefix(text) => text.as_str(),
            Self::Glob(globs) => {
                let pattern = globs.text.glob().glob();
                let wild = pattern.find(['*', '?', '[', '{', '\\']);
                &pattern[..wild.unwrap_or(pattern.len())]
            }
            // Nobody can tell.
            Self::Regex(_) | Self::Range { .. } | Self::Beneath(_) => "",
        };
        begin.starts_with(known) || known.starts_with(begin)
    }

    /// Tells whether every reading fits: what allows. Where the tool says which
    /// path it means, that is the truth; otherwise the spelling and what it
    /// resolves to must both fit.
    pub(super) fn fits_every(&self, candidates: &Candidates) -> bool {
        if !candidates.paths.is_empty() {
            let mut paths = candidates.paths.iter();
            let fits = |path: &String| self.fits(path, Reading::Path) && self.starts_like(path);
            return paths.all(|forms| forms.iter().any(fits));
        }
        let mut texts = candidates.spelled.iter().chain(&candidates.resolved);
        let reading = match self {
            Self::Glob(globs) if globs.is_path => Reading::Path,
            _ => Reading::Text,
        };
        !candidates.spelled.is_empty()
            && texts.all(|text| {
                let fits = |text: &str| self.fits(text, reading) && self.starts_like(text);
                fits(text) || place::server(text).is_some_and(|server| fits(&server))
            })
    }

    /// A pattern of paths beneath one place does not speak of paths elsewhere, even
    /// where its `**` would match a `..` or a root.
    fn starts_like(&self, text: &str) -> bool {
        match self {
            Self::Glob(globs) if globs.is_path => globs.start == Start::of(text),
            // `*.rs` speaks of files here; only `*` speaks of everything.
            Self::Glob(globs) if globs.text.glob().glob() != "*" => Start::of(text).up == 0,
            _ => true,
        }
    }

    /// `5` and `5.0` are one number in two spellings.
    fn is_same_number(&self, text: &str) -> bool {
        let Self::Equals(wanted) = self else {
            return false;
        };
        let number = |text: &str| text.parse::<f64>().ok();
        number(wanted).is_some_and(|wanted| number(text) == Some(wanted))
    }

    fn fits(&self, text: &str, reading: Reading) -> bool {
        match self {
            Self::Equals(wanted) => text == wanted,
            Self::Glob(globs) => match reading {
                Reading::Text => globs.text.is_match(text),
                Reading::Path => globs.path.is_match(text),
            },
            Self::Prefix(prefix) => text.starts_with(prefix),
            Self::Regex(regex) => regex.is_match(text),
            Self::Range { low, high } => text
                .parse::<f64>()
                .is_ok_and(|number| *low <= number && number <= *high),
            Self::Beneath(folder) => {
                let (folder, path) = (place::resolved(folder), place::resolved(text));
                if folder == "." {
                    // As a folder: a file may well be called `..x`.
                    return !Path::new(&path).starts_with("..") && !path.starts_with('/');
                }
                // What is left may still lead up, where the folder itself is `..`.
                let below = Path::new(&path).strip_prefix(&folder);
                below.is_ok_and(|below| !below.starts_with(".."))
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Reading {
    Text,
    Path,
}

/// Where a path or a pattern of paths begins: at the root, or so many folders up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    at_root: bool,
    up: usize,
}

impl Start {
    fn of(text: &str) -> Self {
        Self {
            at_root: text.starts_with('/'),
            up: text.split('/').take_while(|part| *part == "..").count(),
        }
    }
}

/// Every reading of an argument.
pub(super) struct Candidates {
    /// As it was written; each item of a list by itself.
    spelled: Vec<String>,
    /// With `.` and `..` resolved.
    resolved: Vec<String>,
    /// As somebody else may read it, which counts for rules that forbid.
    fetched: Vec<String>,
    /// The paths the tool says it means, each in its forms.
    paths: Vec<Vec<String>>,
    /// Those of them that the call goes through, in all forms.
    trees: Vec<String>,
}

impl Candidates {
    /// The readings of one command, whose words may be paths, or addresses behind the name
    /// of an option.
    pub(super) fn of_command(text: &str) -> Self {
        let words = |read: fn(&str) -> Option<String>| {
            let word = |word: &str| {
                let (option, place) = place::in_word(word);
                let read = Some(place)
                    .filter(|place| place.contains('/'))
                    .and_then(read);
                read.map_or(word.to_owned(), |read| format!("{option}{read}"))
            };
            text.split(' ').map(word).collect::<Vec<_>>().join(" ")
        };
        Self {
            spelled: vec![text.to_owned()],
            resolved: vec![words(|place| Some(place::resolved(place)))],
            fetched: vec![words(place::fetched), words(place::as_path)],
            paths: Vec::new(),
            trees: Vec::new(),
        }
    }

    /// The readings of an argument; of one that is not given, only the paths that a call in
    /// another form says in its stead.
    pub(super) fn new(argument: &str, value: Option<&Value>, plan: &Plan) -> Self {
        let mut spelled = Vec::new();
        if let Some(value) = value {
            flatten(value, &mut spelled);
        }
        let mut resolved: Vec<String> = spelled.iter().map(|it| place::resolved(it)).collect();
        let as_paths: Vec<String> = spelled.iter().filter_map(|it| place::as_path(it)).collect();
        // Which of the two it is, is for its tool to say; no path that is allowed leads out.
        let leads_out = |path: &&String| Path::new(path).starts_with("..");
        resolved.extend(as_paths.iter().filter(leads_out).cloned());
        let fetched = spelled.iter().filter_map(|it| place::fetched(it));
        let fetched = fetched.chain(as_paths.iter().cloned()).collect();
        let (mut paths, mut trees) = (Vec::new(), Vec::new());
        for touch in &plan.touches {
            if !touch.is_of(argument) {
                continue;
            }
            let forms = std::iter::once(&touch.path)
                .chain(&touch.relative)
                .chain(&touch.named);
            let forms: Vec<String> = forms.map(|path| place::resolved_path(path)).collect();
            if touch.recursive {
                trees.extend(forms.iter().cloned());
            }
            paths.push(forms);
        }
        Self {
            spelled,
            resolved,
            fetched,
            paths,
            trees,
        }
    }
}

fn flatten(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| flatten(field, texts)),
        plain => texts.push(plain_text(plain)),
    }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            // A whole number reads the same whether it was written 5 or 5.0.
            let text = number.to_string();
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
        other => other.to_string(),
    }
}
