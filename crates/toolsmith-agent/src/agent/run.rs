//! One run of an agent: turn after turn, within its limits.
//!
//! Whatever happens, the conversation stays one that can be gone on with: an answer is in
//! it whole or not at all, and each of its calls has a result.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;
use toolsmith_core::{ErrorKind, Offer};
use toolsmith_provider::{Answer, ParseError, Stop, Usage, Way};
use toolsmith_runtime::Caller;

use super::Agent;
use crate::budget::Context;
use crate::calls::{Called, Calls};
use crate::conversation::{Conversation, Entry, JournalError, KeptAnswer};
use crate::event::AgentEvent;
use crate::limits::Limit;
use crate::repeats::Repeats;
use crate::report::{End, Report};
use crate::turn::{Counterpart, DeclareError, TurnError};

/// How long is waited before an answer that broke off is asked for again, the first time.
const FIRST_WAIT: Duration = Duration::from_millis(500);

pub(super) struct Run<'a> {
    agent: &'a Agent,
    caller: Caller,
    began: Instant,
    turns: u32,
    calls: u32,
    failed: u32,
    usage: Usage,
    /// What that costs, as far as prices are known.
    cost: f64,
    misfits: u32,
    repeats: Arc<Mutex<Repeats>>,
    context: Context,
    /// What the model said last in this run.
    text: String,
}

/// What follows a turn.
enum Next {
    Turn,
    End(End),
}

impl<'a> Run<'a> {
    pub(super) fn new(agent: &'a Agent, caller: &Caller) -> Self {
        // A token of its own: the end of the run, or of its time, ends what it has begun, and
        // not the caller.
        let token = caller.cancellation().child_token();
        Self {
            agent,
            caller: caller.clone().with_cancellation(token),
            began: Instant::now(),
            turns: 0,
            calls: 0,
            failed: 0,
            usage: Usage::default(),
            cost: 0.0,
            misfits: 0,
            repeats: Arc::default(),
            context: Context::default(),
            text: String::new(),
        }
    }

    /// Goes on until there is an answer.
    pub(super) async fn answer(
        &mut self,
        conversation: &mut Conversation,
        prompt: Option<&str>,
    ) -> End {
        let begun = conversation.settle().and_then(|_| match prompt {
            Some(prompt) => conversation.say(prompt),
            None => Ok(()),
        });
        if let Err(error) = begun {
            return not_kept(&error);
        }
        if !conversation.awaits_the_model() {
            return End::failed(ErrorKind::InvalidParameters, "there is nothing to answer");
        }
        let agent = self.agent;
        let offer = match self.caller.offer() {
            Some(offer) => Arc::clone(offer),
            None => Arc::new(agent.toolbox.offer(&agent.selection)),
        };
        self.caller = self.caller.clone().with_offer(Arc::clone(&offer));
        let instructions = agent.instructions.as_deref();
        let counterpart = Counterpart::new(
            &*agent.client,
            &*agent.formatter,
            &offer,
            instructions,
            &agent.settings,
        );
        let mut counterpart = match counterpart {
            Ok(counterpart) => counterpart,
            Err(error) => return not_declared(&error),
        };
        loop {
            if let Some(limit) = self.limit() {
                return End::Limit(limit);
            }
            match self.turn(conversation, &mut counterpart, &offer).await {
                Next::Turn => {}
                Next::End(end) => return end,
            }
        }
    }

    /// The limit that was reached before the next turn, if one was.
    fn limit(&self) -> Option<Limit> {
        let limits = &self.agent.limits;
        let is_reached = |limit: Option<u64>| limit.is_some_and(|most| self.usage.total() >= most);
        if self.turns >= limits.turns {
            Some(Limit::Turns)
        } else if self.is_late() {
            Some(Limit::Time)
        } else if is_reached(limits.tokens) {
            Some(Limit::Tokens)
        } else if limits.price.is_some() && limits.cost.is_some_and(|most| self.cost >= most) {
            Some(Limit::Cost)
        } else {
            None
        }
    }

