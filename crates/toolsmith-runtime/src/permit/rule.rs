//! Rules: which calls a verdict is about. How they are written stands with [`Rule`];
//! what an argument must look like is the business of `matcher`.

use std::fmt;
use std::sync::LazyLock;

use globset::GlobMatcher;
use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;
use toolsmith_core::{Effect, Source, Touch};

use super::guard::{Subject, Verdict};
use super::matcher::{Candidates, Matcher, MatcherError};
use super::part::{Part, may_fit};
use crate::offer::name_glob;

/// One rule of a policy.
///
/// | written | is about |
/// |---|---|
/// | `write` | the tool `write` |
/// | `mcp__git__*` | every tool whose name fits |
/// | `effect:write`, `source:mcp` | every tool with that effect, from that source |
/// | `bash(git *)` | calls whose first argument fits |
/// | `read(file_path: src/**)` | calls whose named argument fits |
/// | `set(n in 1..5, mode = fast)` | calls that fit every condition |
///
/// | condition | the argument |
/// |---|---|
/// | `name: GLOB` | fits a glob; with a `/` in it, `*` stays within one folder |
/// | `name = VALUE` | is exactly this |
/// | `name ^= PREFIX` | begins with this |
/// | `name ~= REGEX` | holds a match of this regular expression |
/// | `name in LOW..HIGH` | is a number between the two, which are included |
/// | `name beneath FOLDER` | is a path in this folder or below |
///
/// Of a line for a shell, each command is judged by itself, and what it writes to as `> FILE`:
/// every one must be allowed by some rule, and one that is forbidden forbids the line. A
/// word that is known only when it runs fits wildcards alone, and where it may turn out to
/// be what a rule forbids, a person is asked. So it is for a line that cannot be split.
///
/// A rule that forbids something in a folder also forbids a call that goes through that
/// folder from above, such as a search of the whole tree: it would see it. Globs that begin
/// with a wildcard, and regular expressions, name no folder, and hold for the paths calls
/// name only.
///
/// The names of arguments are letters, digits, `_`, `-` and `.`, which leads into
/// objects; a word before `://` is the scheme of an address and no name. Arguments
/// with other names are for `args` in configuration files.
///
/// A rule speaks of a tool by its own name, as policies and sets of tools do. One
/// that denies or asks also holds for the name the tool is offered by, which is what
/// people see: forbidding `acme_delete` must forbid it. One that allows does not,
/// so that a change of prefix opens nothing.
#[derive(Clone, Debug)]
pub struct Rule {
    verdict: Verdict,
    target: Target,
    source: Option<String>,
    agent: Option<GlobMatcher>,
    conditions: Vec<Condition>,
    text: String,
}

#[derive(Clone, Debug)]
enum Target {
    Name(GlobMatcher),
    Effect(Effect),
    Source(String),
}

/// What one argument must look like.
#[derive(Clone, Debug)]
struct Condition {
    argument: Argument,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Argument {
    /// The first required argument, or the first: what `bash(git *)` speaks of.
    First,
    /// By name; dots lead into objects.
    Named(String),
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule:?} cannot be read: {reason}")]
pub struct RuleError {
    rule: String,
    reason: String,
}

impl Rule {
    /// Reads a rule in the syntax of the command line.
    pub fn parse(verdict: Verdict, text: &str) -> Result<Self, RuleError> {
        let error = |reason: String| RuleError {
            rule: text.chars().take(200).collect(),
            reason,
        };
        let text = text.trim();
        let (target, conditions) = match text.split_once('(') {
            Some((target, rest)) => {
                let inner = rest
                    .strip_suffix(')')
                    .ok_or_else(|| error("the `(` has no `)` at the end".to_owned()))?;
                (target.trim(), conditions(inner.trim()).map_err(error)?)
            }
            None => (text, Vec::new()),
        };
        Ok(Self {
            verdict,
            target: Target::parse(target).map_err(error)?,
            source: None,
            agent: None,
            conditions,
            text: text.to_owned(),
        })
    }

