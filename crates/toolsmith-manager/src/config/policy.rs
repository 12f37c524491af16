//! What a configuration allows, asks for and denies.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolsmith_runtime::permit::{Rule, Verdict};
use toolsmith_runtime::{Mode, Policy};

use super::few;

/// What is allowed, asked for and denied.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// What happens to calls no rule speaks of; they are asked for unless set.
    pub mode: Option<Mode>,
    /// Rules in full.
    #[serde(deserialize_with = "rules")]
    pub rules: Vec<Rule>,
    /// Rules that allow, in the short form.
    #[serde(deserialize_with = "rules")]
    pub allow: Vec<Short<Allow>>,
    /// Rules that ask, in the short form.
    #[serde(deserialize_with = "rules")]
    pub ask: Vec<Short<Ask>>,
    /// Rules that deny, in the short form.
    #[serde(deserialize_with = "rules")]
    pub deny: Vec<Short<Deny>>,
}

impl PolicyConfig {
    /// The policy.
    pub fn policy(&self) -> Policy {
        Policy::new(self.mode.unwrap_or_default()).with_rules(self.all_rules())
    }

    /// The policy with what holds for one agent beside it: its rules, and its mode in
    /// the place of the other.
    pub fn beside(&self, policy: Policy, agent: &str) -> Policy {
        let rules = self.all_rules().map(|rule| rule.of_agent(agent));
        let policy = policy.with_rules(rules.collect::<Vec<_>>());
        match self.mode {
            Some(mode) => policy.with_agent_mode(agent, mode),
            None => policy,
        }
    }

    fn all_rules(&self) -> impl Iterator<Item = Rule> {
        let allow = self.allow.iter().map(|short| &short.rule);
        let ask = self.ask.iter().map(|short| &short.rule);
        let deny = self.deny.iter().map(|short| &short.rule);
        let all = deny.chain(ask).chain(allow).chain(&self.rules);
        all.cloned()
    }
}

/// A rule in the short form, whose verdict is the key it stands under.
#[derive(Clone, Debug)]
pub struct Short<V> {
    rule: Rule,
    verdict: PhantomData<V>,
}

/// The verdict a key stands for.
pub trait Says {
    /// The verdict.
    const VERDICT: Verdict;
}

/// Under `allow`.
#[derive(Clone, Copy, Debug)]
pub enum Allow {}
/// Under `ask`.
#[derive(Clone, Copy, Debug)]
pub enum Ask {}
/// Under `deny`.
#[derive(Clone, Copy, Debug)]
pub enum Deny {}

impl Says for Allow {
    const VERDICT: Verdict = Verdict::Allow;
}
impl Says for Ask {
    const VERDICT: Verdict = Verdict::Ask;
}
impl Says for Deny {
    const VERDICT: Verdict = Verdict::Deny;
}

impl<'de, V: Says> Deserialize<'de> for Short<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let rule = Rule::parse(V::VERDICT, &text).map_err(D::Error::custom)?;
        Ok(Self {
            rule,
            verdict: PhantomData,
        })
    }
}

/// Rules, not too many of them.
fn rules<'de, D: Deserializer<'de>, R: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<R>, D::Error> {
    struct Rules<R>(PhantomData<R>);

    impl<'de, R: Deserialize<'de>> Visitor<'de> for Rules<R> {
        type Value = Vec<R>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of rules")
        }

        fn visit_unit<E>(self) -> Result<Vec<R>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<R>, A::Error> {
            let mut rules = Vec::new();
            while let Some(rule) = items.next_element()? {
                rules.push(rule);
                // Checked as they come: the rest need not be compiled to be refused.
                few(rules.len(), "rules")?;
            }
            Ok(rules)
        }
    }

    deserializer.deserialize_seq(Rules(PhantomData))
}
