//! The policy: a list of rules, and a mode for what no rule speaks of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolsmith_core::{Confirm, Effect};

use super::guard::{Guard, GuardError, Judgement, Subject, Verdict};
use super::part::Part;
use super::{Decision, Rule, RuleError};

/// What is allowed, asked for and denied.
///
/// Deny beats ask beats allow, whatever the order of the rules. What no rule
/// matches is decided by the mode.
///
/// Where a tool itself wants a person to be asked ([`Confirm::Required`]), a rule
/// that allows it by name, effect or source is not enough; one that looks at the
/// arguments is, for somebody had such calls in mind.
///
/// ```
/// use toolsmith_runtime::permit::{Mode, Policy};
///
/// let policy = Policy::new(Mode::Ask)
///     .allowing(["read(file_path: src/**)"])?
///     .denying(["mcp__*", "effect:execute"])?;
/// assert_eq!(policy.rules().len(), 3);
/// # Ok::<(), toolsmith_runtime::permit::RuleError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    mode: Mode,
    /// The modes of agents that have one of their own.
    modes: BTreeMap<String, Mode>,
    /// The agents there are, where the host says so.
    agents: Option<BTreeSet<String>>,
    rules: Vec<Rule>,
    broken: Option<String>,
}

impl Policy {
    /// A policy without rules.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    /// The policy of a host whose rules could not be read: it denies everything.
    pub fn broken(reason: impl Into<String>) -> Self {
        Self {
            broken: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Adds rules.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Adds allow rules in the syntax of the command line.
    pub fn allowing<'a>(self, rules: impl IntoIterator<Item = &'a str>) -> Result<Self, RuleError> {
        self.parsing(Verdict::Allow, rules)
    }

    /// Adds ask rules in the syntax of the command line.
    pub fn asking<'a>(self, rules: impl IntoIterator<Item = &'a str>) -> Result<Self, RuleError> {
        self.parsing(Verdict::Ask, rules)
    }