    /// The same rule for the calls of one agent alone. The name is taken as it is.
    #[must_use]
    pub fn of_agent(mut self, agent: &str) -> Self {
        self.text.push_str(&format!(" by {agent}"));
        // What is escaped is always a glob.
        self.agent = name_glob(&globset::escape(agent)).ok();
        self
    }

    /// What the rule says.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Tells whether it speaks of this tool and can speak of no other.
    pub(crate) fn is_of_tool(&self, name: &str) -> bool {
        let Target::Name(glob) = &self.target else {
            return false;
        };
        let glob = glob.glob().glob();
        !glob.contains(['*', '?', '[', '{']) && glob == name
    }

    /// The rule as it was written, without its verdict.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments the rule names, for whoever checks that tools have them.
    pub fn argument_names(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter_map(|c| match &c.argument {
            Argument::Named(name) => Some(name.as_str()),
            Argument::First => None,
        })
    }

    /// Tells whether a tool of this name, offered by that one, can be meant at all.
    pub fn is_about_name(&self, name: &str, offered_as: &str) -> bool {
        match &self.target {
            Target::Name(glob) => {
                glob.is_match(name) || (self.verdict != Verdict::Allow && glob.is_match(offered_as))
            }
            Target::Effect(_) | Target::Source(_) => true,
        }
    }

    /// Tells whether the rule looks at arguments.
    pub(super) fn is_about_arguments(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Tells whether the rule is about this call. Of a line with several commands, allowing
    /// must be about each, and forbidding about any.
    pub(super) fn matches(&self, subject: &Subject<'_>) -> bool {
        let mut parts = Part::all(subject.plan).into_iter();
        match self.verdict {
            Verdict::Allow => parts.all(|part| self.is_about(subject, part)),
            Verdict::Ask | Verdict::Deny => parts.any(|part| self.is_about(subject, part)),
        }
    }

    /// Tells whether the rule is about this part of a call.
    pub(super) fn is_about(&self, subject: &Subject<'_>, part: Part<'_>) -> bool {
        self.is_about_tool(subject)
            && (self.conditions.iter()).all(|condition| self.fits(condition, subject, part))
    }

    /// Tells whether the rule, which forbids, may turn out to be about this part: a word of
    /// it, or all of it, is known only when it runs.
    pub(super) fn may_be_about(&self, subject: &Subject<'_>, part: Part<'_>) -> bool {
        let may = |condition: &Condition| {
            let name = condition.argument.name(subject.tool.input.as_value());
            let is_line = name.is_some() && name == Part::argument(subject.plan);
            match part {
                Part::Unclear if is_line => true,
                Part::Command(command) if is_line => may_fit(&condition.matcher, command),
                _ => self.fits(condition, subject, part),
            }
        };
        self.is_about_arguments() && self.is_about_tool(subject) && self.conditions.iter().all(may)
    }

    /// Tells whether the rule is about the tool, its source and who calls it.
    fn is_about_tool(&self, subject: &Subject<'_>) -> bool {
        let tool = subject.tool;
        let target = match &self.target {
            Target::Name(_) => self.is_about_name(tool.name.as_str(), subject.offered_as),
            Target::Effect(effect) => tool.effect == *effect,
            Target::Source(word) => is_source(&tool.source, word),
        };
        target
            && (self.source.as_deref()).is_none_or(|word| is_source(&tool.source, word))
            && (self.agent.as_ref()).is_none_or(|glob| is_agent(glob, subject.agent))
    }

    /// Forbidding holds when any reading of the argument fits, allowing only when
    /// every reading does. An argument the tool does not know cannot be judged, so
    /// it forbids. Lists on the way to an argument are entered for forbidding only,
    /// where one item is enough.
    fn fits(&self, condition: &Condition, subject: &Subject<'_>, part: Part<'_>) -> bool {
        let lenient = self.verdict == Verdict::Allow;
        let schema = subject.tool.input.as_value();
        let Some(name) = condition.argument.name(schema) else {
            return !lenient;
        };
        let mut values = Vec::new();
        reach(subject.arguments.as_value(), name, !lenient, &mut values);
        if values.is_empty() {
            let instead = || {
                condition
                    .matcher
                    .fits_any(&Candidates::new(name, None, subject.plan))
            };
            let stands_for = |touch: &Touch| touch.stands_for.as_deref() == Some(name);
            let is_said_otherwise = subject.plan.touches.iter().any(stands_for);
            return !lenient && (!is_known(schema, name) || is_said_otherwise && instead());
        }
        if lenient && reaches_more_in_lists(subject.arguments.as_value(), name, values.len()) {
            return false;
        }
        if Part::argument(subject.plan) == Some(name)
            && let Some(fits) = part.fits(&condition.matcher, &values, lenient)
        {
            return fits;
        }
        let mut candidates = values
            .into_iter()
            .map(|value| Candidates::new(name, Some(value), subject.plan));
        if lenient {
            candidates.all(|candidates| condition.matcher.fits_every(&candidates))
        } else {
            candidates.any(|candidates| condition.matcher.fits_any(&candidates))
        }
    }
}

impl Argument {
    fn name<'a>(&'a self, schema: &'a Value) -> Option<&'a str> {
        match self {
            Self::Named(name) => Some(name),
            Self::First => first_argument(schema),
        }
    }
}

impl Target {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(word) = text.strip_prefix("effect:") {
            let effect = serde_json::from_value(Value::from(word.trim()))
                .map_err(|_| "effects are read, write, execute and network".to_owned())?;
            return Ok(Self::Effect(effect));
        }
        if let Some(word) = text.strip_prefix("source:") {
            return source_word(word.trim()).map(Self::Source);
        }
        if text.is_empty() {
            return Err("it names no tool".to_owned());
        }
        if let Some(odd) = text.chars().find(|c| c.is_whitespace() || *c == ')') {
            return Err(format!("a tool name cannot hold {odd:?}"));
        }
        name_glob(text)
            .map(Self::Name)
            .map_err(|error| error.to_string())
    }
}

/// The values a name leads to; dots lead into objects. A key with the dots in it is a value
/// of that name as well: beside it, it must not hide the other.
fn reach<'v>(value: &'v Value, name: &str, into_lists: bool, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) if into_lists => {
            for item in items {
                reach(item, name, into_lists, found);
            }
        }
        Value::Object(fields) => {
            found.extend(fields.get(name));
            for (first, rest) in ways(name) {
                if let Some(value) = fields.get(first) {
                    reach(value, rest, into_lists, found);
                }
            }
        }
        _ => {}
    }
}

