//! Room for bodies: how much memory all that are read at once take together.
//!
//! A limit for each body says nothing about a hundred of them. The beginning of each has
//! room of its own, so that short answers wait for no long ones, except for their turn to be
//! unpacked. What grows further shares the rest. Where that is full, they grow to their ends
//! all the same, one after the other, so that bodies which all wait for room never wait for
//! each other.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted: fewer bytes are not worth a look.
const UNIT: usize = 1 << 10;

/// What each body has without asking: about what its connection takes anyway.
const FREE: usize = 16 << 10;

/// How much of a body is short, and what there is for that of all bodies.
const SHORT: usize = 64 << 10;
const ALL_SHORT: usize = 4 << 20;

/// What all bodies that are longer share.
const SHARED: usize = 8 << 20;

/// The room that bodies share. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub struct Room {
    short: Arc<Semaphore>,
    shared: Arc<Semaphore>,
    /// For the one that goes on where nothing is left, whatever it takes.
    last: Arc<Semaphore>,
    /// Who unpacks knows how much comes out only when it is there.
    unpacking: Arc<Semaphore>,
}

/// The room that a body has, until this is dropped.
#[derive(Debug, Default)]
pub struct Held {
    units: usize,
    short: Option<OwnedSemaphorePermit>,
    shared: Option<OwnedSemaphorePermit>,
    /// Room for all there may be of it.
    whole: Option<OwnedSemaphorePermit>,
}

/// Leave to unpack a piece; it is room for what comes out.
#[derive(Debug)]
pub(crate) struct Turn(Option<OwnedSemaphorePermit>);

impl Default for Room {
    fn default() -> Self {
        Self::of(ALL_SHORT, SHARED)
    }
}

impl Room {
    fn of(short: usize, shared: usize) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        Self {
            short: semaphore(short / UNIT),
            shared: semaphore(shared / UNIT),
            last: semaphore(1),
            unpacking: semaphore(1),
        }
    }

    /// Waits for leave to unpack a piece of a body.
    pub(crate) async fn turn(&self, held: &Held) -> Turn {
        match held.whole {
            Some(_) => Turn(None),
            None => Turn(taken(&self.unpacking, 1).await),
        }
    }

    /// Takes room for all that a body may come to, whatever that is.
    pub(crate) async fn hold_whole(&self, held: &mut Held) {
        held.keep_whole(taken(&self.last, 1).await);
    }

    /// Takes room for a body of this length, and waits for it where there is none.
    pub(crate) async fn grow(&self, held: &mut Held, length: usize, turn: Option<Turn>) {
        if self.try_grow(held, length) {
            return;
        }
        if let Some(Turn(turn @ Some(_))) = turn {
            return held.keep_whole(turn);
        }
        let more = counted(length) - held.units;
        tokio::select! {
            biased;
            shared = taken(&self.shared, more) => held.add_shared(more, shared),
            last = taken(&self.last, 1) => held.keep_whole(last),
        }
    }

    /// Takes room where there is some now.
    fn try_grow(&self, held: &mut Held, length: usize) -> bool {
        let more = counted(length).saturating_sub(held.units);
        if more == 0 || held.whole.is_some() {
            return true;
        }
        if length <= SHORT
            && let Some(permit) = try_taken(&self.short, more)
        {
            held.units += more;
            add(&mut held.short, permit);
            return true;
        }
        let shared = try_taken(&self.shared, more);
        let is_taken = shared.is_some();
        if is_taken {
            held.add_shared(more, shared);
        }
        is_taken
    }
}

impl Held {
    fn add_shared(&mut self, more: usize, permit: Option<OwnedSemaphorePermit>) {
        if let Some(permit) = permit {
            self.units += more;
            add(&mut self.shared, permit);
        }
    }

    /// What it had of the others' room is theirs again.
    fn keep_whole(&mut self, permit: Option<OwnedSemaphorePermit>) {
        *self = Self {
            whole: permit,
            ..Self::default()
        };
    }
}

fn add(to: &mut Option<OwnedSemaphorePermit>, permit: OwnedSemaphorePermit) {
    match to {
        Some(held) => held.merge(permit),
        None => *to = Some(permit),
    }
}

fn counted(length: usize) -> usize {
    length.saturating_sub(FREE).div_ceil(UNIT)
}

/// None only of what is closed, and nothing here is.
async fn taken(of: &Arc<Semaphore>, units: usize) -> Option<OwnedSemaphorePermit> {
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    Arc::clone(of).acquire_many_owned(units).await.ok()
}

fn try_taken(of: &Arc<Semaphore>, units: usize) -> Option<OwnedSemaphorePermit> {
    let units = u32::try_from(units).ok()?;
    Arc::clone(of).try_acquire_many_owned(units).ok()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const LONG: usize = 1 << 20;

    /// Whether a body gets room for this length at once.
    fn grows(room: &Room, held: &mut Held, length: usize) -> bool {
        room.grow(held, length, None).now_or_never().is_some()
    }

    #[test]
    fn long_bodies_share_room_and_one_goes_on_without() {
        let room = Room::of(2 * SHORT, 2 * LONG);
        let mut held: Vec<Held> = (0..5).map(|_| Held::default()).collect();
        let grown: Vec<bool> = (held.iter_mut())
            .map(|held| grows(&room, held, LONG))
            .collect();
        assert_eq!(grown, [true, true, true, false, false]);
        // Who goes on takes as much as there is.
        assert!(grows(&room, &mut held[2], 10 * LONG));
        assert!(!grows(&room, &mut held[0], 2 * LONG));
        held.remove(1);
        assert!(grows(&room, &mut held[0], 2 * LONG));
        drop(held);
        assert_eq!(room.shared.available_permits(), 2 * LONG / UNIT);
        assert_eq!(room.last.available_permits(), 1);
    }

    #[test]
    fn short_bodies_wait_for_no_long_ones() {
        let room = Room::of(SHORT - FREE, LONG - FREE);
        let mut held: Vec<Held> = (0..4).map(|_| Held::default()).collect();
        for held in &mut held {
            grows(&room, held, LONG);
        }
        let (mut short, mut tiny) = (Held::default(), Held::default());
        assert!(grows(&room, &mut short, 100));
        assert!(grows(&room, &mut short, SHORT));
        assert!(!grows(&room, &mut short, SHORT + UNIT));
        assert!(grows(&room, &mut tiny, FREE));
        assert!(!grows(&room, &mut tiny, SHORT));
    }

    #[test]
    fn what_was_unpacked_has_room_before_the_next_is() {
        let room = Room::of(SHORT, 0);
        let (mut one, mut other) = (Held::default(), Held::default());
        let turn = room.turn(&one).now_or_never();
        assert!(room.turn(&other).now_or_never().is_none());
        let grown = room.grow(&mut one, SHORT, turn).now_or_never();
        assert!(grown.is_some());
        let turn = room.turn(&other).now_or_never();
        let grown = room.grow(&mut other, LONG, turn).now_or_never();
        assert!(grown.is_some());
        assert!(room.turn(&one).now_or_never().is_none());
        drop(other);
        assert!(room.turn(&one).now_or_never().is_some());
    }
}
