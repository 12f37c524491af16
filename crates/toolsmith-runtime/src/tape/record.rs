//! Writes a tape, line by line, while calls are made.
//!
//! Every line is handed over whole. When one cannot be written, that is told once, calls go
//! on, and the tape says that something is missing.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolsmith_core::event::{Event, RecordError, Recorder, What};
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::{Arguments, Block, Outcome, Plan, ToolDef, ToolError, json};

use super::form::{
    CallLine, Header, Incomplete, Line, PlanLine, ReplyLine, Told, ToolLine, VERSION,
};
use super::key::{hushed, hushed_arguments, hushed_fields};
use super::{MAX_LINE, MAX_TAPE};
use crate::registry::{Entry, Origin};
use crate::shape::{Redactor, hushed_definition, shown_plan};

/// How many things a call says are kept, and how many bytes of them; what is more is left
/// out, and the tape says so.
const MAX_UPDATES: usize = 10_000;
const MAX_UPDATE_BYTES: usize = 4 << 20;

/// Who is told when a line cannot be written.
type Teller = Box<dyn Fn(&str) + Send + Sync>;

/// A tape that is being recorded. A toolbox is given one by
/// [`ToolboxBuilder::recording`](crate::ToolboxBuilder::recording).
pub struct Recording {
    out: Mutex<Out>,
    redactor: OnceLock<Arc<Redactor>>,
    /// What calls under way have said so far.
    updates: Mutex<HashMap<String, Said>>,
    /// Tools that were noted, as they were.
    tools: Mutex<HashSet<[u8; 32]>>,
    tell: Teller,
}

#[derive(Default)]
struct Said {
    told: Vec<Told>,
    bytes: usize,
}

struct Out {
    writer: Box<dyn Write + Send>,
    written: u64,
    /// Why something is missing.
    fault: Option<String>,
    /// Whether the tape could be told so.
    is_told: bool,
}

impl Recording {
    /// Begins a tape: its first line is written at once. `tell` is told once, when a line
    /// could not be written. Each line comes in one call of `write`, which should write all
    /// of it or nothing.
    pub fn begin(
        writer: impl Write + Send + 'static,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Arc<Self>> {
        let mut out = Out {
            writer: Box::new(writer),
            written: 0,
            fault: None,
            is_told: false,
        };
        let header = Header {
            toolsmith_tape: VERSION,
        };
        out.write(&serde_json::to_string(&header)?)?;
        Ok(Arc::new(Self {
            out: Mutex::new(out),
            redactor: OnceLock::new(),
            updates: Mutex::default(),
            tools: Mutex::default(),
            tell: Box::new(tell),
        }))
    }

    /// Why something is missing from the tape, if something is.
    pub fn fault(&self) -> Option<String> {
        locked(&self.out).fault.clone()
    }

    /// Sets what takes secrets out.
    pub(crate) fn redact_with(&self, redactor: &Arc<Redactor>) {
        // A tape that was given to two toolboxes keeps the first.
        let _ = self.redactor.set(Arc::clone(redactor));
    }

    /// Notes a tool that was registered.
    pub(crate) fn registered(&self, entry: &Entry) {
        let rank = match entry.origin {
            Origin::Direct => 0,
            Origin::File(_) => 1,
            Origin::Source(_) => 2,
        };
        let line = ToolLine {
            origin: entry.origin.to_string(),
            rank,
            definition: hushed_definition(&entry.definition, &self.redactor()),
            binding: entry.tool.binding(),
        };
        let Ok(text) = serde_json::to_string(&line) else {
            return;
        };
        let digest: [u8; 32] = Sha256::digest(text).into();
        if locked(&self.tools).insert(digest) {
            self.note(&Line::Tool(Box::new(line)));
        }
    }

    /// Notes what a tool said a call would do.
    pub(crate) fn planned(
        &self,
        tool: &ToolDef,
        arguments: &Arguments,
        plan: Result<&Plan, &ToolError>,
    ) {
        let redactor = self.redactor();
        self.note(&Line::Plan(Box::new(PlanLine {
            tool: tool.name.clone(),
            arguments: hushed_arguments(arguments, &redactor),
            plan: plan
                .ok()
                .map(|plan| shown_plan(plan, &redactor).into_owned()),
            error: plan.err().map(|error| hushed_error(error, &redactor)),
        })));
    }

    /// Notes what came of a call that reached a tool.
    pub(crate) fn exchanged(
        &self,
        call: &str,
        entry: &Entry,
        arguments: &Arguments,
        outcome: &Outcome,
        ran: Duration,
    ) {
        let redactor = self.redactor();
        let said = locked(&self.updates).remove(call).unwrap_or_default();
        let name = &entry.definition.name;
        let Some(outcome) = hushed_outcome(outcome, &redactor) else {
            let why = format!("what `{name}` answered nests too deep to be kept");
            return self.lack(&why);
        };
        let line = CallLine {
            origin: entry.origin.to_string(),
            tool: name.clone(),
            arguments: hushed_arguments(arguments, &redactor),
            updates: said.told,
            outcome: outcome.into(),
            ran_us: micros(ran),
        };
        self.note(&Line::Call(Box::new(line)));
    }

    fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(self.redactor.get_or_init(Arc::default))
    }

    fn note(&self, line: &Line) {
        match serde_json::to_string(line) {
            Ok(text) if text.len() < MAX_LINE => self.write(&text),
            Ok(text) => {
                let kept = format!(
                    "a line of {} bytes is longer than the {MAX_LINE} that are kept",
                    text.len()
                );
                self.lack(&kept);
            }
            Err(error) => self.lack(&format!("a line cannot be written as JSON: {error}")),
        }
    }

    /// Says on the tape and to the host that something is missing.
    fn lack(&self, why: &str) {
        let mut out = locked(&self.out);
        let is_first = out.fault.is_none();
        out.lack(why);
        drop(out);
        if is_first {
            (self.tell)(why);
        }
    }

    fn write(&self, text: &str) {
        let mut out = locked(&self.out);
        let fits = out.written + (text.len() as u64) < MAX_TAPE;
        let written = match fits {
            true => out.write(text).map_err(|error| error.to_string()),
            false => Err(format!(
                "it has {MAX_TAPE} bytes, which is all that is kept"
            )),
        };
        drop(out);
        if let Err(why) = written {
            self.lack(&why);
        }
    }
}

impl Out {
    fn write(&mut self, text: &str) -> io::Result<()> {
        let line = format!("{text}\n");
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()?;
        self.written += line.len() as u64;
        Ok(())
    }

    /// Notes what is missing; on the tape once, as soon as it can be written.
    fn lack(&mut self, why: &str) {
        let reason = self.fault.get_or_insert_with(|| why.to_owned()).clone();
        let line = Line::Incomplete(Incomplete { reason });
        if let (false, Ok(text)) = (self.is_told, serde_json::to_string(&line)) {
            self.is_told = self.write(&text).is_ok();
        }
    }
}

impl Recorder for Recording {
    /// Gathers what calls say while they run, and what of their replies depends on the run.
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let Some(call) = event.call else {
            return Ok(());
        };
        let (told, bytes) = match &event.what {
            What::Progress { progress } => {
                let bytes = progress.message.as_ref().map_or(0, String::len);
                (Told::Progress((*progress).clone()), bytes)
            }
            What::Output { text } => (Told::Output((*text).to_owned()), text.len()),
            What::Logged { entry } => {
                let logger = entry.logger.as_ref().map_or(0, String::len);
                let bytes = logger + json::size(&entry.message);
                (Told::Log((*entry).clone()), bytes)
            }
            What::Replied { outcome, .. } => {
                // What a call that never ran has said is nobody's.
                locked(&self.updates).remove(call.as_str());
                let Some(facts) = outcome.map(|outcome| &outcome.facts) else {
                    return Ok(());
                };
                let name = facts.tool.as_ref().map(ToString::to_string);
                self.note(&Line::Reply(ReplyLine {
                    call: call.as_str().to_owned(),
                    name: facts.called_as.clone().or(name).unwrap_or_default(),
                    duration_us: micros(facts.duration.unwrap_or_default()),
                    cached_us: facts.cached.map(micros),
                    attempts: facts.attempts,
                    spill: facts.spill.clone(),
                }));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let mut updates = locked(&self.updates);
        let said = updates.entry(call.as_str().to_owned()).or_default();
        let bytes = said.bytes + bytes;
        if said.told.len() < MAX_UPDATES && bytes <= MAX_UPDATE_BYTES {
            said.told.push(told);
            said.bytes = bytes;
            return Ok(());
        }
        drop(updates);
        self.lack(&format!(
            "a call said more than {MAX_UPDATES} things, or {MAX_UPDATE_BYTES} bytes"
        ));
        Ok(())
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = locked(&self.out);
        write!(f, "Recording of {} bytes", out.written)
    }
}

fn hushed_error(error: &ToolError, redactor: &Redactor) -> ToolError {
    let mut hushed_error = ToolError::new(error.kind, redactor.clean(&error.message));
    hushed_error.retryable = error.retryable;
    let details = error.details.as_ref();
    hushed_error.details = details.map(|details| hushed(details, redactor));
    match error.retry_after() {
        Some(wait) => hushed_error.with_retry_after(wait),
        None => hushed_error,
    }
}

/// The outcome without secrets; none where it nests too deep to be read again.
fn hushed_outcome(outcome: &Outcome, redactor: &Redactor) -> Option<Outcome> {
    // The line itself takes some levels.
    let is_deep = |value: &Value| json::depth_exceeds(value, json::MAX_DEPTH - 8);
    let details = outcome
        .error
        .as_ref()
        .and_then(|error| error.details.as_ref());
    let mut values = outcome
        .metadata
        .values()
        .chain(&outcome.value)
        .chain(details);
    if values.any(is_deep) {
        return None;
    }
    let text = |text: &String| redactor.clean(text).into_owned();
    let mut kept = Outcome::default();
    kept.value = outcome.value.as_ref().map(|value| hushed(value, redactor));
    kept.content = hushed_blocks(&outcome.content, redactor);
    kept.display = outcome.display.as_ref().map(text);
    kept.message = outcome.message.as_ref().map(text);
    kept.instruction = outcome.instruction.as_ref().map(text);
    kept.error = outcome
        .error
        .as_ref()
        .map(|error| hushed_error(error, redactor));
    kept.metadata = hushed_fields(&outcome.metadata, redactor);
    kept.room = outcome.room;
    kept.facts.omitted_bytes = outcome.facts.omitted_bytes;
    Some(kept)
}

fn hushed_blocks(blocks: &[Block], redactor: &Redactor) -> Vec<Block> {
    let hush = |text: &mut String| *text = redactor.clean(text).into_owned();
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        match block {
            Block::Text { text } => hush(text),
            Block::Resource { uri, content, .. } => {
                hush(uri);
                if let ResourceContent::Text(text) = content {
                    hush(text);
                }
            }
            Block::Link {
                uri,
                name,
                description,
                ..
            } => [uri, name].into_iter().chain(description).for_each(hush),
            // Bytes in Base64 are no text that could be read.
            _ => {}
        }
    }
    blocks
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// What is locked is assigned at once, so one that was poisoned is as good as new.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
