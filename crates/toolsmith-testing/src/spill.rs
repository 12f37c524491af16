//! A spill store in memory, and stores that misbehave.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use toolsmith_core::store::{Spill, SpillError, SpillStore, Spilled};

type Keeping<'a> = Pin<Box<dyn Future<Output = Result<Spilled, SpillError>> + Send + 'a>>;

/// Keeps everything in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    kept: Arc<Mutex<Vec<(String, String)>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was kept, as pairs of call and text.
    pub fn kept(&self) -> Vec<(String, String)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }
}

impl SpillStore for MemoryStore {
    fn keep<'a>(&'a self, spill: Spill<'a>) -> Keeping<'a> {
        Box::pin(async move {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let location = format!("memory:{}", kept.len());
            kept.push((spill.call.as_str().to_owned(), spill.text.to_owned()));
            let read_on = format!("read {location} from byte {}", spill.shown);
            Ok(Spilled::new(location, spill.text.len() as u64, read_on))
        })
    }
}

/// A store that does not do its work.
#[derive(Clone, Copy, Debug)]
pub enum Faulty {
    /// It returns an error.
    Fails,
    /// It panics before there is anything to wait for.
    PanicsAtOnce,
    /// It panics while it is waited for.
    PanicsLater,
    /// It never answers.
    Hangs,
}

impl SpillStore for Faulty {
    fn keep<'a>(&'a self, _spill: Spill<'a>) -> Keeping<'a> {
        match self {
            Self::Fails => Box::pin(async { Err(SpillError("the disk is full".to_owned())) }),
            Self::PanicsAtOnce => panic!("the store is broken"),
            Self::PanicsLater => Box::pin(async { panic!("the store is broken") }),
            Self::Hangs => Box::pin(std::future::pending()),
        }
    }
}
