//! A program that was started: what it wrote so far, how far it is, and the ways to end
//! it or to type into it. What happens to it is `supervise`'s.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::Instant;
use toolsmith_process::Layers;

use super::exit::Exit;
use super::launch::Streams;
use super::output::{Capture, Excerpt, Keeper, KeptFile, Screen, View};

/// A process that was met: its number and what it calls itself.
pub(crate) type Named = (u32, String);

/// A program that was started, and everything it starts. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Process(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: u32,
    pub(super) streams: Streams,
    pub(super) layers: Option<Layers>,
    pub(super) began: Instant,
    pub(super) state: Mutex<State>,
    /// Counts what happened, for whoever waits for more of it.
    pub(super) version: watch::Sender<u64>,
    /// How long it may take to end when asked to, once somebody wants it to.
    pub(super) kill: watch::Sender<Option<Duration>>,
    /// Whether what the program leaves behind may go on.
    pub(super) leaves: bool,
    pub(super) keeper: tokio::sync::Mutex<Keeper>,
    pub(super) input: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    /// Its place among those that may run at once, until it ends.
    pub(super) slot: Mutex<Option<OwnedSemaphorePermit>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) all: Capture,
    pub(super) out: Stream,
    pub(super) err: Stream,
    pub(super) phase: Phase,
    pub(super) kept: KeptFile,
    pub(super) last_output: Option<Instant>,
}

/// One of the two outputs.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) screen: Screen,
    /// Its text, where both come separately.
    pub(super) text: Capture,
    /// How many bytes were read.
    pub(super) bytes: u64,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            screen: Screen::default(),
            text: Capture::of_part(),
            bytes: 0,
        }
    }
}

/// How far a program is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Phase {
    /// It runs.
    #[default]
    Running,
    /// It has ended, and what it started goes on.
    Left {
        exit: Option<Exit>,
        left: Vec<Named>,
    },
    /// Nothing of it runs any more, but for what could not be ended.
    Ended(Arc<Ended>),
}

/// How a program and what it started came to their end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ended {
    pub(crate) exit: Option<Exit>,
    /// How long the program itself ran.
    pub(crate) after: Duration,
    /// Whether it was ended rather than ended by itself.
    pub(crate) was_ended: bool,
    /// What ran on when the program had ended, and was ended then.
    pub(crate) left: Vec<Named>,
    pub(crate) killed: Vec<u32>,
    pub(crate) survived: Vec<u32>,
    /// What it noted of the folder it was in at its end.
    pub(crate) folder: Option<Vec<u8>>,
}

/// Which of its outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Out,
    Err,
}

/// Why a text could not be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTyped {
    /// The program takes no input, or no more of it.
    Closed,
    /// It has not read what was typed before.
    Full,
}

/// What an answer shows of a program's output.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) all: Excerpt,
    pub(crate) out: Excerpt,
    pub(crate) err: Excerpt,
    pub(crate) kept: KeptFile,
    pub(crate) out_bytes: u64,
    pub(crate) err_bytes: u64,
    pub(crate) since_output: Option<Duration>,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.0.id
    }

    pub(crate) fn streams(&self) -> Streams {
        self.0.streams
    }

    /// What it is kept in.
    pub(crate) fn sandbox(&self) -> String {
        let layers = self.0.layers.as_ref();
        layers.map_or_else(|| "none".to_owned(), ToString::to_string)
    }

    /// The layers that keep it.
    pub(crate) fn layers(&self) -> Option<&Layers> {
        self.0.layers.as_ref()
    }

    /// When it is to be over that may take so long.
    pub(crate) fn deadline(&self, limit: Duration) -> Instant {
        self.0.began + limit
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.0.state().phase.clone()
    }

    pub(crate) fn ended(&self) -> Option<Arc<Ended>> {
        match &self.0.state().phase {
            Phase::Ended(ended) => Some(Arc::clone(ended)),
            _ => None,
        }
    }

    /// Has it ended: asked first, and killed when `patience` is over. It may take a
    /// moment until it is so; what wants to know waits with [`Process::until`].
    pub(crate) fn kill(&self, patience: Duration) {
        self.0.kill.send_replace(Some(patience));
    }

    /// Lets it take another place among those that may run at once.
    pub(crate) fn take_slot(&self, slot: OwnedSemaphorePermit) {
        *lock(&self.0.slot) = Some(slot);
        // It may have ended meanwhile, and given back only the place it had before.
        if self.ended().is_some() {
            lock(&self.0.slot).take();
        }
    }

    /// Something that changes whenever it writes, or comes to the next phase.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.version.subscribe()
    }

    /// Waits until it is as far as this says.
    pub(crate) async fn until(&self, is_there: impl Fn(&Phase) -> bool) {
        let mut changes = self.changes();
        loop {
            changes.borrow_and_update();
            if is_there(&self.0.state().phase) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// How many bytes of plain text it wrote.
    pub(crate) fn written(&self) -> u64 {
        self.0.state().all.total()
    }

    /// What it wrote after a place, how many bytes of that are gone, and the line it is
    /// writing.
    pub(crate) fn since(&self, place: u64) -> (String, u64, String) {
        let state = self.0.state();
        let (text, gone) = state.all.since(place);
        let unfinished = state.out.screen.unfinished() + &state.err.screen.unfinished();
        (text, gone, unfinished)
    }

    /// Where all of its output is kept.
    pub(crate) fn kept(&self) -> KeptFile {
        self.0.state().kept.clone()
    }

    /// Types a text; none closes the input.
    pub(crate) fn type_in(&self, text: Option<&str>) -> Result<(), NotTyped> {
        let mut input = lock(&self.0.input);
        let Some(text) = text else {
            return input.take().map(drop).ok_or(NotTyped::Closed);
        };
        let sender = input.as_ref().ok_or(NotTyped::Closed)?;
        sender
            .try_send(text.as_bytes().to_vec())
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => NotTyped::Full,
                mpsc::error::TrySendError::Closed(_) => NotTyped::Closed,
            })
    }

    /// What an answer shows of it. Where that leaves something out, all of it is kept.
    pub(crate) async fn shown(&self, view: View) -> Shown {
        let mut keeper = self.0.keeper.lock().await;
        let writing = {
            let state = self.0.state();
            let leaves_out = Excerpt::of(&state.all, view).omitted > 0;
            let is_over = matches!(state.phase, Phase::Ended(_));
            match is_over {
                true => keeper.last(&state.all, leaves_out),
                false => None,
            }
        };
        if let Some(writing) = writing {
            super::supervise::write(&mut keeper, writing).await;
        }
        let mut state = self.0.state();
        state.kept = keeper.kept().clone();
        // Two texts that are shown beside a third one share its room.
        let half = View {
            characters: view.characters / 2,
            ..view
        };
        Shown {
            all: Excerpt::of(&state.all, view),
            out: Excerpt::of(&state.out.text, half),
            err: Excerpt::of(&state.err.text, half),
            kept: state.kept.clone(),
            out_bytes: state.out.bytes,
            err_bytes: state.err.bytes,
            since_output: state.last_output.map(|last| last.elapsed()),
        }
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Notes that something happened.
    pub(super) fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// Comes to the next phase.
    pub(super) fn enter(&self, phase: Phase) {
        let is_over = matches!(phase, Phase::Ended(_));
        self.state().phase = phase;
        if is_over {
            // Nobody types any more, and another may have its place.
            lock(&self.input).take();
            lock(&self.slot).take();
        }
        self.changed();
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