    /// Adds deny rules in the syntax of the command line.
    pub fn denying<'a>(self, rules: impl IntoIterator<Item = &'a str>) -> Result<Self, RuleError> {
        self.parsing(Verdict::Deny, rules)
    }

    fn parsing<'a>(
        mut self,
        verdict: Verdict,
        rules: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, RuleError> {
        for text in rules {
            self.rules.push(Rule::parse(verdict, text)?);
        }
        Ok(self)
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets the mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the mode for the calls of one agent instead. Rules hold for it as for all.
    #[must_use]
    pub fn with_agent_mode(mut self, agent: impl Into<String>, mode: Mode) -> Self {
        self.modes.insert(agent.into(), mode);
        self
    }

    /// Says which agents there are. Calls of others are denied: their rules went with them.
    #[must_use]
    pub fn with_agents(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.agents = Some(agents.into_iter().map(Into::into).collect());
        self
    }

    /// Lets the one mode hold for every agent.
    #[must_use]
    pub fn without_agent_modes(mut self) -> Self {
        self.modes.clear();
        self
    }

    /// The mode that holds for whoever calls.
    fn mode_for(&self, agent: Option<&str>) -> Mode {
        let own = agent.and_then(|agent| self.modes.get(agent));
        own.copied().unwrap_or(self.mode)
    }

    /// The rules, in the order they were added.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn decide(&self, subject: &Subject<'_>) -> Decision {
        if let Some(reason) = &self.broken {
            let reason = format!("the rules cannot be read: {reason}");
            return Decision::new(Verdict::Deny, "policy", reason);
        }
        if let (Some(agents), Some(agent)) = (&self.agents, subject.agent)
            && !agents.contains(agent)
        {
            let reason = format!("there is no agent `{agent}`, or none any more");
            return Decision::new(Verdict::Deny, "policy", reason);
        }
        let decisions = Part::all(subject.plan).into_iter();
        let decisions = decisions.map(|part| self.decide_part(subject, part));
        // Every command must be allowed by something, and one that is not decides for all.
        let strictest =
            decisions.reduce(|strictest, next| match next.verdict > strictest.verdict {
                true => next,
                false => strictest,
            });
        strictest.unwrap_or_else(|| self.decide_part(subject, Part::Whole))
    }

    fn decide_part(&self, subject: &Subject<'_>, part: Part<'_>) -> Decision {
        let decision = self.decide_known(subject, part);
        if decision.verdict != Verdict::Allow || matches!(part, Part::Whole) {
            return decision;
        }
        let forbids = |rule: &&Rule| rule.verdict() != Verdict::Allow;
        let mut forbidding = self.rules.iter().filter(forbids);
        match forbidding.find(|rule| rule.may_be_about(subject, part)) {
            Some(rule) => {
                let reason = "what it does is known only when it runs, and this may forbid it";
                Decision::new(Verdict::Ask, format!("rule `{rule}`"), reason)
            }
            None => decision,
        }
    }

    /// Decides by what is known of a part.
    fn decide_known(&self, subject: &Subject<'_>, part: Part<'_>) -> Decision {
        let mut strictest: Option<&Rule> = None;
        for rule in &self.rules {
            let stricter = strictest.is_none_or(|found| weight(rule) > weight(found));
            if stricter && rule.is_about(subject, part) {
                strictest = Some(rule);
            }
        }
        match strictest {
            Some(rule) if rule.verdict() == Verdict::Allow && !rule.is_about_arguments() => {
                self.by_wish(subject).unwrap_or_else(|| by_rule(rule))
            }
            Some(rule) => by_rule(rule),
            None => self.by_mode(subject),
        }
    }

    /// A tool's own wish for confirmation makes things stricter, never wider.
    fn by_wish(&self, subject: &Subject<'_>) -> Option<Decision> {
        match &subject.plan.confirm {
            Confirm::Required { reason } if self.mode_for(subject.agent) != Mode::Auto => {
                let by = format!("tool {}", subject.tool.name);
                Some(Decision::new(Verdict::Ask, by, reason))
            }
            _ => None,
        }
    }

    fn by_mode(&self, subject: &Subject<'_>) -> Decision {
        let effect = subject.tool.effect;
        let mode = self.mode_for(subject.agent);
        let verdict = mode.verdict(effect);
        let by = format!("mode {}", mode.word());
        if verdict == Verdict::Allow
            && let Some(decision) = self.by_wish(subject)
        {
            return decision;
        }
        let what = match effect {
            Effect::Read => "reads",
            Effect::Write => "writes",
            Effect::Execute => "runs programs",
            Effect::Network => "reaches the network",
        };
        let reason = match verdict {
            Verdict::Allow => format!("it only {what}"),
            Verdict::Ask => format!("it {what}, which must be asked for"),
            Verdict::Deny => format!("it {what}, and only reading is allowed"),
        };
        Decision::new(verdict, by, reason)
    }
}

/// The stricter rule decides; of those that allow, one that looks at the arguments.
fn weight(rule: &Rule) -> (Verdict, bool) {
    let is_allow = rule.verdict() == Verdict::Allow;
    (rule.verdict(), is_allow && rule.is_about_arguments())
}

fn by_rule(rule: &Rule) -> Decision {
    let reason = match rule.verdict() {
        Verdict::Allow => "a rule allows it",
        Verdict::Ask => "a rule says to ask",
        Verdict::Deny => "a rule forbids it",
    };
    Decision::new(rule.verdict(), format!("rule `{rule}`"), reason)
}

impl Guard for Policy {
    fn name(&self) -> &str {
        "policy"
    }

    async fn judge(&self, subject: &Subject<'_>) -> Result<Judgement, GuardError> {
        Ok(Judgement::Decided(self.decide(subject)))
    }
}

/// What happens to calls no rule speaks of.
///
/// In every mode but `auto`, a tool that wants a person to be asked gets its wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only reading.
    Plan,
    /// Reading runs, the rest is asked for.
    #[default]
    Ask,
    /// Writing runs too.
    AutoEdit,
    /// Everything runs, also what a tool wants confirmed.
    Auto,
}

impl Mode {
    /// Every mode, the strictest first.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::AutoEdit, Self::Auto];

    /// The mode as it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
        }
    }

    const fn verdict(self, effect: Effect) -> Verdict {
        match (self, effect) {
            (_, Effect::Read) | (Self::Auto, _) | (Self::AutoEdit, Effect::Write) => Verdict::Allow,
            (Self::Plan, _) => Verdict::Deny,
            (Self::Ask | Self::AutoEdit, _) => Verdict::Ask,
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.word() == text)
            .ok_or_else(|| format!("{text:?} is no mode; use plan, ask, auto-edit or auto"))
    }
}