/// The ways a name can lead into an object: `a.b.c` is `b.c` in `a`, and `c` in `a.b`.
fn ways(name: &str) -> impl Iterator<Item = (&str, &str)> {
    (name.match_indices('.')).map(|(dot, _)| (&name[..dot], &name[dot + 1..]))
}

/// Tells whether lists on the way hold values of a name beside those found.
fn reaches_more_in_lists(value: &Value, name: &str, found: usize) -> bool {
    let mut all = Vec::new();
    reach(value, name, true, &mut all);
    all.len() > found
}

/// Tells whether a schema has an argument of this name, as far as it lists them.
fn is_known(schema: &Value, name: &str) -> bool {
    let properties = &schema["properties"];
    if properties.get(name).is_some() {
        return true;
    }
    let is_below = |(first, rest): (&str, &str)| {
        properties.get(first).is_some_and(|inner| {
            let inner = inner.get("items").unwrap_or(inner);
            inner.get("properties").is_none() || is_known(inner, rest)
        })
    };
    ways(name).any(is_below)
}

fn source_word(word: &str) -> Result<String, String> {
    let base = word.split('/').next().unwrap_or(word);
    if ["builtin", "native", "rest", "mcp"].contains(&base) {
        return Ok(word.to_owned());
    }
    Err("sources are builtin, native, rest, mcp and mcp/SERVER".to_owned())
}

/// `mcp` means every server, `mcp/git` the one called git.
fn is_source(source: &Source, word: &str) -> bool {
    match (word.split_once('/'), source) {
        (Some(("mcp", wanted)), Source::Mcp { server }) => wanted == server,
        (Some(_), _) => false,
        (None, source) => source.word() == word,
    }
}

