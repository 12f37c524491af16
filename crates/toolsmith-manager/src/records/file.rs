//! The recorder that writes records to files.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use toolsmith_core::event::{Event, RecordError, Recorder};
use toolsmith_core::moment::Moment;
use toolsmith_core::record::{CallRecord, Wanted};

use super::MOST_LINE;
use super::append::Appender;
use super::place::RecordPlace;

/// What most lines fit in.
const USUAL_LINE: usize = 1 << 10;

/// How records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordTerms {
    /// Whether they are kept at all.
    pub enabled: bool,
    /// How large a file may grow before another is begun.
    pub bytes: u64,
    /// How many files are kept, the one that is written to included; at least two.
    pub files: usize,
    /// How many bytes of the arguments are kept, and as many of the result; none for 0.
    pub text_bytes: usize,
}

impl Default for RecordTerms {
    fn default() -> Self {
        Self {
            enabled: true,
            bytes: 10 << 20,
            files: 5,
            text_bytes: 2 << 10,
        }
    }
}

/// Writes the record of each call to a file. Cheap to clone; clones write to the same one.
///
/// A record is written before its call is answered, with one write and without waiting for
/// the disk: it survives the end of the program, not that of the machine. Where it cannot
/// be written the call goes on; that is told once, and again after it went well meanwhile.
#[derive(Clone)]
pub struct RecordFile {
    inner: Arc<Inner>,
}

struct Inner {
    place: RecordPlace,
    now: fn() -> SystemTime,
    terms: ArcSwap<RecordTerms>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    appender: Appender,
    lost: u64,
    is_failing: bool,
}

impl RecordFile {
    /// Writes to this place, by this clock. Nothing is made before the first record.
    pub fn new(place: RecordPlace, now: fn() -> SystemTime) -> Self {
        Self {
            inner: Arc::new(Inner {
                place,
                now,
                terms: ArcSwap::from_pointee(RecordTerms::default()),
                state: Mutex::default(),
            }),
        }
    }

    /// Sets how records are kept from now on.
    pub fn set_terms(&self, terms: RecordTerms) {
        let mut terms = terms;
        // Whatever is asked for, a line stays within its bound.
        terms.text_bytes = terms.text_bytes.min(MOST_LINE / 8);
        self.inner.terms.store(Arc::new(terms));
    }

    /// The same with other terms.
    #[must_use]
    pub fn with_terms(self, terms: RecordTerms) -> Self {
        self.set_terms(terms);
        self
    }

    /// Where records are written to.
    pub fn place(&self) -> &RecordPlace {
        &self.inner.place
    }

    /// How many records could not be written.
    pub fn lost(&self) -> u64 {
        let state = self.inner.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).lost
    }

    /// Writes a record that came to its end just now.
    fn write(&self, record: &CallRecord<'_>) -> Result<(), RecordError> {
        let inner = &*self.inner;
        let terms = **inner.terms.load();
        if !terms.enabled {
            return Ok(());
        }
        let took = Duration::from_micros(record.timings.total);
        let mut record = record.clone();
        record.at = Moment::from((inner.now)()).before(took);
        cut(&mut record.arguments, terms.text_bytes);
        cut(&mut record.result, terms.text_bytes);
        // Made before it is anybody's turn to write: others write meanwhile.
        let line = line_of(&mut record);
        let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        let written = line.and_then(|line| state.appender.append(&line, &inner.place, &terms));
        let (error, what) = match written {
            Ok(None) => {
                state.is_failing = false;
                return Ok(());
            }
            Ok(Some(error)) => (error, "it grows until another can be begun"),
            Err(error) => {
                state.lost += 1;
                let what = "calls go on without records until it can be written";
                (error, what)
            }
        };
        if std::mem::replace(&mut state.is_failing, true) {
            return Ok(());
        }
        let file = inner.place.current();
        let file = file.display();
        Err(RecordError(format!("{file}: {error}; {what}")))
    }
}

impl Recorder for RecordFile {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        match event.record() {
            Some(record) => self.write(record),
            None => Ok(()),
        }
    }

    fn wants_record(&self) -> Option<Wanted> {
        let terms = self.inner.terms.load();
        let wanted = Wanted::facts().with_digest().with_texts(terms.text_bytes);
        terms.enabled.then_some(wanted)
    }
}

impl fmt::Debug for RecordFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordFile")
            .field("place", &self.inner.place)
            .finish_non_exhaustive()
    }
}

/// Another recorder may want more of a text than is kept here.
fn cut(text: &mut Option<std::borrow::Cow<'_, str>>, most: usize) {
    if most == 0 {
        *text = None;
    }
    if let Some(text) = text
        && text.len() > most + '…'.len_utf8()
    {
        let end = text.floor_char_boundary(most);
        *text = format!("{}…", &text[..end]).into();
    }
}

/// The record as a line, with a line break on either side.
fn line_of(record: &mut CallRecord<'_>) -> io::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(USUAL_LINE);
    for _ in 0..2 {
        line.clear();
        line.push(b'\n');
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        if line.len() <= MOST_LINE {
            return Ok(line);
        }
        // Characters that are escaped can make it several times as long.
        (record.arguments, record.result) = (None, None);
    }
    Err(io::Error::other("a record is longer than a line may be"))
}
