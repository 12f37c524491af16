//! The runtimes that connections are shared out among.
//!
//! What a request needs should be where it arrived, so a connection stays on the lane
//! it was given, and a session on that of the connection that opened it.

use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;

/// How many connections a session has beside it: those of a client with a few. Where
/// the request and its session are on one lane, no other thread has to be woken.
const BESIDE: usize = 4;

/// What a session weighs, in connections. Every call of its client passes through it,
/// so a client with many connections has most of them elsewhere.
const SESSION: usize = 24;

/// The lanes of one listening address, known once it runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes(Arc<OnceLock<Vec<Lane>>>);

#[derive(Debug)]
struct Lane {
    runtime: Handle,
    /// Each of its connections holds one, and each of its sessions one of the others.
    connections: Arc<()>,
    sessions: Arc<()>,
}

/// Counts for a lane while it is kept.
#[derive(Debug)]
pub(super) struct Seat(#[expect(dead_code, reason = "held to be counted")] Arc<()>);

impl Lanes {
    /// Sets the runtimes; they are set once.
    pub(super) fn open(&self, runtimes: &[Handle]) {
        let lane = |runtime: &Handle| Lane {
            runtime: runtime.clone(),
            connections: Arc::default(),
            sessions: Arc::default(),
        };
        self.0.get_or_init(|| runtimes.iter().map(lane).collect());
    }

    /// The runtime for another connection, which keeps the seat: a lane whose sessions
    /// have few, or else the one that carries least.
    pub(super) fn next(&self) -> Option<(&Handle, Seat)> {
        let lanes = self.0.get()?;
        let least = lanes.iter().min_by_key(|lane| lane.load())?;
        let most = least.load() + SESSION + BESIDE;
        let mut lanes = lanes.iter();
        let lane = lanes.find(|lane| lane.has_few() && lane.load() <= most);
        let lane = lane.unwrap_or(least);
        Some((&lane.runtime, Seat(Arc::clone(&lane.connections))))
    }

    /// A seat for a session on the runtime this is called on, if that is a lane.
    pub(super) fn session_here(&self) -> Option<Seat> {
        let here = Handle::try_current().ok()?.id();
        let mut lanes = self.0.get()?.iter();
        let lane = lanes.find(|lane| lane.runtime.id() == here)?;
        Some(Seat(Arc::clone(&lane.sessions)))
    }
}

impl Lane {
    fn load(&self) -> usize {
        count(&self.connections) + SESSION * count(&self.sessions)
    }

    fn has_few(&self) -> bool {
        count(&self.connections) < BESIDE * count(&self.sessions)
    }
}

/// How many seats are taken.
fn count(seats: &Arc<()>) -> usize {
    Arc::strong_count(seats) - 1
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};

    use super::*;

    fn runtimes() -> [Runtime; 2] {
        [(), ()].map(|()| Builder::new_current_thread().build().unwrap())
    }

    /// Opens lanes and takes seats for so many connections; the first one opens a
    /// session if told to. Tells how many each lane got.
    fn shared_out(connections: usize, session: bool) -> [usize; 2] {
        let runtimes = runtimes();
        let lanes = Lanes::default();
        lanes.open(&runtimes.each_ref().map(|each| each.handle().clone()));
        let mut seats = Vec::new();
        let mut got = [0, 0];
        for connection in 0..connections {
            let (lane, seat) = lanes.next().unwrap();
            if connection == 0 && session {
                let _here = lane.enter();
                seats.extend(lanes.session_here());
            }
            got[usize::from(lane.id() == runtimes[1].handle().id())] += 1;
            seats.push(seat);
        }
        drop(seats);
        assert!(lanes.0.get().unwrap().iter().all(|lane| lane.load() == 0));
        got
    }

    #[test]
    fn connections_without_sessions_are_shared_evenly() {
        assert_eq!(shared_out(32, false), [16, 16]);
    }

    #[test]
    fn a_client_with_few_connections_has_them_beside_its_session() {
        assert_eq!(shared_out(4, true), [4, 0]);
    }

    #[test]
    fn a_client_with_many_has_most_of_them_elsewhere() {
        assert_eq!(shared_out(32, true), [4, 28]);
    }

    #[test]
    fn sessions_are_shared_out_too() {
        let runtimes = runtimes();
        let lanes = Lanes::default();
        lanes.open(&runtimes.each_ref().map(|each| each.handle().clone()));
        let mut seats = Vec::new();
        for _ in 0..100 {
            let (lane, seat) = lanes.next().unwrap();
            let _here = lane.enter();
            seats.extend([Some(seat), lanes.session_here()]);
        }
        let [first, second] = lanes.0.get().unwrap().as_slice() else {
            unreachable!()
        };
        let apart = count(&first.sessions).abs_diff(count(&second.sessions));
        assert!(apart <= 2, "{apart}");
    }
}