/// A call without an agent is nobody's in particular: a rule that forbids things to
/// one agent does not reach it, and one that allows them neither.
fn is_agent(glob: &GlobMatcher, agent: Option<&str>) -> bool {
    agent.is_some_and(|agent| glob.is_match(agent))
}

fn first_argument(schema: &Value) -> Option<&str> {
    let required = schema["required"].as_array().and_then(|r| r.first());
    let properties = schema["properties"].as_object();
    required
        .and_then(Value::as_str)
        .or_else(|| properties?.keys().next().map(String::as_str))
}

/// Where a named condition begins. What does not begin with one is a glob for the
/// first argument.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|,)\s*(\w[\w.-]*)\s*(\^=|~=|=|:|\sin\s|\sbeneath\s)\s*")
        .expect("the pattern is a constant")
});

/// What was meant for a named condition but has a word in front that is no name: at
/// the start, or after a comma and a space.
static ODD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|,\s+)([^\s,:=~^*?\[\]{}()\\]+)(?:\s*(?:\^=|~=|=|:)|\s+beneath\s|\s+in\s+[\d.-]*\.\.)",
    )
    .expect("the pattern is a constant")
});

fn conditions(text: &str) -> Result<Vec<Condition>, String> {
    if text.is_empty() {
        return Err("there is nothing between the parentheses".to_owned());
    }
    // `https://…` is an address, not an argument called https.
    let is_scheme = |end: usize| text[..end].ends_with(':') && text[end..].starts_with("//");
    let starts: Vec<_> = NAMED
        .captures_iter(text)
        .filter(|start| !start.get(0).is_some_and(|whole| is_scheme(whole.end())))
        .collect();
    let range = |index: usize| {
        let start = starts.get(index).and_then(|start| start.get(0));
        start.map_or(text.len()..text.len(), |whole| whole.range())
    };
    let is_named = !starts.is_empty() && range(0).start == 0;
    let odd = ODD.captures_iter(text).find(|odd| {
        let (start, end) = odd
            .get(0)
            .map_or((0, 0), |whole| (whole.start(), whole.end()));
        let read = (0..starts.len()).any(|index| range(index).start == start);
        (start == 0 || is_named) && !read && !is_scheme(end)
    });
    if let Some(odd) = odd {
        let word = &odd[1];
        return Err(format!(
            "{word:?} is no name of an argument; names are letters, digits, `_`, `-` and `.`, \
             as in `name: {word}…`; for other names use `args` in a configuration file"
        ));
    }
    if !is_named {
        let matcher = Matcher::glob(text).map_err(|error| error.to_string())?;
        let argument = Argument::First;
        return Ok(vec![Condition { argument, matcher }]);
    }
    let mut found = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let value = text[range(index).end..range(index + 1).start].trim();
        let matcher =
            Matcher::parse(start[2].trim(), value).map_err(|e: MatcherError| e.to_string())?;
        let argument = Argument::Named(start[1].to_owned());
        found.push(Condition { argument, matcher });
    }
    Ok(found)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        write!(f, "{verdict} {}", self.text)
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A rule as configuration files write it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    effect: Verdict,
    #[serde(default = "every_tool")]
    tool: String,
    #[serde(default)]
    args: serde_json::Map<String, Value>,
    source: Option<String>,
    agent: Option<String>,
}

fn every_tool() -> String {
    "*".to_owned()
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let mut rule = Self::parse(form.effect, &form.tool).map_err(D::Error::custom)?;
        for (name, value) in form.args {
            let matcher = Matcher::from_config(&value)
                .map_err(|error| D::Error::custom(format!("argument `{name}`: {error}")))?;
            rule.text.push_str(&format!(" {name} {value}"));
            rule.conditions.push(Condition {
                argument: Argument::Named(name),
                matcher,
            });
        }
        if let Some(word) = form.source {
            rule.text.push_str(&format!(" from {word}"));
            rule.source = Some(source_word(&word).map_err(D::Error::custom)?);
        }
        if let Some(agent) = form.agent {
            rule.text.push_str(&format!(" by {agent}"));
            rule.agent = Some(name_glob(&agent).map_err(D::Error::custom)?);
        }
        Ok(rule)
    }
}
