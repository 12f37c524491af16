//! Plays a tape: tools that answer as those did that were recorded.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::io::BufRead;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::json;
use toolsmith_core::outcome::Facts;
use toolsmith_core::store::{Spill, SpillError, SpillStore, Spilled};
use toolsmith_core::{AnyTool, Arguments, Plan, ToolError, ToolName};

use super::form::{CallLine, Line, PlanLine, ReplyLine, ToolLine};
use super::key::{canonical, digest, hushed_arguments};
use super::read::{self, TapeError};
use super::tool::Played;
use crate::shape::Redactor;

/// How many recorded calls are compared to name the nearest.
const MOST_COMPARED: usize = 1000;
/// How many of them are named.
const NEAREST: usize = 3;
/// How much of the arguments of one is shown.
const SHOWN: usize = 200;

/// Which recorded call answers one that is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayOrder {
    /// The next one of the same tool with equal arguments: what was recorded once answers
    /// once.
    #[default]
    Next,
    /// The next one of the whole tape, which must be of the same tool with equal
    /// arguments.
    Strict,
    /// As `Next`, but the last answer stays: calls can be repeated as often as wanted.
    Arguments,
}

/// A tape that is played. A toolbox is given one by
/// [`ToolboxBuilder::replaying`](crate::ToolboxBuilder::replaying).
pub struct Replay {
    order: ReplayOrder,
    tools: Vec<ToolLine>,
    plans: HashMap<Key, PlanLine>,
    calls: Vec<CallLine>,
    /// By call, where those stand that are equal to it.
    places: HashMap<Key, Vec<usize>>,
    notes: Vec<String>,
    played: Mutex<Playing>,
    redactor: OnceLock<Arc<Redactor>>,
}

/// A tool, and its arguments in a form that is the same for equal ones.
type Key = (ToolName, String);

/// How far it was played.
#[derive(Default)]
struct Playing {
    /// How many calls were answered, of all and by call.
    all: usize,
    each: HashMap<Key, usize>,
    replies: HashMap<(String, String), VecDeque<ReplyLine>>,
}

impl Replay {
    /// Reads a tape.
    pub fn read(source: impl BufRead, order: ReplayOrder) -> Result<Arc<Self>, TapeError> {
        let (lines, notes) = read::read(source)?;
        let mut replay = Self {
            order,
            tools: Vec::new(),
            plans: HashMap::new(),
            calls: Vec::new(),
            places: HashMap::new(),
            notes,
            played: Mutex::default(),
            redactor: OnceLock::new(),
        };
        let mut playing = Playing::default();
        let mut known = HashMap::new();
        for line in lines {
            match line {
                Line::Tool(tool) => replay.take(*tool, &mut known),
                Line::Plan(plan) => {
                    let key = (plan.tool.clone(), canonical(&plan.arguments));
                    replay.plans.insert(key, *plan);
                }
                Line::Call(call) => {
                    let key = (call.tool.clone(), canonical(&call.arguments));
                    replay
                        .places
                        .entry(key)
                        .or_default()
                        .push(replay.calls.len());
                    replay.calls.push(*call);
                }
                Line::Reply(reply) => {
                    let key = (reply.call.clone(), reply.name.clone());
                    playing.replies.entry(key).or_default().push_back(reply);
                }
                Line::Incomplete(_) => {}
            }
        }
        // As they stood: what was registered comes before files, and those before sources.
        replay.tools.sort_by_key(|tool| tool.rank);
        replay.played = Mutex::new(playing);
        Ok(Arc::new(replay))
    }