    fn is_late(&self) -> bool {
        self.deadline()
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn deadline(&self) -> Option<Instant> {
        let time = self.agent.limits.time?;
        // What cannot be told will not come.
        self.began.checked_add(time)
    }

    /// Counts what was read and written, and what that costs.
    fn spend(&mut self, usage: &Usage, cost: Option<f64>) {
        self.usage.add(usage);
        self.cost += cost.unwrap_or_default();
    }

    /// One turn: the model answers, and its calls are made.
    async fn turn(
        &mut self,
        conversation: &mut Conversation,
        counterpart: &mut Counterpart<'_>,
        offer: &Arc<Offer>,
    ) -> Next {
        let answer = match self.ask(conversation, counterpart).await {
            Ok(answer) => answer,
            Err(end) => return Next::End(end),
        };
        self.turns += 1;
        let most = self.agent.limits.calls_per_turn;
        let made = answer.calls.len();
        let answer = match made > most {
            // Told again without the others: they would fill the conversation, and so would
            // their results.
            true => {
                let calls = &answer.raw_calls()[..most];
                let mut told = counterpart.declared.retell(&answer.text, calls);
                told.reasoning = answer.reasoning;
                told.usage = answer.usage;
                told
            }
            false => answer,
        };
        let client = &self.agent.client;
        let kept = KeptAnswer::of(&answer, client.provider(), client.model());
        if let Err(error) = conversation.answered(kept) {
            return Next::End(not_kept(&error));
        }
        self.text.clone_from(&answer.text);
        if answer.calls.is_empty() {
            return Next::End(match answer.stop {
                Stop::Length => End::CutOff,
                Stop::Refused => End::Refused,
                _ => End::Answered,
            });
        }
        let called = self.call(conversation, &answer, offer).await;
        let next = self.judge(&called);
        if let (Next::Turn, true) = (&next, made > most) {
            let told = conversation.say(format!(
                "[Of the {made} calls of your last turn only the first {most} were made, which is as \
                 many as one turn may make. Make the others in turns to come, if they are needed.]"
            ));
            if let Err(error) = told {
                return Next::End(not_kept(&error));
            }
        }
        next
    }

    /// Asks the model until it has answered something that can be used.
    async fn ask(
        &mut self,
        conversation: &Conversation,
        counterpart: &mut Counterpart<'_>,
    ) -> Result<Answer, End> {
        let agent = self.agent;
        let observer = &*agent.observer;
        let mut chances = agent.limits.second_chances;
        let mut wait = FIRST_WAIT;
        let mut has_fallen_back = false;
        loop {
            let store = agent.store.as_ref();
            let (beside, most) = (counterpart.overhead(), agent.limits.context_bytes);
            let fitted = self.context.fit(conversation, beside, most, store).await;
            match fitted {
                Ok(0) => {}
                Ok(results) => observer.observe(&AgentEvent::Shortened { results }),
                Err(_) => return Err(End::Limit(Limit::Context)),
            }
            let request = counterpart.request(conversation, &self.context);
            observer.observe(&AgentEvent::Turn {
                number: self.turns + 1,
                way: counterpart.way,
            });
            let cancellation = self.caller.cancellation().clone();
            let asked = counterpart.ask(request, observer, self.deadline(), &cancellation);
            let asked = asked.await;
            if let Ok(answer) = &asked {
                let price = agent.limits.price;
                self.spend(&answer.usage, price.map(|price| price.of(&answer.usage)));
            }
            let (reason, end) = match asked {
                Err(TurnError::Parse(refusal))
                    if refusal.refuses_tools()
                        && counterpart.way == Way::Native
                        && !has_fallen_back =>
                {
                    // Once: a host's own formatter may know no other way.
                    has_fallen_back = true;
                    counterpart
                        .fall_back()
                        .map_err(|error| not_declared(&error))?;
                    let reason = &refusal.to_string();
                    observer.observe(&AgentEvent::FellBack { reason });
                    continue;
                }
                Ok(answer) => match unusable(&answer) {
                    None => return Ok(answer),
                    Some(why) => why,
                },
                Err(TurnError::Parse(error)) => {
                    let reason = error.to_string();
                    let end = End::failed(ErrorKind::Failed, &reason);
                    if !is_passing(&error) {
                        return Err(end);
                    }
                    (reason, end)
                }
                // The client has tried again already, as far as that makes sense.
                Err(TurnError::Model(error)) => return Err(End::failed(error.kind, error)),
                Err(TurnError::OutOfTime) => return Err(End::Limit(Limit::Time)),
                Err(TurnError::Cancelled) => return Err(End::Cancelled),
            };
            if chances == 0 {
                return Err(end);
            }
            chances -= 1;
            observer.observe(&AgentEvent::Again { reason: &reason });
            tokio::select! {
                () = cancellation.cancelled() => return Err(End::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
            wait *= 2;
            if let Some(limit @ (Limit::Time | Limit::Tokens | Limit::Cost)) = self.limit() {
                return Err(End::Limit(limit));
            }
        }
    }

    /// Makes the calls of an answer, and adds what came of them.
    async fn call(
        &mut self,
        conversation: &mut Conversation,
        answer: &Answer,
        offer: &Arc<Offer>,
    ) -> Called {
        let mut called = self.make(conversation, answer, offer).await;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.calls = self.calls.saturating_add(count(called.outcomes.len()));
        self.failed = self.failed.saturating_add(count(called.failed()));
        self.spend(&called.usage, Some(called.cost));
        self.misfits = match called.none_fits() {
            true => self.misfits + 1,
            false => 0,
        };
        conversation.results(std::mem::take(&mut called.outcomes));
        called
    }

    /// Makes the calls of an answer, as long as there is time.
    async fn make(
        &self,
        conversation: &Conversation,
        answer: &Answer,
        offer: &Arc<Offer>,
    ) -> Called {
        let calls = Calls {
            toolbox: &self.agent.toolbox,
            caller: &self.caller,
            offer,
            observer: &self.agent.observer,
            journal: conversation.journal(),
            price: self.agent.limits.price,
        };
        let making = calls.make(answer, &self.repeats);
        tokio::pin!(making);
        let Some(deadline) = self.deadline() else {
            return making.await;
        };
        tokio::select! {
            biased;
            called = &mut making => called,
            () = tokio::time::sleep_until(deadline) => {
                // They end within their grace, each with a result.
                self.caller.cancellation().cancel();
                making.await
            }
        }
    }

    /// Whether it goes on after the calls of a turn.
    fn judge(&self, called: &Called) -> Next {
        let limits = &self.agent.limits;
        if let Some(fault) = &called.fault {
            return Next::End(not_kept(fault));
        }
        if self.caller.cancellation().is_cancelled() {
            return Next::End(match self.is_late() {
                true => End::Limit(Limit::Time),
                false => End::Cancelled,
            });
        }
        if self.misfits > limits.corrections {
            return Next::End(End::Limit(Limit::Corrections));
        }
        if called.repeated >= limits.repeats {
            return Next::End(End::Limit(Limit::Repeats));
        }
        Next::Turn
    }

    /// Tells how it went, whoever wants to know.
    pub(super) fn report(mut self, conversation: &Conversation, mut end: End) -> Report {
        let entry = Entry::Ended {
            reason: end.word().to_owned(),
            message: end.to_string(),
        };
        // What could not be kept before cannot be kept now, and was told.
        if let (Err(error), End::Answered) = (conversation.ended(&entry), &end) {
            end = not_kept(&error);
        }
        let price = self.agent.limits.price;
        let report = Report {
            text: std::mem::take(&mut self.text),
            end,
            turns: self.turns,
            calls: self.calls,
            failed: self.failed,
            usage: self.usage,
            cost: price.map(|_| self.cost),
            took: self.began.elapsed(),
        };
        self.agent.observer.observe(&AgentEvent::Ended(&report));
        report
    }
}

impl Drop for Run<'_> {
    /// What it gave to others in the background ends with it, however it ends: nobody is left
    /// to whom it would count.
    fn drop(&mut self) {
        self.caller.cancellation().cancel();
    }
}

/// Why an answer cannot be gone on with, and how the run ends if it stays so.
fn unusable(answer: &Answer) -> Option<(String, End)> {
    if answer.stop == Stop::Broken {
        let reason = "the answer broke off before its end";
        return Some((reason.to_owned(), End::failed(ErrorKind::Network, reason)));
    }
    if let Stop::Other(word) = &answer.stop
        && answer.calls.is_empty()
        && word.to_ascii_lowercase().starts_with("malformed")
    {
        let reason = format!("its provider could not read a call of the model ({word})");
        return Some((reason.clone(), End::failed(ErrorKind::Failed, reason)));
    }
    let is_silent = answer.calls.is_empty() && answer.text.trim().is_empty();
    if is_silent && matches!(answer.stop, Stop::Done | Stop::Other(_)) {
        return Some(("the model said nothing".to_owned(), End::Silent));
    }
    None
}

/// Whether asking again may bring something better.
fn is_passing(error: &ParseError) -> bool {
    let ParseError::Provider(error) = error else {
        // Garbage; perhaps of something that stands in between.
        return true;
    };
    let passes = |word: &Option<String>| {
        let word = word.as_deref().unwrap_or_default().to_ascii_lowercase();
        [
            "overloaded",
            "server_error",
            "rate_limit",
            "unavailable",
            "timeout",
            "internal",
        ]
        .iter()
        .any(|sign| word.contains(sign))
    };
    passes(&error.kind) || passes(&error.code)
}

fn not_kept(error: &JournalError) -> End {
    End::failed(ErrorKind::Internal, error)
}

fn not_declared(error: &DeclareError) -> End {
    End::failed(ErrorKind::Failed, error)
}