    /// What is to be said of the tape: that its last line was torn, or that something is
    /// missing.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many calls it holds.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Tells whether it holds no call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Its tools by where they came from, in order.
    pub(crate) fn tools(self: &Arc<Self>) -> Vec<(String, Vec<AnyTool>)> {
        let mut sources: Vec<(String, Vec<AnyTool>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for line in &self.tools {
            let tool = AnyTool::new(Played::new(line, Arc::clone(self)));
            let at = *places.entry(&line.origin).or_insert_with(|| {
                sources.push((line.origin.clone(), Vec::new()));
                sources.len() - 1
            });
            sources[at].1.push(tool);
        }
        sources
    }

    /// Sets what takes secrets out of what is compared with the tape.
    pub(crate) fn redact_with(&self, redactor: &Arc<Redactor>) {
        let _ = self.redactor.set(Arc::clone(redactor));
    }

    /// What a call would do. A call that was never planned is told about when it is made.
    pub(super) fn plan(&self, tool: &ToolName, arguments: &Arguments) -> Result<Plan, ToolError> {
        match self.plans.get(&self.key(tool, arguments)) {
            Some(PlanLine {
                error: Some(error), ..
            }) => Err(error.clone()),
            Some(line) => Ok(line.plan.clone().unwrap_or_default()),
            None => Ok(Plan::default()),
        }
    }

    /// What was recorded of a call, or why nothing was.
    pub(super) fn answer(
        &self,
        tool: &ToolName,
        arguments: &Arguments,
    ) -> Result<CallLine, ToolError> {
        let key = self.key(tool, arguments);
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let at = if self.order == ReplayOrder::Strict {
            self.next_of_all(&key, played.all)?
        } else {
            self.next_equal(&key, *played.each.get(&key).unwrap_or(&0))?
        };
        played.all += 1;
        *played.each.entry(key).or_default() += 1;
        Ok(self.calls[at].clone())
    }

    /// Puts into a reply what depended on the run.
    pub(crate) fn restore(&self, facts: &mut Facts) {
        let name = facts.tool.as_ref().map(ToString::to_string);
        let name = facts.called_as.clone().or(name).unwrap_or_default();
        let call = facts.call_id.as_ref().map(ToString::to_string);
        let key = (call.unwrap_or_default(), name);
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(replies) = played.replies.get_mut(&key) else {
            return;
        };
        let reply = match replies.len() {
            0 | 1 => replies.front().cloned(),
            _ => replies.pop_front(),
        };
        if let Some(reply) = reply {
            facts.duration = Some(Duration::from_micros(reply.duration_us));
            facts.cached = reply.cached_us.map(Duration::from_micros);
            facts.attempts = reply.attempts;
        }
    }

    fn next_equal(&self, key: &Key, answered: usize) -> Result<usize, ToolError> {
        let Some(places) = self.places.get(key) else {
            return Err(self.unknown(key));
        };
        let last = places.len() - 1;
        match places.get(answered) {
            Some(at) => Ok(*at),
            None if self.order == ReplayOrder::Arguments => Ok(places[last]),
            None => {
                let (tool, digest) = (&key.0, digest(&key.1));
                let times = places.len();
                Err(ToolError::failed(format!(
                    "`{tool}` was recorded {times} times with these arguments ({digest}), and this is one more; record it again, or replay with the order `arguments`"
                )))
            }
        }
    }

    fn next_of_all(&self, key: &Key, answered: usize) -> Result<usize, ToolError> {
        let Some(next) = self.calls.get(answered) else {
            return Err(ToolError::failed(format!(
                "all {} recorded calls were made, and `{}` is one more; record it again",
                self.calls.len(),
                key.0
            )));
        };
        if (&next.tool, canonical(&next.arguments)) == (&key.0, key.1.clone()) {
            return Ok(answered);
        }
        let (tool, digest) = (&key.0, digest(&key.1));
        let nth = answered + 1;
        Err(ToolError::failed(format!(
            "call {nth} of the tape is `{}`, and this is `{tool}` ({digest}) with other arguments or in another place; make the calls in their order, or replay with another",
            next.tool
        ))
        .with_details(json!({ "recorded": next.arguments })))
    }

    /// No such call was recorded: which ones were, and what to do.
    fn unknown(&self, (tool, arguments): &Key) -> ToolError {
        let of_tool = self.places.keys().filter(|(name, _)| name == tool);
        let mut others: Vec<(f64, &str)> = of_tool
            .take(MOST_COMPARED)
            .map(|(_, other)| {
                (
                    strsim::sorensen_dice(near(arguments), near(other)),
                    other.as_str(),
                )
            })
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let nearest: Vec<&str> = others
            .iter()
            .take(NEAREST)
            .map(|(_, it)| near(it))
            .collect();
        let digest = digest(arguments);
        let what = match nearest.as_slice() {
            [] => "it was never called".to_owned(),
            nearest => format!("the nearest recorded are {}", nearest.join(" and ")),
        };
        ToolError::failed(format!(
            "`{tool}` was not recorded with these arguments ({digest}): {what}; record the call with --record FILE, or make one that was recorded"
        ))
        .with_details(json!({ "tool": tool, "digest": digest, "nearest": nearest }))
    }

    fn key(&self, tool: &ToolName, arguments: &Arguments) -> Key {
        let redactor = self.redactor.get_or_init(Arc::default);
        (
            tool.clone(),
            canonical(&hushed_arguments(arguments, redactor)),
        )
    }

    /// A tool that was handed out again counts as it was last, where it first stood.
    fn take(&mut self, fresh: ToolLine, known: &mut HashMap<(String, ToolName), usize>) {
        let key = (fresh.origin.clone(), fresh.definition.name.clone());
        match known.get(&key) {
            Some(at) => self.tools[*at] = fresh,
            None => {
                known.insert(key, self.tools.len());
                self.tools.push(fresh);
            }
        }
    }

    /// Where the whole of an output was put when it was recorded.
    fn spilled(&self, call: &str, tool: &str) -> Option<Spilled> {
        let played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut replies = played.replies.iter();
        let is_of = |name: &str| name == tool || name.ends_with(tool);
        let found = replies.find(|((id, name), _)| id == call && is_of(name));
        found.and_then(|(_, replies)| replies.front()?.spill.clone())
    }
}

fn near(arguments: &str) -> &str {
    &arguments[..arguments.floor_char_boundary(SHOWN)]
}

/// Says of large outputs that they are where they were when they were recorded; those the
/// tape does not know go to the host's own store.
pub(crate) struct Spills {
    pub(crate) replay: Arc<Replay>,
    pub(crate) store: Option<Arc<dyn SpillStore>>,
}

impl SpillStore for Spills {
    fn keep<'a>(
        &'a self,
        spill: Spill<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Spilled, SpillError>> + Send + 'a>> {
        Box::pin(async move {
            if let Some(spilled) = self
                .replay
                .spilled(spill.call.as_str(), spill.tool.as_str())
            {
                return Ok(spilled);
            }
            match &self.store {
                Some(store) => store.keep(spill).await,
                None => Err(SpillError("there is no place for it".to_owned())),
            }
        })
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replay of {} calls", self.calls.len())
    }
}
